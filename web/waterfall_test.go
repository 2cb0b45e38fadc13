package web

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestReasoningThatWasSeenIsNotCountedAsAnswerToo(t *testing.T) {
	for name, test := range map[string]struct {
		set  func(*exchange.Exchange)
		want map[kind]string
	}{
		"visible": {func(x *exchange.Exchange) {
			x.FirstReasoning, x.AnswerStart = span(1000), span(3000)
		}, map[kind]string{reasoning: "200 tokens", decode: "60 tokens"}},
		"visible, seen as no phase": {func(*exchange.Exchange) {}, map[kind]string{decode: "260 tokens"}},
		"visible, uncounted": {func(x *exchange.Exchange) {
			x.FirstReasoning, x.AnswerStart, x.ReasoningTokens = span(1000), span(3000), nil
		}, map[kind]string{}},
		"hidden":  {func(x *exchange.Exchange) { x.Reasoning = "hidden" }, map[kind]string{hidden: "200 tokens", decode: "60 tokens"}},
		"summary": {func(x *exchange.Exchange) { x.Reasoning = "summary" }, map[kind]string{hidden: "200 tokens", decode: "60 tokens"}},
	} {
		x := seeded("x", time.Second, func(x *exchange.Exchange) {
			x.Reasoning, x.ReasoningTokens = "visible", new(int64(200))
			answered(x, 1000, 4000, 260)
			x.AnswerStart = span(1500)
			test.set(x)
		})
		got := map[kind]string{}
		for _, p := range phases(x, *x.End) {
			if a := aside(english, x, p.Kind); a != "" && p.Kind != network && p.Kind != wait {
				got[p.Kind] = a
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAStallHasALineOfItsOwn(t *testing.T) {
	x := seeded("x", time.Second, func(x *exchange.Exchange) { answered(x, 1400, 21_900, 402) })
	before := len(waterfallOf(english, x, noon).Phases)
	x.Stalls, x.StallTime = new(int64(2)), span(14_300)
	all := waterfallOf(english, x, noon).Phases
	want := waterfallPhase{Word: "Stalled, in the above", Aside: "2 silences", Took: "14.300"}
	if diff := cmp.Diff(want, all[len(all)-1]); diff != "" || len(all) != before+1 {
		t.Errorf("%d lines instead of %d; the last (-want +got):\n%s", len(all), before, diff)
	}
}

func TestWhatIsKnownOfOneUnderWayIsDrawn(t *testing.T) {
	x := &exchange.Exchange{StartedAt: noon.Add(-3 * time.Second), Outcome: exchange.Open}
	x.GotConn, x.Network, x.FirstByte = span(5), span(50), span(900)
	w := waterfallOf(english, x, noon)
	if len(w.Phases) != 2 || w.Took != "3.000" || len(w.Marks) != 1 || w.Marks[0].At != "0.900" {
		t.Errorf("%+v", w)
	}
	x.Outcome = exchange.Interrupted
	if w := waterfallOf(english, x, noon); w != nil {
		t.Errorf("of one that ended unseen: %+v", w)
	}
	x.Outcome, x.GotConn = exchange.Open, nil
	if w := waterfallOf(english, x, noon); w != nil {
		t.Errorf("of one that has only begun: %+v", w)
	}
}

func TestWhatTheServerDidNotTellIsNotPutIntoItsMouth(t *testing.T) {
	x := seeded("x", time.Second, func(x *exchange.Exchange) {
		answered(x, 1000, 4000, 260)
		x.ServerPrefill, x.ServerSource = span(300), "timings"
	})
	if got, want := aside(english, x, prefill), "as the server says"; got != want {
		t.Errorf("prefill: got %q, want %q", got, want)
	}
	if got, want := aside(english, x, queue), "queue and fixed start together"; got != want {
		t.Errorf("queue: got %q, want %q", got, want)
	}
	x.Floor = span(200)
	if got, want := aside(english, x, queue), "estimated"; got != want {
		t.Errorf("queue over a known start: got %q, want %q", got, want)
	}
	x.ServerQueue = span(20)
	if got, want := aside(english, x, queue), "as the server says"; got != want {
		t.Errorf("queue of the server's: got %q, want %q", got, want)
	}
}
