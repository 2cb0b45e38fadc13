package web

import (
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// waterfall is where one exchange's time went, a line a phase.
type waterfall struct {
	Scale  scale
	Phases []waterfallPhase
	Total  bar
	Took   string // seconds, as all columns here
	Marks  []waterfallMark
}

type waterfallPhase struct {
	Word, Aside string
	Rects       []rect
	Start, Took string
}

// waterfallMark is an instant on the same scale.
type waterfallMark struct {
	Word, Aside string
	X           string // "" where it did not happen
	At          string
}

// waterfallOf is nil for an exchange whose duration is unknown.
func waterfallOf(l language, x *exchange.Exchange, now time.Time) *waterfall {
	total, ok := took(x, now)
	if !ok {
		return nil
	}
	w := &waterfall{Scale: newScale(total), Took: toTheMillisecond(total)}
	w.Total = w.Scale.barOf(l, x, total)
	for _, p := range phases(x, total) {
		w.Phases = append(w.Phases, waterfallPhase{
			Word:  l.say("phase." + string(p.Kind)),
			Aside: aside(l, x, p.Kind),
			Rects: w.Scale.rects([]phase{p}),
			Start: toTheMillisecond(p.Start),
			Took:  toTheMillisecond(p.Length),
		})
	}
	w.mark(l.say("instant.first_byte"), "", x.FirstByte)
	w.mark(l.say("instant.first_token"), "TTFT", x.FirstToken)
	w.mark(l.say("instant.answer_start"), "", x.AnswerStart)
	return w
}

func (w *waterfall) mark(word, aside string, at *time.Duration) {
	m := waterfallMark{Word: word, Aside: aside, At: nothing}
	if at != nil {
		m.X, m.At = w.Scale.x(*at), toTheMillisecond(*at)
	}
	w.Marks = append(w.Marks, m)
}

// aside is what is known of a phase besides its length.
func aside(l language, x *exchange.Exchange, k kind) string {
	switch k {
	case network:
		return connection(l, x)
	case wait:
		if x.Prefill != nil {
			return l.say("aside.rest")
		}
		return l.say("aside.wait")
	case queue, prefill:
		return source(l, x)
	case hidden, reasoning:
		return tokensAside(l, x.ReasoningTokens)
	case decode:
		return tokensAside(l, x.SeenTokens())
	}
	return ""
}

// connection is how the request got on the wire.
func connection(l language, x *exchange.Exchange) string {
	if x.ConnReused != nil && *x.ConnReused {
		return l.say("aside.reused")
	}
	var parts []string
	for _, p := range []struct {
		name   string
		length *time.Duration
	}{{"DNS", x.DNS}, {"TCP", x.Connect}, {"TLS", x.TLS}} {
		if p.length != nil {
			parts = append(parts, p.name+" "+inWords(*p.length))
		}
	}
	return l.list(parts)
}

// source tells a measured length from an estimated one.
func source(l language, x *exchange.Exchange) string {
	if x.ServerSource != "" {
		return l.say("aside.server")
	}
	return l.say("aside.estimate")
}

func tokensAside(l language, n *int64) string {
	if n == nil {
		return ""
	}
	return l.say("aside.tokens", count(n))
}
