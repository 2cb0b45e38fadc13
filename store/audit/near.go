package audit

import (
	"math"
	"slices"
	"sort"
)

// scanMost is how many attempts are looked at for one row. Where there are more
// in its time that look like it, they are taken as one crowd, and not compared
// one by one.
const scanMost = 48

// shelf is attempts sorted by a key and, within it, by the instant that the
// console stamps, so that those near a row are found at once. Those whose end
// was not seen stand apart, since they are looked for in a wider stretch.
type shelf struct{ sharp, loose rack }

// rack is one half of a shelf.
type rack struct {
	slots       []slot
	paint       []int32 // of crowds: how many begin, less how many end, at each slot
	early, late int64   // how much before and after a row's time an attempt of it may have its own
}

type slot struct {
	key  twoCounts
	time int64
	here int32
}

// newShelf shelves those of the open attempts that key takes.
func (c *comparison) newShelf(at Reference, key func(*here) (twoCounts, bool)) *shelf {
	s := new(shelf)
	for i := range c.here {
		h := &c.here[i]
		if h.state != open {
			continue
		}
		k, ok := key(h)
		switch {
		case !ok:
		case h.loose && at != AtStart:
			s.loose.early = int64(looseEnd)
			s.loose.put(slot{k, h.end, int32(i)}, h.end-h.start)
		default:
			from, to := h.span(at)
			s.sharp.put(slot{k, to, int32(i)}, to-from)
		}
	}
	s.sharp.sort()
	s.loose.sort()
	return s
}

func (r *rack) put(s slot, late int64) {
	r.slots = append(r.slots, s)
	r.late = max(r.late, late)
}

func (r *rack) sort() {
	slices.SortFunc(r.slots, slot.compare)
	r.paint = make([]int32, len(r.slots)+1)
}

func (a slot) compare(b slot) int {
	switch {
	case a.key.in != b.key.in:
		return sign(a.key.in - b.key.in)
	case a.key.out != b.key.out:
		return sign(a.key.out - b.key.out)
	case a.time != b.time:
		return sign(a.time - b.time)
	}
	return int(a.here - b.here)
}

func sign(n int64) int { return int(max(-1, min(1, n))) }

// between are the slots of a key in a stretch of time.
func (r *rack) between(key twoCounts, from, to int64) (i, j int) {
	i = sort.Search(len(r.slots), func(k int) bool { return r.slots[k].compare(slot{key, from, -1}) >= 0 })
	j = i + sort.Search(len(r.slots)-i, func(k int) bool { return r.slots[i+k].compare(slot{key, to, math.MaxInt32}) > 0 })
	return i, j
}

// crowds joins what was painted as one crowd.
func (s *shelf) crowds(in sets) {
	for _, r := range []*rack{&s.sharp, &s.loose} {
		depth := int32(0)
		for k := range r.slots {
			if depth > 0 {
				in.join(r.slots[k-1].here, r.slots[k].here)
			}
			depth += r.paint[k]
		}
	}
}

// scan finds the edges of row j to the attempts of a key.
func (g *graph) scan(s *shelf, j int32, key twoCounts, cost func(*here, *there) float64) {
	g.scanRack(&s.sharp, j, key, cost)
	g.scanRack(&s.loose, j, key, cost)
}

func (g *graph) scanRack(r *rack, j int32, key twoCounts, cost func(*here, *there) float64) {
	t := &g.c.there[j]
	i, end := r.between(key, t.lo-g.c.delta-r.early, t.hi+g.c.delta+r.late)
	if end-i > scanMost {
		r.paint[i]++
		r.paint[end-1]--
		g.sets.join(r.slots[i].here, g.node(j))
		g.crowd[j] = true
		return
	}
	for _, slot := range r.slots[i:end] {
		h := &g.c.here[slot.here]
		far, weak, ok := g.c.far(h, t)
		if !ok || g.c.strangers(h, t) {
			continue
		}
		if n := cost(h, t); n >= 0 {
			g.add(edge{slot.here, j, far + n, weak})
		}
	}
}

// far is how far apart two rows are in time, in shares of what is allowed. Where
// the log may not have seen the end, the row's start decides, if it tells its
// duration; else anything within the time that the upstream may have gone on is
// possible, and weak.
func (c *comparison) far(h *here, t *there) (far float64, weak, ok bool) {
	from, to := h.span(t.at)
	if gap := distance(t.lo, t.hi, from, to); gap <= c.delta {
		return float64(gap) / float64(c.delta), false, true
	}
	if !h.loose || t.at == AtStart {
		return 0, false, false
	}
	if t.Total == nil {
		return 1, true, t.lo >= h.start && t.lo <= h.end+int64(looseEnd)
	}
	took := int64(*t.Total)
	gap := distance(t.lo-took-second, t.hi-took+second, h.start, h.start)
	return float64(gap) / float64(c.delta), false, gap <= c.delta
}

// distance is that of two intervals; 0 where they touch.
func distance(lo, hi, from, to int64) int64 { return max(0, lo-to, from-hi) }
