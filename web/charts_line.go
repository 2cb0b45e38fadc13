package web

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis"
)

// vertex is a point of a line, by the units of the axes.
type vertex struct{ x, y int64 }

const (
	medianOf  = 9  // marks of a running median
	runLeast  = 3  // marks that make a line
	idleShare = 20 // a line breaks at a gap of one in so many parts of the axis
)

// medians are the running medians of the marks of each kind, in lines that are
// broken where nothing was asked for.
func (c *cloud) medians(x axis) map[int32][][]vertex {
	marks := map[int32][]vertex{}
	for i, kind := range c.kinds {
		marks[kind] = append(marks[kind], vertex{c.xs[i], c.ys[i]})
	}
	lines := map[int32][][]vertex{}
	for kind, all := range marks {
		slices.SortFunc(all, func(a, b vertex) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y)) })
		for _, run := range stretches(all, idle(x)) {
			if len(run) >= runLeast {
				lines[kind] = append(lines[kind], runningMedian(run))
			}
		}
	}
	return lines
}

// columnMedians are the medians of columns of such a width, likewise.
func (c *cloud) columnMedians(x axis, width int64) map[int32][][]vertex {
	lines := map[int32][][]vertex{}
	for kind, columns := range c.columns(x, width) {
		var all []vertex
		for i, values := range columns {
			if len(values) > 0 {
				from, _ := x.edges(x.cell(x.lo, width)+int64(i), width)
				all = append(all, vertex{from + width/2, *quantileOf(values, 0.5)})
			}
		}
		for _, run := range stretches(all, max(idle(x), width)) {
			if len(run) > 1 {
				lines[kind] = append(lines[kind], run)
			}
		}
	}
	return lines
}

// columns are the values of the marks by kind and by column.
func (c *cloud) columns(x axis, width int64) map[int32][][]int64 {
	left := x.cell(x.lo, width)
	all := map[int32][][]int64{}
	for i, kind := range c.kinds {
		if all[kind] == nil {
			all[kind] = make([][]int64, x.cell(x.hi, width)-left+1)
		}
		column := &all[kind][x.cell(c.xs[i], width)-left]
		*column = push(*column, c.ys[i])
	}
	return all
}

// idle is the gap at which a line breaks.
func idle(x axis) int64 { return max(int64(quiet), (x.hi-x.lo)/idleShare) }

// stretches takes apart what lies farther apart than a gap.
func stretches(all []vertex, gap int64) (runs [][]vertex) {
	begin := 0
	for i := 1; i <= len(all); i++ {
		if i == len(all) || all[i].x-all[i-1].x > gap {
			runs = append(runs, all[begin:i])
			begin = i
		}
	}
	return runs
}

// runningMedian is the median of each and its neighbours, fewer at the ends.
func runningMedian(run []vertex) (line []vertex) {
	around := make([]int64, 0, medianOf)
	for i, v := range run {
		around = around[:0]
		for _, w := range run[max(0, i-medianOf/2):min(len(run), i+medianOf/2+1)] {
			around = append(around, w.y)
		}
		line = append(line, vertex{v.x, *quantileOf(around, 0.5)})
	}
	return line
}

// envelope is what prompts cost by a curve, up to the longest that it knows, on
// top of a fixed time.
func envelope(c *diagnosis.Curve, fixed time.Duration) (line []vertex) {
	for _, k := range c.Knots {
		line = append(line, vertex{k.Tokens, int64(fixed + k.Prefill)})
	}
	return line
}

// clip ends a rising line at the ends of the axes.
func clip(line []vertex, x, y axis) []vertex {
	if len(line) == 0 || line[0].y > y.hi {
		return nil
	}
	for i := 1; i < len(line); i++ {
		from, to := line[i-1], line[i]
		part := min(within(from.x, to.x, x.hi), within(from.y, to.y, y.hi))
		if part < 1 {
			end := vertex{from.x + int64(part*float64(to.x-from.x)), from.y + int64(part*float64(to.y-from.y))}
			return append(slices.Clone(line[:i]), end)
		}
	}
	return line
}

// within is which part of the way between two values is not over a third.
func within(from, to, end int64) float64 {
	if to <= end {
		return 1
	}
	return float64(end-from) / float64(to-from)
}

// along is where such a part of a line's width lies behind.
func along(line []vertex, part float64) vertex {
	begin, end := line[0], line[len(line)-1]
	x := begin.x + int64(part*float64(end.x-begin.x))
	for i := 1; i < len(line); i++ {
		if from, to := line[i-1], line[i]; x < to.x {
			return vertex{x, from.y + int64(float64(to.y-from.y)*float64(x-from.x)/float64(to.x-from.x))}
		}
	}
	return end
}

// outlineWidth is that of the area that lines are drawn in; it is stretched to
// that of the chart.
const outlineWidth = 1000

// outline draws a line over an area of such a height.
func outline(line []vertex, x, y axis, height int) string {
	var b strings.Builder
	command := "M"
	for _, v := range line {
		b.WriteString(command + short(x.share(v.x)*outlineWidth, 1) + " " + short((1-y.share(v.y))*float64(height), 1))
		command = "L"
	}
	return b.String()
}
