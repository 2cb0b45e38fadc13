package web

import (
	"strconv"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
)

// curve is the drawing of what a prompt costs: waits upwards in pixels, tokens
// sideways in percent of a width that nobody needs to know.
type curve struct {
	Alt    string // the same in words
	Y, X   []tick // Y in pixels
	Floor  string // its height, in pixels
	Start  string // the same in words
	Pieces []curvePiece
	Knots  []curveKnot
}

// curvePiece is a straight part of it.
type curvePiece struct{ X1, Y1, X2, Y2 string }

// curveKnot is where two of them meet, or an end.
type curveKnot struct{ X, Y, Title string }

// curveHeight and curveTop are the drawing's plot and what is above it, in pixels.
const (
	curveHeight = 168
	curveTop    = 8
)

func newCurve(l language, c *diagnosis.Curve) *curve {
	last := c.Knots[len(c.Knots)-1]
	waits := newScale(c.Floor + last.Prefill)
	step, most := tokenScale(last.Tokens)
	drawn := &curve{Start: l.say("curve.start", figure.Duration(&c.Floor)), Floor: waits.height(c.Floor)}
	for i, t := range waits.Ticks {
		drawn.Y = append(drawn.Y, tick{X: waits.height(time.Duration(i) * waits.end / intervals), Label: t.Label})
	}
	for n := int64(0); n < most; n += step {
		drawn.X = append(drawn.X, tick{X: percentOf(float64(n) / float64(most)), Label: roundCount(n)})
	}
	parts := []string{drawn.Start}
	for _, k := range c.Knots {
		wait := c.Floor + k.Prefill
		title := l.say("curve.knot", figure.Count(&k.Tokens), figure.Duration(&wait))
		drawn.lead(curveKnot{percentOf(float64(k.Tokens) / float64(most)), waits.height(wait), title})
		parts = append(parts, title)
	}
	drawn.Alt = l.list(parts)
	return drawn
}

// height is how far below the drawing's top a wait lies, in pixels.
func (s scale) height(d time.Duration) string {
	return strconv.FormatFloat(curveTop+curveHeight*(1-float64(d)/float64(s.end)), 'f', 1, 64)
}

// lead leads the curve on to another knot.
func (c *curve) lead(to curveKnot) {
	if n := len(c.Knots); n > 0 {
		from := c.Knots[n-1]
		c.Pieces = append(c.Pieces, curvePiece{from.X, from.Y, to.X, to.Y})
	}
	c.Knots = append(c.Knots, to)
}

// tokenScale is a round number of tokens between the marks of an axis to at least
// n, and where it ends.
func tokenScale(n int64) (step, end int64) {
	step = roundNumber((n + intervals - 1) / intervals)
	return step, (n + step - 1) / step * step
}

// roundCount is a round number of tokens, no longer than it must be.
func roundCount(n int64) string {
	switch {
	case n < 1e3:
		return strconv.FormatInt(n, 10)
	case n < 1e6:
		return strconv.FormatFloat(float64(n)/1e3, 'f', -1, 64) + "k"
	}
	return strconv.FormatFloat(float64(n)/1e6, 'f', -1, 64) + "M"
}
