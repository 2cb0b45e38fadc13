package audit

import "math/bits"

// state is a way to share out the attempts at one edge: by bit, which of them
// are in the bucket after it. Its index is the bits.
type state struct {
	cost int // buckets that differ up to here, then moves
	from int // the state of the edge before
}

// differing costs more than any number of moves.
const differing = 1 << 30

// share puts the attempts at the edges of a model's buckets so that as few
// buckets as can be differ, and as few attempts as can be are moved for it.
func (b *board) share(label int32, line []*cell) {
	lefts, rights := make([][]state, len(line)), make([][]state, len(line))
	for k, at := range line {
		switch {
		case k > 0 && line[k-1].span == at.span-1:
			lefts[k] = rights[k-1]
		case k > 0:
			lefts[k] = b.begin(place{at.span, label}, rights[k-1])
		default:
			lefts[k] = b.begin(place{at.span, label}, []state{{}})
		}
		rights[k] = b.through(at, lefts[k])
	}
	r := cheapest(rights[len(line)-1])
	for k := len(line) - 1; k >= 0; k-- {
		l := rights[k][r].from
		b.fill(line[k], l, r)
		r = l
		if k > 0 && line[k-1].span != line[k].span-1 {
			r = lefts[k][l].from
		}
	}
}

// begin are the states of an edge before which nothing is compared.
func (b *board) begin(edge place, before []state) []state {
	best := cheapest(before)
	next := make([]state, 1<<len(b.edges[edge]))
	for s := range next {
		next[s] = state{before[best].cost + b.moves(edge, s), best}
	}
	return next
}

func cheapest(of []state) int {
	best := 0
	for s := range of {
		if of[s].cost < of[best].cost {
			best = s
		}
	}
	return best
}

// moves counts the attempts at an edge that a state has on the other side.
func (b *board) moves(edge place, s int) int {
	own := 0
	for i, f := range b.edges[edge] {
		if f.after {
			own |= 1 << i
		}
	}
	return bits.OnesCount(uint(s ^ own))
}

// through goes from the states of the edge before a bucket to those of the one
// after it.
func (b *board) through(at *cell, before []state) []state {
	edge := place{at.span + 1, at.label}
	entered, kept := b.sums(at, place{at.span, at.label}), b.sums(at, edge)
	all, best := len(kept)-1, cheapest(before)
	next, of := make([]state, len(kept)), make(map[tokenSum][]int)
	for r := range next {
		next[r] = state{before[best].cost + differing + b.moves(edge, r), best}
		of[kept[all^r]] = append(of[kept[all^r]], r)
	}
	rest := at.stated().plus(at.sum(at.in), -1)
	for l := range before {
		for _, r := range of[rest.plus(entered[l], -1)] {
			n := len(at.in) + bits.OnesCount(uint(l)) + bits.OnesCount(uint(all^r))
			if cost := before[l].cost + b.moves(edge, r); at.fits(n) && cost < next[r].cost {
				next[r] = state{cost, l}
			}
		}
	}
	return next
}

// sums are those of every set of the attempts at an edge, by its bits.
func (b *board) sums(at *cell, edge place) []tokenSum {
	of := b.edges[edge]
	sums := make([]tokenSum, 1<<len(of))
	for s := 1; s < len(sums); s++ {
		sums[s] = sums[s&(s-1)].plus(at.want(of[bits.TrailingZeros(uint(s))].here), 1)
	}
	return sums
}

// fill puts the attempts at its edges into a bucket, as the states say.
func (b *board) fill(at *cell, l, r int) {
	for i, f := range b.edges[place{at.span, at.label}] {
		if l>>i&1 == 1 {
			at.take(f.here, !f.after)
		}
	}
	for i, f := range b.edges[place{at.span + 1, at.label}] {
		if r>>i&1 == 0 {
			at.take(f.here, f.after)
		}
	}
}

func (at *cell) take(h *here, moved bool) {
	at.in = append(at.in, h)
	if moved {
		at.moved++
	}
}
