package diagnosis

import (
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// sample is what one exchange tells of its model.
type sample struct {
	from, to time.Time
	answered bool   // the upstream took it on, so that the model was awake
	left     string // why it is no point of the fit; "" if it is one
	point    point
	beside   *time.Duration // of the wait, floor and queue, where the server told its prefill alone
	hit      bool           // some of the prompt is said to have been cached
	doubtful bool           // none of it is said to have been cached, though much was seen before
	tpot     *time.Duration // nil where the rate is unknown or noisy
	rate     float64        // tokens per second, noisy or not; 0 where unknown
	span     time.Duration  // in which they came
}

// Why exchanges are left out of the fit.
const (
	leftFailed      = "failed"       // did not end well
	leftAborted     = "aborted"      // the client left, or the proxy was stopped
	leftWhole       = "not_streamed" // no first token to see
	leftNoOutput    = "no_output"
	leftBuffered    = "buffered"
	leftStalled     = "stalled"
	leftUnseen      = "unseen_decode"    // over 30 % of the wait was decode that nobody saw
	leftCacheHidden = "uncached_unknown" // cached tokens unreported, and the prompt may not be new
)

func sampled(x *exchange.Exchange) sample {
	s := sample{
		from: x.StartedAt, to: x.EndedAt(),
		answered: x.Status != nil && *x.Status < 400,
		hit:      tally(x.CachedTokens) > 0,
		tpot:     x.SteadyTPOT(),
	}
	if x.End == nil {
		s.to = s.from
	}
	s.left = leftOut(x)
	if x.TokensPerSec != nil {
		s.rate, s.span = *x.TokensPerSec, decodeSpan(x)
	}
	if s.left == "" {
		uncached, _ := uncachedTokens(x)
		wait := max(0, netWait(x, Weigh(x))-known(x.ServerQueue))
		s.point = point{uncached, tally(x.CachedTokens), wait}
		if x.ServerPrefill != nil && x.ServerQueue == nil {
			s.beside = new(max(0, wait-*x.ServerPrefill))
		}
		s.doubtful = doubtful(x)
	}
	return s
}

func leftOut(x *exchange.Exchange) string {
	_, counted := uncachedTokens(x)
	switch {
	case aborted(x):
		return leftAborted
	case !answered(x):
		return leftFailed
	case x.Delivery == exchange.NotStreamed:
		return leftWhole
	case x.FirstToken == nil || x.Wait == nil:
		return leftNoOutput
	case x.Delivery == exchange.Pseudo || x.Delivery == exchange.Bursty || cameWhole(x) && x.UnseenDecode == nil:
		return leftBuffered
	case stallCause(x, Weigh(x)) != "":
		return leftStalled
	case muchUnseen(x):
		return leftUnseen
	case !counted:
		return leftCacheHidden
	}
	return ""
}

// doubtful says whether a reported 0 may be what an upstream reports that never
// tells of its cache: over half of the prompt had been seen before, and it was
// long enough to be kept.
func doubtful(x *exchange.Exchange) bool {
	shared, prompt := x.PrefixSharedTokens, x.PromptTokens
	return tally(x.CachedTokens) == 0 && x.CacheOutcome != cacheTooShort &&
		shared != nil && prompt != nil && 2**shared > *prompt
}

// muchUnseen says whether too much of the wait was decode that nobody saw, or
// nobody knows how much.
func muchUnseen(x *exchange.Exchange) bool {
	if x.HidesReasoning() && x.HiddenDecode == nil {
		return true
	}
	unseen := known(x.Wait) - netWait(x, Weigh(x))
	return 10*unseen > 3*known(x.Wait)
}

// netWait is what the upstream took until the model began to decode: floor,
// queue and prefill.
func netWait(x *exchange.Exchange, p Phases) time.Duration {
	return max(0, p.Wait-known(x.Network))
}

// absurd is a number of tokens that no prompt has.
const absurd = 1 << 30

// uncachedTokens is how many tokens had to be prefilled, ok being false where
// that is unknown: a prompt that is as good as new has none cached, and a count
// that the wait belies is none.
func uncachedTokens(x *exchange.Exchange) (n int64, ok bool) {
	count := x.UncachedTokens
	switch fresh := asGoodAsNew(x); {
	case x.CacheOutcome == cacheUnreported && !fresh:
		return 0, false
	case count == nil && fresh:
		count = x.PromptTokens
	}
	if count == nil || *count < 0 || *count > absurd || tally(x.CachedTokens) > absurd {
		return 0, false
	}
	return *count, true
}

// asGoodAsNew says whether nothing of the prompt was seen before, or so little
// that it matters to nobody whether it was cached: fewer tokens than vendors keep
// in a block, or under a twentieth. That holds as long as the client changed
// nothing, which the model may not have been shown.
func asGoodAsNew(x *exchange.Exchange) bool {
	shared, prompt := x.PrefixSharedTokens, x.PromptTokens
	switch {
	case x.CacheOutcome == cacheNew:
		return true
	case shared == nil || prompt == nil || x.ChangedSection != "":
		return false
	}
	return *shared < blockSlack || *shared < *prompt/20
}

// decodeSpan is the time in which the seen tokens came.
func decodeSpan(x *exchange.Exchange) time.Duration {
	if !x.HidesReasoning() || x.AnswerStart == nil {
		return known(x.Decode)
	}
	hosted := known(x.HostedTool) - known(x.HostedBeforeAnswer)
	return max(0, known(x.LastToken)-*x.AnswerStart-max(0, hosted))
}
