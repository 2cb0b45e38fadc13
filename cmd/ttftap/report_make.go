package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
)

const caveat = "What others send with the same key, by another way than this proxy, is invisible here: their load may be the queue of these requests, and may push their prompts out of the cache."

// report puts together what was added up.
func (t *tally) report() *report {
	r := &report{
		Requests: t.all.requests, Models: t.modelReports(), Verdicts: t.verdictReports(), Baselines: t.usualReports(),
		Queue: t.queue, Misses: t.missReports(), Uncached: t.uncached, Slowest: t.slowest.told(),
		Coverage: t.coverage, Checks: t.checks(), Caveat: caveat,
	}
	r.Queue.Worst = t.worst.told()
	r.Coverage.FirstTokens, r.Coverage.Samples = int64(t.all.firsts.seen), maxSamples
	if r.Requests > 0 {
		r.From, r.To, r.Total = &t.first, &t.last, new(millis(t.all.total))
	}
	r.Headline = r.headline(&t.all)
	return r
}

// headline is the report in one or two sentences.
func (r *report) headline(all *modelTally) string {
	if r.Requests == 0 {
		return "No request that has ended fits."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s took %s in all.", plural(r.Requests, "request"), length((*time.Duration)(r.Total)))
	if wait := all.waitShare(); wait != nil {
		before, after := figure.Percents(*wait)
		fmt.Fprintf(&b, " Where it can be told, %s of the time went before the first token and %s into decoding.", before, after)
	}
	if v := r.Verdicts[0]; r.Total != nil && *r.Total > 0 {
		fmt.Fprintf(&b, " The largest part, %s, went to %s that %s %s.", figure.Percent(v.Share),
			plural(v.Requests, "request"), wasOrWere(v.Requests), v.Words)
	}
	return b.String()
}

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return figure.Count(&n) + " " + noun + "s"
}

func wasOrWere(n int64) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// modelReports are in the order of what they took.
func (t *tally) modelReports() []modelReport {
	keys := slices.SortedFunc(maps.Keys(t.models), func(a, b modelKey) int {
		return cmp.Or(cmp.Compare(t.models[b].total, t.models[a].total), cmp.Compare(a.upstream, b.upstream), cmp.Compare(a.model, b.model))
	})
	list := make([]modelReport, 0, len(keys))
	for _, k := range keys {
		m := t.models[k]
		list = append(list, modelReport{
			Upstream: k.upstream, Model: k.model, Requests: m.requests,
			WaitShare: m.waitShare(), DecodeShare: m.decodeShare(),
			FirstTokenP50: m.firsts.at(0.50), FirstTokenP95: m.firsts.at(0.95),
			TokensPerSec: m.rate(), PromptTokens: m.prompt, CachedShare: m.cachedShare(),
		})
	}
	return list
}

// verdictReports are in the order of the time that they took.
func (t *tally) verdictReports() []verdictReport {
	list := make([]verdictReport, 0, len(t.verdicts))
	for v, n := range t.verdicts {
		part := share(n.total, t.all.total)
		list = append(list, verdictReport{
			Words: verdict(&exchange.Exchange{Verdict: exchange.Verdict{Bound: v.bound, Cause: v.cause}}, "en"),
			Bound: string(v.bound), Cause: v.cause,
			Requests: n.requests, Total: new(millis(n.total)), Share: orZero(part),
		})
	}
	slices.SortFunc(list, func(a, b verdictReport) int {
		return cmp.Or(cmp.Compare(*b.Total, *a.Total), cmp.Compare(a.Words, b.Words))
	})
	return list
}

// orZero is a share of a time that is no time at all.
func orZero(share *float64) float64 {
	if share == nil {
		return 0
	}
	return *share
}

// usualReports are the baselines of the models that the report has.
func (t *tally) usualReports() []usualReport {
	list := []usualReport{}
	for _, b := range t.baselines {
		if t.models[modelKey{upstream: b.Upstream, model: b.Model}] == nil {
			continue
		}
		list = append(list, usualReport{b.Upstream, b.Model, b.ServiceTier, b.Rows, b.LeftOut, b.Words("en")})
	}
	return list
}

func (t *tally) missReports() []missReport {
	list := make([]missReport, 0, len(t.misses))
	for _, m := range t.misses {
		list = append(list, *m)
	}
	slices.SortFunc(list, func(a, b missReport) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Outcome, b.Outcome), cmp.Compare(a.Changed, b.Changed))
	})
	return list
}

// told are the exchanges with their reasons.
func (p *podium) told() []toldReport {
	list := []toldReport{}
	for i := range p.best {
		x := &p.best[i]
		list = append(list, toldReport{
			ID: x.ID, At: x.StartedAt, Model: x.Model(), Total: (*millis)(x.End), FirstToken: (*millis)(x.FirstToken),
			Queue: (*millis)(x.Queue), Concurrency: x.Concurrency, Verdict: verdict(x, "en"), Reason: why(x, "en"),
		})
	}
	return list
}
