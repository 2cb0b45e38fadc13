package dialect

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestAChunkCostsNoAllocation(t *testing.T) {
	for _, tt := range []struct {
		dialect exchange.Dialect
		data    string
	}{
		{exchange.Chat, `{"id":"c","model":"m","service_tier":"default","choices":[{"index":0,"delta":{"content":"word"},"finish_reason":null}],"usage":null}`},
		{exchange.Chat, `{"id":"c","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"word"}}]}}]}`},
		{exchange.Completions, `{"id":"c","model":"m","choices":[{"index":0,"text":"word"}]}`},
		{exchange.Responses, `{"type":"response.output_text.delta","output_index":1,"delta":"word"}`},
		{exchange.Messages, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"word"}}`},
		{exchange.Ollama, `{"model":"m","message":{"role":"assistant","content":"word"},"done":false}`},
	} {
		t.Run(string(tt.dialect), func(t *testing.T) {
			r, data := New(tt.dialect), []byte(tt.data)
			if e := r.Message("", data); e.AnswerBytes != len("word") {
				t.Fatalf("read as %+v", e)
			}
			if allocs := testing.AllocsPerRun(100, func() { r.Message("", data) }); allocs != 0 {
				t.Errorf("%v allocations a chunk", allocs)
			}
		})
	}
}

func TestNestingToTheLimitOfTheStackIsRefused(t *testing.T) {
	for _, bomb := range []string{"[", `{"a":`, `[{"a":["\\",`} {
		data := bytes.Repeat([]byte(bomb), (8<<20)/len(bomb))
		for _, d := range []exchange.Dialect{exchange.Chat, exchange.Responses, exchange.Messages, exchange.Ollama, exchange.Other} {
			r := New(d)
			r.Body(data)
			e := r.Message("", data)
			if want := d != exchange.Other; e.Unread != want {
				t.Errorf("%s: unread %v, want %v", d, e.Unread, want)
			}
		}
	}
}

func TestALongMessageIsReadWhateverItsStringsHold(t *testing.T) {
	text := strings.Repeat(`[{\"\\`, safeLen)
	data := fmt.Sprintf(`{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"%s"}]}],"usage":{"input_tokens":12,"output_tokens":5}}}`, text)
	r := New(exchange.Responses)
	e := r.Message("", []byte(data))
	if want := 4 * safeLen; e.Unread || e.AnswerBytes != want {
		t.Errorf("%+v, want %d bytes of text", e, want)
	}
	if a := r.Answer(); a.End != Completed || a.Usage.Output == nil || *a.Usage.Output != 5 {
		t.Errorf("%+v", a)
	}
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	long := strings.Repeat("ä", 100<<10)
	for _, tt := range []struct {
		dialect exchange.Dialect
		data    string
	}{
		{exchange.Chat, `{"id":"%[1]s","model":"%[1]s","error":{"message":"%[1]s","type":"%[1]s","code":"%[1]s","param":"%[1]s"},"usage":{"x":"%[1]s"}}`},
		{exchange.Responses, `{"type":"response.failed","response":{"id":"%[1]s","model":"%[1]s","status":"%[1]s","error":{"code":"%[1]s","message":"%[1]s"},"usage":{"x":"%[1]s"}}}`},
		{exchange.Messages, `{"type":"message_start","message":{"id":"%[1]s","model":"%[1]s","usage":{"x":"%[1]s"}}}`},
		{exchange.Ollama, `{"model":"%[1]s","done":true,"done_reason":"%[1]s","error":"%[1]s"}`},
	} {
		t.Run(string(tt.dialect), func(t *testing.T) {
			r := New(tt.dialect)
			r.Message("", fmt.Appendf(nil, tt.data, long))
			bounded(t, r.Answer())
			if r.Answer().Model == "" && r.Answer().Error == nil {
				t.Error("nothing was read")
			}
		})
	}
}

func TestAMergedUsageHasFewFields(t *testing.T) {
	r := New(exchange.Messages)
	for i := range 10 * maxFields {
		r.Message("", fmt.Appendf(nil, `{"type":"message_delta","delta":{},"usage":{"field_%d":1,"output_tokens":%d}}`, i, i))
	}
	if n := strings.Count(r.Answer().Usage.Raw, ":"); n != maxFields {
		t.Errorf("%d fields", n)
	}
	if got := r.Answer().Usage.Output; got == nil || *got != 10*maxFields-1 {
		t.Errorf("output tokens %v", got)
	}
}

func TestOpenBlocksAreFew(t *testing.T) {
	m := &messages{}
	for i := range 10 * maxBlocks {
		m.Message("", fmt.Appendf(nil, `{"type":"content_block_start","index":%d,"content_block":{"type":"server_tool_use","name":"n"}}`, i))
	}
	if len(m.blocks) > maxBlocks {
		t.Errorf("%d blocks", len(m.blocks))
	}
}

func TestAReasonSaysHowAnAnswerEnded(t *testing.T) {
	want := map[string]End{
		"": NoEnd, "stop": Completed, "tool_calls": Completed, "content_filter": Completed, "end_turn": Completed,
		"refusal": Completed, "pause_turn": Completed, "length": CutShort, "max_tokens": CutShort,
		"model_length": CutShort, "model_context_window_exceeded": CutShort, "error": EndedInError,
	}
	got := map[string]End{}
	for reason := range want {
		got[reason] = endOf(reason)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOnlyWholeCountsAreCounts(t *testing.T) {
	for value, want := range map[string]string{
		`12`: "12", `0`: "0", `12.9`: "12", `-1`: "nil", `"12"`: "nil", `true`: "nil", `null`: "nil",
		`{}`: "nil", `1e300`: "nil",
	} {
		r := New(exchange.Chat)
		r.Body([]byte(`{"usage":{"prompt_tokens":` + value + `,"completion_tokens":1}}`))
		got := "nil"
		if n := r.Answer().Usage.Prompt; n != nil {
			got = fmt.Sprint(*n)
		}
		if got != want {
			t.Errorf("%s read as %s, want %s", value, got, want)
		}
	}
}

func TestTimesThatCannotBeAreNone(t *testing.T) {
	for _, value := range []string{`-0.5`, `"1"`, `1e300`, `null`, `{}`} {
		r := New(exchange.Chat)
		r.Body([]byte(`{"time_info":{"queue_time":` + value + `}}`))
		if got := r.Answer().Timings; got != (exchange.Server{}) {
			t.Errorf("%s read as %+v", value, got)
		}
	}
}

func TestAPathNamesItsFormat(t *testing.T) {
	for path, want := range map[string]exchange.Dialect{
		"/v1/responses":                     exchange.Responses,
		"/backend-api/codex/responses/":     exchange.Responses,
		"/v1/chat/completions":              exchange.Chat,
		"/openai/deployments/x/completions": exchange.Completions,
		"/v1/messages":                      exchange.Messages,
		"/v1/embeddings":                    exchange.Embeddings,
		"/api/chat":                         exchange.Ollama,
		"/api/generate":                     exchange.Ollama,
		"/v1/responses/resp_1":              exchange.Other,
		"/v1/messages/count_tokens":         exchange.Other,
		"/v1/models":                        exchange.Other,
		"/":                                 exchange.Other,
		"":                                  exchange.Other,
	} {
		if got := Detect(path); got != want {
			t.Errorf("%q is %s, want %s", path, got, want)
		}
	}
}

func BenchmarkMessage(b *testing.B) {
	for _, bb := range []struct {
		name    string
		dialect exchange.Dialect
		data    string
	}{
		{"chat", exchange.Chat, `{"id":"chatcmpl-123456789","object":"chat.completion.chunk","created":1790000000,"model":"tern-2","system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}],"usage":null}`},
		{"chat with an escape", exchange.Chat, `{"id":"c","model":"tern-2","choices":[{"index":0,"delta":{"content":"\n"},"finish_reason":null}]}`},
		{"responses", exchange.Responses, `{"type":"response.output_text.delta","sequence_number":17,"item_id":"msg_68c2e7054ae4","output_index":7,"content_index":0,"delta":" word","logprobs":[],"obfuscation":"inaWxetKi"}`},
		{"messages", exchange.Messages, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" word"}}`},
		{"completed, 3 MiB", exchange.Responses, `{"type":"response.completed","response":{"status":"completed","output":[{"content":[{"text":"` + strings.Repeat("word ", 3<<20/5) + `"}]}],"usage":{"output_tokens":5}}}`},
	} {
		b.Run(bb.name, func(b *testing.B) {
			r, data := New(bb.dialect), []byte(bb.data)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				r.Message("", data)
			}
		})
	}
}
