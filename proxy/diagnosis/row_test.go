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

func outcome(o exchange.Outcome, status int64, text string) func(*exchange.Exchange) {
	return func(x *exchange.Exchange) {
		x.Outcome, x.Error, x.Status = o, text, num(status)
		if status == 0 {
			x.Status = nil
		}
	}
}
