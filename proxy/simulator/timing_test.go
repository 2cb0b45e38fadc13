package simulator

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// plain answers 500 prompt tokens after 60 + 40 + 500 ms, then 10 tokens in 200.
var plain = Behaviour{Network: 60 * ms, Floor: 40 * ms, Prefill: ms, TPOT: 20 * ms, Output: 10}

func TestFirstTokenComesAfterNetworkFloorAndPrefillExactly(t *testing.T) {
	each(t, one(plain), func(b *bench, a api) {
		got := b.post(a.path, a.of(text(500)), "")
		shown := a.shown(got.messages)
		if len(shown) != 10 {
			b.t.Fatalf("%d messages show text, want 10", len(shown))
		}
		for i, m := range shown {
			equal(b.t, "token", m.at, (600+20*time.Duration(i))*ms)
		}
	})
}

func TestTotalIsFirstTokenPlusTokensTimesTPOT(t *testing.T) {
	each(t, one(plain), func(b *bench, a api) {
		got := b.post(a.path, a.of(text(500)), "")
		last := got.messages[len(got.messages)-1]
		if !a.done(last) {
			b.t.Errorf("the stream ends with %q", last.data)
		}
		equal(b.t, "terminal message", last.at, 800*ms)
		equal(b.t, "end", got.end, 800*ms)
		equal(b.t, "end of the other", b.post(a.path, a.of(text(500), object{"stream": false}), "uncached").end, 800*ms)
	})
}

func TestTruthTellsEachPhase(t *testing.T) {
	each(t, one(plain), func(b *bench, a api) {
		got := b.post(a.path, a.of(text(500)), "reasoning=hidden:50, stall=3s, at=4")
		want := Truth{
			RequestID: got.header.Get("X-Request-Id"), Model: "m", Streamed: true, Status: 200, Outcome: "ok",
			PromptTokens: 500, OutputTokens: 60, ReasoningTokens: 50, Reasoning: Hidden,
			Network: 60 * ms, Floor: 40 * ms, Prefill: 500 * ms, Decode: 1200 * ms, Hidden: 1000 * ms, Stall: 3000 * ms,
			Span: 4180 * ms, Total: 4800 * ms,
		}
		if diff := cmp.Diff(want, b.truth(), cmpopts.IgnoreFields(Truth{}, "Started", "ResponseID", "Dialect")); diff != "" {
			b.t.Error(diff)
		}
	})
}

func TestPrefillCostsMoreTheLongerTheContext(t *testing.T) {
	how := Behaviour{Prefill: ms, PrefillGrowth: 0.1}
	// The tokens of a prompt of 2,000 cost 1 ms at its beginning, 1.2 ms at its end.
	for tokens, want := range map[int]time.Duration{0: 0, 1000: 1050 * ms, 2000: 2200 * ms} {
		equal(t, "cost", how.cost(tokens), want)
	}
}

func TestHiddenReasoningDelaysTheFirstVisibleToken(t *testing.T) {
	each(t, one(plain), func(b *bench, a api) {
		got := b.post(a.path, a.of(text(500)), "reasoning=hidden:100")
		equal(b.t, "first visible token", a.shown(got.messages)[0].at, 2600*ms)
		equal(b.t, "hidden decode", b.truth().Hidden, 2000*ms)
	})
}

// thoughts picks what a message shows of reasoning.
func thoughtOf(m message) string {
	for _, path := range []string{"choices.0.delta.reasoning_content", "choices.0.delta.reasoning_details.0.summary", "delta.thinking"} {
		if s := m.get(path).Str; s != "" {
			return s
		}
	}
	if m.name == "response.reasoning_text.delta" || m.name == "response.reasoning_summary_text.delta" {
		return m.get("delta").Str
	}
	return ""
}

func TestReasoningShowsWhatItIsSetToShow(t *testing.T) {
	for value, want := range map[string][]time.Duration{
		"reasoning=hidden:400":  nil,
		"reasoning=summary:400": {600*ms + 159*20*ms, 600*ms + 319*20*ms, 600*ms + 399*20*ms},
		"reasoning=visible:3":   {600 * ms, 620 * ms, 640 * ms},
	} {
		t.Run(value, func(t *testing.T) {
			each(t, one(plain), func(b *bench, a api) {
				if a.name == "completions" {
					return // it has no place for reasoning
				}
				var at []time.Duration
				for _, m := range b.post(a.path, a.of(text(500)), value).messages {
					if thoughtOf(m) != "" {
						at = append(at, m.at)
					}
				}
				if diff := cmp.Diff(want, at); diff != "" {
					b.t.Error(diff)
				}
			})
		})
	}
}

func TestSpeculationBringsSeveralTokensAtOnceAtTheSameRate(t *testing.T) {
	each(t, one(plain), func(b *bench, a api) {
		got := b.post(a.path, a.of(text(500)), "chunk=4, output=200")
		shown := a.shown(got.messages)
		if n := len(shown); n < 50 || n > 120 {
			b.t.Errorf("200 tokens in %d messages, want about 80", n)
		}
		if n := len(strings.Fields(a.spoken(got.messages))); n != 200 {
			b.t.Errorf("%d words, want 200", n)
		}
		equal(b.t, "first token", shown[0].at, 600*ms)
		equal(b.t, "end", got.end, 4600*ms)
	})
}

// tools offers one tool in the shape of an API.
func (a api) tools() object {
	if a.name == "chat" {
		return object{"tools": []object{{"type": "function", "function": object{"name": "run"}}}}
	}
	return object{"tools": []object{{"type": "function", "name": "run"}}}
}

func TestWholeCallComesWhenAllOfItIsGenerated(t *testing.T) {
	for _, a := range apis {
		if a.name == "completions" {
			continue // it has no tools
		}
		t.Run(a.name, func(t *testing.T) {
			inBubble(t, one(plain), func(b *bench) {
				got := b.post(a.path, a.of(text(10), a.tools()), "prefill=0s, tools=1, call=50, whole")
				shown := a.shown(got.messages)
				if len(shown) != 1 {
					t.Fatalf("the call came in %d pieces", len(shown))
				}
				equal(t, "call", shown[0].at, 100*ms+49*20*ms)
				i := slices.Index(got.messages, shown[0])
				equal(t, "its opening", got.messages[i-1].at, shown[0].at)
				equal(t, "end", got.end, 1100*ms)
			})
		})
	}
}

func TestStallFallsAfterSoManyTokensOfTheAnswer(t *testing.T) {
	for value, quiet := range map[string]int{"stall=3s": 5, "stall=3s, at=2": 2, "stall=3s, at=0": 0} {
		t.Run(value, func(t *testing.T) {
			each(t, one(plain), func(b *bench, a api) {
				shown := a.shown(b.post(a.path, a.of(text(500)), value).messages)
				for i, m := range shown {
					want := (600 + 20*time.Duration(i)) * ms
					if i >= quiet {
						want += 3 * time.Second
					}
					equal(b.t, "token", m.at, want)
				}
			})
		})
	}
}

func TestJitterIsTheSameForTheSameSeedAndKeepsTheMean(t *testing.T) {
	arrivals := func(seed uint64) (at []time.Duration) {
		c := one(Behaviour{TPOT: 20 * ms, Jitter: 0.5, Output: 1000})
		c.Seed = seed
		inBubble(t, c, func(b *bench) {
			for _, m := range apis[0].shown(b.post(apis[0].path, apis[0].of("hello"), "").messages) {
				at = append(at, m.at)
			}
		})
		return at
	}
	first := arrivals(1)
	if !slices.Equal(first, arrivals(1)) {
		t.Error("the same seed gave other instants")
	}
	if slices.Equal(first, arrivals(2)) {
		t.Error("another seed gave the same instants")
	}
	if mean := first[999] / 999; mean < 19*ms || mean > 21*ms {
		t.Errorf("mean of %v a token, want about 20 ms", mean)
	}
}
