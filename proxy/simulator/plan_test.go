package simulator

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"pgregory.net/rapid"
)

func luck() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func TestPlanHasAsManyTokensAsAskedFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		how := Behaviour{
			Reasoning:       rapid.SampledFrom([]Reasoning{"", Hidden, Summary, Visible}).Draw(t, "reasoning"),
			ReasoningTokens: rapid.IntRange(0, 400).Draw(t, "thought"),
			Output:          rapid.IntRange(0, 100).Draw(t, "output"),
			ToolRounds:      rapid.IntRange(0, 1).Draw(t, "rounds"),
			ToolTokens:      rapid.IntRange(0, 100).Draw(t, "call"),
			Whole:           rapid.Bool().Draw(t, "whole"),
		}
		limit := rapid.IntRange(0, 500).Draw(t, "limit")
		p := newPlan(&request{tool: "run", limit: limit}, &how, "1", luck())
		want := how.Output
		if how.ToolRounds > 0 {
			want = max(4, how.ToolTokens)
		}
		if how.Reasoning != "" {
			want += how.ReasoningTokens
		}
		if short := limit > 0 && limit < want; short != (p.finish == cutShort) {
			t.Fatalf("limit %d, %d tokens wanted, finish %d", limit, want, p.finish)
		} else if short {
			want = limit
		}
		got := 0
		for i, it := range p.items {
			got += len(it.pieces)
			if it.index != i || len(it.pieces) == 0 {
				t.Fatalf("item %d has index %d and %d pieces", i, it.index, len(it.pieces))
			}
		}
		if got != want {
			t.Fatalf("%d tokens, want %d", got, want)
		}
	})
}

func TestArgumentsAreAHarmlessCommandOfAnyLength(t *testing.T) {
	for _, how := range []Behaviour{{}, {ToolTokens: 4}, {ToolTokens: 5}, {ToolTokens: 90}, {ToolTokens: 90, Whole: true}} {
		var call struct{ Cmd string }
		if err := json.Unmarshal([]byte(strings.Join(arguments(&how, luck()), "")), &call); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(call.Cmd, "echo hello") || len(strings.Fields(call.Cmd)) != max(4, how.ToolTokens)-2 {
			t.Errorf("%d tokens: %q", how.ToolTokens, call.Cmd)
		}
	}
}

func TestTextIsCountedAsItIsGenerated(t *testing.T) {
	if got := tokens(len(strings.Join(words(1000, luck()), ""))); got != 1000 {
		t.Errorf("1,000 words are %d tokens", got)
	}
}

func TestCallCutShortIsNoBrokenJSON(t *testing.T) {
	each(t, one(plain), func(b *bench, a api) {
		ask := a.of("hello", a.tools(), object{"stream": false, "max_tokens": 3})
		body := b.post(a.path, ask, "tools=1").body
		if got := body.Get("content.0.input").Raw; a.name == "messages" && got != "{}" {
			b.t.Errorf("input %s", got)
		}
		if got := body.Get("choices.0.message.tool_calls.0.function.arguments").Str; a.name == "chat" && got != `{"cmd":"echo hello` {
			b.t.Errorf("arguments %s", got)
		}
	})
}

func TestOfferedToolIsTheOneOfCodexElseTheFirstFunction(t *testing.T) {
	for tools, want := range map[string]string{
		``:                                       "",
		`[]`:                                     "",
		`[{"type":"web_search"}]`:                "",
		`[{"type":"custom","name":"patch"}]`:     "",
		`[{"name":"a"},{"name":"exec_command"}]`: "exec_command",
		`[{"type":"function","name":"a"},{"type":"function","name":"b"}]`: "a",
		`[{"type":"function","function":{"name":"c"}}]`:                   "c",
	} {
		if diff := cmp.Diff(want, offered(gjson.Parse(tools))); diff != "" {
			t.Errorf("%s: %s", tools, diff)
		}
	}
}
