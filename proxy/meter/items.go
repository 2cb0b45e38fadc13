package meter

import (
	"cmp"
	"slices"
	"time"

	"github.com/ttftap/ttftap/proxy/dialect"
)

// stretch is a time from one instant to another.
type stretch struct{ from, to time.Duration }

// stretches are times during which something was so, in order and apart.
type stretches []stretch

// within is how much of the time between two instants they cover.
func (s stretches) within(from, to time.Duration) time.Duration {
	var sum time.Duration
	i, _ := slices.BinarySearchFunc(s, from, func(t stretch, from time.Duration) int { return cmp.Compare(t.to, from) })
	for ; i < len(s) && s[i].from < to; i++ {
		sum += max(0, min(s[i].to, to)-max(s[i].from, from))
	}
	return sum
}

// join puts stretches in order, and those that touch together.
func join(s stretches) stretches {
	slices.SortFunc(s, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	joined := s[:0]
	for _, t := range s {
		if last := len(joined) - 1; last >= 0 && t.from <= joined[last].to {
			joined[last].to = max(joined[last].to, t.to)
			continue
		}
		joined = append(joined, t)
	}
	return joined
}

// maxItems bounds the items that are open at a time, maxStretches the times
// that are kept of those that ended. What is beyond counts as the model's time.
const (
	maxItems     = 1 << 10
	maxStretches = 1 << 13
)

// items tells when reasoning items were open and hosted tools ran.
type items struct {
	open  []item
	ended []item
}

type item struct {
	index int
	what  dialect.Item
	stretch
}

func (t *items) start(index int, what dialect.Item, at time.Duration) {
	if what != dialect.OutputItem && len(t.open) < maxItems {
		t.open = append(t.open, item{index, what, stretch{from: at}})
	}
}

// write notes output of an item: one before it that nothing closes ends there.
func (t *items) write(index int, at time.Duration) {
	for i := range t.open {
		if o := &t.open[i]; o.index != index && o.to == 0 {
			o.to = at
		}
	}
}

func (t *items) end(index int, what dialect.Item, at time.Duration) {
	for i, o := range t.open {
		if o.index != index || o.what != what {
			continue
		}
		t.open = slices.Delete(t.open, i, i+1)
		if o.to = at; o.from < at && len(t.ended) < maxStretches {
			t.ended = append(t.ended, o)
		}
		return
	}
}

// during is when items of one kind were open; end is the latest.
func (t *items) during(what dialect.Item, end time.Duration) stretches {
	var s stretches
	for _, o := range t.ended {
		if o.what == what {
			s = append(s, o.stretch)
		}
	}
	for _, o := range t.open {
		if to := cmp.Or(o.to, end); o.what == what && o.from < to {
			s = append(s, stretch{o.from, to})
		}
	}
	return join(s)
}
