package exchange

import "time"

// Derive sets the figures that are arithmetic over the facts of x alone: those
// that need neither the arrivals of the output nor what is usual for the model.
// Each is nil where it cannot be known. Deriving twice changes nothing.
func (x *Exchange) Derive() {
	x.deriveUncached()
	x.Upload = span(x.GotConn, x.Sent)
	x.Network = x.network()
	x.Wait, x.Decode = x.waited(), x.decoded()
	if x.ServerQueue != nil {
		x.Queue = x.ServerQueue
	}
	if x.ServerPrefill != nil {
		x.Prefill = x.ServerPrefill
	}
	x.EndToEndTokensPerSec = perSecond(x.OutputTokens, x.LastToken)
	x.PrefillTokensPerSec = perSecond(x.UncachedTokens, x.Prefill)
}

// Estimate sets what is taken for queue and prefill, nil for unknown, and the
// figure that follows from it.
func (x *Exchange) Estimate(queue, prefill *time.Duration) {
	x.Queue, x.Prefill = queue, prefill
	x.PrefillTokensPerSec = perSecond(x.UncachedTokens, x.Prefill)
}

// HidesReasoning says whether some of the output was reasoning that did not
// come as such: nothing of it, or only summaries.
func (x *Exchange) HidesReasoning() bool {
	return x.Reasoning == HiddenReasoning || x.Reasoning == SummaryReasoning
}

// SeenTokens is how many output tokens came as they were made, the n of the
// decode rate: all of them, or those after reasoning that was hidden. It is nil
// where there was reasoning that nobody counted, since some upstreams leave it
// out of the output tokens.
func (x *Exchange) SeenTokens() *int64 {
	out, reasoning := x.OutputTokens, x.ReasoningTokens
	switch {
	case out == nil || *out < 0:
		return nil
	case x.Reasoning == "" || x.Reasoning == NoReasoning:
		return out
	case reasoning == nil:
		return nil
	case !x.HidesReasoning():
		return out
	case *reasoning > *out:
		return nil
	}
	return new(*out - *reasoning)
}

// SteadyTPOT is the time per output token, nil where the rate is unknown or too
// noisy to reckon with.
func (x *Exchange) SteadyTPOT() *time.Duration {
	if x.RateQuality == NoisyRate {
		return nil
	}
	return x.TPOT
}

// deriveUncached takes the cached tokens from the prompt's. An upstream that
// counts them outside of the prompt is given away by its total.
func (x *Exchange) deriveUncached() {
	x.UncachedTokens = nil
	prompt, cached := x.PromptTokens, x.CachedTokens
	if prompt == nil || cached == nil {
		return
	}
	if *cached > *prompt && x.OutputTokens != nil && x.TotalTokens != nil &&
		*x.TotalTokens == *prompt+*cached+*x.OutputTokens {
		prompt = new(*prompt + *cached)
		x.PromptTokens = prompt
	}
	if *cached <= *prompt {
		x.UncachedTokens = new(*prompt - *cached)
	}
}

// network sums what is known of the way to the upstream; an unknown round trip
// is left out.
func (x *Exchange) network() *time.Duration {
	if x.GotConn == nil {
		return nil
	}
	var sum time.Duration
	for _, part := range []*time.Duration{x.DNS, x.Connect, x.TLS, x.PoolWait, x.Upload, x.RTT} {
		if part != nil {
			sum += *part
		}
	}
	return &sum
}

func (x *Exchange) waited() *time.Duration {
	if x.FirstToken == nil || x.Network == nil {
		return nil
	}
	return less(*x.FirstToken, x.Network, x.HostedBeforeFirst)
}

func (x *Exchange) decoded() *time.Duration {
	all := span(x.FirstToken, x.LastToken)
	if all == nil || x.HostedTool == nil {
		return all
	}
	return less(*all, less(*x.HostedTool, x.HostedBeforeFirst))
}

// span is the time between two instants, nil where one did not happen or they
// happened the other way round.
func span(from, to *time.Duration) *time.Duration {
	if from == nil || to == nil || *to < *from {
		return nil
	}
	return new(*to - *from)
}

// less takes the known parts from a duration, but never more than there is.
func less(d time.Duration, parts ...*time.Duration) *time.Duration {
	for _, part := range parts {
		if part != nil {
			d -= *part
		}
	}
	return new(max(d, 0))
}

func perSecond(tokens *int64, in *time.Duration) *float64 {
	if tokens == nil || in == nil || *tokens <= 0 || *in <= 0 {
		return nil
	}
	return new(float64(*tokens) / in.Seconds())
}
