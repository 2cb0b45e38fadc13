package diagnosis

import (
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

const (
	blockSlack = 256             // tokens that a hit may lack: vendors cache in blocks
	shortest   = 1024            // tokens that vendors often ask of a beginning to keep it
	lifetime   = 5 * time.Minute // for which vendors keep an unused beginning at the least
)

// CacheOutcome says what became of the part of the prompt that a cache could
// have had: new, too_short, unreported, broken, hit, expired, missed or partial,
// "" where that part is unknown or there was no answer. It is a function of the
// row and of how long the model takes to its first token, network aside, if
// nothing of the prompt is cached; nil where that is unknown.
func CacheOutcome(x *exchange.Exchange, cold *time.Duration) string {
	if !answered(x) || x.PrefixSharedTokens == nil && x.PrefixIdle == nil {
		return ""
	}
	r := reusable{Exchange: x, cold: cold, shared: tally(x.PrefixSharedTokens), cached: tally(x.CachedTokens)}
	for _, o := range cacheOutcomes {
		if o.holds(r) {
			return o.name
		}
	}
	return ""
}

// Cold is how long the model takes to its first token, network aside, if nothing
// of the prompt of x is cached; nil where the baseline cannot tell.
func (b *Baseline) Cold(x *exchange.Exchange) *time.Duration {
	prompt := tally(x.PromptTokens)
	if b == nil || b.Curve == nil || prompt == 0 || prompt > absurd || !b.Curve.reaches(prompt) {
		return nil
	}
	return new(b.Curve.Floor + b.Curve.Prefill(prompt, 0))
}

// cacheOutcomes are in order: the first that holds is the outcome, and the last
// always does.
var cacheOutcomes = []struct {
	name  string
	holds func(reusable) bool
}{
	{"new", reusable.isNew},
	{"too_short", reusable.tooShort},
	{"unreported", reusable.unreported},
	{"broken", reusable.broken},
	{"hit", reusable.hit},
	{"expired", reusable.expired},
	{"missed", reusable.missed},
	{"partial", func(reusable) bool { return true }},
}

// reusable is a row with its counts, 0 where they are unknown.
type reusable struct {
	*exchange.Exchange
	cold           *time.Duration
	shared, cached int64
}

// isNew: the route has not seen the beginning. Another model is another route.
func (r reusable) isNew() bool {
	return r.PrefixSharedTokens != nil && r.shared == 0 &&
		(r.ChangedSection == "" || r.ChangedSection == exchange.ModelPart.String())
}

// tooShort: shorter than what vendors keep, and indeed not kept.
func (r reusable) tooShort() bool {
	if r.PromptTokens == nil || r.cached > 0 {
		return false
	}
	return *r.PromptTokens < shortest || r.ChangedSection == "" && r.shared < shortest
}

// unreported: nothing is said, or none, which the wait belies.
func (r reusable) unreported() bool {
	return r.CachedTokens == nil || r.PrefixSharedTokens == nil || r.cached == 0 && !r.paid()
}

// paid says whether the wait was long enough for the prompt to have been read,
// as far as that is known.
func (r reusable) paid() bool {
	return r.cold == nil || r.Wait == nil || 2**r.Wait >= *r.cold
}

// broken: the client changed an early section. What the cache had of most of the
// prompt, and beyond that section, says that the model was not shown the change.
func (r reusable) broken() bool {
	unmoved := r.cached > r.shared+r.slack() && 2*r.cached >= tally(r.PromptTokens)
	return r.ChangedSection != "" && !unmoved
}

func (r reusable) hit() bool { return r.cached >= r.shared-r.slack() }

// slack is what a hit may lack: a tenth more where shared is an estimate.
func (r reusable) slack() int64 {
	if r.PrefixCounted != nil && *r.PrefixCounted {
		return blockSlack
	}
	return blockSlack + r.shared/10
}

func (r reusable) expired() bool { return r.low() && known(r.PrefixIdle) > lifetime }
func (r reusable) missed() bool  { return r.low() && r.paid() }
func (r reusable) low() bool     { return 2*r.cached < r.shared }

// tally is a count, 0 where it is unknown.
func tally(n *int64) int64 {
	if n == nil {
		return 0
	}
	return max(0, *n)
}
