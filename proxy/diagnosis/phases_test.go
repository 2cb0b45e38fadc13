package diagnosis

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestTheTimeOfARowIsDividedWhole(t *testing.T) {
	hosted := func(all, first, answer float64) func(*exchange.Exchange) {
		return func(x *exchange.Exchange) {
			x.HostedTool, x.HostedBeforeFirst, x.HostedBeforeAnswer = sec(all), sec(first), sec(answer)
		}
	}
	for _, c := range []struct {
		name string
		row  *exchange.Exchange
		want Phases
	}{
		{"a stream", streamed(1, 4), Phases{Wait: *sec(1), Decode: *sec(3)}},
		{"stalls are decode", streamed(1, 4, func(x *exchange.Exchange) { x.StallTime = sec(2) }),
			Phases{Wait: *sec(1), Decode: *sec(3), Stalled: *sec(2)}},
		{"hosted tools are neither", streamed(6, 20, hosted(15, 4, 4)),
			Phases{Wait: *sec(2), HostedBefore: *sec(4), Decode: *sec(3), HostedAfter: *sec(11)}},
		{"hidden reasoning", streamed(9, 11, tokens(50, 0, 800), thinks("hidden", 600, 9), tpot(0.01, "fair")),
			Phases{Wait: *sec(3), Hidden: *sec(6), Decode: *sec(8)}},
		{"a summary shows that it was under way", streamed(1, 4, thinks("summary", 0, 3)),
			Phases{Wait: *sec(1), Hidden: *sec(2), Decode: *sec(3)}},
		{"so does an item that was opened", streamed(3, 4, thinks("hidden", 0, 3), began(0.5)),
			Phases{Wait: *sec(0.5), Hidden: *sec(2.5), Decode: *sec(3.5)}},
		{"reasoning without an answer", streamed(1, 4, thinks("summary", 0, 0), func(x *exchange.Exchange) { x.AnswerStart = nil }),
			Phases{Wait: *sec(1), Hidden: *sec(3), Decode: *sec(3)}},
		{"reasoning that was seen", streamed(1, 4, thinks("visible", 0, 3), func(x *exchange.Exchange) { x.FirstReasoning = sec(1) }),
			Phases{Wait: *sec(1), Shown: *sec(2), Decode: *sec(3)}},
		{"and that alone", streamed(1, 4, thinks("visible", 0, 0), func(x *exchange.Exchange) { x.FirstReasoning, x.AnswerStart = sec(1), nil }),
			Phases{Wait: *sec(1), Shown: *sec(3), Decode: *sec(3)}},
		{"a tool amid reasoning that was seen", streamed(1, 4, thinks("visible", 0, 3), hosted(1, 0, 1), func(x *exchange.Exchange) { x.FirstReasoning = sec(1) }),
			Phases{Wait: *sec(1), Shown: *sec(1), Decode: *sec(2), HostedAfter: *sec(1)}},
		{"an output that came whole", streamed(3.65, 3.65, tokens(9, 0, 220), delivered(exchange.Single), server(-1, -1, 2.7375)),
			Phases{Wait: *sec(0.9125), Unseen: *sec(2.7375), Decode: *sec(2.7375)}},
		{"a body, by the server's word", whole(10, tokens(500, 0, 401), thinks("hidden", 300, 0), server(-1, 1, 8)),
			Phases{Wait: *sec(2), Hidden: *sec(6), Decode: *sec(8)}},
		{"a body without it", whole(10, tokens(500, 0, 401)), Phases{Wait: *sec(10)}},
		{"no token at all", streamed(1, 10, hosted(4, 4, 4), func(x *exchange.Exchange) { x.FirstToken, x.LastToken = nil, nil }),
			Phases{Wait: *sec(6), HostedBefore: *sec(4)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			Judge(c.row, nil)
			c.want.Total = *c.row.End
			got := Weigh(c.row)
			if diff := cmp.Diff(c.want, got, near); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if sum := got.Wait + got.HostedBefore + got.Decode + got.HostedAfter; sum != got.Total {
				t.Errorf("%v of %v", sum, got.Total)
			}
		})
	}
}

func TestPartsOfAnyRowAreNeitherNegativeNorMoreThanTheirWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawRow(t)
		p := Weigh(x)
		for _, d := range []time.Duration{
			p.Wait, p.HostedBefore, p.Hidden, p.Unseen, p.Shown, p.Decode, p.HostedAfter, p.Stalled, p.Total, p.Decode - p.Shown,
		} {
			if d < 0 {
				t.Fatalf("%+v", p)
			}
		}
		for _, b := range exchange.Bounds {
			if part, ok := p.Share(b); part < 0 || part > 1 || !ok && part != 0 {
				t.Fatalf("%s has %v of %+v", b, part, p)
			}
		}
	})
}

func TestAShareIsOfTheBoundsPhase(t *testing.T) {
	p := Phases{Wait: 1, Decode: 3, Stalled: 2, Total: 5}
	for bound, want := range map[exchange.Bound]float64{
		exchange.PrefillBound: 0.25, exchange.WaitBound: 0.25, exchange.DecodeBound: 0.75, exchange.Stalled: 0.4,
	} {
		if got, ok := p.Share(bound); got != want || !ok {
			t.Errorf("%s has %v, %v", bound, got, ok)
		}
		if got, ok := (Phases{Stalled: 2}).Share(bound); ok {
			t.Errorf("%s has %v of no time", bound, got)
		}
	}
	for _, bound := range []exchange.Bound{exchange.Mixed, exchange.Unknown, ""} {
		if got, ok := p.Share(bound); ok {
			t.Errorf("%q has %v", bound, got)
		}
	}
}
