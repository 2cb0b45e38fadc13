package diagnosis

import (
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// RulesVersion is the version of the rules, stored beside each verdict.
const RulesVersion int64 = 1

// longInput is the number of tokens from which prefill may explain a wait.
const longInput = 1000

// rule names a bound where it applies, and the cause with it.
type rule struct {
	bound exchange.Bound
	cause func(*exchange.Exchange, phases) string // "" where the rule does not apply
}

// rules are in order: the first that applies gives the verdict, and the last
// always does.
var rules = []rule{
	{exchange.Unknown, unknowable},
	{exchange.Stalled, stalled},
	{exchange.DecodeBound, decodeBound},
	{exchange.WaitBound, networkBound},
	{exchange.WaitBound, queueBound},
	{exchange.PrefillBound, prefillBound},
	{exchange.WaitBound, waitBound},
	{exchange.Mixed, func(*exchange.Exchange, phases) string { return "both" }},
}

// Judge gives an ended exchange its verdict, with the estimates that it rests
// on; one under way gets none. It judges anew what has been judged before.
func Judge(x *exchange.Exchange) {
	x.HiddenDecode, x.UnseenDecode, x.Verdict = nil, nil, exchange.Verdict{}
	if x.Outcome == exchange.Open {
		return
	}
	estimate(x)
	p := weigh(x)
	for _, r := range rules {
		if x.Cause = r.cause(x, p); x.Cause != "" {
			x.Bound = r.bound
			break
		}
	}
	x.Reason = Reason(x, "en")
	x.RulesVersion = new(RulesVersion)
}

// unknowable finds why the time cannot be divided.
func unknowable(x *exchange.Exchange, p phases) string {
	streamed := x.Delivery != exchange.NotStreamed
	switch {
	case x.Outcome == exchange.ClientAbort || x.Outcome == exchange.Interrupted:
		return "aborted"
	case x.Outcome != exchange.OK && x.Outcome != exchange.Incomplete:
		return "error"
	case !streamed && x.ServerDecode == nil && generated(x):
		return "not_streamed"
	case !streamed && x.ServerDecode == nil, streamed && x.FirstToken == nil:
		return "no_output"
	case x.Delivery == exchange.Pseudo || x.Delivery == exchange.Bursty:
		return "buffered"
	case cameWhole(x) && x.UnseenDecode == nil:
		return "buffered"
	case x.HidesReasoning() && x.HiddenDecode == nil && !p.mostlyDecode():
		// What was seen of decode may be most of the time by itself.
		return "hidden_reasoning"
	case p.wait+p.decode == 0:
		return "no_output"
	}
	return ""
}

// generated says whether an answer that came whole holds output: by its usage,
// or because it is of a kind that does.
func generated(x *exchange.Exchange) bool {
	if x.OutputTokens != nil {
		return *x.OutputTokens > 0
	}
	return x.UsageSource == "absent" && x.Dialect != exchange.Embeddings
}

func stalled(x *exchange.Exchange, _ phases) string {
	if 10*known(x.StallTime) > 3*known(x.End) {
		return "stall"
	}
	return ""
}

func decodeBound(x *exchange.Exchange, p phases) string {
	switch {
	case !p.mostlyDecode():
		return ""
	case over(p.hidden, p.decode):
		return "hidden_reasoning"
	case x.UnseenDecode != nil:
		return "whole_output"
	}
	return "long_output"
}

func networkBound(x *exchange.Exchange, p phases) string {
	if p.mostlyWait() && over(known(x.Network), p.wait) {
		return "network"
	}
	return ""
}

func queueBound(x *exchange.Exchange, p phases) string {
	if p.mostlyWait() && over(known(x.Queue), p.wait) {
		return "queue"
	}
	return ""
}

func prefillBound(x *exchange.Exchange, p phases) string {
	explains := toPrefill(x) >= longInput
	if x.Prefill != nil {
		explains = 2*known(x.Prefill) >= p.wait
	}
	switch {
	case !p.mostlyWait() || !explains:
		return ""
	case x.CacheOutcome == "missed" || x.CacheOutcome == "expired" || x.CacheOutcome == "broken":
		return "cache_miss"
	case x.Prefill == nil:
		return "unseparated"
	}
	return "long_input"
}

func waitBound(_ *exchange.Exchange, p phases) string {
	if p.mostlyWait() {
		return "unseparated"
	}
	return ""
}

// toPrefill is the number of tokens that had to be prefilled: all of the prompt
// where cache hits are unreported.
func toPrefill(x *exchange.Exchange) int64 {
	switch {
	case x.UncachedTokens != nil:
		return *x.UncachedTokens
	case x.PromptTokens != nil:
		return *x.PromptTokens
	}
	return 0
}

// A phase bounds from 60 % of both on.
func (p phases) mostlyWait() bool   { return 5*p.wait >= 3*(p.wait+p.decode) }
func (p phases) mostlyDecode() bool { return 5*p.decode >= 3*(p.wait+p.decode) }

// over says whether a part is over half of the whole.
func over(part, whole time.Duration) bool { return 2*part > whole }
