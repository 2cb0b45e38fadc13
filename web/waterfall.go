package web

import (
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
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

// waterfallOf is nil for an exchange of which only the start is known. Of one
// under way it is what is known by now.
func waterfallOf(l language, x *exchange.Exchange, now time.Time) *waterfall {
	total, ok := took(x, now)
	if !ok || x.End == nil && stageOf(x) == stageBegun {
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
	if stalled(x) { // when is not known
		w.Phases = append(w.Phases, waterfallPhase{
			Word:  l.say("waterfall.stalled"),
			Aside: l.number("aside.stalls", *x.Stalls),
			Took:  toTheMillisecond(*x.StallTime),
		})
	}
	for _, m := range []struct {
		word, aside string
		at          *time.Duration
	}{{"instant.first_byte", "", x.FirstByte}, {"instant.first_token", "TTFT", x.FirstToken}, {"instant.answer_start", "", x.AnswerStart}} {
		if m.at != nil || x.End != nil { // before the end it may yet happen
			w.mark(l.say(m.word), m.aside, m.at)
		}
	}
	return w
}

func (w *waterfall) mark(word, aside string, at *time.Duration) {
	m := waterfallMark{Word: word, Aside: aside, At: figure.Unknown}
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
	case queue:
		if x.ServerQueue == nil && x.Floor == nil {
			return l.say("aside.rest")
		}
		return source(l, x.ServerQueue)
	case prefill:
		return source(l, x.ServerPrefill)
	case hidden, reasoning:
		return tokensAside(l, x.ReasoningTokens)
	case decode:
		return tokensAside(l, answerTokens(x))
	}
	return ""
}

// answerTokens are the tokens of the decode that is no reasoning.
func answerTokens(x *exchange.Exchange) *int64 {
	n := x.SeenTokens()
	if n == nil || diagnosis.Weigh(x).Shown == 0 {
		return n
	}
	if x.ReasoningTokens == nil || *x.ReasoningTokens > *n {
		return nil
	}
	return new(*n - *x.ReasoningTokens)
}

// connection is how the request got on the wire.
func connection(l language, x *exchange.Exchange) string {
	if x.ConnReused != nil && *x.ConnReused && x.PoolWait == nil {
		return l.say("aside.reused")
	}
	var parts []string
	for _, p := range []struct {
		name   string
		length *time.Duration
	}{{l.say("aside.pool"), x.PoolWait}, {"DNS", x.DNS}, {"TCP", x.Connect}, {"TLS", x.TLS}} {
		if p.length != nil {
			parts = append(parts, p.name+" "+figure.Duration(p.length))
		}
	}
	return l.list(parts)
}

// source tells a length that the server told from an estimated one.
func source(l language, told *time.Duration) string {
	if told != nil {
		return l.say("aside.server")
	}
	return l.say("aside.estimate")
}

func tokensAside(l language, n *int64) string {
	if n == nil {
		return ""
	}
	return l.say("aside.tokens", figure.Count(n))
}
