package experiment

import (
	"maps"
	"slices"
)

// Line is the wait over uncached tokens, network and any queue that the server
// told of excluded. Every figure of it is taken round by round, so that what
// drifts between rounds does not bend it, and a spike counts as the slowest other
// of its arm.
type Line struct {
	Model string   `json:"model"`
	Floor Estimate `json:"floor_ms"` // of a prompt without tokens: where the first band comes from
	Slope Estimate `json:"slope_ms"` // for 1,000 uncached tokens: the median over each two lengths
	Bands []Band   `json:"bands"`    // between neighbouring lengths
	Knee  *float64 `json:"knee"`     // uncached tokens from which on one costs more; nil where no bend is sure
	Left  int      `json:"left_out"` // answers whose first token does not tell prefill
}

// Band is what a token costs between two lengths of prompt.
type Band struct {
	From  float64  `json:"from"` // uncached tokens, medians of two arms
	To    float64  `json:"to"`
	Slope Estimate `json:"slope_ms"` // for 1,000 tokens
}

// bent is how many times as much a token must cost beyond a knee.
const bent = 1.25

// point is what one round tells of one length.
type point struct{ tokens, wait float64 }

// line fits the arms of one model, which are in order of their lengths. Nil with
// fewer than two lengths.
func (f *finder) line(arms []int) *Line {
	byRound, tokens := f.points(arms)
	if len(byRound) == 0 {
		return nil
	}
	over := func(value func([]point) float64) *Estimate {
		var vs []float64
		for _, round := range slices.Sorted(maps.Keys(byRound)) {
			vs = append(vs, value(byRound[round]))
		}
		return middle(vs)
	}
	l := &Line{Model: f.Arms[arms[0]].Model, Floor: over(floor).notBelow(0), Slope: *over(slope)}
	for i := 1; i < len(tokens); i++ {
		band := Band{From: tokens[i-1], To: tokens[i]}
		band.Slope = *over(func(ps []point) float64 { return steep(ps[i-1], ps[i]) })
		l.Bands = append(l.Bands, band)
		bend := over(func(ps []point) float64 { return steep(ps[i-1], ps[i]) - bent*steepest(ps[:i]) })
		if l.Knee == nil && i > 1 && bend.above(0) {
			l.Knee = &tokens[i-1]
		}
	}
	return l
}

// points are the rounds that have every length, and the median tokens of those.
func (f *finder) points(arms []int) (byRound map[int][]point, tokens []float64) {
	byRound = make(map[int][]point)
	for _, arm := range arms {
		length := middle(known(ofArm(f.rows, arm), row.paid))
		if length == nil {
			return nil, nil
		}
		tokens = append(tokens, length.At)
		lengths, waits := rounds(f.rows, arm, row.paid), rounds(f.rows, arm, row.work)
		for round, wait := range waits {
			byRound[round] = append(byRound[round], point{lengths[round], wait})
		}
	}
	maps.DeleteFunc(byRound, func(_ int, ps []point) bool { return len(ps) < len(arms) || !growing(ps) })
	if len(arms) < 2 {
		return nil, nil
	}
	return byRound, tokens
}

// growing says whether each length is beyond the one before it, so that a line
// can be drawn from it.
func growing(ps []point) bool {
	for i := 1; i < len(ps); i++ {
		if ps[i].tokens <= ps[i-1].tokens {
			return false
		}
	}
	return true
}

// paid is how many tokens of the prompt were not cached, all of them where that
// is not told: a prompt that begins anew has none in a cache.
func (r row) paid() *float64 {
	if r.Wait == nil {
		return nil
	}
	if r.Uncached != nil {
		return number(r.Uncached)
	}
	return number(r.Prompt)
}

// work is the settled wait without the queue that the server told of.
func (r row) work() *float64 {
	if r.paid() == nil {
		return nil
	}
	w := r.settled(Wait)
	if q := r.queue(); q != nil {
		w = new(max(*r.Wait-*q, 0))
	}
	return w
}

// steep is what 1,000 tokens cost between two points.
func steep(a, b point) float64 { return 1000 * (b.wait - a.wait) / (b.tokens - a.tokens) }

// steepest is the greatest of the costs before a bend, 0 without any.
func steepest(ps []point) float64 {
	most := 0.0
	for i := 1; i < len(ps); i++ {
		most = max(most, steep(ps[i-1], ps[i]))
	}
	return most
}

// slope is the median of what 1,000 tokens cost between each two points (Theil
// and Sen).
func slope(ps []point) float64 {
	var all []float64
	for i, a := range ps {
		for _, b := range ps[i+1:] {
			all = append(all, steep(a, b))
		}
	}
	return middle(all).At
}

// floor is where the line through the two shortest prompts begins.
func floor(ps []point) float64 { return ps[0].wait - ps[0].tokens*steep(ps[0], ps[1])/1000 }
