package audit

import "slices"

// tokenSum is what is compared of a bucket.
type tokenSum struct{ in, cached, out int64 }

func (s tokenSum) plus(o tokenSum, by int64) tokenSum {
	return tokenSum{s.in + by*o.in, s.cached + by*o.cached, s.out + by*o.out}
}

// cell is one bucket of one model.
type cell struct {
	span  int   // of its series
	label int32 // of the console's model
	there Counts
	asked *int64 // requests, as the console has them
	purse purse
	lines []Place
	key   string
	habit habit
	in    []*here // attempts that fall into it
	bare  []*here // those of them of which the log has no count
	moved int     // of in, those that by their own time are in the bucket beside it
}

// want is what an attempt adds to a bucket, of what the console states; all of it
// where the console has no row.
func (at *cell) want(h *here) tokenSum {
	var s tokenSum
	in, out := h.as(at.habit)
	none := len(at.lines) == 0
	if (none || at.there.Input != nil) && in != nil {
		s.in = *in
	}
	if at.there.Cached != nil && h.Cached != nil {
		s.cached = *h.Cached
	}
	if (none || at.there.Output != nil) && out != nil {
		s.out = *out
	}
	return s
}

func (at *cell) sum(rows []*here) tokenSum {
	var s tokenSum
	for _, h := range rows {
		s = s.plus(at.want(h), 1)
	}
	return s
}

// stated is what the console has.
func (at *cell) stated() tokenSum {
	return tokenSum{zeroIfNil(at.there.Input), zeroIfNil(at.there.Cached), zeroIfNil(at.there.Output)}
}

// fits says whether n attempts with counts are as many as the console has; it may
// have counted those without as well. Where it has no row of the bucket it has none
// of them.
func (at *cell) fits(n int) bool {
	switch {
	case len(at.lines) == 0:
		return n == 0
	case at.asked == nil:
		return true
	}
	return int64(n) <= *at.asked && *at.asked <= int64(n+len(at.bare))
}

func (at *cell) isEqual() bool { return at.sum(at.in) == at.stated() && at.fits(len(at.in)) }

// moneyOnly says whether the console states of it nothing but money.
func (at *cell) moneyOnly() bool {
	return at.there == (Counts{}) && at.asked == nil && len(at.lines) > 0
}

// counts says whether the file states anything but money.
func (b *board) counts() bool {
	for _, at := range b.cells {
		if len(at.lines) > 0 && !at.moneyOnly() {
			return true
		}
	}
	return false
}

// choice is a part of the log and of the file that may belong together, and how
// the file counts.
type choice struct {
	upstream, key string // "" for all
	habit         habit
}

// board is the cells of a series under one choice, and the attempts at the edges
// of its buckets.
type board struct {
	c      *comparison
	series *series
	choice choice
	labels []int32 // the console's models
	cells  map[place]*cell
	edges  map[place][]floating
}

// place is a bucket, or the edge before it, of a model.
type place struct {
	span  int
	label int32
}

// floating is an attempt so near to an edge that it may be in either bucket.
type floating struct {
	*here
	after bool // by its own time it is in the bucket after the edge
}

func (c *comparison) newBoard(s *series, ch choice) *board {
	b := &board{c: c, series: s, choice: ch, cells: make(map[place]*cell), edges: make(map[place][]floating)}
	b.putRows()
	for i := range c.here {
		h := &c.here[i]
		if (ch.upstream == "" || h.Upstream == ch.upstream) && !h.Free && h.Outcome != "open" {
			b.putAttempt(h)
		}
	}
	for label, line := range b.lines() {
		b.share(label, line)
	}
	return b
}

func (b *board) at(span int, label int32) *cell {
	p := place{span, label}
	if b.cells[p] == nil {
		b.cells[p] = &cell{span: span, label: label, habit: b.choice.habit}
	}
	return b.cells[p]
}

// putRows adds the console's rows to their cells.
func (b *board) putRows() {
	for i := range b.series.rows {
		t := &b.series.rows[i]
		if t.isEmpty() || b.choice.key != "" && t.Key != "" && t.Key != b.choice.key {
			continue
		}
		at := b.at(b.series.at(t.lo), t.label)
		at.there = at.there.plus(t.Counts)
		at.asked = sum(at.asked, t.Requests, 1)
		at.purse.put(t.Money, 1)
		at.lines = append(at.lines, Place{t.file, t.Line})
		at.key = t.Key
		if !slices.Contains(b.labels, t.label) {
			b.labels = append(b.labels, t.label)
		}
	}
}

// isEmpty says whether the row only says that there was nothing.
func (t *there) isEmpty() bool {
	return t.Counts == (Counts{}) && t.Money == nil && (t.Requests == nil || *t.Requests == 0)
}

// nearest is the console's model that an attempt's is nearest to, else its own
// label, turned so that it is none of the console's.
func (b *board) nearest(h *here) int32 {
	best, least := h.label, 2*aliasCost
	for _, l := range b.labels {
		if cost := b.c.names.cost(h.label, l); cost >= 0 && cost < least {
			best, least = l, cost
		}
	}
	return best
}

// putAttempt puts an attempt into its bucket, or to an edge.
func (b *board) putAttempt(h *here) {
	label := b.nearest(h)
	from, to := h.span(b.series.rows[0].at)
	at, first, last := b.series.at(to), b.series.at(from-b.c.delta), b.series.at(to+b.c.delta)
	switch {
	case at < 0 && last < 0:
	case h.isBare():
		if at >= 0 {
			b.at(at, label).bare = append(b.at(at, label).bare, h)
		}
	case first < at:
		b.float(at, label, floating{h, true})
	case last != at:
		b.float(at+1, label, floating{h, false})
	default:
		b.at(at, label).in = append(b.at(at, label).in, h)
	}
}

// floatMost is how many attempts at one edge are tried on both sides.
const floatMost = 10

// float puts an attempt to the edge before a bucket; beyond what can be tried its
// own time decides.
func (b *board) float(span int, label int32, f floating) {
	p := place{span, label}
	own := span
	if !f.after {
		own--
	}
	inside := own >= 0 && own < len(b.series.spans)
	if len(b.edges[p]) >= floatMost {
		if inside {
			b.at(own, label).in = append(b.at(own, label).in, f.here)
		}
		return
	}
	b.edges[p] = append(b.edges[p], f)
	for _, beside := range []int{span - 1, span} {
		if beside >= 0 && beside < len(b.series.spans) {
			b.at(beside, label)
		}
	}
}

// lines are the cells of each model in the order of their buckets.
func (b *board) lines() map[int32][]*cell {
	lines := make(map[int32][]*cell)
	for _, at := range b.cells {
		lines[at.label] = append(lines[at.label], at)
	}
	for _, line := range lines {
		slices.SortFunc(line, func(a, b *cell) int { return a.span - b.span })
	}
	return lines
}
