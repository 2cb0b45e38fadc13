package proxy_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// recorded is one body that was recorded from a real provider, with what must be
// read from it.
type recorded struct {
	File        string
	Endpoint    string
	Streamed    bool
	Status      *int
	ContentType *string `json:"content_type"`
	Expect      struct {
		Model      *string
		Prompt     *int64 `json:"prompt_tokens"`
		Cached     *int64 `json:"cached_tokens"`
		Output     *int64 `json:"output_tokens"`
		Reasoning  *int64 `json:"reasoning_tokens"`
		FirstToken *int   `json:"first_token_event"`
		Finish     *string
		HasUsage   bool `json:"has_usage"`
		Error      bool
	}
	Usage struct {
		Total *int64 `json:"total_tokens"`
	}
	body []byte
}

var endpointPaths = map[string]string{
	"chat": "/v1/chat/completions", "responses": "/v1/responses", "completions": "/v1/completions",
	"messages": "/v1/messages", "embeddings": "/v1/embeddings", "ollama": "/api/chat",
}

func recordedBodies(t *testing.T) []recorded {
	t.Helper()
	folder := shared(t, "streams")
	f, err := os.Open(filepath.Join(folder, "index.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []recorded
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r recorded
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		if r.body, err = os.ReadFile(filepath.Join(folder, r.File)); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	if len(all) < 201 {
		t.Fatalf("%d recorded bodies", len(all))
	}
	return all
}

func (r *recorded) head(w http.ResponseWriter) {
	contentType := map[bool]string{true: eventStream, false: "application/json"}[r.Streamed]
	if filepath.Ext(r.File) == ".ndjson" {
		contentType = "application/x-ndjson"
	}
	if r.ContentType != nil {
		contentType = *r.ContentType
	}
	w.Header().Set("Content-Type", contentType)
	status := http.StatusOK
	if r.Status != nil {
		status = *r.Status
	}
	w.WriteHeader(status)
}

// output is the output tokens with reasoning in them, as some upstreams leave
// it out: their total gives it away.
func (r *recorded) output() int64 {
	e := r.Expect
	if e.Output == nil {
		return -1
	}
	if e.Prompt != nil && e.Reasoning != nil && r.Usage.Total != nil && *r.Usage.Total-*e.Prompt-*e.Output == *e.Reasoning {
		return *e.Output + *e.Reasoning
	}
	return *e.Output
}

func TestRecordedBodiesInAnyCut(t *testing.T) {
	for _, r := range recordedBodies(t) {
		t.Run(r.File, func(t *testing.T) {
			upstream := http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				io.Copy(io.Discard, q.Body)
				r.head(w)
				for rest := r.body; len(rest) > 0; {
					n := min(len(rest), 1+rand.IntN(1+len(r.body)/30))
					w.Write(rest[:n])
					w.(http.Flusher).Flush()
					rest = rest[n:]
				}
			})
			w := onSockets(t, "", upstream)
			got, x := w.exchange(endpointPaths[r.Endpoint], `{"stream":true}`)
			if got != string(r.body) {
				t.Error("the bytes were altered")
			}
			r.check(t, &x)
		})
	}
}

func (r *recorded) check(t *testing.T, x *exchange.Exchange) {
	t.Helper()
	e := r.Expect
	for name, pair := range map[string][2]int64{
		"prompt":    {number(e.Prompt), number(x.PromptTokens)},
		"cached":    {number(e.Cached), number(x.CachedTokens)},
		"output":    {r.output(), number(x.OutputTokens)},
		"reasoning": {number(e.Reasoning), number(x.ReasoningTokens)},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s tokens %d, want %d (%s)", name, pair[1], pair[0], x.UsageRaw)
		}
	}
	if want := orEmpty(e.Model); x.ModelServed != want {
		t.Errorf("model %q, want %q", x.ModelServed, want)
	}
	if want := orEmpty(e.Finish); x.FinishReason != want {
		t.Errorf("finish %q, want %q", x.FinishReason, want)
	}
	failed := x.Outcome == exchange.UpstreamError || x.Outcome == exchange.ErrorEvent
	if failed != e.Error || *x.Streamed != r.Streamed || (x.UsageSource == "reported") != e.HasUsage {
		t.Errorf("outcome %s, streamed %v, usage %s; want error %v, streamed %v, usage %v", x.Outcome, *x.Streamed, x.UsageSource, e.Error, r.Streamed, e.HasUsage)
	}
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

var (
	blankLine = regexp.MustCompile(`\r?\n\r?\n`)
	dataLine  = regexp.MustCompile(`(?m)^data:`)
)

// dataEvents cuts a body behind each event that has data.
func (r *recorded) dataEvents() [][]byte {
	if filepath.Ext(r.File) == ".ndjson" {
		return bytes.SplitAfter(r.body, []byte("\n"))
	}
	var events [][]byte
	start := 0
	for _, end := range append(blankLine.FindAllIndex(r.body, -1), []int{0, len(r.body)}) {
		if piece := r.body[start:end[1]]; dataLine.Match(piece) || end[1] == len(r.body) {
			events = append(events, piece)
			start = end[1]
		}
	}
	return events
}

func TestFirstTokenOfRecordedStreamsIsTheRightEvent(t *testing.T) {
	const pause = 10 * time.Millisecond
	for _, r := range recordedBodies(t) {
		if !r.Streamed {
			continue
		}
		t.Run(r.File, func(t *testing.T) {
			upstream := http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
				io.Copy(io.Discard, q.Body)
				r.head(w)
				for _, event := range r.dataEvents() {
					time.Sleep(pause)
					w.Write(event)
					w.(http.Flusher).Flush()
				}
			})
			inBubble(t, upstream, func(t *testing.T, w *world) {
				got, x := w.exchange(endpointPaths[r.Endpoint], `{"stream":true}`)
				if got != string(r.body) {
					t.Error("the bytes were altered")
				}
				want := -1.0
				if r.Expect.FirstToken != nil {
					want = float64(*r.Expect.FirstToken+1) * 10
				}
				if ms(x.FirstToken) != want {
					t.Errorf("first token at %v ms, want %v", ms(x.FirstToken), want)
				}
			})
		})
	}
}
