package simulator

import (
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// Truth is what happened to one request, as only the server can know it. A
// phase that a request did not reach, or spent no time in, is 0.
//
// Network + Floor + Queue + Load + Prefill + Decode + Stall is Total, but for
// the moments that a real machine wakes up late.
type Truth struct {
	Started    time.Time // when the head of the request had come
	RequestID  string    // the x-request-id
	ResponseID string    // the body's id; "" for embeddings and refusals
	Model      string    // as asked for
	Dialect    exchange.Dialect
	Streamed   bool
	Status     int // 0 where the client left, or was cut off, before any
	Outcome    exchange.Outcome

	PromptTokens     int // cached ones included
	CachedTokens     int
	CacheWriteTokens int // marked by the client for the cache and not yet in it
	OutputTokens     int // reasoning included; those generated, if it broke off
	ReasoningTokens  int
	Reasoning        Reasoning

	Network time.Duration // upload of the request's body, and the network behind the gateway
	Floor   time.Duration // gateway
	Queue   time.Duration // waiting for a slot
	Load    time.Duration // waiting, in the slot, for the model to be loaded
	Prefill time.Duration // of the prompt, up to the first token
	Decode  time.Duration // first token to end of text, which is one TPOT after the last token
	Hidden  time.Duration // the part of Decode that went into hidden or summarised reasoning
	Crowd   time.Duration // the part of Decode that other requests cost
	Stall   time.Duration // silence made on purpose, not part of Decode
	Span    time.Duration // first token to last, stalls included
	Total   time.Duration
}
