package meter

import (
	"time"

	"github.com/ttftap/ttftap/proxy/dialect"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// name takes what the answer calls itself; what it does not say stays as the
// head of the answer said it.
func name(x *exchange.Exchange, a *dialect.Answer) {
	for _, n := range []struct {
		to   *string
		from string
	}{
		{&x.ModelServed, a.Model},
		{&x.ResponseID, a.ResponseID},
		{&x.ServiceTier, a.ServiceTier},
		{&x.FinishReason, a.FinishReason},
	} {
		if n.from != "" {
			*n.to = n.from
		}
	}
	if a.Choices > 1 {
		x.Choices = new(int64(a.Choices))
	}
}

// count takes the tokens, normalised: output includes reasoning. An upstream
// that leaves it out is given away by its total.
func count(x *exchange.Exchange, u *dialect.Usage) {
	x.PromptTokens, x.CachedTokens, x.CacheWriteTokens = known(u.Prompt), known(u.Cached), known(u.CacheWrite)
	x.OutputTokens, x.ReasoningTokens, x.TotalTokens = known(u.Output), known(u.Reasoning), known(u.Total)
	x.UsageRaw = u.Raw
	switch {
	case u.Raw != "" || x.PromptTokens != nil || x.OutputTokens != nil:
		x.UsageSource = "reported"
	case expectsUsage(x):
		x.UsageSource = "absent"
	}
	prompt, output, reasoning, total := x.PromptTokens, x.OutputTokens, x.ReasoningTokens, x.TotalTokens
	if prompt == nil || output == nil || reasoning == nil || total == nil {
		return
	}
	if *reasoning > 0 && *total-*prompt-*output == *reasoning {
		x.OutputTokens = new(*output + *reasoning)
	}
}

// known is a count, nil where it can be none.
func known(n *int64) *int64 {
	if n == nil || *n < 0 {
		return nil
	}
	return n
}

// expectsUsage says whether an answer of this kind carries usage: one that is no
// error, of a format that is read.
func expectsUsage(x *exchange.Exchange) bool {
	if x.Dialect == "" || x.Dialect == exchange.Other || x.Status == nil {
		return false
	}
	return *x.Status == 101 || *x.Status/100 == 2
}

// addTimings takes the timings that the answer's body holds; its head may have
// held others.
func addTimings(to *exchange.Server, from exchange.Server) {
	if from.ServerQueue != nil {
		to.ServerQueue = from.ServerQueue
	}
	if from.ServerPrefill != nil {
		to.ServerPrefill = from.ServerPrefill
	}
	if from.ServerDecode != nil {
		to.ServerDecode = from.ServerDecode
	}
	if from.ServerSource != "" {
		to.ServerSource = from.ServerSource
	}
}

// absurd is how much longer than the exchange a server's timing may be.
const absurd = 10

// believable drops timings that are far longer than the whole exchange was:
// whatever unit they are in, they are not of it.
func believable(s *exchange.Server, end *time.Duration) {
	for _, d := range []**time.Duration{&s.ServerQueue, &s.ServerPrefill, &s.ServerDecode} {
		if *d != nil && end != nil && **d/absurd > *end {
			*d = nil
		}
	}
	if s.ServerQueue == nil && s.ServerPrefill == nil && s.ServerDecode == nil {
		s.ServerSource = ""
	}
}

// reasoningIn says how reasoning came. A reported 0 outweighs an empty item:
// some models open one whether they reason or not.
func (m *Meter) reasoningIn(x *exchange.Exchange) string {
	tokens := x.ReasoningTokens
	switch {
	case m.kinds&dialect.Reasoning != 0 && !m.summarised(x):
		return exchange.VisibleReasoning
	case m.kinds&dialect.Thought != 0:
		return exchange.SummaryReasoning
	case tokens != nil && *tokens > 0:
		return exchange.HiddenReasoning
	case tokens != nil:
		return exchange.NoReasoning
	case m.reasoning:
		return exchange.HiddenReasoning
	}
	return ""
}

const (
	sparse = 2  // bytes a token that no text has
	fewer  = 32 // tokens of which too few are known to say so
)

// summarised says whether what came as reasoning can only be a summary, whatever
// its name: there is too little of it for its tokens. Claude's thinking comes so.
// Where only all of the output is counted, all that came is held against it.
func (m *Meter) summarised(x *exchange.Exchange) bool {
	tokens, bytes := x.ReasoningTokens, m.thoughts
	if tokens == nil {
		tokens, bytes = x.OutputTokens, m.thoughts+m.answers
	}
	return tokens != nil && *tokens >= fewer && bytes < sparse**tokens
}
