package audit

import (
	"maps"
	"slices"
)

// habit is a way of counting tokens, which a console may have and not say.
type habit uint8

// The habits: three of input times two of output.
const (
	asHere        habit = iota // all of it
	exceptCached               // input without the cached tokens
	exceptWritten              // nor those written to the cache
	exceptThought              // 3: output without reasoning; with the others, added up
	habitCount    = 6
)

// as gives the attempt's input and output as a console of the habit k has them;
// nil where the log does not know.
func (h *here) as(k habit) (in, out *int64) {
	in, out = h.Input, h.Output
	if k%exceptThought >= exceptCached {
		in = less(in, h.Cached)
	}
	if k%exceptThought == exceptWritten {
		in = less(in, h.CacheWrite)
	}
	if k >= exceptThought {
		out = less(out, h.Reasoning)
	}
	return in, out
}

func less(n, part *int64) *int64 {
	if n == nil || part == nil || *part == 0 {
		return n
	}
	return new(*n - *part)
}

func (h *here) fits(t *there, k habit) bool {
	in, out := h.as(k)
	return same(in, t.Input) && same(out, t.Output)
}

// same says whether both are known and equal.
func same(a, b *int64) bool { return a != nil && b != nil && *a == *b }

// differ says whether both are known and not equal.
func differ(a, b *int64) bool { return a != nil && b != nil && *a != *b }

// habits are what was found of one console: a habit for all, and others for
// single models.
type habits struct {
	all habit
	of  map[int32]habit // by the row's label
}

// A model counts in a way of its own where most of its pairs say so, against the
// console's way.
const (
	clearlyMost = 0.8
	clearlyFew  = 0.2
)

// findHabits lets the pairs vote. A later minority is a difference, not a habit.
func (c *comparison) findHabits() {
	all := new(votes)
	byLabel := make(map[int32]*votes)
	for _, p := range c.pairs {
		all.add(p)
		label := c.there[p.there].label
		if byLabel[label] == nil {
			byLabel[label] = new(votes)
		}
		byLabel[label].add(p)
	}
	c.habits = habits{all: all.best(asHere), of: make(map[int32]habit)}
	for label, v := range byLabel {
		k := v.best(c.habits.all)
		if k != c.habits.all && v.told >= fewPairs && v.share(k) >= clearlyMost && v.share(c.habits.all) <= clearlyFew {
			c.habits.of[label] = k
		}
	}
	c.found = c.conventions(all, byLabel)
	c.expect()
}

// votes are how many pairs fit each habit, and how many could tell two apart.
type votes struct {
	fit  [habitCount]int
	told int
}

// add counts a pair that fits some habits and not others.
func (v *votes) add(p pair) {
	some, every := false, true
	for _, ok := range p.fits {
		some, every = some || ok, every && ok
	}
	if !some || every {
		return
	}
	v.told++
	for k, ok := range p.fits {
		if ok {
			v.fit[k]++
		}
	}
}

// best is the habit that fits most, the first of equals, usual before all.
func (v *votes) best(usual habit) habit {
	k := usual
	for i := range habit(habitCount) {
		if v.fit[i] > v.fit[k] {
			k = i
		}
	}
	return k
}

func (v *votes) share(k habit) float64 { return float64(v.fit[k]) / float64(max(1, v.told)) }

// expect notes what the console would state for each attempt.
func (c *comparison) expect() {
	of := make(map[int32]habit)
	for i := range c.here {
		h := &c.here[i]
		k, ok := of[h.label]
		if !ok {
			k = c.habitFor(h.label)
			of[h.label] = k
		}
		h.habit = k
		h.wantIn, h.wantOut = h.as(k)
	}
}

// habitFor is the habit of the first console model that an attempt's may be.
func (c *comparison) habitFor(label int32) habit {
	for _, there := range slices.Sorted(maps.Keys(c.habits.of)) {
		if c.names.cost(label, there) >= 0 {
			return c.habits.of[there]
		}
	}
	return c.habits.all
}

// words say a habit that is not the log's.
func (k habit) words() Words {
	w := Words{}
	switch k % exceptThought {
	case exceptCached:
		w = Words{"input without the cached tokens", "输入不含缓存命中的 tokens"}
	case exceptWritten:
		w = Words{"input without the cached tokens and those written to the cache", "输入不含缓存命中与写入缓存的 tokens"}
	}
	if k < exceptThought {
		return w
	}
	if w.En != "" {
		w = Words{w.En + ", ", w.Zh + "，"}
	}
	return Words{w.En + "output without reasoning", w.Zh + "输出不含思考 tokens"}
}

// conventions are the habits found, for the result.
func (c *comparison) conventions(all *votes, of map[int32]*votes) []Convention {
	var found []Convention
	if k := c.habits.all; k != asHere {
		found = append(found, Convention{Say: k.words(), Pairs: all.fit[k]})
	}
	for _, label := range slices.Sorted(maps.Keys(c.habits.of)) {
		k := c.habits.of[label]
		w := k.words()
		if k == asHere {
			w = Words{"input with the cached tokens, output with reasoning", "输入含缓存命中，输出含思考 tokens"}
		}
		found = append(found, Convention{Model: c.names.shown(label), Say: w, Pairs: of[label].fit[k]})
	}
	return found
}
