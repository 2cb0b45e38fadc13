package web

import (
	"math"
	"slices"
)

// cloud is the marks of a chart, one an exchange: where each lies, by the units
// of the axes, and of which kind it is.
type cloud struct {
	xs, ys  []int64
	kinds   []int32
	origins []origin // of the first ones: where marks are too many to draw, nobody asks for more
}

// origin tells which exchange a mark is.
type origin struct {
	id string
	at int64 // its start, in nanoseconds since 1970
}

// marksMost is how many marks a chart draws. Beyond, it shows how many lie where.
const marksMost = 2000

func (c *cloud) add(o origin, x, y int64, kind int32) {
	if len(c.xs) < marksMost {
		c.origins = append(c.origins, o)
	}
	c.xs, c.ys, c.kinds = push(c.xs, x), push(c.ys, y), push(c.kinds, kind)
}

func (c *cloud) len() int { return len(c.xs) }

// push appends to what may become very long: its room is doubled, where append
// would copy it more often.
func push[T any](all []T, one T) []T {
	if len(all) == cap(all) {
		all = slices.Grow(all, max(len(all), 16))
	}
	return append(all, one)
}

// binShades is how many degrees of darkness bins have.
const binShades = 4

// bin is a cell of a chart, and how many marks lie in it.
type bin struct {
	column, row int64
	n           int
}

// grid is marks counted by cells.
type grid struct {
	width, height int64 // of a cell
	bins          []bin // by column and row
	most          int   // marks in the fullest
}

// count puts each of the marks into one bin. There are columns and rows of them
// at most.
func (c *cloud) count(x, y axis, columns, rows int64) grid {
	g := grid{width: x.step(columns), height: y.step(rows)}
	left, bottom := x.cell(x.lo, g.width), y.cell(y.lo, g.height)
	high := y.cell(y.hi, g.height) - bottom + 1
	counts := make([]int, (x.cell(x.hi, g.width)-left+1)*high)
	for i := range c.xs {
		counts[(x.cell(c.xs[i], g.width)-left)*high+y.cell(c.ys[i], g.height)-bottom]++
	}
	for i, n := range counts {
		if n > 0 {
			g.bins = append(g.bins, bin{left + int64(i)/high, bottom + int64(i)%high, n})
			g.most = max(g.most, n)
		}
	}
	return g
}

// shade is how dark a bin is, 1 to binShades: each degree is as many times more.
func (g grid) shade(b bin) int {
	if g.most <= 1 {
		return binShades
	}
	return 1 + int(math.Round((binShades-1)*math.Log(float64(b.n))/math.Log(float64(g.most))))
}
