package diagnosis

import (
	"cmp"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// RulesVersion is the version of the rules, stored beside each verdict.
const RulesVersion int64 = 3

const (
	longInput = 1000             // tokens from which prefill may explain a wait
	asleep    = 10 * time.Minute // after which an idle model may have to be loaded again
)

// rule names a bound for exchanges whose time went as it says, and the cause
// with it.
type rule struct {
	bound   exchange.Bound
	applies func(Phases) bool
	cause   func(*exchange.Exchange, Phases) string // "" where the rule does not apply after all
}

// rules are in order: the first that applies gives the verdict. Where none does,
// wait and decode are about as long.
var rules = []rule{
	{exchange.Unknown, always, unknowable},
	{exchange.Stalled, always, stallCause},
	{exchange.DecodeBound, Phases.mostlyDecode, decodeCause},
	{exchange.WaitBound, Phases.mostlyWait, networkCause},
	{exchange.WaitBound, Phases.mostlyWait, queueCause},
	{exchange.PrefillBound, Phases.mostlyWait, prefillCause},
	{exchange.WaitBound, Phases.mostlyWait, noCause},
}

func always(Phases) bool { return true }

// A phase bounds from 60 % of both on.
func (p Phases) mostlyWait() bool   { return 5*p.Wait >= 3*(p.Wait+p.Decode) }
func (p Phases) mostlyDecode() bool { return 5*p.Decode >= 3*(p.Wait+p.Decode) }

// Judge gives an ended exchange its verdict, with the estimates that it rests
// on; one under way gets none. The baseline is the model's without x itself, nil
// where nothing is known of the model. Whatever an exchange was judged by before
// leaves no trace.
func Judge(x *exchange.Exchange, b *Baseline) {
	x.HiddenDecode, x.UnseenDecode, x.Excess, x.Verdict = nil, nil, nil, exchange.Verdict{}
	x.Estimate(x.ServerQueue, x.ServerPrefill)
	if x.Outcome == exchange.Open {
		return
	}
	recall(x, b)
	expose(x, b)
	estimate(x)
	p := Weigh(x)
	if unknowable(x, p) == "" {
		split(x, b, p)
	}
	x.Excess = excess(x)
	x.Bound, x.Cause = apply(x, p)
	x.Reason = Reason(x, "en")
	x.RulesVersion = new(RulesVersion)
}

func apply(x *exchange.Exchange, p Phases) (exchange.Bound, string) {
	for _, r := range rules {
		if !r.applies(p) {
			continue
		}
		if cause := r.cause(x, p); cause != "" {
			return r.bound, cause
		}
	}
	return exchange.Mixed, "both"
}

// unknowable finds why the time cannot be divided.
func unknowable(x *exchange.Exchange, p Phases) string {
	streamed := x.Delivery != exchange.NotStreamed
	switch {
	case aborted(x):
		return "aborted"
	case !answered(x):
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
	case p.Wait+p.Decode == 0:
		return "no_output"
	}
	return ""
}

// answered says whether an exchange ended with an answer.
func answered(x *exchange.Exchange) bool {
	return x.Outcome == exchange.OK || x.Outcome == exchange.Incomplete
}

// aborted says whether an exchange was given up, by the client or with the proxy.
func aborted(x *exchange.Exchange) bool {
	return x.Outcome == exchange.ClientAbort || x.Outcome == exchange.Interrupted
}

// generated says whether an answer that came whole holds output: by its usage,
// or because it is of a kind that does.
func generated(x *exchange.Exchange) bool {
	if x.OutputTokens != nil {
		return *x.OutputTokens > 0
	}
	return x.UsageSource == exchange.EstimatedUsage || x.UsageSource == "absent" && x.Dialect != exchange.Embeddings
}

func stallCause(_ *exchange.Exchange, p Phases) string {
	if 10*p.Stalled > 3*p.Total {
		return "stall"
	}
	return ""
}

func decodeCause(x *exchange.Exchange, p Phases) string {
	switch {
	case over(p.Hidden, p.Decode):
		return "hidden_reasoning"
	case x.UnseenDecode != nil:
		return "whole_output"
	case slow(x):
		return "slow_decode"
	}
	return "long_output"
}

// slow says whether the rate was under 0.7 of what is usual for the model.
func slow(x *exchange.Exchange) bool {
	tpot := x.SteadyTPOT()
	return tpot != nil && x.UsualTPOT != nil && 0.7*float64(*tpot) > float64(*x.UsualTPOT)
}

// waitCause is what most of the wait was, however short; "" where no part of it
// that is known is over half.
func waitCause(x *exchange.Exchange, p Phases) string {
	return cmp.Or(networkCause(x, p), queueCause(x, p), prefillCause(x, p))
}

func networkCause(x *exchange.Exchange, p Phases) string {
	if over(known(x.Network), p.Wait) {
		return "network"
	}
	return ""
}

// queueCause is for what came before the prefill; an unknown floor counts none.
func queueCause(x *exchange.Exchange, p Phases) string {
	floor, queue := known(x.Floor), known(x.Queue)
	switch {
	case x.Queue == nil || !over(floor+queue, p.Wait):
		return ""
	case floor >= queue:
		return "floor"
	case wokenUp(x):
		return "cold_start"
	}
	return "queue"
}

// wokenUp says whether the exchange was the first in a while, and alone.
func wokenUp(x *exchange.Exchange) bool {
	return x.Concurrency != nil && *x.Concurrency == 1 && (x.ModelIdle == nil || *x.ModelIdle >= asleep)
}

func prefillCause(x *exchange.Exchange, p Phases) string {
	explains := toPrefill(x) >= longInput
	if x.Prefill != nil {
		explains = 2*known(x.Prefill) >= p.Wait
	}
	switch {
	case !explains:
		return ""
	case x.CacheOutcome == cacheMissed || x.CacheOutcome == cacheExpired || x.CacheOutcome == cacheBroken:
		return "cache_miss"
	case x.Prefill == nil:
		return "unseparated"
	}
	return "long_input"
}

// noCause is for a wait of which no part that is known is over half.
func noCause(*exchange.Exchange, Phases) string { return "unseparated" }

// toPrefill is the number of tokens that had to be prefilled: all of the prompt
// where cache hits are unreported.
func toPrefill(x *exchange.Exchange) int64 {
	if x.UncachedTokens != nil {
		return *x.UncachedTokens
	}
	return tally(x.PromptTokens)
}

// over says whether a part is over half of the whole.
func over(part, whole time.Duration) bool { return 2*part > whole }
