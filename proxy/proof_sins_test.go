package proxy_test

import (
	"math"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/proxy/simulator"
)

// sins are what must not be, whatever else is wrong.
func (s scored) sins() []string {
	if s.truth == nil || s.truth.OutputTokens == 0 || s.failed() {
		if absurd(&s.Exchange) {
			return []string{"a number that is none"}
		}
		return nil
	}
	p := s.parts()
	read := s.Bound == exchange.PrefillBound
	sure := read && s.Cause != "unseparated"
	tellable := s.curve() || s.told().prefill || s.told().queue
	blamed := s.Cause == "cache_miss" || s.CacheOutcome == "missed" || s.CacheOutcome == "expired"
	var sins []string
	for sin, committed := range map[string]bool{
		"hidden reasoning called prefill": read && s.conceals() && !s.unnoticed() && p.decode > p.wait(),
		"a buffering hop called prefill":  read && s.buffered() && p.decode > p.wait(),
		"a queue called prefill":          sure && tellable && p.queue+p.load > p.prefill*3/2,
		"a cache hit called a miss":       blamed && s.hit(),
		"a number for what nobody knows":  s.invents(),
		"a wrong count":                   s.miscounts(),
		"the server misquoted":            s.misquotes(),
		"no reason":                       s.Reason == "" || s.Bound == "",
	} {
		if committed {
			sins = append(sins, sin)
		}
	}
	return sins
}

// invents says whether the row holds a number that nothing can have told.
func (s scored) invents() bool {
	x := &s.Exchange
	t := s.told()
	blind := !s.site.warm && !t.prefill && !t.queue
	switch {
	case blind && (x.Queue != nil || x.Prefill != nil), !s.site.warm && (x.Excess != nil || x.Floor != nil):
		return true
	case !s.counted() && (x.PromptTokens != nil || x.OutputTokens != nil || x.TokensPerSec != nil || x.TPOT != nil):
		return true
	case s.how.Cached == simulator.Unreported && (x.CachedTokens != nil || x.UncachedTokens != nil):
		return true
	case s.ask.whole && (x.FirstToken != nil || x.LastToken != nil || x.TokensPerSec != nil):
		return true
	case s.Cause == "buffered" && x.TokensPerSec != nil:
		return true
	}
	return absurd(x)
}

// absurd says whether a figure is negative, infinite or no number.
func absurd(x *exchange.Exchange) bool {
	for _, d := range []*time.Duration{x.Network, x.Wait, x.Queue, x.Prefill, x.Decode, x.HiddenDecode, x.UnseenDecode, x.TPOT, x.StallTime, x.FirstToken, x.End} {
		if d != nil && *d < 0 {
			return true
		}
	}
	for _, f := range []*float64{x.TokensPerSec, x.EndToEndTokensPerSec, x.PrefillTokensPerSec, x.TokensPerEvent, x.RateLastOverFirst} {
		if f != nil && (math.IsNaN(*f) || math.IsInf(*f, 0) || *f < 0) {
			return true
		}
	}
	return false
}

// miscounts says whether a count differs from the truth.
func (s scored) miscounts() bool {
	x, t := &s.Exchange, s.truth
	differs := func(n *int64, truth int) bool { return n != nil && *n != int64(truth) }
	return differs(x.PromptTokens, t.PromptTokens) || s.how.Cached == "" && differs(x.CachedTokens, t.CachedTokens) ||
		differs(x.OutputTokens, t.OutputTokens) || s.how.Thoughts == "" && differs(x.ReasoningTokens, t.ReasoningTokens)
}

// misquotes says whether the row has other times of the server's than it told.
func (s scored) misquotes() bool {
	x, t, told := &s.Exchange, s.truth, s.told()
	differs := func(d *time.Duration, told bool, truth time.Duration) bool {
		return told != (d != nil) || told && (*d-truth).Abs() > time.Microsecond
	}
	return differs(x.ServerQueue, told.queue, t.Queue+t.Load) || differs(x.ServerPrefill, told.prefill, t.Prefill) ||
		differs(x.ServerDecode, told.decode, t.Span)
}
