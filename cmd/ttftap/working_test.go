package main

import (
	"context"
	"fmt"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// working is a log that nobody has judged: a model that takes 100 ms and 1 ms a
// token, at 50 tokens/s, asked for prompts of five lengths, and then one of each
// kind that a report tells of.
func working() []*exchange.Exchange {
	var log []*exchange.Exchange
	for i := range 25 {
		log = append(log, worked(i, []int64{50, 200, 800, 2000, 5000}[i%5], 0))
	}
	return append(log,
		worked(25, 60, 0, func(x *exchange.Exchange) { later(x, 8*time.Second) }),
		worked(26, 4000, 0, func(x *exchange.Exchange) {
			x.PrefixSharedTokens, x.PrefixCounted, x.PrefixIdle = new(int64(3900)), new(true), new(time.Minute)
		}),
		worked(27, 500, 4500, func(x *exchange.Exchange) {
			x.PrefixSharedTokens, x.PrefixCounted, x.PrefixIdle = new(int64(4500)), new(true), new(time.Minute)
		}),
		worked(28, 100, 0, func(x *exchange.Exchange) {
			x.Outcome, x.Status, x.Error = exchange.UpstreamError, new(int64(429)), "429: a | b\n<i>"
			x.Instants = exchange.Instants{GotConn: x.GotConn, Sent: x.Sent, End: new(time.Second)}
			x.Tokens, x.Figures, x.ModelServed = exchange.Tokens{}, exchange.Figures{}, "a|b"
			x.Derive()
		}),
	)
}

// worked is a good stream of 101 tokens, begun so many minutes after noon, after
// what set changes.
func worked(minute int, uncached, cached int64, set ...func(*exchange.Exchange)) *exchange.Exchange {
	first := 100*time.Millisecond + time.Duration(uncached)*time.Millisecond
	x := &exchange.Exchange{
		ID: fmt.Sprintf("row-%03d", minute), StartedAt: noon.Add(time.Duration(minute) * time.Minute),
		Upstream: "default", ModelServed: "large", Dialect: exchange.Chat, Outcome: exchange.OK,
		Status: new(int64(200)), Streamed: new(true), Transport: "sse",
		Tokens: exchange.Tokens{
			PromptTokens: new(uncached + cached), CachedTokens: &cached, OutputTokens: new(int64(101)), UsageSource: "reported",
		},
		Instants: exchange.Instants{
			ConnReused: new(true), GotConn: new(time.Duration(0)), Sent: new(time.Duration(0)), Headers: new(time.Millisecond),
		},
		Figures: exchange.Figures{
			Delivery: exchange.Streamed, TokensPerSec: new(50.), TPOT: new(20 * time.Millisecond), RateQuality: "fair",
			Concurrency: new(int64(3)),
		},
	}
	later(x, first)
	for _, f := range set {
		f(x)
	}
	x.Derive()
	return x
}

// later has the first token of x come at some time, and the last 2 s after it.
func later(x *exchange.Exchange, first time.Duration) {
	x.FirstToken, x.AnswerStart, x.FirstText = &first, &first, &first
	x.LastToken, x.End = new(first+2*time.Second), new(first+2*time.Second)
}

// keep saves rows into a new log.
func keep(path string, rows []*exchange.Exchange) error {
	s, err := store.Open(context.Background(), path)
	if err != nil {
		return err
	}
	return firstError(s.Save(context.Background(), rows), s.Close())
}
