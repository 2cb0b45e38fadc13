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

// What became of the part of a prompt that a cache could have had.
const (
	cacheNew        = "new"
	cacheTooShort   = "too_short"
	cacheUnreported = "unreported"
	cacheBroken     = "broken"
	cacheHit        = "hit"
	cacheExpired    = "expired"
	cacheMissed     = "missed"
	cachePartial    = "partial"
)

// CacheOutcome says what became of the part of the prompt that a cache could
// have had: new, too_short, unreported, broken, hit, expired, missed or partial,
// "" where that part is unknown or there was no answer. It is a function of the
// row and of what is usual for its model, nil where nothing is known of that.
func CacheOutcome(x *exchange.Exchange, b *Baseline) string {
	if !answered(x) || x.PrefixSharedTokens == nil && x.PrefixIdle == nil {
		return ""
	}
	row := *x
	expose(&row, b)
	r := reusable{Exchange: &row, usual: b, shared: tally(x.PrefixSharedTokens), cached: tally(x.CachedTokens)}
	for _, o := range cacheOutcomes {
		if o.holds(r) {
			return o.name
		}
	}
	return ""
}

// missCost is the time from which reading the prompt of x was no hit: half-way
// between what the prompt costs with its shared tokens cached and without. It is
// nil where the baseline cannot tell, or not from what waits differ by anyway. A
// change of the client's may have been none to the model.
func (b *Baseline) missCost(x *exchange.Exchange) *time.Duration {
	prompt, shared := tally(x.PromptTokens), tally(x.PrefixSharedTokens)
	if x.ChangedSection != "" {
		shared = prompt
	}
	if b == nil || b.Curve == nil || prompt == 0 || prompt > absurd || shared > prompt || !b.Curve.reaches(prompt) {
		return nil
	}
	hit, miss := b.Curve.Prefill(prompt-shared, shared), b.Curve.Prefill(prompt, 0)
	if miss-hit <= b.Curve.within(prompt, 0) {
		return nil
	}
	return new(hit + (miss-hit)/2)
}

// cacheOutcomes are in order: the first that holds is the outcome, and the last
// always does.
var cacheOutcomes = []struct {
	name  string
	holds func(reusable) bool
}{
	{cacheNew, reusable.isNew},
	{cacheTooShort, reusable.tooShort},
	{cacheUnreported, reusable.unreported},
	{cacheBroken, reusable.broken},
	{cacheHit, reusable.hit},
	{cacheExpired, reusable.expired},
	{cacheMissed, reusable.missed},
	{cachePartial, func(reusable) bool { return true }},
}

// reusable is a row with its counts, 0 where they are unknown.
type reusable struct {
	*exchange.Exchange
	usual          *Baseline
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

// unreported: nothing is said, or none, which the time belies, or which is all
// that the upstream has ever said. That the client changed its prompt is known
// without the upstream.
func (r reusable) unreported() bool {
	switch {
	case r.CachedTokens == nil || r.PrefixSharedTokens == nil:
		return true
	case r.cached > 0 || r.paid():
		return false
	}
	return r.timed() || r.ChangedSection == ""
}

// paid says whether the prompt was read: by the time that this took, else by the
// word of an upstream that is known to tell of its cache.
func (r reusable) paid() bool {
	if r.timed() {
		return *r.reading() >= *r.usual.missCost(r.Exchange)
	}
	return r.cached > 0 || r.usual != nil && r.usual.TellsCached
}

// timed says whether it is known what reading took, and would have taken.
func (r reusable) timed() bool { return r.reading() != nil && r.usual.missCost(r.Exchange) != nil }

// reading is the most that reading the prompt can have taken, nil where the wait
// holds what nobody saw.
func (r reusable) reading() *time.Duration {
	switch {
	case r.ServerPrefill != nil:
		return r.ServerPrefill
	case r.Wait == nil || r.HidesReasoning() || r.Delivery == exchange.Pseudo || r.Delivery == exchange.Bursty || cameWhole(r.Exchange):
		return nil
	case r.usual == nil || r.usual.Curve == nil:
		return r.Wait
	}
	return new(max(0, *r.Wait-r.usual.Curve.Floor))
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
