package web

import (
	"cmp"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
)

// lineRow is what tokens of a prompt cost between two lengths.
type lineRow struct {
	Model  string
	Tokens string  // from and to, or that it is the start
	Cost   armCell // of 1,000, or of the start
	Knee   bool    // from here on it is surely steeper
}

// strips are the pictures of the samples, arm by arm in the order of sending.
func (e reported) strips(cv canvas) (all []chart) {
	for _, st := range []strip{
		{
			name: "strips_ttft", unit: inSeconds, scale: 1e6,
			value:  func(s experiment.Sample) *float64 { return s.TTFT },
			median: func(a experiment.ArmReport) *experiment.Estimate { return a.TTFT },
		},
		{
			name: "strips_rate", unit: inRates, scale: 1e3,
			value:  func(s experiment.Sample) *float64 { return s.Rate },
			median: func(a experiment.ArmReport) *experiment.Estimate { return a.Rate },
		},
	} {
		if ch, ok := e.strip(cv, st); ok {
			all = append(all, ch)
		}
	}
	return all
}

// strip is what is drawn of each request, in a strip for each arm.
type strip struct {
	name   string
	unit   unit
	scale  float64 // of the report's figures to the unit's
	value  func(experiment.Sample) *float64
	median func(experiment.ArmReport) *experiment.Estimate
}

const (
	stripHeight = 38   // in pixels
	stripWhole  = 1000 // of the upright axis; it goes downwards from 0
	stripEdge   = 130  // above and below the marks
)

// inStrips names the arm that lies at a height.
func (e reported) inStrips() unit {
	return unit{whole: func(v int64) string { return e.name(int(-v / stripWhole)) }}
}

// strip draws it, the first request of each arm on top; ok is false where no
// request has the figure.
func (e reported) strip(cv canvas, st strip) (ch chart, ok bool) {
	cv.tall = stripHeight * len(e.Arms)
	d := &drawing{canvas: cv, cloud: e.spread(st), xUnit: st.unit, yUnit: e.inStrips()}
	if d.len() == 0 {
		return ch, false
	}
	d.x, d.y = newAxis(d.xs, st.unit.least), axis{lo: -stripWhole * int64(len(e.Arms)), round: roundNumber}
	e.tellArms(d)
	ch = d.newChart(st.name)
	ch.Picture = &picture{Height: cv.tall, Below: below(cv.tall), X: ticksOn(d.x, st.unit), Upright: true, Groups: d.groups()}
	ch.Picture.Groups = append(ch.Picture.Groups, markGroup{"median", e.medians(d.x, st)})
	for i, a := range e.Arms {
		at := strconv.Itoa(stripHeight*i + stripHeight/2 + 4)
		ch.Picture.Labels = append(ch.Picture.Labels, chartLabel{"-96", at, plain(a.Name, labelRunes-2), "name"})
	}
	ch.Alt = e.inWords(st)
	if note := d.cut(); note != "" {
		ch.Notes = append(ch.Notes, note)
	}
	return ch, true
}

// spread is the requests that have the figure, each arm's from the top of its strip
// to the bottom.
func (e reported) spread(st strip) *cloud {
	sent, before := make([]int, len(e.Arms)), make([]int, len(e.Arms))
	for _, s := range e.Samples {
		sent[s.Arm]++
	}
	c := new(cloud)
	for _, s := range e.Samples {
		place := stripEdge + (stripWhole-2*stripEdge)*(2*before[s.Arm]+1)/(2*sent[s.Arm])
		before[s.Arm]++
		if v := st.value(s); v != nil {
			c.add(originOf(s), int64(*v*st.scale), -int64(stripWhole*s.Arm+place), int32(s.Arm))
		}
	}
	return c
}

func originOf(s experiment.Sample) origin { return origin{s.Exchange, s.StartedAt.UnixNano()} }

// tellArms gives each arm that occurs its shape.
func (e reported) tellArms(d *drawing) {
	d.place = map[int32]int{}
	for i := range e.Arms {
		if slices.Contains(d.cloud.kinds, int32(i)) {
			d.place[int32(i)] = len(d.kinds)
			d.kinds = append(d.kinds, markKind{armShape(i), e.name(i), ""})
		}
	}
}

// medians are a line across each strip.
func (e reported) medians(x axis, st strip) template.HTML {
	var b strings.Builder
	for i, a := range e.Arms {
		if m := st.median(a); m != nil {
			at, top := percentAt(x.share(int64(m.At*st.scale))), stripHeight*i
			b.WriteString(`<line x1="` + at + `" x2="` + at + `" y1="` + strconv.Itoa(top+3) + `" y2="` + strconv.Itoa(top+stripHeight-3) + `"/>`)
		}
	}
	return template.HTML(b.String())
}

// inWords is the medians of the strips.
func (e reported) inWords(st strip) string {
	var parts []string
	for i, a := range e.Arms {
		if m := st.median(a); m != nil {
			parts = append(parts, e.name(i)+" "+st.unit.whole(int64(m.At*st.scale)))
		}
	}
	return e.l.list(parts)
}

// lineChart is the wait over the uncached tokens, with each model's line and the
// band around it; nil for a kind without a line.
func (e reported) lineChart(cv canvas) *chart {
	if len(e.Lines) == 0 {
		return nil
	}
	cv.tall = 220
	d := &drawing{canvas: cv, cloud: new(cloud), xUnit: inTokens, yUnit: inSeconds}
	for _, s := range e.Samples {
		if n := cmp.Or(s.Uncached, s.Prompt); s.Wait != nil && n != nil {
			d.add(originOf(s), *n, fromMS(*s.Wait), int32(s.Arm))
		}
	}
	ch := d.newChart("line")
	if d.len() == 0 {
		return &ch
	}
	d.x, d.y = newAxis(d.xs, inTokens.least), newAxis(d.ys, inSeconds.least)
	d.rows = func(int64, int64) query { return d.q }
	e.tellArms(d)
	ch = d.chart("line")
	for i, l := range e.Lines {
		e.drawLine(d, &ch, i, l)
	}
	return &ch
}

// drawLine draws the line of a model, and its band behind it.
func (e reported) drawLine(d *drawing, ch *chart, i int, l experiment.Line) {
	name, formula := plain(l.Model, nameRunes), formulaOf(l)
	ch.Keys = append(ch.Keys, chartKey{Line: lineClass(i), Word: name + " " + formula})
	if l.Left > 0 {
		ch.Notes = append(ch.Notes, e.l.number("experiment.left", int64(l.Left)))
	}
	line := clip(verticesOf(l, middleOf), d.x, d.y)
	if len(line) < 2 {
		return
	}
	if room := slack(l); len(room) > 0 {
		ch.Picture.Lines = append(ch.Picture.Lines, chartLine{"sure", d.outline(room) + "Z"})
	}
	ch.Picture.Lines = append(ch.Picture.Lines, chartLine{lineClass(i), d.outline(line)})
	text := formula
	if len(e.Lines) > 1 {
		text = plain(l.Model, labelRunes)
	}
	ch.Picture.Labels = append(ch.Picture.Labels, d.label(line, i, text))
}

// formulaOf is a line in short: its start and what a thousand tokens cost.
func formulaOf(l experiment.Line) string {
	return trimmed(milli(l.Floor.At)) + " + " + cost(milli(l.Slope.At)) + " / 1k"
}

// verticesOf is where a line begins and what each band adds to it, by the middles
// of its estimates or by one of their ends.
func verticesOf(l experiment.Line, by func(experiment.Estimate) float64) []vertex {
	at := by(l.Floor)
	line := []vertex{{0, fromMS(at)}}
	for i, b := range l.Bands {
		if i == 0 {
			at += b.From / 1000 * by(b.Slope)
			line = append(line, vertex{int64(b.From), fromMS(at)})
		}
		at += (b.To - b.From) / 1000 * by(b.Slope)
		line = append(line, vertex{int64(b.To), fromMS(at)})
	}
	return line
}

func middleOf(e experiment.Estimate) float64 { return e.At }
func lowOf(e experiment.Estimate) float64    { return *e.Low }
func highOf(e experiment.Estimate) float64   { return *e.High }

// slack goes along the lower ends of a line's estimates and back along the upper
// ones. Nil where one of them has no interval.
func slack(l experiment.Line) []vertex {
	wide := func(b experiment.Band) bool { return b.Slope.Low == nil }
	if l.Floor.Low == nil || slices.ContainsFunc(l.Bands, wide) {
		return nil
	}
	upper := verticesOf(l, highOf)
	slices.Reverse(upper)
	return append(verticesOf(l, lowOf), upper...)
}

func milli(ms float64) time.Duration { return time.Duration(fromMS(ms)) }

// lines are the same in numbers: of each model its start, then its bands.
func (e reported) lines() (all []lineRow) {
	for _, l := range e.Lines {
		name := plain(l.Model, nameRunes)
		all = append(all, lineRow{Model: name, Tokens: e.l.say("usual.floor"), Cost: e.cell("band.cost", &l.Floor, inMillis)})
		for _, b := range l.Bands {
			all = append(all, lineRow{
				Model: name, Tokens: inCount(b.From) + " – " + inCount(b.To), Cost: e.cell("band.cost", &b.Slope, inMillis),
				Knee: l.Knee != nil && *l.Knee == b.From,
			})
		}
	}
	return all
}
