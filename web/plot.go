package web

import (
	"math"
	"strconv"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// piece is a stretch of the output.
type piece struct {
	exchange.Portion
	from time.Duration // from the start of the exchange
	took time.Duration
}

// piecesOf are the steps of a cadence. The last is over with the last token; one
// that had hardly begun is joined to the one before it, lest a late token look
// like a spurt.
func piecesOf(x *exchange.Exchange) []piece {
	var all []piece
	at, step := outputStart(x), x.Cadence.Step
	for _, p := range x.Cadence.Steps {
		all = append(all, piece{p, at, step})
		at += step
	}
	last := &all[len(all)-1]
	last.took = min(step, max(0, *x.LastToken-last.from))
	if len(all) > 1 && last.took < step/2 {
		before := &all[len(all)-2]
		before.took += last.took
		before.Reasoning += last.Reasoning
		before.Answer += last.Answer
		all = all[:len(all)-1]
	}
	return all
}

// plot places the pieces of an output in a picture.
type plot struct {
	x        *exchange.Exchange
	pieces   []piece
	start    time.Duration // of the output
	from, to time.Duration // the edges of the picture
	tokens   bool          // tokens are drawn, else bytes
	perByte  float64       // of these for each byte
	top      float64       // per second, at the upper edge
}

func newPlot(x *exchange.Exchange) *plot {
	p := &plot{x: x, pieces: piecesOf(x), start: outputStart(x), to: *x.LastToken, perByte: 1}
	hidden := diagnosis.Weigh(x).Hidden
	p.from = p.start - min(hidden, (p.to-p.start)/2) // a third of the picture at the most
	if n, bytes := x.SeenTokens(), x.Cadence.Bytes(); x.TokensPerSec != nil && n != nil && bytes > 0 {
		p.tokens, p.perByte = true, float64(*n)/float64(bytes)
	}
	for _, in := range p.pieces {
		p.top = max(p.top, 1.04*p.rate(in, in.Bytes()))
	}
	return p
}

// rate is so many bytes of a piece as tokens, or bytes, a second.
func (p *plot) rate(in piece, bytes int64) float64 {
	return float64(bytes) * p.perByte / in.took.Seconds()
}

func (p *plot) at(d time.Duration) string {
	return percentOf(float64(d-p.from) / float64(p.to-p.from))
}

func (p *plot) wide(d time.Duration) string {
	return percentOf(float64(d) / float64(p.to-p.from))
}

// The picture's upright measures in pixels: a line of words, and the bars.
const (
	plotTop    = 16
	plotHeight = 72
)

// up is how far a rate reaches, in pixels.
func (p *plot) up(perSecond float64) float64 {
	if p.top <= 0 {
		return 0
	}
	return plotHeight * perSecond / p.top
}

func pixels(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

func (p *plot) bar(l language, in piece) cadenceBar {
	b := cadenceBar{Title: l.say("cadence.bar", figure.Duration(&in.from), p.perSecond(p.rate(in, in.Bytes())))}
	base := float64(plotTop + plotHeight)
	for _, part := range []struct {
		kind
		bytes int64
	}{{reasoning, in.Reasoning}, {decode, in.Answer}} {
		if part.bytes == 0 {
			continue
		}
		high := p.up(p.rate(in, part.bytes))
		base -= high
		b.Rects = append(b.Rects, cadenceRect{part.kind, p.at(in.from), p.wide(in.took), pixels(base), pixels(high)})
	}
	return b
}

// perSecond is a rate with its unit.
func (p *plot) perSecond(v float64) string {
	if p.tokens {
		return figure.Rate(&v, "")
	}
	return figure.Decimal(v, 0) + " B/s"
}

// levels are the ground and two to five lines above it, at round numbers.
func (p *plot) levels() []level {
	step := roundDown(p.top / 2)
	var all []level
	for i := 0; float64(i)*step <= p.top && p.top > 0; i++ {
		v := float64(i) * step
		all = append(all, level{pixels(plotTop + plotHeight - p.up(v)), levelLabel(v)})
	}
	return all
}

// roundDown finds the 1, 2 or 5 times a power of ten before a number.
func roundDown(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{5, 2} {
		if v >= m*power {
			return m * power
		}
	}
	return power
}

func levelLabel(v float64) string {
	if v >= 1000 {
		short, unit := shortCount(int64(math.Round(v)))
		return short + unit
	}
	return strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64)
}

// ticks are some six round instants.
func (p *plot) ticks() []tick {
	step := roundUp((p.to - p.from).Seconds() / intervals)
	var all []tick
	for i := math.Ceil(p.from.Seconds() / step); i*step <= p.to.Seconds(); i++ {
		at := time.Duration(i * step * float64(time.Second))
		all = append(all, tick{p.at(at), levelLabel(i * step)})
	}
	if len(all) > 0 {
		all[len(all)-1].Label += " s"
	}
	return all
}
