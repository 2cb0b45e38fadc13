package diagnosis

import (
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// split divides the wait into floor, queue and prefill, as far as the server or
// the baseline can tell them apart. What the server says of itself stands.
func split(x *exchange.Exchange, b *Baseline, p Phases) {
	if b == nil {
		b = new(Baseline)
	}
	net := netWait(x, p)
	prefill, queue := x.ServerPrefill, x.ServerQueue
	if prefill == nil {
		prefill = b.prefill(x, net)
	}
	switch {
	case queue != nil:
	case prefill != nil:
		queue = new(max(0, net-known(x.Floor)-known(prefill)))
	default:
		queue = b.leastQueue(x, p)
	}
	x.Estimate(queue, prefill)
	x.EstimateError = b.within(x)
}

// prefill is how much of the wait went into the prompt: what came after the
// headers, where these show it, else what such a prompt usually costs.
func (b *Baseline) prefill(x *exchange.Exchange, net time.Duration) *time.Duration {
	switch {
	case b.headersTell(x):
		before := max(0, *x.Headers-known(x.Network))
		return new(max(0, net-before))
	case x.UsualPrefill != nil:
		return new(min(net, *x.UsualPrefill))
	}
	return nil
}

// headersTell says whether the headers came when the prefill began.
func (b *Baseline) headersTell(x *exchange.Exchange) bool {
	return b.HeadersAtSlot && x.Headers != nil && x.Delivery != exchange.NotStreamed
}

// leastQueue is the queue that there was even if nothing of the prompt was
// cached. It is told only where it decides what most of the wait was.
func (b *Baseline) leastQueue(x *exchange.Exchange, p Phases) *time.Duration {
	prompt := x.PromptTokens
	if b.Curve == nil || prompt == nil || *prompt < 0 || *prompt > absurd || !b.Curve.reaches(*prompt) {
		return nil
	}
	left := netWait(x, p) - b.Curve.Floor - b.Curve.Prefill(*prompt, 0)
	if left <= 0 || !over(b.Curve.Floor+left, p.Wait) {
		return nil
	}
	return &left
}

// within is how far off may be what the curve had a part in, nil where it had
// none.
func (b *Baseline) within(x *exchange.Exchange) *time.Duration {
	uncached, counted := uncachedTokens(x)
	switch {
	case b.Curve == nil || x.Queue == nil || x.ServerPrefill == nil && b.headersTell(x):
		return nil
	case x.ServerPrefill == nil && counted:
		return new(b.Curve.within(uncached, tally(x.CachedTokens)) + b.Curve.spared(x) + fewAtOnce(x))
	case x.ServerQueue == nil:
		return new(b.Curve.noise(b.Curve.Floor) + fewAtOnce(x))
	}
	return nil
}

// spared is what the few tokens that an earlier prompt began with may have cost
// less than others, where nobody says whether they were cached.
func (c *Curve) spared(x *exchange.Exchange) time.Duration {
	prompt, shared := tally(x.PromptTokens), tally(x.PrefixSharedTokens)
	if x.UncachedTokens != nil || shared > prompt {
		return 0
	}
	return c.Prefill(prompt, 0) - c.Prefill(prompt-shared, 0)
}

// fewAtOnce is the decode that the wait may hold where an output came in one
// piece that is too small to be counted as unseen.
func fewAtOnce(x *exchange.Exchange) time.Duration {
	n, tpot := x.SeenTokens(), tokenTime(x)
	if x.Delivery != exchange.Single || x.UnseenDecode != nil || n == nil || tpot == nil {
		return 0
	}
	return making(*n-1, *tpot, known(x.Wait))
}

// eternity keeps absurd counts from overflowing.
const eternity = 1e6 * time.Hour

// excess is how much longer an exchange took than its work usually takes.
func excess(x *exchange.Exchange) *time.Duration {
	if !answered(x) || x.End == nil || x.Network == nil || x.UsualPrefill == nil || x.UsualTPOT == nil ||
		x.OutputTokens == nil {
		return nil
	}
	usual := *x.Network + known(x.Floor) + *x.UsualPrefill + known(x.HostedTool) +
		making(*x.OutputTokens, *x.UsualTPOT, eternity)
	return new(*x.End - usual)
}
