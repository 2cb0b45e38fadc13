package main

import (
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// modelTally adds up the exchanges of one model.
type modelTally struct {
	requests     int64
	total        time.Duration
	wait, decode time.Duration // of those whose time can be divided
	firsts       quantiles
	tokens       float64 // that came within span
	span         time.Duration
	prompt       *int64
	cached       *int64
	cacheable    *int64 // prompt tokens of those that tell of the cache
}

func (m *modelTally) add(x *exchange.Exchange, p diagnosis.Phases) {
	m.requests++
	m.total += p.Total
	if separable(x) {
		m.wait += p.Wait
		m.decode += p.Decode
	}
	if x.FirstToken != nil && !buffered(x) {
		m.firsts.add(*x.FirstToken)
	}
	m.addRate(x, p)
	m.prompt = sum(m.prompt, x.PromptTokens)
	if tellsCache(x) {
		m.cached, m.cacheable = sum(m.cached, x.CachedTokens), sum(m.cacheable, x.PromptTokens)
	}
}

// addRate takes the tokens of the rate back out of it. Its span is the decode
// that was seen; pauses for summaries in it are not stored, and stay in.
func (m *modelTally) addRate(x *exchange.Exchange, p diagnosis.Phases) {
	seen := p.Decode - p.Hidden - p.Unseen
	if x.TokensPerSec == nil || seen <= 0 {
		return
	}
	m.tokens += *x.TokensPerSec * seen.Seconds()
	m.span += seen
}

func (m *modelTally) rate() *float64 { return over(m.tokens, m.span.Seconds()) }

func (m *modelTally) waitShare() *float64 { return share(m.wait, m.wait+m.decode) }

func (m *modelTally) decodeShare() *float64 { return share(m.decode, m.wait+m.decode) }

func (m *modelTally) cachedShare() *float64 {
	if m.cached == nil || m.cacheable == nil {
		return nil
	}
	return share(*m.cached, *m.cacheable)
}

// share is a part of a whole, nil where there is no whole.
func share[T ~int64](part, whole T) *float64 { return over(float64(part), float64(whole)) }

func over(part, whole float64) *float64 {
	if whole <= 0 {
		return nil
	}
	return new(part / whole)
}
