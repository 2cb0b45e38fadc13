package web

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// overview is what the exchanges of a view come to.
type overview struct {
	scope
	outcomes map[exchange.Outcome]int64 // but of what falls back
	bound    map[exchange.Bound]int64
	cold     int64                     // prefill-bound ones of whose prompt hardly anything was cached
	spent    [len(kinds)]time.Duration // time of all together
	firsts   []time.Duration           // TTFT in order, but where something buffers
	rates    []float64                 // decode rates in order, but noisy ones
	pooled   pool
	prompt   int64 // tokens of the prompts of which it is known what was cached
	cached   int64 // of these
	decoded  map[string][]decoded
}

// pool is output tokens and the time in which they came: the rate of many
// exchanges, noisy ones included.
type pool struct {
	tokens float64
	span   time.Duration
}

// decoded is one exchange's part of a pool.
type decoded struct {
	at time.Time
	pool
}

// overview looks at the exchanges of a filter, for others too.
func (s *site) overview(ctx context.Context, f store.Filter, also ...func(*brief)) (*overview, error) {
	o := &overview{outcomes: map[exchange.Outcome]int64{}, bound: map[exchange.Bound]int64{}, decoded: map[string][]decoded{}}
	var err error
	if o.scope, err = s.look(ctx, f, each(append(also, o.add))); err != nil {
		return nil, err
	}
	slices.Sort(o.firsts)
	slices.Sort(o.rates)
	return o, nil
}

// each calls all of some functions.
func each(fns []func(*brief)) func(*brief) {
	return func(b *brief) {
		for _, fn := range fns {
			fn(b)
		}
	}
}

func (o *overview) add(b *brief) {
	if !b.FallsBack {
		o.outcomes[b.Outcome]++
	}
	o.bound[b.Bound]++
	if b.Prewarm {
		return
	}
	for i, d := range b.spent {
		o.spent[i] += d
	}
	if b.FirstToken != nil && !b.buffered() {
		o.firsts = append(o.firsts, *b.FirstToken)
	}
	o.addRate(b)
	o.addPrompt(b)
}

// addRate takes the tokens of the rate back out of it.
func (o *overview) addRate(b *brief) {
	p := b.pooled()
	if p.span == 0 {
		return
	}
	o.pooled.add(p)
	o.decoded[b.Model] = append(o.decoded[b.Model], decoded{b.StartedAt, p})
	if b.RateQuality != exchange.NoisyRate {
		o.rates = append(o.rates, *b.Rate)
	}
}

// coldShare is the part of a prompt that may be cached for it to count as cold.
const coldShare = 0.1

func (o *overview) addPrompt(b *brief) {
	if b.PromptTokens == nil || b.Cached == nil || b.Uncached == nil {
		return
	}
	o.prompt += *b.PromptTokens
	o.cached += *b.Cached
	if b.Bound == exchange.PrefillBound && float64(*b.Cached) < coldShare*float64(*b.PromptTokens) {
		o.cold++
	}
}

func (p *pool) add(more pool) {
	p.tokens += more.tokens
	p.span += more.span
}

// rate is tokens per second, nil of none.
func (p pool) rate() *float64 {
	if p.span <= 0 {
		return nil
	}
	return new(p.tokens / p.span.Seconds())
}

// total is the time of all, as far as it is known where it went.
func (o *overview) total() (all time.Duration) {
	for _, d := range o.spent {
		all += d
	}
	return all
}

// share is the part of all the time that went into phases of some kinds.
func (o *overview) share(of ...kind) float64 {
	var part time.Duration
	for _, k := range of {
		part += o.spent[k.index()]
	}
	return float64(part) / float64(max(o.total(), 1))
}

// failed counts the exchanges that did not end well, but for those that the
// client ended.
func (o *overview) failed() (n int64) {
	for outcome, count := range o.outcomes {
		if isFailure(outcome) {
			n += count
		}
	}
	return n
}

// slowdown is the change of a model's decode rate within a view.
type slowdown struct {
	model         string
	before, after float64 // tokens per second in the older and the newer half
}

// trendLeast is how many exchanges a half has to have.
const trendLeast = 10

// slowdown compares the newer half of the model that decoded longest with the
// older half; nil where there are too few, or it got no slower.
func (o *overview) slowdown() *slowdown {
	var name string
	var most []decoded
	for model, all := range o.decoded {
		if c := cmp.Compare(spanOf(all), spanOf(most)); c > 0 || c == 0 && model < name {
			name, most = model, all
		}
	}
	if len(most) < 2*trendLeast {
		return nil
	}
	most = slices.SortedFunc(slices.Values(most), func(a, b decoded) int { return a.at.Compare(b.at) })
	before, after := sumOf(most[:len(most)/2]).rate(), sumOf(most[len(most)/2:]).rate()
	if before == nil || after == nil || *after >= *before {
		return nil
	}
	return &slowdown{name, *before, *after}
}

func sumOf(all []decoded) (p pool) {
	for _, d := range all {
		p.add(d.pool)
	}
	return p
}

func spanOf(all []decoded) time.Duration { return sumOf(all).span }

// quantile is the value that such a share of the others do not exceed, nil of
// none. They are in order.
func quantile[T any](ordered []T, share float64) *T {
	if len(ordered) == 0 {
		return nil
	}
	return &ordered[int(share*float64(len(ordered)-1)+0.5)]
}
