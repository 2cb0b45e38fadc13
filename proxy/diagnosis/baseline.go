package diagnosis

import (
	"math"
	"slices"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// Baseline is what is usual for one model of one upstream, by its exchanges of
// the last 7 days, the newest 500.
type Baseline struct {
	Upstream, Model, ServiceTier string

	Rows    int            // exchanges whose waits can be compared
	LeftOut map[string]int // the others, by why: failed, aborted, not_streamed, no_output, buffered, stalled, unseen_decode, uncached_unknown
	Curve   *Curve         // what a prompt costs; nil where Rows are too few or too alike to tell

	TPOT         *time.Duration // median time per token of those whose rate is not noisy; nil of fewer than 3
	Rates        int            // how many that are
	TokensPerSec *float64       // rate of all pooled, noisy ones included; nil without any

	// HeadersAtSlot says that the upstream was seen to send its headers when a
	// request leaves the queue: what comes before is queue, and then prefill.
	HeadersAtSlot bool

	// TellsCached says that the upstream was seen to report cached tokens of the
	// model: a reported 0 is no proof of anything before.
	TellsCached bool

	// Idle is how long the model had been idle before the exchange for which the
	// baseline was asked; nil where none is.
	Idle *time.Duration

	least, most int64 // uncached tokens of Rows
}

// fewRates is the number of rates from which their median is what is usual.
const fewRates = 3

// average puts what samples tell into a baseline.
func average(rows, others []sample) *Baseline {
	isHit := func(s sample) bool { return s.hit }
	tells := slices.ContainsFunc(rows, isHit) || slices.ContainsFunc(others, isHit)
	points := credible(rows, tells)
	b := &Baseline{Rows: len(points), LeftOut: make(map[string]int), Curve: fit(points), TellsCached: tells}
	b.least, b.most = extent(points)
	for _, s := range others {
		b.LeftOut[s.left]++
	}
	if doubted := len(rows) - len(points); doubted > 0 {
		b.LeftOut[leftCacheHidden] += doubted
	}
	b.pool(rows, others)
	return b
}

// credible are the points of the rows, less those that are doubtful while nothing
// shows that the upstream tells of its cache at all. Where the server told its
// prefill, all that a wait has besides beyond the least of them was a queue, and
// no point of the fit: a queue that grows with the prompts would pass for their
// cost.
func credible(rows []sample, tells bool) []point {
	floor := leastBeside(rows)
	var points []point
	for _, s := range rows {
		if !tells && s.doubtful {
			continue
		}
		p := s.point
		if s.beside != nil {
			p.wait -= *s.beside - *floor
		}
		points = append(points, p)
	}
	return points
}

// leastBeside is the least that a wait had besides the prefill that the server
// told; nil where none told it.
func leastBeside(rows []sample) (least *time.Duration) {
	for _, s := range rows {
		if s.beside != nil && (least == nil || *s.beside < *least) {
			least = s.beside
		}
	}
	return least
}

// pool sets the rates.
func (b *Baseline) pool(parts ...[]sample) {
	var tpots []time.Duration
	var tokens float64
	var span time.Duration
	for _, samples := range parts {
		for i := range samples { // by place: a sample is a large thing to copy
			s := &samples[i]
			if s.tpot != nil {
				tpots = append(tpots, *s.tpot)
			}
			if s.rate > 0 {
				tokens += s.rate * s.span.Seconds()
				span += s.span
			}
		}
	}
	if b.Rates = len(tpots); b.Rates >= fewRates {
		b.TPOT = new(quantile(tpots, 0.5))
	}
	if rate := tokens / span.Seconds(); span > 0 && !math.IsInf(rate, 0) {
		b.TokensPerSec = &rate
	}
}

// recall puts into the row what is usual, so that the reason can be told from
// the row alone.
func recall(x *exchange.Exchange, b *Baseline) {
	x.ModelIdle = nil
	if b == nil {
		return
	}
	x.ModelIdle, x.UsualTPOT = b.Idle, b.TPOT
	if b.Rows == 0 {
		return
	}
	x.UsualRows, x.UsualTokens = new(int64(b.Rows)), new(b.most)
	if b.Curve == nil {
		return
	}
	x.Floor = new(b.Curve.Floor)
	if x.PromptTokens != nil && *x.PromptTokens >= 0 && *x.PromptTokens < absurd && x.Network != nil {
		x.CachedWait = new(*x.Network + b.Curve.Floor + b.Curve.Prefill(0, *x.PromptTokens))
	}
	if uncached, ok := uncachedTokens(x); ok && b.Curve.reaches(uncached) {
		x.UsualPrefill = new(b.Curve.Prefill(uncached, tally(x.CachedTokens)))
	}
}
