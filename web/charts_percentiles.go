package web

import (
	"math"
	"strconv"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
)

// chartRange is one model's percentiles on a common scale.
type chartRange struct {
	URL, Title    string
	Label         string
	Y, LabelY     string
	Kind          string // names the colour
	P50, P90, P99 string // the last is "" where too few are known to tell
	End           string // the last of them
}

const (
	p99Least    = 100 // exchanges from which one in a hundred can be told
	rangeHeight = 18
	headHeight  = 22
)

// spread is the percentiles of one model's times, in seconds.
type spread struct {
	model         string
	n             int
	p50, p90, p99 float64
}

// spreads are those of the models of which there are such times.
func spreads(models []*group, times func(*group) []int64) (all []spread) {
	for _, g := range models {
		values := times(g)
		if g.name == "" || len(values) == 0 {
			continue
		}
		at := func(share float64) float64 {
			return max(time.Duration(*quantileOf(values, share)).Seconds(), 0.001) // that a log scale has a place for it
		}
		all = append(all, spread{g.name, len(values), at(0.5), at(0.9), at(0.99)})
	}
	return all
}

// last is the highest percentile that can be told.
func (s spread) last() float64 {
	if s.n < p99Least {
		return s.p90
	}
	return s.p99
}

// percentileChart is TTFT and total of the models with the most exchanges.
func (c *charting) percentileChart(cv canvas) chart {
	ch := cv.newChart("percentile")
	most := 4
	if cv.full {
		most = 10
	}
	models := c.models.most(most)
	firsts := spreads(models, func(g *group) []int64 { return g.firsts })
	totals := spreads(models, func(g *group) []int64 { return g.totals })
	if len(firsts)+len(totals) == 0 {
		return ch
	}
	r := &ranges{canvas: cv, scale: newLogScale(append(firsts[:len(firsts):len(firsts)], totals...)), picture: &picture{Upright: true}}
	r.list("first", "prefill", firsts)
	r.list("total", "decode", totals)
	r.X, r.Height, r.Below = r.scale.ticks(), r.y+4, below(r.y+4)
	ch.Picture, ch.Alt = r.picture, cv.l.list(r.words)
	if r.hidden {
		ch.Notes = append(ch.Notes, cv.l.say("chart.p99"))
	}
	if more := len(c.models) - most; more > 0 {
		ch.Notes = append(ch.Notes, cv.l.number("chart.more", int64(more)))
	}
	return ch
}

// ranges are being laid out below each other.
type ranges struct {
	canvas
	*picture
	scale  logScale
	y      int
	words  []string
	hidden bool // a p99
}

// list lays out the models' times of one kind under its name.
func (r *ranges) list(name, kind string, all []spread) {
	if len(all) == 0 {
		return
	}
	head := r.l.say("chart.percentile." + name)
	r.Labels = append(r.Labels, chartLabel{X: "0", Y: strconv.Itoa(r.y + 12), Text: head, Class: "key head"})
	r.y += headHeight
	for _, s := range all {
		r.add(head, kind, s)
	}
}

func (r *ranges) add(head, kind string, s spread) {
	middle := r.y + rangeHeight/2
	one := chartRange{
		URL: r.rowsOf("model", s.model), Label: plain(s.model, labelRunes-2), Kind: kind,
		Y: strconv.Itoa(middle), LabelY: short(float64(middle)+3.5, 1),
		P50: r.scale.at(s.p50), P90: r.scale.at(s.p90), End: r.scale.at(s.last()),
	}
	told := []string{"p50 " + secondsText(s.p50), "p90 " + secondsText(s.p90)}
	if s.n >= p99Least {
		one.P99, told = one.End, append(told, "p99 "+secondsText(s.p99))
	}
	r.hidden = r.hidden || one.P99 == ""
	one.Title = head + " · " + plain(s.model, nameRunes) + " · " + r.l.list(append(told, "n "+countOf(s.n)))
	r.words = append(r.words, one.Title)
	r.Ranges = append(r.Ranges, one)
	r.y += rangeHeight
}

func secondsText(s float64) string {
	return figure.Duration(new(time.Duration(s * float64(time.Second))))
}

// logScale is an axis on which each step is as many times more, in seconds.
type logScale struct{ lo, hi float64 }

// nearly is how far off a sum of floats may be.
const nearly = 1e-9

// newLogScale reaches from a round number not over the least of the percentiles
// to one not under the most.
func newLogScale(all []spread) logScale {
	least, most := math.Inf(1), 0.0
	for _, s := range all {
		least, most = min(least, s.p50), max(most, s.last())
	}
	var s logScale
	for _, v := range rounds(least/10, most*10) {
		if v <= least*(1+nearly) {
			s.lo = v
		}
		if v > s.lo && (s.hi <= s.lo || s.hi < most*(1-nearly)) {
			s.hi = v
		}
	}
	return s
}

// rounds are 1, 2 and 5 times powers of ten, from one number to another.
func rounds(from, to float64) (all []float64) {
	for e := math.Floor(math.Log10(from)); math.Pow(10, e) <= to; e++ {
		for _, m := range []float64{1, 2, 5} {
			if v := m * math.Pow(10, e); v >= from*(1-nearly) && v <= to*(1+nearly) {
				all = append(all, v)
			}
		}
	}
	return all
}

func (s logScale) at(v float64) string {
	return percentAt(min(max(math.Log(v/s.lo)/math.Log(s.hi/s.lo), 0), 1))
}

// manyTimes is how many times the least the most is, from which on only powers of
// ten have labels.
const manyTimes = 200

func (s logScale) ticks() (all []chartTick) {
	for _, v := range rounds(s.lo, s.hi) {
		power := math.Log10(v)
		if tens := math.Abs(power-math.Round(power)) < nearly; tens || s.hi/s.lo <= manyTimes {
			all = append(all, chartTick{s.at(v), s.at(v), short(v, 3)})
		}
	}
	if n := len(all); n > 0 {
		all[n-1].Label += " s"
	}
	return all
}
