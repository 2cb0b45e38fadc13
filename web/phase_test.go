package web

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// inMS is phases as pairs of a kind and milliseconds.
func inMS(ps []phase) []any {
	var all []any
	for _, p := range ps {
		all = append(all, string(p.Kind), p.Length.Milliseconds())
	}
	return all
}

func TestPhasesAreTheFiguresInOrder(t *testing.T) {
	tests := []struct {
		name string
		set  func(*exchange.Exchange)
		want []any
	}{
		{"a plain stream waits and decodes", func(*exchange.Exchange) {},
			[]any{"network", int64(100), "wait", int64(900), "decode", int64(3000), "tail", int64(50)}},
		{"prefill alone known leaves the rest a wait", func(x *exchange.Exchange) { x.Prefill = span(600) },
			[]any{"network", int64(100), "wait", int64(300), "prefill", int64(600), "decode", int64(3000), "tail", int64(50)}},
		{"prefill and queue known leave the fixed start", func(x *exchange.Exchange) { x.Prefill, x.Queue = span(600), span(200) },
			[]any{"network", int64(100), "floor", int64(100), "queue", int64(200), "prefill", int64(600), "decode", int64(3000), "tail", int64(50)}},
		{"a prefill longer than the wait is cut", func(x *exchange.Exchange) { x.Prefill = span(5000) },
			[]any{"network", int64(100), "prefill", int64(900), "decode", int64(3000), "tail", int64(50)}},
		{"hidden reasoning is no wait", func(x *exchange.Exchange) { x.Reasoning, x.HiddenDecode = "hidden", span(700) },
			[]any{"network", int64(100), "wait", int64(200), "hidden", int64(700), "decode", int64(3000), "tail", int64(50)}},
		{"a summary shows that reasoning was under way", func(x *exchange.Exchange) { x.Reasoning, x.AnswerStart = "summary", span(2500) },
			[]any{"network", int64(100), "wait", int64(900), "hidden", int64(1500), "decode", int64(1500), "tail", int64(50)}},
		{"an item that was opened shows it too", func(x *exchange.Exchange) { x.Reasoning, x.GenerationStarted = "hidden", span(300) },
			[]any{"network", int64(100), "wait", int64(200), "hidden", int64(700), "decode", int64(3000), "tail", int64(50)}},
		{"reasoning without an answer was all hidden", func(x *exchange.Exchange) { x.Reasoning, x.AnswerStart = "summary", nil },
			[]any{"network", int64(100), "wait", int64(900), "hidden", int64(3000), "tail", int64(50)}},
		{"visible reasoning comes before the answer", func(x *exchange.Exchange) {
			x.Reasoning, x.FirstReasoning, x.AnswerStart = "visible", span(1000), span(3000)
		}, []any{"network", int64(100), "wait", int64(900), "reasoning", int64(2000), "decode", int64(1000), "tail", int64(50)}},
		{"an output that came whole was decoded unseen", func(x *exchange.Exchange) { x.UnseenDecode, x.LastToken = span(800), span(1000) },
			[]any{"network", int64(100), "wait", int64(100), "unseen", int64(800), "tail", int64(3050)}},
		{"hosted tools are neither wait nor decode", func(x *exchange.Exchange) { x.HostedTool, x.HostedBeforeFirst = span(700), span(400) },
			[]any{"network", int64(100), "wait", int64(500), "tool", int64(400), "decode", int64(2700), "tool", int64(300), "tail", int64(50)}},
		{"without a token all is wait", func(x *exchange.Exchange) { x.FirstToken = nil },
			[]any{"network", int64(100), "wait", int64(3950)}},
		{"an unknown network is part of the wait", func(x *exchange.Exchange) { x.Network = nil },
			[]any{"wait", int64(1000), "decode", int64(3000), "tail", int64(50)}},
		{"a whole body is divided by the server's word", func(x *exchange.Exchange) {
			x.Delivery, x.ServerDecode, x.Prefill = exchange.NotStreamed, span(2000), span(1500)
		}, []any{"network", int64(100), "wait", int64(450), "prefill", int64(1500), "decode", int64(2000)}},
		{"a whole body without it is one wait", func(x *exchange.Exchange) { x.Delivery = exchange.NotStreamed },
			[]any{"network", int64(100), "wait", int64(3950)}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			x := &exchange.Exchange{}
			x.Network, x.FirstToken, x.AnswerStart = span(100), span(1000), span(1000)
			x.LastToken, x.End, x.Delivery = span(4000), span(4050), exchange.Streamed
			test.set(x)
			if diff := cmp.Diff(test.want, inMS(phases(x, *x.End))); diff != "" {
				t.Errorf("phases (-want +got):\n%s", diff)
			}
		})
	}
}

// anyExchange has any figures at all, sensible or not.
func anyExchange(t *rapid.T) *exchange.Exchange {
	x := &exchange.Exchange{}
	some := func(name string) *time.Duration {
		if rapid.Bool().Draw(t, "has "+name) {
			return span(float64(rapid.IntRange(-100, 5000).Draw(t, name)))
		}
		return nil
	}
	x.Network, x.FirstToken, x.AnswerStart, x.LastToken = some("network"), some("first"), some("answer"), some("last")
	x.FirstReasoning, x.GenerationStarted = some("reasoning"), some("generation")
	x.Queue, x.Prefill = some("queue"), some("prefill")
	x.HiddenDecode, x.UnseenDecode, x.HostedTool = some("hidden"), some("unseen"), some("tool")
	x.HostedBeforeFirst, x.HostedBeforeAnswer, x.ServerDecode = some("before"), some("before answer"), some("server")
	x.Reasoning = rapid.SampledFrom([]string{"", "none", "visible", "summary", "hidden"}).Draw(t, "reasoning kind")
	x.Delivery = rapid.SampledFrom([]exchange.Delivery{exchange.Streamed, exchange.Single, exchange.NotStreamed}).Draw(t, "delivery")
	x.End = span(float64(rapid.IntRange(0, 5000).Draw(t, "end")))
	return x
}

func TestPhasesFillTheTimeWithoutGapOrOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := anyExchange(t)
		at := time.Duration(0)
		for _, p := range phases(x, *x.End) {
			if p.Start != at || p.Length <= 0 {
				t.Fatalf("%s begins at %v and takes %v, after %v", p.Kind, p.Start, p.Length, at)
			}
			at += p.Length
		}
		if at != *x.End {
			t.Fatalf("phases end at %v, the exchange at %v", at, *x.End)
		}
	})
}

func TestTheTagsShareIsTheReasons(t *testing.T) {
	opened := seeded("opened", time.Second, func(x *exchange.Exchange) {
		hidTheReasoning(x, 420)
		answered(x, 4330, 4930, 480)
		x.RateQuality, x.GenerationStarted = "noisy", span(80)
	})
	if opened.Bound != exchange.DecodeBound || tagOf(english, opened).Share == "" {
		t.Errorf("reasoning that was opened at once: %s, %+v", opened.Bound, tagOf(english, opened))
	}
	nearlyAll := seeded("nearly all", time.Second, func(x *exchange.Exchange) { answered(x, 60, 60_000, 4000) })
	if got := tagOf(english, nearlyAll).Share; got != "> 99 %" {
		t.Errorf("59.9 of 60 s are %q", got)
	}
	for _, x := range append(telling(), opened, nearlyAll) {
		tag, reason := tagOf(english, x), diagnosis.Reason(x, "en")
		if tag.Share != "" && !strings.Contains(reason, " "+tag.Share) {
			t.Errorf("%s: the tag says %q, the reason %q", x.ID, tag.Share, reason)
		}
	}
}

func TestTimeUnderWayIsNotDivided(t *testing.T) {
	x := &exchange.Exchange{Outcome: exchange.Open}
	x.Network = span(100)
	if diff := cmp.Diff([]any{"underway", int64(3000)}, inMS(phases(x, 3*time.Second))); diff != "" {
		t.Errorf("phases (-want +got):\n%s", diff)
	}
}

func TestAnExchangeUnderWayTakesUntilNow(t *testing.T) {
	x := &exchange.Exchange{StartedAt: noon, Outcome: exchange.Open}
	if d, ok := took(x, noon.Add(3*time.Second)); d != 3*time.Second || !ok {
		t.Errorf("took %v, %v", d, ok)
	}
	if d, ok := took(x, noon.Add(-time.Second)); d != 0 || !ok {
		t.Errorf("with a clock that was set back it took %v, %v", d, ok)
	}
	x.Outcome = exchange.Interrupted
	if _, ok := took(x, noon); ok {
		t.Error("the duration of an interrupted exchange is known")
	}
}
