package audit

import "slices"

// drop takes out of the part what is settled.
func (p *component) drop(c *comparison) {
	p.here = slices.DeleteFunc(p.here, func(i int32) bool { return c.here[i].state != open })
	p.there = slices.DeleteFunc(p.there, func(j int32) bool { return c.there[j].state != open })
	p.edges = slices.DeleteFunc(p.edges, func(e edge) bool {
		return c.here[e.here].state != open || c.there[e.there].state != open
	})
}

// split takes the part apart once more, without what has no edge.
func (p *component) split() []component {
	row, col := make(map[int32]int32), make(map[int32]int32)
	for i, h := range p.here {
		row[h] = int32(i)
	}
	for j, t := range p.there {
		col[t] = int32(len(p.here) + j)
	}
	sets := newSets(len(p.here) + len(p.there))
	for _, e := range p.edges {
		sets.join(row[e.here], col[e.there])
	}
	at := make(map[int32]int)
	var parts []component
	for _, e := range p.edges {
		root := sets.find(row[e.here])
		k, ok := at[root]
		if !ok {
			k = len(parts)
			at[root] = k
			parts = append(parts, component{})
		}
		parts[k].put(e)
	}
	return parts
}

func (p *component) put(e edge) {
	p.edges = append(p.edges, e)
	if !slices.Contains(p.here, e.here) {
		p.here = append(p.here, e.here)
	}
	if !slices.Contains(p.there, e.there) {
		p.there = append(p.there, e.there)
	}
}

// settleEven settles a part whose two sides have the same rows, as far as both
// are covered: they are the same requests, whichever is which.
func (c *comparison) settleEven(p component) bool {
	even, edge := c.even(p)
	if !even {
		return false
	}
	c.settle(group{here: p.here, there: p.there, by: byTokens, unclear: true, edge: edge})
	return true
}

// leave settles a part whose rows are left as what cannot be told apart.
func (c *comparison) leave(p component) {
	if len(p.here) == 0 || len(p.there) == 0 {
		return
	}
	if len(p.here) == 1 && len(p.there) == 1 && !p.crowd && !p.edges[0].weak {
		c.settle(group{here: p.here, there: p.there, by: byTokens})
		return
	}
	_, edge := c.even(p)
	c.settle(group{here: p.here, there: p.there, by: byTokens, unclear: true, edge: edge})
}

// even says whether both sides have the same counts equally often, and whether
// that is so only because what lacks may lie outside of what the other covers.
func (c *comparison) even(p component) (even, edge bool) {
	all := make(map[twoCounts]*balance)
	for _, i := range p.here {
		h := &c.here[i]
		k, ok := keyOf(h.wantIn, h.wantOut)
		if !ok {
			return false, false
		}
		balanceOf(all, k).here.add(c.consoleCovers(h))
	}
	for _, j := range p.there {
		t := &c.there[j]
		k, ok := keyOf(t.Input, t.Output)
		if !ok {
			return false, false
		}
		balanceOf(all, k).there.add(c.logCovers(t))
	}
	for _, b := range all {
		if b.here.inside > b.there.all || b.there.inside > b.here.all {
			return false, false
		}
		edge = edge || b.here.all != b.there.all
	}
	return true, edge
}

// balance is how often the same counts are on both sides.
type balance struct{ here, there tally }

// tally counts rows, and those of them that the other side covers.
type tally struct{ all, inside int }

func (t *tally) add(covered bool) {
	t.all++
	if covered {
		t.inside++
	}
}

func balanceOf(all map[twoCounts]*balance, k twoCounts) *balance {
	if all[k] == nil {
		all[k] = new(balance)
	}
	return all[k]
}
