package experiment

import (
	"cmp"
	"slices"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// row is a sample with the exchange that it was taken from.
type row struct {
	Sample
	x *exchange.Exchange
}

// taken are the samples of a plan's steps, in the order of sending. What is no
// step of it is left out.
func taken(p Plan, rows []*exchange.Exchange) []row {
	var all []row
	for _, x := range rows {
		if x.Step == nil || *x.Step < 0 || *x.Step >= int64(len(p.Steps)) {
			continue
		}
		step := int(*x.Step)
		if s := p.Steps[step]; s.Arm >= 0 && s.Arm < len(p.Arms) {
			all = append(all, row{sample(x, step, s), x})
		}
	}
	slices.SortFunc(all, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.Step, b.Step), a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.Exchange, b.Exchange))
	})
	return all
}

func sample(x *exchange.Exchange, place int, s Step) Sample {
	t := Sample{
		Step: place, Arm: s.Arm, Round: s.Round, Exchange: x.ID, StartedAt: x.StartedAt, Outcome: x.Outcome, Status: x.Status,
		RequestID: x.RequestID, ResponseID: x.ResponseID, GatewayRequestID: x.GatewayRequestID,
	}
	if !t.answered() {
		return t
	}
	t.TTFT, t.Network, t.Total = millis(x.FirstToken), millis(x.Network), millis(x.End)
	t.Connect = connecting(x)
	t.Prompt, t.Cached, t.Uncached, t.Output = x.PromptTokens, x.CachedTokens, x.UncachedTokens, x.OutputTokens
	if x.Wait != nil && hides(x) == "" {
		t.Wait = millis(new(begun(x)))
	}
	if x.RateQuality != exchange.NoisyRate {
		t.Rate = x.TokensPerSec
	}
	return t
}

const (
	// fewUnseen is how many tokens may be made unseen before a first token without
	// their time being told for prefill.
	fewUnseen = 8
	// muchUnseen is the share of a wait above which decode that nobody saw leaves
	// too little of it to reckon with.
	muchUnseen = 0.3
)

// hides is why a first token tells nothing of prefill, "" where it does.
func hides(x *exchange.Exchange) Finding {
	much := x.Wait != nil && float64(*x.Wait-begun(x)) > muchUnseen*float64(*x.Wait)
	switch {
	case x.HidesReasoning() && (x.HiddenDecode == nil || much):
		return HiddenReasoning
	case x.Delivery == exchange.Pseudo, x.Delivery == exchange.Bursty, x.Delivery == exchange.NotStreamed:
		return Buffered
	case x.Delivery == exchange.Single && x.UnseenDecode == nil && x.OutputTokens != nil && *x.OutputTokens > fewUnseen, much:
		return Buffered
	}
	return ""
}

// begun is what the upstream took until the model began to decode.
func begun(x *exchange.Exchange) time.Duration {
	wait := diagnosis.Weigh(x).Wait
	if x.Network != nil {
		wait -= *x.Network
	}
	return max(0, wait)
}

// answered says whether the request got what it asked for.
func (s Sample) answered() bool { return s.Outcome == exchange.OK || s.Outcome == exchange.Incomplete }

// limited says whether it was refused for coming too soon.
func (s Sample) limited() bool { return s.Status != nil && *s.Status == 429 }

// failed says whether it failed in another way.
func (s Sample) failed() bool {
	return !s.answered() && !s.limited() && s.Outcome != exchange.Open && s.Outcome != ""
}

// figure is one of those that are compared, nil if unknown.
func (s Sample) figure(f Figure) *float64 {
	switch f {
	case TTFT:
		return s.TTFT
	case Wait:
		return s.Wait
	case Network:
		return s.Network
	case Total:
		return s.Total
	}
	return s.Rate
}

// settled is the figure as it is compared. Connecting is left out of it, which
// the first request of a connection pays for all. A spike is cut to the slowest
// other of its arm: it must not decide what it hits by chance.
func (s Sample) settled(f Figure) *float64 {
	v := s.figure(f)
	if v == nil || f == Rate {
		return v
	}
	settled := *v
	if s.Connect != nil && f != Wait {
		settled -= *s.Connect
	}
	if s.Over != nil && f != Network {
		settled -= *s.Over
	}
	return &settled
}

// known are the values that are there.
func known[T, V any](all []T, value func(T) *V) []V {
	var vs []V
	for _, t := range all {
		if v := value(t); v != nil {
			vs = append(vs, *v)
		}
	}
	return vs
}

// connecting is what a new connection took, nil where there was one already.
func connecting(x *exchange.Exchange) *float64 {
	var sum time.Duration
	for _, part := range []*time.Duration{x.DNS, x.Connect, x.TLS, x.PoolWait} {
		if part != nil {
			sum += *part
		}
	}
	if sum == 0 {
		return nil
	}
	return millis(&sum)
}

func millis(d *time.Duration) *float64 {
	if d == nil {
		return nil
	}
	return new(float64(*d) / float64(time.Millisecond))
}

func number(n *int64) *float64 {
	if n == nil {
		return nil
	}
	return new(float64(*n))
}
