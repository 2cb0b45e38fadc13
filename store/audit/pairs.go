package audit

import "slices"

// pair is an attempt and a row that are one request beyond doubt: they share an
// id that nobody else has, or they alone have these two counts.
type pair struct {
	here, there int32
	gap         int64 // the row's time minus the attempt's; meaningless where it tells none
	timed       bool
	fits        [habitCount]bool // by which habits of counting the tokens are equal
}

// tellingOutput is from how many output tokens on two counts that nobody else
// has are no chance.
const tellingOutput = 32

// farthest is how far apart the times of a pair may be: the widest distance of
// two zones, and a bit.
const farthest = 27 * hour

const (
	second = int64(1e9)
	minute = 60 * second
	hour   = 3600 * second
)

// findPairs collects the pairs that the rest is learnt from.
func (c *comparison) findPairs() {
	for _, g := range c.groups {
		if len(g.here) == 1 && len(g.there) == 1 {
			c.addPair(g.here[0], g.there[0])
		}
	}
	for _, p := range c.tellingPairs() {
		c.addPair(p[0], p[1])
	}
}

func (c *comparison) addPair(i, j int32) {
	h, t := &c.here[i], &c.there[j]
	p := pair{here: i, there: j, timed: t.timed() && !(h.loose && t.at != AtStart)}
	if p.timed {
		p.gap = gapOf(t.lo, t.hi, h, t.at)
		if abs(p.gap) > farthest && c.here[i].state == open {
			return
		}
	}
	for k := range habitCount {
		p.fits[k] = h.fits(t, habit(k))
	}
	c.pairs = append(c.pairs, p)
}

// gapOf is how much later a row's time is than the attempt's. A time told to
// the second or the minute is taken in its middle; in a wider interval there is
// no gap.
func gapOf(lo, hi int64, h *here, at Reference) int64 {
	if hi-lo <= minute {
		lo += (hi - lo) / 2
		hi = lo
	}
	from, to := h.span(at)
	switch {
	case lo > to:
		return lo - to
	case hi < from:
		return hi - from
	}
	return 0
}

// span is where in the attempt a console's time of this reference lies.
func (h *here) span(at Reference) (from, to int64) {
	switch at {
	case AtStart:
		return h.start, h.start
	case AtEnd:
		return h.end, h.end
	}
	return h.start, h.end
}

// tellingPairs are the open rows whose input and output nobody else has, by any
// of the habits; or as many attempts as rows have, taken in the order of time.
func (c *comparison) tellingPairs() [][2]int32 {
	there := c.countsThere()
	found := make(map[[2]int32]bool)
	for k := range habitCount {
		for key, rows := range c.countsHere(habit(k)) {
			if len(rows) <= twinsMost && len(rows) == len(there[key]) {
				c.join(found, rows, there[key])
			}
		}
	}
	return c.uncontested(found)
}

// join pairs as many attempts as rows, but for those that are no pair by their ids.
func (c *comparison) join(found map[[2]int32]bool, here, there []int32) {
	for n, i := range here {
		if j := there[n]; !c.strangers(&c.here[i], &c.there[j]) {
			found[[2]int32{i, j}] = true
		}
	}
}

// twinsMost is how many rows of the same counts still tell something.
const twinsMost = 4

// twoCounts are what a row is known by.
type twoCounts struct{ in, out int64 }

func (c *comparison) countsThere() map[twoCounts][]int32 {
	index := make(map[twoCounts][]int32)
	for j := range c.there {
		t := &c.there[j]
		if k, ok := keyOf(t.Input, t.Output); ok && k.out >= tellingOutput && t.state == open && !t.Refund {
			index[k] = append(index[k], int32(j))
		}
	}
	for _, rows := range index {
		slices.SortStableFunc(rows, func(a, b int32) int { return sign(c.there[a].lo - c.there[b].lo) })
	}
	return index
}

// countsHere has its rows in the order of their start.
func (c *comparison) countsHere(k habit) map[twoCounts][]int32 {
	index := make(map[twoCounts][]int32)
	for i := range c.here {
		h := &c.here[i]
		if key, ok := keyOf(h.as(k)); ok && h.state == open {
			index[key] = append(index[key], int32(i))
		}
	}
	return index
}

// uncontested are the pairs neither of whose rows is in another, in order.
func (c *comparison) uncontested(found map[[2]int32]bool) [][2]int32 {
	uses := make(map[int32]int)
	n := int32(len(c.here))
	for p := range found {
		uses[p[0]]++
		uses[n+p[1]]++
	}
	var kept [][2]int32
	for p := range found {
		if uses[p[0]] == 1 && uses[n+p[1]] == 1 {
			kept = append(kept, p)
		}
	}
	slices.SortFunc(kept, func(a, b [2]int32) int { return int(a[0] - b[0]) })
	return kept
}

func abs(n int64) int64 { return max(n, -n) }
