package meter

import (
	"slices"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// minStall is the shortest silence that is a stall.
const minStall = 2 * time.Second

// gap is the time between two reads.
type gap struct {
	from   time.Duration // since the first read
	took   time.Duration // less what a hosted tool, or reasoning not shown, had of it
	within bool          // within one item and kind: tokens should have come all the while
	tokens float64       // that the read at its end brought
}

func (p *pace) gaps() []gap {
	gs := make([]gap, 0, len(p.reads)-1)
	for i, after := range p.reads[1:] {
		before := p.reads[i]
		gs = append(gs, gap{
			from:   before.at - p.from,
			took:   after.at - before.at - p.pauses.within(before.at, after.at),
			within: before.last == after.first,
			tokens: p.share(after.size()),
		})
	}
	return gs
}

func lengths(gs []gap) []time.Duration {
	took := make([]time.Duration, 0, len(gs))
	for _, g := range gs {
		took = append(took, g.took)
	}
	return took
}

// stall sets the longest gap and the stalls.
func (p *pace) stall(x *exchange.Exchange, gs []gap) {
	took := lengths(gs)
	limit := max(minStall, 20*lowerMedian(took))
	var stalls int64
	var lost time.Duration
	for _, g := range gs {
		if d := g.lost(limit, x.SteadyTPOT()); d > 0 {
			stalls++
			lost += d
		}
	}
	x.MaxGap, x.Stalls, x.StallTime = new(slices.Max(took)), &stalls, &lost
}

// lowerMedian of at least one gap is one of them, the smaller of the middle two
// of an even number: half-way between them, the only other gap would be judged by
// a stall.
func lowerMedian(took []time.Duration) time.Duration {
	took = slices.Clone(took)
	slices.Sort(took)
	return took[(len(took)-1)/2]
}

// lost is the time that a gap wasted, 0 where it is no stall. Across items the
// tokens at its end may have been made in it, unseen: only what is left without
// them is lost, and without a time per token nobody can tell.
func (g gap) lost(limit time.Duration, tpot *time.Duration) time.Duration {
	switch {
	case g.within && g.took > limit:
		return g.took
	case g.within || tpot == nil:
		return 0
	}
	made := min(g.tokens*float64(*tpot), float64(g.took))
	if rest := g.took - time.Duration(made); rest > minStall {
		return rest
	}
	return 0
}
