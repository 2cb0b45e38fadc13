package simulator

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

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
