package dialect

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// Each reader obeys two laws whatever it is given: a stream says the same in any
// cut, and nothing that is kept grows with what came.

func FuzzResponses(f *testing.F) { fuzzStream(f, exchange.Responses, ".sse") }
func FuzzChat(f *testing.F)      { fuzzStream(f, exchange.Chat, ".sse") }
func FuzzMessages(f *testing.F)  { fuzzStream(f, exchange.Messages, ".sse") }
func FuzzOllama(f *testing.F)    { fuzzStream(f, exchange.Ollama, ".ndjson") }

func fuzzStream(f *testing.F, d exchange.Dialect, ext string) {
	for _, file := range fixtures(f) {
		if formatOf(file) == d {
			f.Add(read(f, file), uint8(7))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, size uint8) {
		sameInAnyCut(t, d, ext, body, chunks(body, 1+int(size)))
		events, answer := replay(d, ext, body)
		for i, e := range events {
			if (e.Kind == 0) != (e.ThoughtBytes+e.AnswerBytes == 0) || e.ThoughtBytes < 0 || e.AnswerBytes < 0 {
				t.Errorf("event %d: %+v has kinds without bytes, or bytes without kinds", i, e)
			}
			if e.ThoughtBytes+e.AnswerBytes > 3*len(body) || e.Index < 0 || e.Index >= maxPlaces {
				t.Errorf("event %d: %+v is out of bounds", i, e)
			}
		}
		bounded(t, answer)
		_, answer = replay(d, ".json", body)
		bounded(t, answer)
	})
}

func FuzzErrorBody(f *testing.F) {
	for _, file := range fixtures(f) {
		if filepath.Ext(file) == ".json" {
			f.Add(read(f, file))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		_, answer := replay(exchange.Other, ".json", body)
		bounded(t, answer)
		if answer.End != NoEnd || answer.Model != "" || answer.Usage.Raw != "" {
			t.Errorf("read more than an error: %+v", answer)
		}
	})
}

// A request's facts that are read from a part of it are those of the whole.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"model":"tern-2","stream":true,"stream_options":{"include_usage":true},"n":2,"messages":[]}`))
	f.Add([]byte(` {"n":10,"model":"a","model":"b","stream":null,"prompt":"\"}{"}`))
	f.Add([]byte(`{"model":"a","previous_response_id":"r","conversation":{"id":"c"},"generate":false,"client_metadata":{"x-codex-turn-metadata":"{}"},"input":""}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, d := range []exchange.Dialect{exchange.Responses, exchange.Chat, exchange.Completions, exchange.Messages, exchange.Embeddings, exchange.Ollama, exchange.Other} {
			readsInPart(t, d, body)
		}
	})
}

func readsInPart(t *testing.T, d exchange.Dialect, body []byte) {
	t.Helper()
	whole := ReadRequest(d, body)
	if len(whole.Model) > maxWord || len(whole.Continues) > maxWord || len(whole.Turn) > maxTurn || whole.Choices != nil && *whole.Choices < 2 {
		t.Errorf("%s: out of bounds: %+v", d, whole)
	}
	if head, tail := whole.Gist(); len(head)+len(tail) > len(body) {
		t.Errorf("%s: the gist is longer than the body", d)
	}
	if _, ok := parse(body); !ok {
		return
	}
	for cut := range len(body) {
		part := ReadRequest(d, body[:cut])
		if part.Model != "" && whole.Model == "" {
			t.Errorf("%s: model %q in the first %d bytes, none in the whole", d, part.Model, cut)
		}
	}
}

func bounded(t *testing.T, a *Answer) {
	t.Helper()
	for _, s := range []string{a.Model, a.ResponseID, a.ServiceTier, a.FinishReason, a.FinishDetail} {
		if len(s) > maxWord {
			t.Errorf("%d bytes kept of one word", len(s))
		}
	}
	if len(a.Usage.Raw) > (maxFields+1)*maxUsage {
		t.Errorf("%d bytes kept of the usage", len(a.Usage.Raw))
	}
	if a.Error != nil && slices.Max([]int{len(a.Error.Message) - maxMessage, len(a.Error.Code) - maxWord}) > 0 {
		t.Errorf("too much kept of the error: %+v", a.Error)
	}
	for _, n := range []*int64{a.Usage.Cached, a.Usage.CacheWrite, a.Usage.Output, a.Usage.Reasoning, a.Usage.Total, a.Usage.Prompt} {
		if n != nil && *n < 0 {
			t.Errorf("a count of %d", *n)
		}
	}
}

func read(t testing.TB, file string) []byte {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return body
}
