package main

import (
	"cmp"
	"slices"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// modelKey is what has a baseline of its own, a tier aside, a line of its own.
type modelKey struct{ upstream, model, tier string }

// otherModels takes what goes beyond maxModels: a client may ask for any name.
const (
	otherModels = "(others)"
	maxModels   = 100
)

// tally adds up a log, one exchange at a time. What it keeps is bounded.
type tally struct {
	usual    map[modelKey]*diagnosis.Baseline
	models   map[modelKey]*modelTally
	verdicts map[verdictKey]*verdictTally
	misses   map[missKey]*missReport
	all      modelTally
	first    time.Time
	last     time.Time

	failed, streamed, buffered, slow int64
	network, hidden, stalled         time.Duration

	queue     queueReport
	worst     podium
	slowest   podium
	uncached  uncachedReport
	coverage  coverageReport
	reused    int64 // requests of whose beginning something was sent before, and the upstream tells
	missed    int64 // of these, whose beginning was not cached
	baselines []*diagnosis.Baseline
}

type missKey struct{ outcome, changed string }

type verdictKey struct {
	bound exchange.Bound
	cause string
}

type verdictTally struct {
	requests int64
	total    time.Duration
}

func newTally(baselines []*diagnosis.Baseline) *tally {
	t := &tally{
		usual:    make(map[modelKey]*diagnosis.Baseline),
		models:   make(map[modelKey]*modelTally),
		verdicts: make(map[verdictKey]*verdictTally),
		misses:   make(map[missKey]*missReport),
		worst:    podium{by: func(x *exchange.Exchange) *time.Duration { return x.Queue }},
		slowest:  podium{by: func(x *exchange.Exchange) *time.Duration { return x.End }},
	}
	for _, b := range baselines {
		t.usual[modelKey{b.Upstream, b.Model, b.ServiceTier}] = b
	}
	t.baselines = baselines
	return t
}

func (t *tally) add(x *exchange.Exchange) {
	if x.IsPrewarm() {
		t.coverage.Prewarms++
		return
	}
	p := diagnosis.Weigh(x)
	t.all.add(x, p)
	t.model(x).add(x, p)
	t.addTimes(x)
	t.addVerdict(x, p)
	t.addQueue(x)
	t.addCache(x)
	t.cover(x)
	t.slowest.add(x)
}

func (t *tally) model(x *exchange.Exchange) *modelTally {
	key := modelKey{upstream: x.Upstream, model: x.Model()}
	if t.models[key] == nil && len(t.models) >= maxModels {
		key = modelKey{model: otherModels}
	}
	if t.models[key] == nil {
		t.models[key] = new(modelTally)
	}
	return t.models[key]
}

func (t *tally) addTimes(x *exchange.Exchange) {
	if t.first.IsZero() || x.StartedAt.Before(t.first) {
		t.first = x.StartedAt
	}
	if end := ended(x); end.After(t.last) {
		t.last = end
	}
}

func (t *tally) addVerdict(x *exchange.Exchange, p diagnosis.Phases) {
	key := verdictKey{cmp.Or(x.Bound, exchange.Unknown), x.Cause}
	if t.verdicts[key] == nil {
		t.verdicts[key] = new(verdictTally)
	}
	t.verdicts[key].requests++
	t.verdicts[key].total += p.Total
	t.stalled += p.Stalled
	if separable(x) {
		t.hidden += p.Hidden
		t.network += min(p.Wait, orNone(x.Network))
	}
	if x.Cause == "slow_decode" {
		t.slow++
	}
}

// addQueue notes the spikes: those whose wait was mostly a queue, or a model that
// was started for them.
func (t *tally) addQueue(x *exchange.Exchange) {
	if x.Queue != nil {
		t.queue.Known++
	}
	if x.Bound != exchange.WaitBound || x.Cause != "queue" && x.Cause != "cold_start" {
		return
	}
	t.queue.Spikes++
	t.queue.Queue = plus(t.queue.Queue, x.Queue)
	t.worst.add(x)
}

func (t *tally) addCache(x *exchange.Exchange) {
	t.addUncached(x)
	switch x.CacheOutcome {
	case "missed", "expired", "broken":
		t.missed++
		t.miss(x)
		fallthrough
	case "hit", "partial":
		t.reused++
	}
}

func (t *tally) miss(x *exchange.Exchange) {
	key := missKey{x.CacheOutcome, x.ChangedSection}
	if t.misses[key] == nil {
		t.misses[key] = &missReport{Outcome: key.outcome, Changed: key.changed}
	}
	m := t.misses[key]
	m.Requests++
	m.Tokens = sum(m.Tokens, x.UncachedTokens)
	m.Wait = plus(m.Wait, x.Wait)
}

// farthest is how many times as long as those seen a prompt may be for its cost to
// be reckoned.
const farthest = 2

// addUncached reckons what x would have cost, had nothing of it been cached.
func (t *tally) addUncached(x *exchange.Exchange) {
	if x.CachedTokens == nil || *x.CachedTokens <= 0 || x.UncachedTokens == nil || x.PromptTokens == nil {
		return
	}
	u := &t.uncached
	u.Requests++
	u.Tokens = sum(u.Tokens, x.CachedTokens)
	b := t.usual[modelKey{x.Upstream, x.Model(), x.ServiceTier}]
	if b == nil || b.Curve == nil || *x.PromptTokens > farthest*b.Curve.Most {
		return
	}
	u.Reckoned++
	saved := b.Curve.Prefill(*x.PromptTokens, 0) - b.Curve.Prefill(*x.UncachedTokens, *x.CachedTokens)
	u.Prefill = plus(u.Prefill, new(max(0, saved)))
}

func (t *tally) cover(x *exchange.Exchange) {
	well := x.Outcome == exchange.OK || x.Outcome == exchange.Incomplete
	for _, c := range []struct {
		n    *int64
		when bool
	}{
		{&t.coverage.EndedWell, well},
		{&t.failed, !well && !diagnosis.FallsBack(x) && x.Outcome != exchange.ClientAbort && x.Outcome != exchange.Interrupted},
		{&t.coverage.Separable, separable(x)},
		{&t.coverage.Usage, well && x.OutputTokens != nil},
		{&t.coverage.Cached, tellsCache(x)},
		{&t.coverage.Rates, x.TokensPerSec != nil},
		{&t.coverage.Noisy, x.TokensPerSec != nil && x.RateQuality == exchange.NoisyRate},
		{&t.coverage.Unknown, x.Bound == exchange.Unknown || x.Bound == ""},
		{&t.coverage.OldRules, x.RulesVersion == nil || *x.RulesVersion != diagnosis.RulesVersion},
		{&t.streamed, well && x.FirstToken != nil},
		{&t.buffered, well && x.FirstToken != nil && buffered(x)},
	} {
		if c.when {
			*c.n++
		}
	}
}

// separable says whether the time of x can be divided into wait and decode.
func separable(x *exchange.Exchange) bool { return x.Bound != exchange.Unknown && x.Bound != "" }

// buffered says whether something held the output of x back, so that its first
// token is an upper bound.
func buffered(x *exchange.Exchange) bool {
	return x.Delivery == exchange.Pseudo || x.Delivery == exchange.Bursty
}

// tellsCache says whether what is said of the cache can be believed.
func tellsCache(x *exchange.Exchange) bool {
	return x.UncachedTokens != nil && x.CacheOutcome != "unreported"
}

// podium holds the three exchanges with the longest of some duration, the longest
// first.
type podium struct {
	by   func(*exchange.Exchange) *time.Duration
	best []exchange.Exchange
}

func (p *podium) add(x *exchange.Exchange) {
	d := p.by(x)
	if d == nil {
		return
	}
	at := len(p.best)
	for at > 0 && *p.by(&p.best[at-1]) < *d {
		at--
	}
	if at < 3 {
		p.best = slices.Insert(p.best, at, *x)
		p.best = p.best[:min(3, len(p.best))]
	}
}

// sum adds what is known: nil stays nil until something is.
func sum(n, more *int64) *int64 {
	if n == nil || more == nil {
		return cmp.Or(n, more)
	}
	return new(*n + *more)
}

func plus(d *millis, more *time.Duration) *millis {
	if d == nil || more == nil {
		return cmp.Or(d, (*millis)(more))
	}
	return new(*d + millis(*more))
}

func orNone(d *time.Duration) time.Duration {
	if d == nil {
		return 0
	}
	return *d
}
