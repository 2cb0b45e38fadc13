package web

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// group is what the exchanges of one model, one upstream or one hour come to.
type group struct {
	name           string
	kind           int32 // its marks'
	n              int
	firsts         []int64 // TTFT, but where something buffers
	totals         []int64 // of those that ended well
	pooled         pool
	failed         map[exchange.Outcome]int
	oldest, newest time.Time
}

// groups are kept by name.
type groups map[string]*group

// of is the group of a name, a new one where there is none yet.
func (gs groups) of(name string) *group {
	g := gs[name]
	if g == nil {
		g = &group{name: name, kind: int32(len(gs))}
		gs[name] = g
	}
	return g
}

func (g *group) add(b *brief) {
	if g.n++; g.n == 1 {
		g.oldest, g.newest = b.StartedAt, b.StartedAt
	}
	if b.StartedAt.Before(g.oldest) {
		g.oldest = b.StartedAt
	}
	if b.StartedAt.After(g.newest) {
		g.newest = b.StartedAt
	}
	if b.FirstToken != nil && !b.buffered() {
		g.firsts = push(g.firsts, int64(*b.FirstToken))
	}
	if b.Total != nil && b.endedWell() {
		g.totals = push(g.totals, int64(*b.Total))
	}
	g.pooled.add(b.pooled())
	if b.failed() {
		g.fail(b.Outcome)
	}
}

func (g *group) fail(o exchange.Outcome) {
	if g.failed == nil {
		g.failed = map[exchange.Outcome]int{}
	}
	g.failed[o]++
}

// most are the groups with the most exchanges, so many at most.
func (gs groups) most(n int) []*group {
	all := slices.SortedFunc(maps.Values(gs), func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.name, b.name))
	})
	return all[:min(len(all), n)]
}

// buffered says whether something in between held the answer back, so that its
// first token tells nothing.
func (b *brief) buffered() bool {
	return b.Delivery == exchange.Pseudo || b.Delivery == exchange.Bursty
}

func (b *brief) endedWell() bool {
	return b.Outcome == exchange.OK || b.Outcome == exchange.Incomplete
}

// pooled is the exchange's part of a rate of many.
func (b *brief) pooled() pool {
	seen := b.spent[decodeAt] + b.spent[reasoningAt]
	if b.Rate == nil || seen <= 0 {
		return pool{}
	}
	return pool{*b.Rate * seen.Seconds(), seen}
}

var networkAt, decodeAt, reasoningAt = network.index(), decode.index(), reasoning.index()

// isFailure says whether an exchange failed, other than by its client's will.
func isFailure(o exchange.Outcome) bool {
	end, ok := ends[o]
	return ok && end != "cancelled" && end != "running"
}
