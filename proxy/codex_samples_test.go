package proxy_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func sample(t *testing.T, name string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join(shared(t, "codex"), "samples", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestTheTurnsOfARealCodexExtendEachOtherThroughTheProxy(t *testing.T) {
	bodies := []string{
		sample(t, "responses-0.171-turn1.body.json"), sample(t, "responses-0.171-turn2.body.json"),
		sample(t, "responses-0.171-turn3.body.json"),
	}
	w := onSockets(t, "/v1", answering())
	var before exchange.Exchange
	for i, body := range bodies {
		_, x := w.exchange("/v1/responses", body, "Session-Id", "s")
		n := len(before.Prompt)
		if len(x.Prompt) <= n || !slices.Equal(before.Prompt, x.Prompt[:n]) || x.ChangedSection != "" {
			t.Errorf("turn %d does not extend the one before: changed %q", i+1, x.ChangedSection)
		}
		before = x
	}
	_, x := w.exchange("/v1/responses", sample(t, "compaction-v2-0.171.body.json"), append(kindly("compaction"), "Session-Id", "s")...)
	if x.ChangedSection != "compaction" { // it was captured with fewer tools
		t.Errorf("the compaction changed %q", x.ChangedSection)
	}
	if _, x := w.exchange("/v1/responses", bodies[2], "Session-Id", "s"); x.ChangedSection != "" {
		t.Errorf("going on after it as if it had not been changed %q", x.ChangedSection)
	}
}

// The frames of a socket say only what is new, and their tools again.
func TestTheFramesOfARealCodexExtendEachOther(t *testing.T) {
	file, err := os.Open(filepath.Join(shared(t, "codex"), "samples", "websocket-0.171.frames.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var next string // the response that the next frame goes on from
	w := onSockets(t, "/v1", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", eventStream)
		fmt.Fprintf(w, `data: {"type":"response.completed","response":{"id":%q,"status":"completed","usage":{"input_tokens":9000,"output_tokens":5}}}`+"\n\n", next)
	}))
	var frames []string
	for lines := bufio.NewReader(file); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		frames = append(frames, line)
	}
	var before exchange.Exchange
	for i, frame := range frames {
		if next = ""; i+1 < len(frames) {
			var goesOn struct {
				Previous string `json:"previous_response_id"`
			}
			if err := json.Unmarshal([]byte(frames[i+1]), &goesOn); err != nil {
				t.Fatal(err)
			}
			next = goesOn.Previous
		}
		_, x := w.exchange("/v1/responses", frame, "Session-Id", "s")
		n := len(before.Prompt)
		switch {
		case len(x.Prompt) <= n:
			t.Errorf("frame %d has %d boundaries, the one before %d", i+1, len(x.Prompt), n)
		case i == 1: // the texts of its tools were made up anew when the sample was taken
			if x.ChangedSection != "tools" {
				t.Errorf("frame 2 changed %q", x.ChangedSection)
			}
		case !slices.Equal(before.Prompt, x.Prompt[:n]) || x.ChangedSection != "":
			t.Errorf("frame %d does not extend the one before: changed %q", i+1, x.ChangedSection)
		}
		before = x
	}
	if len(frames) != 4 {
		t.Errorf("%d frames", len(frames))
	}
}
