package meter

import (
	"cmp"
	"slices"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

const (
	shortestStep = 100 * time.Millisecond
	mostSteps    = 120
	mostGaps     = 8
	standsOut    = 5 // times the median gap
)

// cadence spreads the output over time. Steps are doubled until they are few
// enough, so that a long answer takes no more to keep than a short one.
func (p *pace) cadence(gs []gap) *exchange.Cadence {
	first := p.reads[0]
	c := &exchange.Cadence{Step: shortestStep, First: first.portion()}
	took := p.reads[len(p.reads)-1].at - p.from
	for took > mostSteps*c.Step {
		c.Step *= 2
	}
	c.Steps = make([]exchange.Portion, (took+c.Step-1)/c.Step)
	for _, r := range p.reads[1:] {
		in := &c.Steps[(r.at-p.from-1)/c.Step] // what comes at the end of a step was made in it
		brought := r.portion()
		in.Reasoning += brought.Reasoning
		in.Answer += brought.Answer
	}
	c.Gaps = longest(gs, c.Step)
	return c
}

// longest are the gaps that stand out from the rest and are as long as a step.
func longest(gs []gap, step time.Duration) []exchange.Gap {
	limit := max(step, standsOut*median(lengths(gs))+1)
	var long []gap
	for _, g := range gs {
		if g.took >= limit {
			long = append(long, g)
		}
	}
	slices.SortStableFunc(long, func(a, b gap) int { return cmp.Compare(b.took, a.took) })
	long = long[:min(len(long), mostGaps)]
	slices.SortFunc(long, func(a, b gap) int { return cmp.Compare(a.from, b.from) })
	var gaps []exchange.Gap
	for _, g := range long {
		gaps = append(gaps, exchange.Gap{From: g.from.Round(time.Millisecond), Took: g.took.Round(time.Millisecond)})
	}
	return gaps
}
