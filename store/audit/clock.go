package audit

import (
	"fmt"
	"slices"
)

const (
	quarter     = 15 * minute
	zoneNear    = 2 * minute // how far from a whole quarter of an hour a pair still speaks for a zone
	clockNear   = 2 * minute // as far may two clocks be apart before it is looked for elsewhere
	slack       = 3 * second // between what is the same instant, beyond the clock and its jitter
	sharpSpread = 2 * second // of what is taken at the same instant
)

// findReference finds out by the pairs whether times whose meaning is not known
// are those of the start or of the end.
func (c *comparison) findReference() {
	var starts, ends []int64
	for _, p := range c.pairs {
		h, t := &c.here[p.here], &c.there[p.there]
		if p.timed && t.at == "" && !h.loose && t.hi-t.lo <= minute {
			starts = append(starts, gapOf(t.lo, t.hi, h, AtStart))
			ends = append(ends, gapOf(t.lo, t.hi, h, AtEnd))
		}
	}
	at := sharper(starts, ends)
	if at == "" {
		return
	}
	for j := range c.there {
		if c.there[j].at == "" {
			c.there[j].at = at
		}
	}
	for k := range c.pairs {
		p := &c.pairs[k]
		h, t := &c.here[p.here], &c.there[p.there]
		p.gap = gapOf(t.lo, t.hi, h, t.at)
	}
	c.note(referenceNotes[at], "pairs", len(starts))
}

var referenceNotes = map[Reference]Words{
	AtStart: {"The file's times are those of the start of a request, as ${pairs} pairs show.", "文件中的时间是请求开始的时间（由 ${pairs} 对记录得出）。"},
	AtEnd:   {"The file's times are those of the end of a request, as ${pairs} pairs show.", "文件中的时间是请求结束的时间（由 ${pairs} 对记录得出）。"},
}

// sharper says which of the two keeps its distance, where the other does not.
func sharper(starts, ends []int64) Reference {
	if len(starts) < fewPairs {
		return ""
	}
	_, s := middle(starts)
	_, e := middle(ends)
	switch {
	case s <= sharpSpread && e > 2*s:
		return AtStart
	case e <= sharpSpread && s > 2*e:
		return AtEnd
	}
	return ""
}

// middle is the median, and the median distance from it; 0 of nothing.
func middle(of []int64) (median, spread int64) {
	if len(of) == 0 {
		return 0, 0
	}
	sorted := slices.Sorted(slices.Values(of))
	median = sorted[len(sorted)/2]
	for i, n := range sorted {
		sorted[i] = abs(n - median)
	}
	slices.Sort(sorted)
	return median, sorted[len(sorted)/2]
}

// gaps are those of the pairs whose times can be told.
func (c *comparison) gaps() []int64 {
	var gaps []int64
	for _, p := range c.pairs {
		if p.timed {
			gaps = append(gaps, p.gap)
		}
	}
	return gaps
}

// findZone checks the zone by the pairs: where nearly all of them are the same
// quarters of an hour apart, that is the zone. It is never changed in silence,
// and not where the user chose it.
func (c *comparison) findZone() {
	gaps := c.gaps()
	near, most, at := quarters(gaps)
	away, share := int64(0), float64(most)/float64(max(1, len(gaps)))
	if len(gaps) >= fewPairs && share >= clearlyMost && float64(near)/float64(len(gaps)) < clearlyFew {
		away = at * quarter
	}
	first := c.zoneless()
	if first == nil {
		if away != 0 {
			c.note(Words{
				"The file states its offset from UTC, but its times are ${away} from the log's; they were moved by that.",
				"文件写明了时区，但其时间与日志相差 ${away}，已按此平移后比对。",
			}, "away", hours(away))
			c.move(away)
		}
		return
	}
	if away == 0 {
		share = float64(near) / float64(max(1, len(gaps)))
	}
	c.zone = &Zone{Chosen: first.ZoneOffset, Pairs: len(gaps), Share: share}
	c.zone.Found = first.ZoneOffset + int(away/minute)
	c.zone.Used = c.zone.Found
	if c.options.ZoneFixed && away != 0 {
		c.zone.Used, c.doubtful = first.ZoneOffset, true
		return
	}
	c.move(away)
	c.guessed = !c.options.ZoneFixed && most < fewPairs
	c.findSummer()
}

// findSummer finds out whether some times are of a zone an hour beside the one
// that was found, by the pairs that no id tells: of a file in which summer time
// begins or ends.
func (c *comparison) findSummer() {
	beside := make(map[int64]int)
	for _, p := range c.pairs {
		if p.timed && c.here[p.here].state == open && abs(abs(p.gap)-hour) <= zoneNear {
			beside[int64(sign(p.gap))]++
		}
	}
	for by, n := range beside {
		if n >= fewPairs && n > beside[-by] {
			c.summer = 60 * int(by)
		}
	}
}

func (c *comparison) zoneless() *File {
	for f := range c.files {
		if c.files[f].Zoneless {
			return &c.files[f]
		}
	}
	return nil
}

// quarters counts the gaps that are near to none, and those of the commonest
// whole number of quarters of an hour, with that.
func quarters(gaps []int64) (near, most int, at int64) {
	counts := make(map[int64]int)
	for _, g := range gaps {
		k := (g + quarter/2) / quarter
		if g < -quarter/2 {
			k = (g - quarter/2) / quarter
		}
		if abs(g-k*quarter) <= zoneNear {
			counts[k]++
		}
	}
	for k, n := range counts {
		if n > most || n == most && abs(k) < abs(at) {
			most, at = n, k
		}
	}
	return counts[0], most, at
}

// move sets all times of the requests' rows back.
func (c *comparison) move(by int64) {
	for j := range c.there {
		if t := &c.there[j]; t.timed() {
			t.lo, t.hi = t.lo-by, t.hi-by
		}
	}
	for j := range c.entries {
		if t := &c.entries[j]; t.timed() {
			t.lo, t.hi = t.lo-by, t.hi-by
		}
	}
	c.unread.move(by)
	for k := range c.pairs {
		c.pairs[k].gap -= by
	}
	c.console = Span{shifted(c.console.From, -by), shifted(c.console.To, -by)}
}

// findClock finds how far the console's clock is from the log's, and how much
// that varies: twice as far and a bit is what a pair's times may differ.
func (c *comparison) findClock() {
	gaps := c.gaps()
	around, _ := middle(gaps)
	if c.doubtful {
		around = 0
	}
	near := within(gaps, 0)
	if far := within(gaps, around); len(far) >= fewPairs && len(near) < len(far)/2 && float64(len(far)) >= clearlyMost*float64(len(gaps)) {
		near = far
	}
	c.delta = slack
	if len(near) == 0 {
		return
	}
	offset, jitter := middle(near)
	c.clock = &Clock{OffsetMS: offset / 1e6, JitterMS: jitter / 1e6, Pairs: len(near)}
	c.delta = min(slack+3*jitter, clockNear)
	c.move(offset)
}

func within(gaps []int64, of int64) []int64 {
	return slices.DeleteFunc(slices.Clone(gaps), func(g int64) bool { return abs(g-of) > clockNear })
}

// hours writes a distance in hours and minutes.
func hours(n int64) string {
	sign := "+"
	if n < 0 {
		sign, n = "-", -n
	}
	return fmt.Sprintf("%s%d:%02d h", sign, n/hour, n%hour/minute)
}

// ZoneName writes an offset from UTC, in minutes, as zones are written.
func ZoneName(minutes int) string {
	sign, n := "+", minutes
	if n < 0 {
		sign, n = "-", -n
	}
	switch {
	case n == 0:
		return "UTC"
	case n%60 == 0:
		return fmt.Sprintf("UTC%s%d", sign, n/60)
	}
	return fmt.Sprintf("UTC%s%d:%02d", sign, n/60, n%60)
}
