package web

import (
	"slices"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// brief is an exchange in short: what sums, counts and charts over very many are
// made from.
type brief struct {
	store.Subject
	Status      *int64
	Total       *time.Duration
	Cached      *int64
	Uncached    *int64
	Output      *int64
	Rate        *float64 // decode rate, tokens per second
	RateQuality string
	Delivery    exchange.Delivery
	CacheDenied bool // a count of cached tokens that the wait belies
	Prewarm     bool // counted and listed, and part of no figure
	FallsBack   bool // a WebSocket in place of which the client went on over HTTP
	spent       [len(kinds)]time.Duration
}

// kinds are the phases, each at its place in brief.spent.
var kinds = [...]kind{network, floor, queue, prefill, wait, hidden, unseen, reasoning, decode, tool, tail, underway}

// briefColumns are what briefOf reads of an exchange.
var briefColumns = []string{
	"id", "started_at", "upstream", "key_id", "client", "session_id", "turn_id", "request_kind", "experiment", "method", "dialect",
	"model_requested", "model_served", "status", "outcome", "error", "request_id", "response_id", "gateway_request_id",
	"prompt_tokens", "cached_tokens", "uncached_tokens", "output_tokens", "reasoning_tokens", "reasoning",
	"generation_started_ms", "first_token_ms", "first_reasoning_ms", "answer_start_ms", "last_token_ms", "total_ms",
	"network_ms", "queue_ms", "prefill_ms", "hidden_decode_ms", "unseen_decode_ms",
	"hosted_tool_ms", "hosted_before_first_ms", "hosted_before_answer_ms",
	"excess_ms", "tpot_ms", "tokens_per_sec", "rate_quality", "delivery", "cache_outcome", "stall_ms", "server_decode_ms", "bound", "cause",
}

// briefOf is an ended exchange in short.
func briefOf(x *exchange.Exchange) brief {
	b := brief{
		Subject: store.SubjectOf(x),
		Status:  x.Status, Total: x.End,
		Cached: x.CachedTokens, Uncached: x.UncachedTokens, Output: x.OutputTokens,
		Rate: x.TokensPerSec, RateQuality: x.RateQuality, Delivery: x.Delivery,
		CacheDenied: x.CacheOutcome == "unreported", Prewarm: x.IsPrewarm(), FallsBack: diagnosis.FallsBack(x),
	}
	if x.End != nil {
		for _, p := range phases(x, *x.End) {
			b.spent[p.Kind.index()] += p.Length
		}
	}
	return b
}

// index is where a kind stands in kinds.
func (k kind) index() int { return slices.Index(kinds[:], k) }

// failed says whether it failed, other than by its client's will.
func (b *brief) failed() bool { return isFailure(b.Outcome) && !b.FallsBack }
