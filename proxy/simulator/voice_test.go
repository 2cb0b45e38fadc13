package simulator

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// usages of one answer of 500 prompt tokens, 384 of them cached, and 60 output
// tokens, 50 of them reasoning, as each API words it.
var usages = map[string]struct{ path, want string }{
	"responses":   {"response.usage", `{"input_tokens":500,"input_tokens_details":{"cached_tokens":384},"output_tokens":60,"output_tokens_details":{"reasoning_tokens":50},"total_tokens":560}`},
	"chat":        {"usage", `{"completion_tokens":60,"completion_tokens_details":{"reasoning_tokens":50},"prompt_tokens":500,"prompt_tokens_details":{"cached_tokens":384},"total_tokens":560}`},
	"completions": {"usage", `{"completion_tokens":60,"completion_tokens_details":{"reasoning_tokens":50},"prompt_tokens":500,"prompt_tokens_details":{"cached_tokens":384},"total_tokens":560}`},
	"messages":    {"usage", `{"cache_creation_input_tokens":0,"cache_read_input_tokens":384,"input_tokens":116,"output_tokens":60}`},
}

func TestUsageIsToldAsEachVendorTellsIt(t *testing.T) {
	each(t, one(plain), func(b *bench, a api) {
		b.post(a.path, a.of(text(500)), "")
		asked := a.of(text(500), object{"stream_options": object{"include_usage": true}})
		var told gjson.Result
		for _, e := range events(b.post(a.path, asked, "reasoning=hidden:50").messages) {
			if u := e.Get(usages[a.name].path); u.IsObject() {
				told = u
			}
		}
		if told.Raw != usages[a.name].want {
			b.t.Errorf("stream tells %s", told.Raw)
		}
		whole := b.post(a.path, a.of(text(500), object{"stream": false}), "reasoning=hidden:50").body.Get("usage")
		if whole.Raw != usages[a.name].want {
			b.t.Errorf("body tells %s", whole.Raw)
		}
	})
}

func TestChatStreamTellsNoUsageUnlessAsked(t *testing.T) {
	each(t, one(plain), func(b *bench, a api) {
		if a.name != "chat" && a.name != "completions" {
			return
		}
		for _, m := range b.post(a.path, a.of(text(500)), "").messages {
			if strings.Contains(m.data, "usage") {
				b.t.Errorf("told in %s", m.data)
			}
		}
	})
}

func TestPromptMarkedForTheCacheIsWrittenToItOnce(t *testing.T) {
	inBubble(t, one(plain), func(b *bench) {
		marked := object{"cache_control": object{"type": "ephemeral"}, "stream": false}
		messages := apis[3]
		for _, want := range []string{
			`{"cache_creation_input_tokens":384,"cache_read_input_tokens":0,"input_tokens":116,"output_tokens":10}`,
			`{"cache_creation_input_tokens":0,"cache_read_input_tokens":384,"input_tokens":116,"output_tokens":10}`,
		} {
			got := b.post(messages.path, messages.of(text(500), marked), "").body.Get("usage").Raw
			if got != want {
				b.t.Errorf("usage %s, want %s", got, want)
			}
		}
	})
}

func TestTimingsFollowLlamaServer(t *testing.T) {
	want := `{"cache_n":384,"predicted_ms":180,"predicted_n":10,"predicted_per_second":50,"predicted_per_token_ms":20,` +
		`"prompt_ms":116,"prompt_n":116,"prompt_per_second":1000,"prompt_per_token_ms":1}`
	each(t, one(plain), func(b *bench, a api) {
		b.post(a.path, a.of(text(500)), "")
		var told []string
		for _, e := range events(b.post(a.path, a.of(text(500)), "timings=llama").messages) {
			if e.Get("timings").Exists() {
				told = append(told, e.Get("timings").Raw)
			}
		}
		expected := []string{want}
		if a.name == "messages" {
			expected = nil // llama-server has no place for them there
		}
		if diff := cmp.Diff(expected, told); diff != "" {
			b.t.Error(diff)
		}
	})
}

func TestTimingsOfNothingAreStillJSON(t *testing.T) {
	if told := encode(LlamaTimings.tell(&Truth{})); !json.Valid(told) {
		t.Errorf("timings %q", told)
	}
}

func TestStreamAndBodySayTheSame(t *testing.T) {
	for _, knobs := range []string{"reasoning=visible:20", "reasoning=summary:200", "tools=1, call=30", "output=0"} {
		t.Run(knobs, func(t *testing.T) {
			each(t, one(plain), func(b *bench, a api) {
				ask := a.of("hello", a.tools())
				streamed := b.post(a.path, ask, knobs).messages
				ask["stream"] = false
				body := b.post(a.path, ask, knobs).body
				thought := ""
				for _, m := range streamed {
					thought += thoughtOf(m)
				}
				if diff := cmp.Diff(a.spoken(streamed), said(body, spokenPaths)); diff != "" {
					b.t.Error(diff)
				}
				if diff := cmp.Diff(thought, said(body, thoughtPaths)); diff != "" && a.name != "completions" {
					b.t.Error(diff)
				}
			})
		})
	}
}

// Where a body of any API has its text or arguments, and its reasoning.
var (
	spokenPaths = []string{
		"output.#(type==message).content.0.text", "output.#(type==function_call).arguments",
		"choices.0.text", "choices.0.message.content", "choices.0.message.tool_calls.0.function.arguments",
		"content.#(type==text).text", "content.#(type==tool_use).input",
	}
	thoughtPaths = []string{
		"output.#(type==reasoning).content.0.text", "output.#(type==reasoning).summary.#.text",
		"choices.0.message.reasoning_content", "choices.0.message.reasoning_details.0.summary",
		"content.#(type==thinking).thinking",
	}
)

// said is all that a body has at these paths.
func said(body gjson.Result, paths []string) string {
	var b strings.Builder
	for _, path := range paths {
		for _, s := range body.Get(path).Array() {
			b.WriteString(s.String())
		}
	}
	return b.String()
}

func TestResponsesEventsAreNumberedAndItemsOpenAndClose(t *testing.T) {
	inBubble(t, one(plain), func(b *bench) {
		a := apis[0]
		got := b.post(a.path, a.of("hello", a.tools()), "reasoning=summary:400, tools=1, call=8")
		var kinds []string
		for i, e := range events(got.messages) {
			if n := e.Get("sequence_number").Int(); n != int64(i) {
				b.t.Errorf("event %d has number %d", i, n)
			}
			if kind := e.Get("type").Str; !strings.HasSuffix(kind, "delta") {
				kinds = append(kinds, fmt.Sprint(strings.TrimPrefix(kind, "response."), e.Get("output_index")))
			}
		}
		want := []string{"created", "in_progress", "output_item.added0"}
		for range 3 {
			want = append(want, "reasoning_summary_part.added0", "reasoning_summary_text.done0", "reasoning_summary_part.done0")
		}
		want = append(want, "output_item.done0", "output_item.added1", "function_call_arguments.done1", "output_item.done1", "completed")
		if diff := cmp.Diff(want, kinds); diff != "" {
			b.t.Error(diff)
		}
	})
}

func TestMessagesEventsFrameEachBlock(t *testing.T) {
	inBubble(t, one(plain), func(b *bench) {
		a := apis[3]
		var got []string
		for _, m := range b.post(a.path, a.of("hello", a.tools()), "reasoning=hidden:5, tools=1").messages {
			if m.get("type").Str != m.name {
				b.t.Errorf("event %s has type %s", m.name, m.get("type"))
			}
			got = append(got, strings.TrimSpace(m.name+" "+m.get("content_block.type").Str+m.get("delta.type").Str+m.get("delta.stop_reason").Str))
		}
		want := []string{
			"message_start", "content_block_start thinking", "content_block_delta signature_delta", "content_block_stop",
			"content_block_start tool_use", "content_block_delta input_json_delta", "content_block_delta input_json_delta",
			"content_block_delta input_json_delta", "content_block_delta input_json_delta", "content_block_stop",
			"message_delta tool_use", "message_stop",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			b.t.Error(diff)
		}
	})
}

func TestAnswerStopsAtTheLimitAndSaysSo(t *testing.T) {
	said := map[string]string{
		"responses": "incomplete", "chat": "length", "completions": "length", "messages": "max_tokens",
	}
	each(t, one(plain), func(b *bench, a api) {
		for _, limit := range []string{"max_output_tokens", "max_tokens", "max_completion_tokens"} {
			got := b.post(a.path, a.of("hello", object{limit: 7}), "reasoning=hidden:4").messages
			if n := len(a.shown(got)); n != 3 {
				b.t.Errorf("%s: %d tokens shown, want 3", limit, n)
			}
			if all := fmt.Sprint(got); !strings.Contains(all, said[a.name]) {
				b.t.Errorf("%s: %q is not said", limit, said[a.name])
			}
		}
		if b.told()[0].Outcome != "incomplete" {
			b.t.Errorf("truth tells %s", b.told()[0].Outcome)
		}
	})
}

func TestResponseIDIsThatOfTheTruth(t *testing.T) {
	each(t, one(plain), func(b *bench, a api) {
		first := gjson.Parse(b.post(a.path, a.of("hello"), "").messages[0].data)
		got := first.Get("response.id").Str + first.Get("id").Str + first.Get("message.id").Str
		if want := b.truth().ResponseID; got != want || want == "" {
			b.t.Errorf("response id %q, truth has %q", got, want)
		}
	})
}
