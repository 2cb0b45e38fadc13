package audit

import (
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// Attempt is what a comparison needs of one exchange of the log: every request
// that went upstream is one, a retry too.
type Attempt struct {
	ID       string
	Start    time.Time
	End      time.Time // zero where it is not known: under way, or the proxy was killed
	Upstream string
	Key      string   // the log's hash of the credential, which no console knows
	Models   []string // as asked for, and as served
	Outcome  exchange.Outcome
	Status   *int64
	IDs      [3]string // the request's, the answer's and the gateway's; "" where it had none
	Retry    string    // what attempts at the same request have in common; "" if it is the only one
	Free     bool      // asked for nothing that is billed by tokens: a list of models, a prewarm
	Counts
	Counted   *int64 // output tokens as counted here, where nobody told them: at least so many
	FirstByte *time.Duration
	TTFT      *time.Duration
	Total     *time.Duration
}

// AttemptOf takes from x what a comparison needs.
func AttemptOf(x *exchange.Exchange) Attempt {
	return Attempt{
		ID:        x.ID,
		Start:     x.StartedAt,
		End:       x.EndedAt(),
		Upstream:  x.Upstream,
		Key:       x.KeyID,
		Models:    named(x.ModelRequested, x.ModelServed),
		Outcome:   x.Outcome,
		Status:    x.Status,
		IDs:       [3]string{x.RequestID, x.ResponseID, x.GatewayRequestID},
		Retry:     x.RetryGroup,
		Free:      isFree(x),
		Counts:    Counts{x.PromptTokens, x.CachedTokens, x.CacheWriteTokens, x.OutputTokens, x.ReasoningTokens},
		Counted:   x.EstimatedOutput,
		FirstByte: x.FirstByte,
		TTFT:      x.FirstToken,
		Total:     x.End,
	}
}

// named are the texts that are there, each once.
func named(texts ...string) []string {
	kept := make([]string, 0, len(texts))
	for _, t := range texts {
		if t != "" && (len(kept) == 0 || kept[len(kept)-1] != t) {
			kept = append(kept, t)
		}
	}
	return kept
}

// isFree says whether nothing of x is billed by tokens, as far as is known.
func isFree(x *exchange.Exchange) bool {
	if x.PromptTokens != nil || x.OutputTokens != nil {
		return false
	}
	return x.Dialect == exchange.Other || x.Dialect == exchange.Embeddings || x.Dialect == "" || x.IsPrewarm()
}

// isBare says whether the log has no count of it.
func (a *Attempt) isBare() bool { return a.Input == nil && a.Output == nil }

// failed says whether it ended with an error, as seen here.
func (a *Attempt) failed() bool {
	switch a.Outcome {
	case exchange.UpstreamCut, exchange.UpstreamError, exchange.ErrorEvent, exchange.Unreachable, exchange.Interrupted, exchange.Refused:
		return true
	}
	return false
}

// left says whether the client did not wait for its end.
func (a *Attempt) left() bool { return a.Outcome == exchange.ClientAbort }

// began says whether any of the answer was seen.
func (a *Attempt) began() bool { return a.TTFT != nil || a.FirstByte != nil || a.Output != nil }

// turnedAway says whether nothing can have been made for it: the upstream said no
// at once, or was never asked. A status of 5xx may be a gateway's that tired of
// waiting while the upstream went on.
func (a *Attempt) turnedAway() bool {
	switch a.Outcome {
	case exchange.Unreachable, exchange.Refused:
		return true
	}
	return a.Status != nil && *a.Status >= 400 && *a.Status < 500
}
