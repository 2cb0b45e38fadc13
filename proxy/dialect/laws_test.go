package dialect

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestTheBytesOfOutputAreThoseOfTheTextWithoutItsEscapes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		e := New(exchange.Chat).Message("", fmt.Appendf(nil, `{"choices":[{"delta":{"content":%s}}]}`, quoted))
		if e.AnswerBytes != len(text) || (e.Kind == Text) != (text != "") {
			t.Fatalf("%q read as %+v", text, e)
		}
	})
}

func TestTheLastUsageThatSaysAnythingWins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := New(exchange.Chat)
		var want string
		for range rapid.IntRange(0, 6).Draw(t, "chunks") {
			usage := rapid.SampledFrom([]string{"null", "{}", "[]", `"x"`, "7", "counts"}).Draw(t, "usage")
			if usage == "counts" {
				usage = fmt.Sprintf(`{"prompt_tokens":%d}`, rapid.IntRange(0, 9).Draw(t, "prompt"))
				want = usage
			}
			r.Message("", fmt.Appendf(nil, `{"choices":[],"usage":%s}`, usage))
		}
		if got := r.Answer().Usage.Raw; got != want {
			t.Fatalf("usage %q, want %q", got, want)
		}
	})
}

func TestAMergedUsageHoldsTheLastValueOfEachKey(t *testing.T) {
	field := rapid.SampledFrom([]string{"input_tokens", "cache_read_input_tokens", "output_tokens", "service_tier", `a"b`})
	value := rapid.SampledFrom([]any{nil, 0.0, 7.0, "standard", map[string]any{"x": 1.0}})
	rapid.Check(t, func(t *rapid.T) {
		r := New(exchange.Messages)
		want := map[string]any{}
		for range rapid.IntRange(0, 5).Draw(t, "events") {
			usage := rapid.MapOf(field, value).Draw(t, "usage")
			for k, v := range usage {
				if v != nil {
					want[k] = v
				}
			}
			data, err := json.Marshal(map[string]any{"type": "message_delta", "usage": usage})
			if err != nil {
				t.Fatal(err)
			}
			r.Message("", data)
		}
		got := map[string]any{}
		if raw := r.Answer().Usage.Raw; raw != "" {
			if err := json.Unmarshal([]byte(raw), &got); err != nil {
				t.Fatalf("%q: %v", raw, err)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

// Whether an item comes in pieces, whole, or both, what it says counts once.
func TestAnItemThatComesTwiceCountsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := New(exchange.Responses)
		want, got := 0, 0
		take := func(format string, args ...any) {
			e := r.Message("", fmt.Appendf(nil, format, args...))
			got += e.AnswerBytes
		}
		for i := range rapid.IntRange(1, 5).Draw(t, "items") {
			words := rapid.IntRange(0, 3).Draw(t, "pieces")
			text := ""
			for range words {
				take(`{"type":"response.output_text.delta","output_index":%d,"delta":"word "}`, i)
				text += "word "
			}
			if words == 0 {
				text = rapid.SampledFrom([]string{"", "all at once"}).Draw(t, "whole")
			}
			want += len(text)
			take(`{"type":"response.output_text.done","output_index":%d,"text":%q}`, i, text)
			take(`{"type":"response.output_item.done","output_index":%d,"item":{"type":"message","content":[{"type":"output_text","text":%q}]}}`, i, text)
		}
		if got != want {
			t.Fatalf("%d bytes counted, want %d", got, want)
		}
	})
}

func TestSeveralChoicesEndWithTheLastOfThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "choices")
		r := New(exchange.Chat)
		for i := range n {
			r.Message("", fmt.Appendf(nil, `{"choices":[{"index":%d,"delta":{"role":"assistant"}}]}`, i))
		}
		order := rapid.Permutation(indexes(n)).Draw(t, "order")
		for done, i := range order {
			e := r.Message("", fmt.Appendf(nil, `{"choices":[{"index":%d,"delta":{},"finish_reason":"stop"}]}`, i))
			if last := done == n-1; e.Terminal != last || (r.Answer().End == Completed) != last {
				t.Fatalf("%d of %d choices finished: %+v, end %v", done+1, n, e, r.Answer().End)
			}
		}
		if r.Answer().Choices != n {
			t.Fatalf("%d choices, want %d", r.Answer().Choices, n)
		}
	})
}

func indexes(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}
