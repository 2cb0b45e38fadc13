package diagnosis

import (
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func sec(s float64) *time.Duration { return new(time.Duration(s * float64(time.Second))) }

func num(n int64) *int64 { return &n }

// streamed is a good stream over a kept connection: its first token, its last,
// and what set changes.
func streamed(first, last float64, set ...func(*exchange.Exchange)) *exchange.Exchange {
	x := &exchange.Exchange{
		Dialect: exchange.Chat, Outcome: exchange.OK, Status: num(200), Streamed: new(true),
		Instants: exchange.Instants{
			GotConn: sec(0), Sent: sec(0), Headers: sec(0.01),
			FirstToken: sec(first), AnswerStart: sec(first), LastToken: sec(last), End: sec(last),
		},
		Figures: exchange.Figures{Delivery: exchange.Streamed},
	}
	for _, f := range set {
		f(x)
	}
	x.Derive()
	return x
}

// whole is a good answer that was no stream.
func whole(total float64, set ...func(*exchange.Exchange)) *exchange.Exchange {
	x := streamed(0, total, set...)
	x.Streamed, x.Delivery = new(false), exchange.NotStreamed
	x.FirstToken, x.AnswerStart, x.LastToken = nil, nil, nil
	x.Derive()
	return x
}

func tokens(prompt, cached, output int64) func(*exchange.Exchange) {
	return func(x *exchange.Exchange) {
		x.PromptTokens, x.OutputTokens, x.UsageSource = num(prompt), num(output), "reported"
		if cached >= 0 {
			x.CachedTokens = num(cached)
		}
	}
}

// noon is when logs begin.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// logged is a good stream of one model, begun so many minutes after noon, at 50
// tokens/s.
func logged(minute int, wait float64, uncached, cached int64, set ...func(*exchange.Exchange)) *exchange.Exchange {
	x := streamed(wait, wait+2, append([]func(*exchange.Exchange){tokens(uncached+cached, cached, 101), tpot(0.02, "fair")}, set...)...)
	x.Upstream, x.ModelServed = "default", "large"
	x.StartedAt = noon.Add(time.Duration(minute) * time.Minute)
	return x
}

// ladderOf is what a model took for prompts of five lengths, five times each, a
// minute apart, none of them queued.
func ladderOf(m truth, set ...func(*exchange.Exchange)) []*exchange.Exchange {
	var xs []*exchange.Exchange
	for i := range 25 {
		p := point{uncached: rungs(nil, i)}
		xs = append(xs, logged(i, m.wait(p), p.uncached, 0, set...))
	}
	return xs
}

// learned is a book that has judged a log, in the order of its times.
func learned(xs ...*exchange.Exchange) *Book {
	b := new(Book)
	for _, x := range xs {
		Judge(x, b.Baseline(x))
		b.Add(x)
	}
	return b
}

// thinks hides so much reasoning; the answer begins later than the first token
// where a summary came before it.
func thinks(how string, reasoning int64, answer float64) func(*exchange.Exchange) {
	return func(x *exchange.Exchange) {
		x.Reasoning, x.ReasoningTokens, x.AnswerStart = how, num(reasoning), sec(answer)
	}
}

func tpot(seconds float64, quality string) func(*exchange.Exchange) {
	return func(x *exchange.Exchange) {
		x.TPOT, x.TokensPerSec, x.RateQuality = sec(seconds), new(1/seconds), quality
	}
}

// server is what the server says of its queue, prefill and decode; -1 for nil.
func server(queue, prefill, decode float64) func(*exchange.Exchange) {
	return func(x *exchange.Exchange) {
		for _, s := range []struct {
			to   **time.Duration
			took float64
		}{{&x.ServerQueue, queue}, {&x.ServerPrefill, prefill}, {&x.ServerDecode, decode}} {
			if s.took >= 0 {
				*s.to = sec(s.took)
			}
		}
	}
}

func delivered(d exchange.Delivery) func(*exchange.Exchange) {
	return func(x *exchange.Exchange) { x.Delivery = d }
}

// began is when the first item of the output was opened.
func began(seconds float64) func(*exchange.Exchange) {
	return func(x *exchange.Exchange) { x.GenerationStarted = sec(seconds) }
}

// inFlight is how many exchanges were, this one included.
func inFlight(n int64) func(*exchange.Exchange) {
	return func(x *exchange.Exchange) { x.Concurrency = num(n) }
}

// line is the baseline of a model whose tokens all cost the same, known within
// 2 %, at 80 tokens/s.
func line(floor, each float64) *Baseline {
	return &Baseline{
		Rows: 40, Rates: 40, TPOT: sec(0.0125), least: 20, most: 100_000,
		Curve: &Curve{
			Floor: *sec(floor), Knots: []Knot{{}, {100_000, *sec(100_000 * each)}},
			Least: 20, Most: 100_000, Fast: 30, Error: 0.02,
		},
	}
}

// idle is a baseline of a model that had been idle for so many minutes.
func (b Baseline) idle(minutes int) *Baseline {
	b.Idle = new(time.Duration(minutes) * time.Minute)
	return &b
}

func (b Baseline) headersAtSlot() *Baseline {
	b.HeadersAtSlot = true
	return &b
}

func reused(how string) func(*exchange.Exchange) {
	return func(x *exchange.Exchange) { x.CacheOutcome = how }
}

func outcome(o exchange.Outcome, status int64, text string) func(*exchange.Exchange) {
	return func(x *exchange.Exchange) {
		x.Outcome, x.Error, x.Status = o, text, num(status)
		if status == 0 {
			x.Status = nil
		}
	}
}
