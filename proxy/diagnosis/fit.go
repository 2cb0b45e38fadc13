package diagnosis

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// point is one exchange as the fit sees it.
type point struct {
	uncached, cached int64
	wait             time.Duration // less decode that nobody saw and the queue that the server told of
}

const (
	fewPoints       = 8  // below which there is no fit
	minSpread       = 5  // of uncached tokens, the most over the least
	pointsForCached = 20 // from which cached tokens have a term of their own
	fewCached       = 8  // of them, points with as many cached tokens as a hit has
	cachedShare     = 4  // a cached token costs at most this part of the dearest that is not
	maxKnots        = 12
)

// fit finds the lower envelope of waits, nil where the points are too few or too
// alike to tell the fixed start from prefill.
//
// It is a least-squares fit of hinges max(0, uncached - knot), none of which may
// slope down: f is then zero at zero, rises ever steeper and bends only where
// the points make it. The fit begins with all points alike and then doubts those
// above it more and more: in the end what a queue delayed has no weight, whereas
// those below it, few as they should be, keep a bounded one.
func fit(points []point) *Curve {
	if !spread(points) {
		return nil
	}
	f := newFitting(points)
	for range rounds {
		f.solve()
		f.doubt()
	}
	return f.curve()
}

// spread says whether the points differ enough.
func spread(points []point) bool {
	if len(points) < fewPoints {
		return false
	}
	least, most := extent(points)
	return most >= minSpread*max(1, least)
}

// extent is the least and the most of the uncached tokens.
func extent(points []point) (least, most int64) {
	least = math.MaxInt64
	for _, p := range points {
		least, most = min(least, p.uncached), max(most, p.uncached)
	}
	return least, most
}

// How the fit finds the fast ones. Residuals are shares of the fitted wait.
const (
	rounds   = 25
	cooling  = 0.7  // of the scale of doubt, from round to round
	minNoise = 0.01 // below which a difference is none
	maxNoise = 0.05 // that the fast ones are granted
	wild     = 10   // off by more, a point is in doubt from the start
	above    = 2.5  // scales of doubt above the fit where weights begin to vanish
	below    = 1.3  // and below it, where they cease to grow with the distance
)

// fitting is a fit under way, in seconds and in columns scaled to at most 1.
type fitting struct {
	points  []point
	knots   []int64
	cached  bool        // cached tokens have a term of their own
	unit    []float64   // by column: the start, a hinge for each knot, the cached tokens
	rows    [][]float64 // by point and column
	waits   []float64
	weights []float64
	fitted  []float64
	off     []float64 // by point: how far the wait is above the fit, as a share
	cost    []float64 // by column: what is sought
	scale   float64   // of doubt
}

func newFitting(points []point) *fitting {
	n := len(points)
	f := &fitting{points: points, knots: knots(points), cached: priced(points), scale: math.Inf(1)}
	f.rows, f.waits, f.weights = make([][]float64, n), make([]float64, n), make([]float64, n)
	for i, p := range points {
		f.waits[i], f.weights[i] = p.wait.Seconds(), 1
		f.rows[i] = f.row(p)
	}
	f.fitted, f.off = slices.Clone(f.waits), make([]float64, n)
	f.unit = make([]float64, len(f.rows[0]))
	for _, row := range f.rows {
		for j, v := range row {
			f.unit[j] = max(f.unit[j], v)
		}
	}
	for _, row := range f.rows {
		for j := range row {
			row[j] /= cmp.Or(f.unit[j], 1)
		}
	}
	f.cost = make([]float64, len(f.unit))
	return f
}

func (f *fitting) row(p point) []float64 {
	row := make([]float64, 1, len(f.knots)+2)
	row[0] = 1
	for _, knot := range f.knots {
		row = append(row, float64(max(0, p.uncached-knot)))
	}
	if f.cached {
		row = append(row, float64(p.cached))
	}
	return row
}

// priced says whether the points tell what a cached token costs. The few that
// every prompt begins with, of a template, tell nothing: all of them have those.
func priced(points []point) bool {
	hits := 0
	for _, p := range points {
		if p.cached >= blockSlack {
			hits++
		}
	}
	return len(points) >= pointsForCached && hits >= fewCached
}

// knots are where f may bend: at 0, and wherever the tokens have doubled and two
// points lie on either side. Over a wide range they have more than doubled.
func knots(points []point) []int64 {
	var tokens []int64
	for _, p := range points {
		tokens = append(tokens, p.uncached)
	}
	slices.Sort(tokens)
	from, most := float64(max(16, tokens[0])), float64(tokens[len(tokens)-1])
	step := max(2, math.Pow(most/from, 1./maxKnots))
	at, before := []int64{0}, 0
	for knot := from; knot < most; knot *= step {
		i, _ := slices.BinarySearch(tokens, int64(knot))
		if i-before >= 2 && len(tokens)-i >= 2 {
			at, before = append(at, int64(knot)), i
		}
	}
	return at
}

// solve finds the costs, none below 0, that leave the least weighted squares.
func (f *fitting) solve() {
	n := len(f.cost)
	gram, right := make([]float64, n*n), make([]float64, n)
	for i, row := range f.rows {
		weight := f.weights[i] / square(max(f.fitted[i], shortWait.Seconds()))
		for j, v := range row {
			right[j] += weight * v * f.waits[i]
			for k, w := range row[:j+1] {
				gram[j*n+k] += weight * v * w
			}
		}
	}
	for j := range n {
		for k := range j {
			gram[k*n+j] = gram[j*n+k]
		}
	}
	descend(gram, right, f.cost)
}

// descend goes down one coordinate after the other. It starts from the costs of
// the round before, so that few sweeps will do.
func descend(gram, right, cost []float64) {
	n := len(cost)
	for range 100 {
		for j := range cost {
			step := right[j]
			for k, c := range cost {
				step -= gram[j*n+k] * c
			}
			if d := gram[j*n+j]; d > 0 {
				cost[j] = max(0, cost[j]+step/d)
			}
		}
	}
}

// doubt weighs the points by how far they lie from the fit. The noise is told by
// those below it: a queue never speeds anything up.
func (f *fitting) doubt() {
	var under []float64
	for i, row := range f.rows {
		f.fitted[i] = dot(row, f.cost)
		f.off[i] = (f.waits[i] - f.fitted[i]) / max(f.fitted[i], shortWait.Seconds())
		if f.off[i] <= 0 {
			under = append(under, -f.off[i])
		}
	}
	noise := min(max(minNoise, 1.48*quantile(under, 0.5)), maxNoise)
	if math.IsInf(f.scale, 1) {
		f.scale = min(quantile(absolute(f.off), 0.9), wild) / cooling
	}
	f.scale = max(noise, cooling*f.scale)
	for i, off := range f.off {
		f.weights[i] = trust(off / f.scale)
	}
}

// trust is the weight of a point so many scales above the fit.
func trust(off float64) float64 {
	if off > 0 {
		return 1 / square(1+square(off/above))
	}
	return min(1, below/max(-off, below))
}

// curve puts the outcome in order.
func (f *fitting) curve() *Curve {
	c := &Curve{Floor: seconds(f.cost[0]), Knots: f.bends()}
	c.Least, c.Most = extent(f.points)
	if last := len(f.knots) + 1; f.cached {
		c.PerCached = new(min(seconds(f.cost[last]/f.unit[last]), time.Duration(c.slope(len(c.Knots)-1)/cachedShare)))
	}
	var fast []float64
	for _, off := range f.off {
		if math.Abs(off) <= 3*f.scale {
			fast = append(fast, math.Abs(off))
		}
	}
	c.Fast = len(fast)
	few := 1 + fewPoints/float64(max(1, len(fast))) // a fit lies too near to few points
	c.Error = few * max(minNoise, quantile(fast, 0.9))
	return c
}

// bends are the knots at which f changes its slope, and its end.
func (f *fitting) bends() []Knot {
	_, most := extent(f.points)
	bends := []Knot{{}}
	for j, knot := range f.knots[1:] {
		if f.cost[2+j] > 0 {
			bends = append(bends, Knot{knot, f.prefill(knot)})
		}
	}
	return append(bends, Knot{most, f.prefill(most)})
}

func (f *fitting) prefill(tokens int64) time.Duration {
	var took float64
	for j, knot := range f.knots {
		if f.unit[1+j] > 0 {
			took += f.cost[1+j] / f.unit[1+j] * float64(max(0, tokens-knot))
		}
	}
	return seconds(took)
}

func dot(a, b []float64) float64 {
	var sum float64
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

func square(v float64) float64 { return v * v }

func absolute(vs []float64) []float64 {
	abs := make([]float64, len(vs))
	for i, v := range vs {
		abs[i] = math.Abs(v)
	}
	return abs
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// quantile is the value below which a share of the others lie, 0 of none.
func quantile[T cmp.Ordered](vs []T, share float64) T {
	if len(vs) == 0 {
		var none T
		return none
	}
	vs = slices.Sorted(slices.Values(vs))
	return vs[int(share*float64(len(vs)-1)+0.5)]
}
