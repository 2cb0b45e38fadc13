package web

import (
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis"
)

// canvas is what the charts of a view are drawn with.
type canvas struct {
	l     language
	q     query
	now   time.Time // in the page's zone
	usual []*diagnosis.Baseline
	full  bool // the charts' own view, not the band over the log
	tall  int  // height of an area, in pixels; 0 for that of the view
}

// height is that of an area, in pixels.
func (cv canvas) height() int {
	switch {
	case cv.tall > 0:
		return cv.tall
	case cv.full:
		return 260
	}
	return 150
}

// cells are how many bins an area has at most each way.
func (cv canvas) cells() (columns, rows int64) {
	if cv.full {
		return 60, 30
	}
	return 40, 15
}

// drawing is a cloud on its axes.
type drawing struct {
	canvas
	*cloud
	x, y         axis
	xUnit, yUnit unit
	kinds        []markKind
	place        map[int32]int                  // of a kind of the cloud among kinds
	fullest      int                            // bin's count
	rows         func(left, bottom int64) query // those in the bin with these edges, and more where no filter is narrower
}

// markKind is a kind of marks, with a shape of its own.
type markKind struct{ shape, word, url string }

func (d *drawing) binned() bool { return d.len() > marksMost }

// picture is the marks on their axes.
func (d *drawing) picture() *picture {
	p := &picture{Height: d.height(), Below: below(d.height()), X: d.ticksBelow(), Y: d.ticksBeside()}
	if d.binned() {
		p.Bins = d.bins()
	} else {
		p.Groups = d.groups()
	}
	return p
}

func (d *drawing) ticksBeside() (all []chartTick) {
	ticks := d.y.ticks(d.y.step(d.yUnit.ticks))
	for i, v := range ticks {
		label := d.yUnit.tick(v, d.y)
		if i == len(ticks)-1 {
			label += d.yUnit.sign(d.y)
		}
		at := d.up(v)
		all = append(all, chartTick{short(at, 1), short(at+3.5, 1), label})
	}
	return all
}

func (d *drawing) ticksBelow() (all []chartTick) {
	step := d.x.step(d.xUnit.ticks)
	for _, v := range d.x.ticks(step) {
		at := percentAt(d.x.share(v))
		all = append(all, chartTick{at, at, d.xUnit.tick(v, d.x)})
	}
	return all
}

// up is how many pixels under the upper edge a value lies.
func (d *drawing) up(v int64) float64 { return (1 - d.y.share(v)) * float64(d.height()) }

// groups are the marks by their kinds.
func (d *drawing) groups() (all []markGroup) {
	texts := make([]strings.Builder, len(d.kinds))
	for i, o := range d.origins {
		k := d.place[d.cloud.kinds[i]]
		d.mark(&texts[k], i, o, d.kinds[k].shape)
	}
	for k := range texts {
		all = append(all, markGroup{d.kinds[k].shape, template.HTML(texts[k].String())})
	}
	return all
}

// mark writes a mark. There may be thousands, so that it is not for the template
// to do. It is no stop of the Tab key, for the same reason: the rows of the log
// lead to the same places.
func (d *drawing) mark(b *strings.Builder, i int, o origin, shape string) {
	writeLink(b, "/-/requests/"+url.PathEscape(o.id))
	b.WriteString(`<use href="#m-` + shape + `" x="` + percentAt(d.x.share(d.xs[i])) + `" y="` + short(d.up(d.ys[i]), 1) + `"/>`)
	title := time.Unix(0, o.at).In(d.now.Location()).Format("01-02 15:04:05")
	if !d.xUnit.clock {
		title += " · " + d.xUnit.whole(d.xs[i])
	}
	writeTitle(b, title+" · "+d.yUnit.whole(d.ys[i]))
}

func writeLink(b *strings.Builder, to string) {
	b.WriteString(`<a href="` + template.HTMLEscapeString(to) + `" tabindex="-1">`)
}

func writeTitle(b *strings.Builder, title string) {
	b.WriteString(`<title>` + template.HTMLEscapeString(title) + `</title></a>`)
}

// bins are the cells in which marks lie.
func (d *drawing) bins() template.HTML {
	var b strings.Builder
	columns, rows := d.cells()
	g := d.count(d.x, d.y, columns, rows)
	d.fullest = g.most
	for _, cell := range g.bins {
		left, right := d.x.edges(cell.column, g.width)
		bottom, top := d.y.edges(cell.row, g.height)
		x, y := d.x.share(left), d.up(top)
		writeLink(&b, d.rows(left, bottom).with())
		b.WriteString(`<rect class="d` + strconv.Itoa(g.shade(cell)) + `" x="` + percentAt(x) + `" y="` + short(y, 1) +
			`" width="` + percentAt(d.x.share(right)-x) + `" height="` + short(d.up(bottom)-y, 1) + `"/>`)
		writeTitle(&b, d.l.number("chart.bin", int64(cell.n))+
			d.l.say("chart.bin", d.xUnit.edge(left, d.x), d.xUnit.edge(right, d.x), d.yUnit.edge(bottom, d.y), d.yUnit.edge(top, d.y)))
	}
	return template.HTML(b.String())
}

// keys explain the shapes. Where there are bins, the lines of the models.
func (d *drawing) keys() (all []chartKey) {
	for i, k := range d.kinds {
		key := chartKey{Shape: k.shape, Word: k.word, URL: k.url}
		if d.binned() {
			key.Shape, key.Line = "", lineClass(i)
			if !d.xUnit.clock || i == modelsShaped {
				continue
			}
		}
		all = append(all, key)
	}
	return all
}

func lineClass(i int) string { return "l" + strconv.Itoa(i) }

func (d *drawing) outline(line []vertex) string { return outline(line, d.x, d.y, d.height()) }

// chart draws the cloud, and says what cannot be seen of it.
func (d *drawing) chart(name string) chart {
	ch := d.newChart(name)
	ch.Picture, ch.Keys = d.picture(), d.keys()
	ys := slices.Clone(d.ys)
	whole := d.yUnit.whole
	n := countOf(len(ys))
	ch.Alt = d.l.say("chart.alt", n, whole(slices.Min(ys)), whole(slices.Max(ys)), whole(*quantileOf(ys, 0.5)))
	ch.Unit = d.l.list(append(d.told(ch.Unit), "n "+n))
	if d.binned() {
		ch.Notes = append(ch.Notes, d.l.say("chart.binned", countOf(d.fullest)))
	}
	if note := d.cut(); note != "" {
		ch.Notes = append(ch.Notes, note)
	}
	return ch
}

// told is the unit of a chart, and what its lines are.
func (d *drawing) told(unit string) []string {
	switch {
	case !d.xUnit.clock:
		return []string{unit}
	case d.binned():
		return []string{unit, d.l.say("chart.median.columns")}
	}
	return []string{unit, d.l.say("chart.median")}
}

// cut says how many marks lie beyond the axes, and how far.
func (d *drawing) cut() string {
	if !d.x.over && !d.y.over && !d.y.under {
		return ""
	}
	n := 0
	for i := range d.xs {
		if d.x.cuts(d.xs[i]) || d.y.cuts(d.ys[i]) {
			n++
		}
	}
	var reach []string
	if d.x.over {
		reach = append(reach, d.xUnit.whole(slices.Max(d.xs)))
	}
	if d.y.over {
		reach = append(reach, d.yUnit.whole(slices.Max(d.ys)))
	}
	if d.y.under {
		reach = append(reach, d.yUnit.whole(slices.Min(d.ys)))
	}
	return d.l.say("chart.cut", countOf(n), d.l.list(reach))
}
