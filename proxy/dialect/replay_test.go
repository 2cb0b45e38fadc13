package dialect

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/proxy/sse"
)

// replay reads one body as it would come: a stream in parts, each of which is
// overwritten afterwards as a pooled buffer would be, and any other body whole.
func replay(d exchange.Dialect, ext string, parts ...[]byte) ([]Event, *Answer) {
	r := New(d)
	var events []Event
	take := func(m sse.Message) { events = append(events, r.Message(m.Name, m.Data)) }
	var splitter interface {
		Write([]byte, func(sse.Message))
		Close(func(sse.Message))
	}
	switch ext {
	case ".sse":
		splitter = &sse.Splitter{}
	case ".ndjson":
		splitter = &sse.Lines{}
	default:
		body := bytes.Join(parts, nil)
		r.Body(body)
		scribble(body)
		return nil, r.Answer()
	}
	for _, part := range parts {
		part = bytes.Clone(part)
		splitter.Write(part, take)
		scribble(part)
	}
	splitter.Close(take)
	return events, r.Answer()
}

func scribble(b []byte) {
	for i := range b {
		b[i] = '!'
	}
}

// chunks cuts a body into parts of at most size bytes.
func chunks(body []byte, size int) (parts [][]byte) {
	for len(body) > 0 {
		n := min(size, len(body))
		parts = append(parts, body[:n])
		body = body[n:]
	}
	return parts
}

// randomCuts cuts a body into parts of random length.
func randomCuts(body []byte, random *rand.Rand) (parts [][]byte) {
	for len(body) > 0 {
		n := 1 + random.IntN(min(len(body), 1+random.IntN(400)))
		parts = append(parts, body[:n])
		body = body[n:]
	}
	return parts
}

// fixtures are the bodies in testdata, each in the folder of its format.
func fixtures(t testing.TB) []string {
	files, err := filepath.Glob("testdata/*/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	var bodies []string
	for _, file := range files {
		switch filepath.Ext(file) {
		case ".sse", ".ndjson", ".json":
			bodies = append(bodies, file)
		}
	}
	return bodies
}

func formatOf(file string) exchange.Dialect {
	return exchange.Dialect(filepath.Base(filepath.Dir(file)))
}

var kindNames = []struct {
	kind Kind
	name string
}{
	{Reasoning, "reasoning"}, {Summary, "summary"}, {Text, "text"}, {Refusal, "refusal"},
	{Tool, "tool"}, {Audio, "audio"}, {Image, "image"},
}

var itemNames = map[Item]string{OutputItem: "output", ReasoningItem: "reasoning", HostedTool: "hosted tool"}

var endNames = map[End]string{NoEnd: "none", Completed: "completed", CutShort: "cut short", EndedInError: "error"}

// describe puts an event into words: what it says, and nothing of what it does
// not say.
func describe(e Event) string {
	var words []string
	for _, k := range kindNames {
		if e.Kind&k.kind != 0 {
			words = append(words, k.name)
		}
	}
	say := func(is bool, format string, args ...any) {
		if is {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	say(e.ThoughtBytes > 0, "thought=%d", e.ThoughtBytes)
	say(e.AnswerBytes > 0, "answer=%d", e.AnswerBytes)
	say(e.Index > 0, "index=%d", e.Index)
	say(e.Opens != NoItem, "opens %s", itemNames[e.Opens])
	say(e.Closes != NoItem, "closes %s", itemNames[e.Closes])
	say(e.Terminal, "terminal")
	say(e.Unread, "unread")
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, " ")
}

// describeAnswer puts an answer into lines, those of unknown values left out.
func describeAnswer(a *Answer) []string {
	var lines []string
	say := func(is bool, name string, value any) {
		if is {
			lines = append(lines, fmt.Sprintf("%s: %v", name, value))
		}
	}
	say(true, "end", endNames[a.End])
	say(a.Model != "", "model", a.Model)
	say(a.ResponseID != "", "id", a.ResponseID)
	say(a.ServiceTier != "", "tier", a.ServiceTier)
	say(a.FinishReason != "", "finish", a.FinishReason)
	say(a.FinishDetail != "", "detail", a.FinishDetail)
	say(a.DoneMarker, "done marker", "yes")
	say(a.Choices > 1, "choices", a.Choices)
	for _, c := range []struct {
		name string
		n    *int64
	}{
		{"prompt", a.Usage.Prompt}, {"cached", a.Usage.Cached}, {"cache write", a.Usage.CacheWrite},
		{"output", a.Usage.Output}, {"reasoning", a.Usage.Reasoning}, {"total", a.Usage.Total},
	} {
		if c.n != nil {
			say(true, c.name, *c.n)
		}
	}
	say(a.Usage.Raw != "", "usage", a.Usage.Raw)
	say(a.Timings.ServerSource != "", "server", a.Timings.ServerSource)
	say(a.Timings.ServerQueue != nil, "server queue", a.Timings.ServerQueue)
	say(a.Timings.ServerPrefill != nil, "server prefill", a.Timings.ServerPrefill)
	say(a.Timings.ServerDecode != nil, "server decode", a.Timings.ServerDecode)
	say(a.Whole.Kind != 0, "whole", describe(a.Whole))
	if a.Error != nil {
		say(true, "error", fmt.Sprintf("%+v", *a.Error))
	}
	return lines
}

// sameInAnyCut is the law of every reader: a stream says the same however it was
// cut on its way.
func sameInAnyCut(t *testing.T, d exchange.Dialect, ext string, body []byte, parts [][]byte) {
	t.Helper()
	events, answer := replay(d, ext, body)
	cutEvents, cutAnswer := replay(d, ext, parts...)
	if diff := cmp.Diff(events, cutEvents); diff != "" {
		t.Errorf("events differ when cut (-whole +cut):\n%s", diff)
	}
	if diff := cmp.Diff(answer, cutAnswer); diff != "" {
		t.Errorf("answers differ when cut (-whole +cut):\n%s", diff)
	}
}
