package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/proxy/sse"
)

// glanced is a reader that reads most messages at a glance.
type glanced interface {
	Reader
	full(name string, data []byte) Event
}

// twins are two readers of one stream: one glances, the other reads all in full.
type twins struct{ glancing, full glanced }

func newTwins(d exchange.Dialect) twins {
	return twins{New(d).(glanced), New(d).(glanced)}
}

// differ is how they differ about a message and all before it, "" for not at all.
func (w twins) differ(name string, data []byte) string {
	got, want := w.glancing.Message(name, data), w.full.full(name, data)
	return cmp.Diff(want, got) + cmp.Diff(w.full.Answer(), w.glancing.Answer())
}

func TestAGlanceSeesWhatAFullReadingSeesInEveryFixture(t *testing.T) {
	for _, file := range fixtures(t) {
		d := formatOf(file)
		if _, ok := New(d).(glanced); !ok || filepath.Ext(file) != ".sse" {
			continue
		}
		w, s := newTwins(d), sse.Splitter{}
		check := func(m sse.Message) {
			if diff := w.differ(m.Name, m.Data); diff != "" {
				t.Errorf("%s: %s %s (-full +glance):\n%s", file, m.Name, m.Data, diff)
			}
		}
		s.Write(read(t, file), check)
		s.Close(check)
	}
}

// Whatever a message holds, and however it is broken, a glance sees in it what a
// full reading sees, or leaves it to that.
func TestAGlanceNeverDiffersFromAFullReading(t *testing.T) {
	for _, d := range []exchange.Dialect{exchange.Chat, exchange.Completions, exchange.Responses, exchange.Messages} {
		t.Run(string(d), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				w := newTwins(d)
				for range rapid.IntRange(1, 4).Draw(t, "messages") {
					data := drawMessage(t, d)
					name := rapid.SampledFrom([]string{"", "", "response.output_text.delta", "error"}).Draw(t, "name")
					if diff := w.differ(name, data); diff != "" {
						t.Fatalf("%s %s (-full +glance):\n%s", name, data, diff)
					}
				}
			})
		})
	}
}

func drawMessage(t *rapid.T, d exchange.Dialect) []byte {
	var text string
	switch d {
	case exchange.Responses:
		text = drawObject(t, map[string][]string{
			"type":         {`"response.output_text.delta"`, `"response.reasoning_summary_text.delta"`, `"response.created"`, `"error"`, `7`, `""`},
			"output_index": {"0", "1", "01", "1023", "-1", "null", "1.5"},
			"delta":        texts, "sequence_number": {"4", "4e2", "0.5"}, "obfuscation": texts,
			"logprobs": {"[]", `[{"a":[1,2]}]`, "[,]"}, "item_id": texts, "response": {"null", `{"id":"r"}`, "7"},
		})
	case exchange.Messages:
		delta := drawObject(t, map[string][]string{
			"type": {`"text_delta"`, `"thinking_delta"`, `"input_json_delta"`, `"signature_delta"`, "null"},
			"text": texts, "thinking": texts, "partial_json": texts, "signature": texts,
		})
		text = drawObject(t, map[string][]string{
			"type":  {`"content_block_delta"`, `"content_block_delta"`, `"content_block_start"`, `"ping"`, `""`, "7"},
			"index": {"0", "1", "-1", "01", "null"}, "delta": {delta, delta, "null"}, "extra": texts,
		})
	default:
		text = drawObject(t, map[string][]string{
			"id": texts, "model": texts, "created": {"0", "1700000000", "-0", "007", "1."},
			"object": {`"chat.completion.chunk"`, `"error"`, "null"}, "service_tier": {"null", `"default"`, `"flex"`, `""`},
			"usage": {"null", "{}", `{"prompt_tokens":3}`}, "error": {"null", "false", `{"message":"m"}`},
			"obfuscation": texts, "timings": {"null", `{"prompt_ms":4}`},
			"choices": {"[" + drawChoice(t) + "]", "[" + drawChoice(t) + "," + drawChoice(t) + "]", "[]", "null"},
		})
	}
	if rapid.IntRange(0, 3).Draw(t, "break") > 0 {
		return []byte(text)
	}
	at := rapid.IntRange(0, len(text)).Draw(t, "at")
	return []byte(text[:at] + rapid.SampledFrom([]string{"", "}", `"`, `\`, ",", " ", "\x01", "\xff"}).Draw(t, "with") + text[min(at+1, len(text)):])
}

var texts = []string{`"word"`, `""`, `"a\nb\"c\\"`, `"\u00e9\ud83d\ude00"`, `"\x"`, "null", "7", `{"text":"x"}`, `["x"]`, "\"tab\there\"", `"ä"`}

func drawChoice(t *rapid.T) string {
	delta := drawObject(t, map[string][]string{
		"content": texts, "role": {`"assistant"`, "null"}, "reasoning_content": texts, "reasoning": texts,
		"tool_calls": {"null", "[]", `[{"index":1,"function":{"name":"f","arguments":"{}"}}]`}, "refusal": texts,
	})
	return drawObject(t, map[string][]string{
		"index": {"0", "1", "00", "-1", "null", "1022", "1023", "0.5"}, "delta": {delta, delta, "null"}, "text": texts,
		"finish_reason": {"null", "null", `"stop"`, `""`}, "message": {"null", `{"content":"whole"}`},
		"logprobs": {"null", `{"content":[{"token":"a","bytes":[1]}]}`, "tru"}, "usage": {"null", `{"prompt_tokens":5}`},
	})
}

// drawObject is an object of some of the fields, now and then one of them twice.
func drawObject(t *rapid.T, fields map[string][]string) string {
	var b bytes.Buffer
	blank := rapid.SampledFrom([]string{"", " ", "\n\t"}).Draw(t, "blank")
	b.WriteString("{")
	for i, key := range rapid.SliceOfN(rapid.SampledFrom(keysOf(fields)), 0, 6).Draw(t, "keys") {
		if i > 0 {
			b.WriteString("," + blank)
		}
		fmt.Fprintf(&b, "%q%s:%s%s", key, blank, blank, rapid.SampledFrom(fields[key]).Draw(t, key))
	}
	return b.String() + blank + "}"
}

func TestMostOfAStreamIsReadAtAGlance(t *testing.T) {
	for _, tt := range []struct {
		dialect exchange.Dialect
		data    string
	}{
		{exchange.Chat, `{"id":"c","object":"chat.completion.chunk","created":1700000000,"model":"m","service_tier":null,"system_fingerprint":"fp","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"x"}`},
		{exchange.Chat, `{"id": "c", "created": 1.5, "model": "m", "choices": [{"index": 0, "delta": {"content": null, "reasoning_content": "a\n\"b\""}}]}`},
		{exchange.Completions, `{"id":"c","model":"m","choices":[{"index":0,"text":"word","logprobs":{"tokens":["a"]},"finish_reason":null}]}`},
		{exchange.Responses, `{"type":"response.output_text.delta","item_id":"i","output_index":1,"content_index":0,"delta":"word","logprobs":[],"sequence_number":4,"obfuscation":"x"}`},
		{exchange.Messages, `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}`},
	} {
		var e Event
		var ok bool
		switch r := New(tt.dialect).(type) {
		case *chat:
			ok = r.glance([]byte(tt.data), &e)
		case *responses:
			ok = r.glance("", []byte(tt.data), &e)
		case *messages:
			ok = r.glance("", []byte(tt.data), &e)
		}
		if !ok || !json.Valid([]byte(tt.data)) {
			t.Errorf("not read at a glance: %s", tt.data)
		}
	}
}

func FuzzGlance(f *testing.F) {
	f.Add([]byte(`{"choices":[{"delta":{"content":"a\n"}}]}`))
	f.Add([]byte(`{"type":"response.output_text.delta","delta":"a"}`))
	f.Add([]byte(`{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, d := range []exchange.Dialect{exchange.Chat, exchange.Responses, exchange.Messages} {
			if diff := newTwins(d).differ("", data); diff != "" {
				t.Errorf("%s: %s (-full +glance):\n%s", d, data, diff)
			}
		}
	})
}

func keysOf(fields map[string][]string) []string {
	return slices.Sorted(maps.Keys(fields))
}
