package audit

import "time"

// alike finds rows whose two counts are what the console would state for the attempt.
func (g *graph) alike(at Reference) {
	s := g.c.newShelf(at, func(h *here) (twoCounts, bool) { return keyOf(h.wantIn, h.wantOut) })
	g.each(at, func(j int32, t *there) {
		if k, ok := keyOf(t.Input, t.Output); ok {
			g.scan(s, j, k, g.c.cost)
		}
	})
	s.crowds(g.sets)
}

// akin finds, beside these, rows of which one count fits, and those that may be
// an attempt of which the log has no count, or one that somebody estimated.
func (g *graph) akin(at Reference) {
	g.alike(at)
	in := g.c.newShelf(at, func(h *here) (twoCounts, bool) { return oneKey(h.wantIn) })
	out := g.c.newShelf(at, func(h *here) (twoCounts, bool) { return oneKey(h.wantOut) })
	bare := g.c.newShelf(at, func(h *here) (twoCounts, bool) { return twoCounts{}, h.isBare() && !h.Free })
	all := g.c.newShelf(at, func(h *here) (twoCounts, bool) { return twoCounts{}, !h.Free })
	g.each(at, func(j int32, t *there) {
		if t.Estimated || t.countless() {
			g.scan(all, j, twoCounts{}, g.c.cost)
			return
		}
		g.scan(bare, j, twoCounts{}, g.c.cost)
		if k, ok := oneKey(t.Input); ok && k.in > 0 {
			g.scan(in, j, k, g.c.cost)
		}
		if k, ok := oneKey(t.Output); ok && k.in >= tellingOutput {
			g.scan(out, j, k, g.c.cost)
		}
	})
	for _, s := range []*shelf{in, out, bare, all} {
		s.crowds(g.sets)
	}
}

// rough finds rows both of whose counts are a little other.
func (g *graph) rough(at Reference) {
	all := g.c.newShelf(at, func(h *here) (twoCounts, bool) { return twoCounts{}, !h.isBare() })
	g.each(at, func(j int32, t *there) { g.scan(all, j, twoCounts{}, g.c.roughCost) })
	all.crowds(g.sets)
}

func keyOf(in, out *int64) (twoCounts, bool) {
	if in == nil || out == nil {
		return twoCounts{}, false
	}
	return twoCounts{*in, *out}, true
}

func oneKey(n *int64) (twoCounts, bool) {
	if n == nil {
		return twoCounts{}, false
	}
	return twoCounts{in: *n}, true
}

// cost is what the tokens, the durations and the model say against a pair; less
// than 0 where they rule it out.
func (c *comparison) cost(h *here, t *there) float64 {
	model := c.names.cost(h.label, t.label)
	if model < 0 {
		return model
	}
	tokens := c.tokenCost(h, t)
	if tokens < 0 {
		return tokens
	}
	return model + tokens + timeCost(h, t)
}

func (c *comparison) tokenCost(h *here, t *there) float64 {
	switch {
	case t.Failed && !t.billed():
		if h.failed() || h.left() {
			return statusCost(h, t)
		}
		return otherwise
	case h.turnedAway():
		return otherwise
	case h.isBare():
		return unknownCost
	case t.countless():
		return 0
	}
	in, out := unlike(h.wantIn, t.Input, t.Estimated), unlike(h.wantOut, t.Output, t.Estimated)
	if in && out {
		return otherwise
	}
	if in || out {
		return differsCost
	}
	return 0
}

func statusCost(h *here, t *there) float64 {
	if differ(h.Status, t.Status) {
		return 2
	}
	return 0
}

// unlike says whether two counts are not the same, within the tolerance where one
// of them is estimated.
func unlike(a, b *int64, estimated bool) bool {
	if a == nil || b == nil {
		return false
	}
	return *a != *b && !(estimated && abs(*a-*b) <= tolerance(*a))
}

// tolerance is how far an estimate may be off and still be the same.
func tolerance(n int64) int64 { return max(2, abs(n)/100) }

// timeCost is what the stated durations say against a pair.
func timeCost(h *here, t *there) float64 {
	cost := 0.0
	if t.Total != nil && h.Total != nil && !h.loose {
		cost += share(*t.Total-*h.Total, 2*time.Second)
	}
	if t.TTFT == nil {
		return cost
	}
	best := -1.0
	for _, own := range []*time.Duration{h.FirstByte, h.TTFT} {
		if own != nil {
			if d := share(*t.TTFT-*own, time.Second); best < 0 || d < best {
				best = d
			}
		}
	}
	return cost + max(0, best)
}

// share is a difference in parts of what counts as one. Durations speak for and
// against a pair, but not for ever: a clock that stalls does not part two rows.
func share(d, of time.Duration) float64 { return min(3, float64(d.Abs())/float64(of)) }

// roughShare is how far apart two counts may be, each, of a pair that stands alone.
const roughShare = 0.2

func (c *comparison) roughCost(h *here, t *there) float64 {
	if c.names.cost(h.label, t.label) < 0 || t.Failed || !roughly(h.wantIn, t.Input) || !roughly(h.wantOut, t.Output) {
		return otherwise
	}
	return 2 * differsCost
}

func roughly(a, b *int64) bool {
	return a != nil && b != nil && float64(abs(*a-*b)) <= roughShare*float64(max(*a, *b))
}
