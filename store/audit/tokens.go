package audit

import "math"

// What a pair costs: nothing where all is alike.
const (
	differsCost = 4   // one of the two counts is another
	unknownCost = 4   // the log has no count of it
	margin      = 1   // by how much a pair must be better than any other of its rows
	partMost    = 200 // rows of a part in which the cheapest way is looked for
)

// pairByTokens pairs what has no id in common, in three steps: those whose counts
// are equal; those of which one count is equal, or where the log has none; those
// that stand alone in their time and differ a little in both.
func (c *comparison) pairByTokens() {
	for _, look := range []func(*graph, Reference){(*graph).alike, (*graph).akin} {
		for range 2 { // what was settled may leave others alone
			if !c.look(look) {
				break
			}
		}
	}
	c.leaveUnclear((*graph).akin)
	c.look((*graph).rough)
	c.leaveUnclear((*graph).rough)
}

// look builds a graph and settles what is clear in it. It says whether anything was.
func (c *comparison) look(find func(*graph, Reference)) bool {
	g := c.graphOf(find)
	settled := false
	for _, p := range g.components() {
		settled = c.solve(p) || settled
	}
	return settled
}

// leaveUnclear settles as unclear what is still connected.
func (c *comparison) leaveUnclear(find func(*graph, Reference)) {
	for _, p := range c.graphOf(find).components() {
		c.leave(p)
	}
}

func (c *comparison) graphOf(find func(*graph, Reference)) *graph {
	g := c.newGraph()
	for _, at := range []Reference{AtStart, AtEnd, ""} {
		if c.stamps(at) {
			find(g, at)
		}
	}
	return g
}

// stamps says whether any open row is stamped so.
func (c *comparison) stamps(at Reference) bool {
	for j := range c.there {
		if t := &c.there[j]; t.isOpen(at) {
			return true
		}
	}
	return false
}

// isOpen says whether the row still looks for an attempt, and is stamped so.
func (t *there) isOpen(at Reference) bool {
	return t.state == open && t.at == at && t.timed() && !t.Refund
}

// each goes through the open rows that are stamped so.
func (g *graph) each(at Reference, fn func(j int32, t *there)) {
	for j := range g.c.there {
		if t := &g.c.there[j]; t.isOpen(at) {
			fn(int32(j), t)
		}
	}
}

// solve pairs what is clear in a part, again and again, since what is settled
// may leave others alone. Equal numbers of rows with equal counts are settled as
// a set, whichever is which.
func (c *comparison) solve(p component) bool {
	if len(p.here) == 0 || len(p.there) == 0 {
		return false
	}
	if p.crowd || len(p.here)+len(p.there) > partMost {
		return c.settleEven(p)
	}
	settled := false
	for {
		clear := p.clearPairs()
		if len(clear) == 0 {
			break
		}
		settled = true
		for _, e := range clear {
			c.settle(group{here: []int32{e.here}, there: []int32{e.there}, by: byTokens})
		}
		p.drop(c)
	}
	for _, rest := range p.split() {
		settled = c.settleEven(rest) || settled
	}
	return settled
}

// clearPairs are the pairs of the cheapest way that are better than any other
// of their rows by the margin.
func (p *component) clearPairs() []edge {
	cost, weak := p.matrix()
	var clear []edge
	for r, k := range assign(cost) {
		if k < 0 || weak[edgeKey{r, k}] {
			continue
		}
		rival := math.Inf(1)
		for j, n := range cost[r] {
			if j != k {
				rival = min(rival, n)
			}
		}
		for i := range cost {
			if i != r {
				rival = min(rival, cost[i][k])
			}
		}
		if cost[r][k]+margin <= rival {
			clear = append(clear, edge{here: p.here[r], there: p.there[k]})
		}
	}
	return clear
}

// edgeKey is a place in a matrix.
type edgeKey struct{ row, col int }

// matrix has the cost of every pair of the part, and which of them are weak.
func (p *component) matrix() (cost [][]float64, weak map[edgeKey]bool) {
	row, col := make(map[int32]int), make(map[int32]int)
	for i, h := range p.here {
		row[h] = i
	}
	for j, t := range p.there {
		col[t] = j
	}
	cost, weak = make([][]float64, len(p.here)), make(map[edgeKey]bool)
	for i := range cost {
		cost[i] = make([]float64, len(p.there))
		for j := range cost[i] {
			cost[i][j] = math.Inf(1)
		}
	}
	for _, e := range p.edges {
		at := edgeKey{row[e.here], col[e.there]}
		cost[at.row][at.col] = e.cost
		if e.weak {
			weak[at] = true
		}
	}
	return cost, weak
}
