package audit

import (
	"slices"
	"time"
)

// span is a stretch that the console adds up over.
type span struct{ lo, hi int64 }

// series is the buckets of one width.
type series struct {
	spans []span
	rows  []there
}

// width parts buckets that count the same twice: by the minute, the hour, the day.
func (t *there) width() time.Duration {
	switch d := time.Duration(t.hi - t.lo); {
	case d <= 10*time.Minute:
		return time.Minute
	case d <= 12*time.Hour:
		return time.Hour
	case d <= 4*24*time.Hour:
		return 24 * time.Hour
	}
	return 30 * 24 * time.Hour
}

// seriesOf sorts the buckets by their width.
func (c *comparison) seriesOf() []*series {
	of := make(map[time.Duration]*series)
	for _, t := range c.buckets {
		if !t.timed() {
			continue
		}
		w := t.width()
		if of[w] == nil {
			of[w] = new(series)
		}
		of[w].rows = append(of[w].rows, t)
		of[w].spans = append(of[w].spans, span{t.lo, t.hi})
	}
	var all []*series
	for _, w := range []time.Duration{time.Minute, time.Hour, 24 * time.Hour, 30 * 24 * time.Hour} {
		if s := of[w]; s != nil {
			slices.SortFunc(s.spans, func(a, b span) int { return sign(a.lo - b.lo) })
			s.spans = slices.Compact(s.spans)
			s.fill()
			all = append(all, s)
		}
	}
	return all
}

// fillMost is how many buckets are put in where a file leaves some out.
const fillMost = 100_000

// fill puts in the buckets that one file leaves out because nothing was in them.
func (s *series) fill() {
	var full []span
	by := s.reaches()
	for _, next := range s.spans {
		for len(full) > 0 && len(full) < fillMost {
			last := full[len(full)-1]
			if next.lo < last.hi+(last.hi-last.lo) || !reached(by, last.hi) {
				break
			}
			full = append(full, span{last.hi, 2*last.hi - last.lo})
		}
		full = append(full, next)
	}
	s.spans = full
}

// reaches is from where to where each file has buckets. Between two files may be
// what nobody exported.
func (s *series) reaches() map[int]span {
	of := make(map[int]span)
	for i := range s.rows {
		t := &s.rows[i]
		sp, ok := of[t.file]
		if !ok {
			sp = span{t.lo, t.hi}
		}
		of[t.file] = span{min(sp.lo, t.lo), max(sp.hi, t.hi)}
	}
	return of
}

// reached says whether one file has buckets before and after an instant.
func reached(by map[int]span, at int64) bool {
	for _, sp := range by {
		if sp.lo < at && at < sp.hi {
			return true
		}
	}
	return false
}

// at is the bucket that holds an instant; -1 before the first and -2 after the
// last, or between two.
func (s *series) at(t int64) int {
	i, found := slices.BinarySearchFunc(s.spans, t, func(sp span, t int64) int { return sign(sp.lo - t) })
	if !found {
		i--
	}
	if i >= 0 && t >= s.spans[i].hi {
		return -2
	}
	return i
}

// best is the choice under which most buckets are equal and fewest are not; all
// of the log and all of the file where that is no worse.
func (c *comparison) best(s *series) *board {
	best := c.newBoard(s, choice{habit: c.habits.all})
	if best.score() == 0 && best.equal() > 0 {
		return best
	}
	for _, ch := range c.choices(s, best) {
		if b := c.newBoard(s, ch); b.equal() > 0 && b.score() > best.score() {
			best = b
		}
	}
	c.noteChoice(best)
	return best
}

// choices are the single upstreams and keys that a file may be of, and the ways
// to count.
func (c *comparison) choices(s *series, all *board) []choice {
	upstreams, keys := []string{""}, []string{""}
	for i := range c.here {
		if u := c.here[i].Upstream; !slices.Contains(upstreams, u) && len(upstreams) < choicesMost {
			upstreams = append(upstreams, u)
		}
	}
	for i := range s.rows {
		if k := s.rows[i].Key; !slices.Contains(keys, k) && len(keys) < choicesMost {
			keys = append(keys, k)
		}
	}
	var out []choice
	for _, u := range upstreams {
		for _, k := range keys {
			for h := range habit(habitCount) {
				out = append(out, choice{u, k, h})
			}
		}
	}
	return out
}

// choicesMost bounds what is tried.
const choicesMost = 8

// equal counts the buckets in which both sides have something and the same.
func (b *board) equal() int {
	n := 0
	for _, at := range b.cells {
		if len(at.in) > 0 && len(at.lines) > 0 && !at.moneyOnly() && at.isEqual() {
			n++
		}
	}
	return n
}

// score weighs what is equal against what is not.
func (b *board) score() int {
	n := 0
	for _, at := range b.cells {
		switch {
		case at.moneyOnly():
		case len(at.in) > 0 && len(at.lines) > 0 && at.isEqual():
			n++
		case len(at.in) > 0 || len(at.lines) > 0:
			n--
		}
	}
	return n
}

func (c *comparison) noteChoice(b *board) {
	if u := b.choice.upstream; u != "" {
		c.note(Words{
			"The sums are those of the upstream ${name}: with it most of them are equal.", "合计按上游 ${name} 比对：这样一致的最多。",
		}, "name", u)
	}
	if k := b.choice.key; k != "" {
		c.note(Words{
			"Of the file, the rows of the key ${name} were compared: with them most sums are equal.", "文件中只比对令牌 ${name} 的行：这样一致的最多。",
		}, "name", k)
	}
	if k := b.choice.habit; k != asHere && k != c.habits.all {
		c.found = append(c.found, Convention{Say: k.words(), Pairs: b.equal()})
	}
}
