package web

import (
	"slices"
	"strconv"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// cadence is how one exchange's output came over time: a bar a step.
type cadence struct {
	Unit   string // what the bars tell, and of what steps
	Alt    string // the same in words
	Bars   []cadenceBar
	Levels []level
	Ticks  []tick           // seconds from the start of the request, as in the waterfall
	Hidden *cadenceStretch  // reasoning before it that was not shown; nil for none
	Gaps   []cadenceStretch // silences that stand out
}

// cadenceBar is one step: reasoning that was shown below, the rest on it.
type cadenceBar struct {
	Title string
	Rects []cadenceRect
}

// cadenceRect is a part of a bar, in percent across and in pixels upright.
type cadenceRect struct {
	Kind      kind
	X, Width  string
	Y, Height string
}

// level is a line of the upright scale.
type level struct{ Y, Label string }

// cadenceStretch is a part of the time, in percent.
type cadenceStretch struct {
	X, Width string
	Middle   string
	Word     string // "" where there is no room for it
	Cut      bool   // it began before the picture does
}

// leastDrawn is the shortest output that is drawn: none below gives a rate either.
const leastDrawn = 100 * time.Millisecond

// cadenceOf is nil where nothing can be drawn.
func cadenceOf(l language, x *exchange.Exchange) *cadence {
	if x.Cadence == nil || x.Delivery != exchange.Streamed || x.FirstToken == nil || x.LastToken == nil ||
		*x.LastToken-outputStart(x) < leastDrawn || len(x.Cadence.Steps) == 0 {
		return nil
	}
	p := newPlot(x)
	c := &cadence{Unit: p.unit(l), Levels: p.levels(), Ticks: p.ticks(), Hidden: p.hidden(l), Gaps: p.gaps(l)}
	for _, in := range p.pieces {
		c.Bars = append(c.Bars, p.bar(l, in))
	}
	c.Alt = p.inWords(l)
	return c
}

// outputStart is when the output began that the decode rate is over.
func outputStart(x *exchange.Exchange) time.Duration {
	if x.HidesReasoning() && x.AnswerStart != nil {
		return *x.AnswerStart
	}
	return *x.FirstToken
}

// unit says what the bars tell, in what steps, and how far that can be relied
// on.
func (p *plot) unit(l language) string {
	step := strconv.FormatFloat(p.x.Cadence.Step.Seconds(), 'f', -1, 64) + " s"
	if !p.tokens {
		return l.say("cadence.bytes", step)
	}
	parts := []string{l.say("cadence.tokens", step)}
	if p.x.RateQuality == exchange.NoisyRate {
		parts = append(parts, l.say("quality.noisy"))
	}
	return l.list(parts)
}

// hidden is the reasoning before the output, as far back as the picture goes.
func (p *plot) hidden(l language) *cadenceStretch {
	drawn := p.start - p.from
	if drawn == 0 {
		return nil
	}
	took := diagnosis.Weigh(p.x).Hidden
	s := p.stretch(p.from, drawn)
	s.Word, s.Cut = l.say("cadence.hidden", figure.Duration(&took)), took > drawn
	return &s
}

func (p *plot) stretch(from, took time.Duration) cadenceStretch {
	return cadenceStretch{X: p.at(from), Width: p.wide(took), Middle: p.at(from + took/2)}
}

// The room in the line of words, as shares of the width.
const (
	roomForHidden = 0.45
	roomForGap    = 0.16
)

// gaps are the silences that stand out, with their lengths as far as there is
// room for these.
func (p *plot) gaps(l language) []cadenceStretch {
	var all []cadenceStretch
	free := 0.
	if p.from < p.start {
		free = roomForHidden
	}
	for _, g := range p.x.Cadence.Gaps {
		s := p.stretch(p.start+g.From, g.Took)
		middle := float64(p.start+g.From+g.Took/2-p.from) / float64(p.to-p.from)
		if middle-roomForGap/2 >= free && middle+roomForGap/2 <= 1 {
			s.Word = l.say("cadence.gap", figure.Duration(&g.Took))
			free = middle + roomForGap/2
		}
		all = append(all, s)
	}
	return all
}

// inWords is what a reader sees at a glance.
func (p *plot) inWords(l language) string {
	var rates []float64
	var bytes int64
	for _, in := range p.pieces {
		rates = append(rates, p.rate(in, in.Bytes()))
		bytes += in.Bytes()
	}
	mean := float64(bytes) * p.perByte / (p.to - p.start).Seconds()
	return l.say("cadence.alt", figure.Duration(&p.start), figure.Duration(&p.to),
		p.perSecond(mean), p.perSecond(slices.Min(rates)), p.perSecond(slices.Max(rates)))
}
