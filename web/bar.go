package web

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// intervals is the number of stretches that grid lines divide a scale into; the
// style sheet draws as many.
const intervals = 6

// scale is the common axis of the bars of one view.
type scale struct {
	Ticks []tick
	end   time.Duration
}

// Axis is the end of the scale in milliseconds.
func (s scale) Axis() int64 { return s.end.Milliseconds() }

// tick is a mark of the axis.
type tick struct {
	X     string // in percent of the width
	Label string
}

// newScale ends at a round number not under the given duration.
func newScale(atLeast time.Duration) scale {
	step := roundUp(atLeast.Seconds() / intervals)
	s := scale{end: time.Duration(step * intervals * float64(time.Second))}
	for i := range intervals {
		label := strconv.FormatFloat(math.Round(step*float64(i)*1e6)/1e6, 'f', -1, 64)
		if i == intervals-1 {
			label += " s"
		}
		s.Ticks = append(s.Ticks, tick{X: percentOf(float64(i) / intervals), Label: label})
	}
	return s
}

// roundUp finds the next of 1, 1.5, 2, 2.5 and 5 times a power of ten, in seconds to 20
// and in minutes above.
func roundUp(seconds float64) float64 {
	if seconds > 20 {
		return 60 * roundUp(seconds/60)
	}
	power := math.Pow(10, math.Floor(math.Log10(max(seconds, 0.01))))
	for _, m := range []float64{1, 1.5, 2, 2.5, 5, 10} {
		if seconds <= m*power*(1+1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// scaleOf suits most of the bars: the few that are much longer than the rest are
// cut, so that the short ones stay readable.
func scaleOf(exchanges []*exchange.Exchange, now time.Time) scale {
	return scaleFor(exchanges, now, 0.9)
}

// scaleFor is the scale that such a share of the bars fit into.
func scaleFor(exchanges []*exchange.Exchange, now time.Time, share float64) scale {
	var all []time.Duration
	for _, x := range exchanges {
		if d, ok := took(x, now); ok {
			all = append(all, d)
		}
	}
	if len(all) == 0 {
		return newScale(time.Second)
	}
	slices.Sort(all)
	return newScale(all[int(math.Ceil(share*float64(len(all))))-1])
}

// bar is an exchange's phases as rectangles on a scale.
type bar struct {
	Alt   string // the same in words
	Rects []rect
	Cut   bool   // longer than the scale
	End   string // the tone of the mark at its end, "" for none
	EndX  string
}

// rect is a piece of a bar, in percent of the scale.
type rect struct {
	Kind     kind
	X, Width string
}

// rects are the pieces of some phases that lie within the scale.
func (s scale) rects(phases []phase) []rect {
	var all []rect
	for _, p := range phases {
		end := min(p.Start+p.Length, s.end)
		if end > p.Start {
			all = append(all, rect{Kind: p.Kind, X: s.x(p.Start), Width: s.x(end - p.Start)})
		}
	}
	return all
}

func (s scale) x(d time.Duration) string {
	return percentOf(float64(d) / float64(s.end))
}

func percentOf(share float64) string {
	return strconv.FormatFloat(share*100, 'f', 2, 64) + "%"
}

// barOf draws an exchange that took so long.
func (s scale) barOf(l language, x *exchange.Exchange, total time.Duration) bar {
	return s.draw(l, x, phases(x, total), total)
}

// draw draws an exchange as phases that end at a place of the scale.
func (s scale) draw(l language, x *exchange.Exchange, ps []phase, end time.Duration) bar {
	b := bar{Alt: inPhrases(l, ps), Rects: s.rects(ps), Cut: end > s.end}
	if failed(x) {
		b.End, b.EndX = tone(x), s.x(min(end, s.end))
	}
	return b
}

// inPhrases is the phases in words, in their order.
func inPhrases(l language, ps []phase) string {
	text := ""
	for _, p := range ps {
		if text != "" {
			text += l.say("list.comma")
		}
		text += l.say("phase."+string(p.Kind)) + " " + figure.Duration(&p.Length)
	}
	return cmp.Or(text, figure.Unknown)
}
