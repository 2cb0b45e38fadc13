package web

import (
	"maps"
	"slices"
	"strconv"
	"time"
)

// timed is a cloud over time, of exchanges of many models.
type timed struct {
	name   string
	marks  *cloud
	unit   unit
	filter string // leads to the upper marks; "" where there is no such
}

// timeChart is marks by model, and the running median of each.
func (c *charting) timeChart(cv canvas, t timed) chart {
	if t.marks.len() == 0 {
		return cv.newChart(t.name)
	}
	d := &drawing{
		canvas: cv, cloud: t.marks, xUnit: inTime(c.zone), yUnit: t.unit,
		x: newTimeAxis(t.marks.xs, c.zone), y: newAxis(t.marks.ys, t.unit.least),
	}
	d.rows = func(left, bottom int64) query { return d.since(left, bottom, t.filter) }
	d.tellModels(c.models)
	ch := d.chart(t.name)
	d.trend(ch.Picture)
	return ch
}

// modelsShaped is how many models have a shape of their own.
const modelsShaped = 4

// tellModels gives a shape to each of the models with the most marks, and one to
// all others.
func (d *drawing) tellModels(models groups) {
	counts := map[int32]int{}
	for _, kind := range d.cloud.kinds {
		counts[kind]++
	}
	marked := slices.DeleteFunc(models.most(len(models)), func(g *group) bool { return counts[g.kind] == 0 })
	slices.SortStableFunc(marked, func(a, b *group) int { return counts[b.kind] - counts[a.kind] })
	d.place = map[int32]int{}
	for i, g := range marked {
		d.place[g.kind] = min(i, modelsShaped)
		if i < modelsShaped {
			d.kinds = append(d.kinds, markKind{"s" + strconv.Itoa(i), plain(g.name, nameRunes), d.rowsOf("model", g.name)})
		}
	}
	if others := len(marked) - modelsShaped; others > 0 {
		d.kinds = append(d.kinds, markKind{shape: "s" + strconv.Itoa(modelsShaped), word: d.l.number("chart.others", int64(others))})
	}
}

// trend draws the running medians of the models that have a shape.
func (d *drawing) trend(p *picture) {
	lines := d.medianLines()
	for _, kind := range slices.Sorted(maps.Keys(lines)) {
		if i := d.place[kind]; i < modelsShaped {
			for _, line := range lines[kind] {
				p.Lines = append(p.Lines, chartLine{lineClass(i), d.outline(line)})
			}
		}
	}
}

func (d *drawing) medianLines() map[int32][][]vertex {
	if !d.binned() {
		return d.medians(d.x)
	}
	columns, _ := d.cells()
	return d.columnMedians(d.x, d.x.step(columns))
}

// since chooses the exchanges that began in the time of a bin, and reach it as far
// as a filter can tell.
func (d *drawing) since(left, bottom int64, filter string) query {
	columns, _ := d.cells()
	right := left + d.x.step(columns)
	if right >= d.x.hi {
		right = d.x.hi + 1 // the last ones, too
	}
	q := d.q.set("from", instantText(max(left, d.x.lo))).set("to", instantText(right))
	if filter != "" && bottom > d.y.lo {
		q = q.atLeast(filter, float64(bottom)/1e6)
	}
	return q
}

func instantText(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }
