package diagnosis

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// truth is a model whose prefill costs are known, in seconds.
type truth struct {
	floor    float64
	each     float64 // for a token at the beginning
	growth   float64 // by how much a token is dearer for each one before it
	flat     float64 // the least that a prefill takes
	perCache float64 // for a cached token
}

func (m truth) prefill(uncached, cached int64) float64 {
	n := float64(uncached)
	return max(m.flat, m.each*n*(1+m.growth*n/2)) + m.perCache*float64(cached)
}

func (m truth) wait(p point) float64 { return m.floor + m.prefill(p.uncached, p.cached) }

// truths are a provider's model, a small local one, one with dear cache hits and
// one that is flat below a few hundred tokens.
var truths = []truth{
	{floor: 0.12, each: 45e-6, growth: 4e-6},
	{floor: 0.004, each: 4e-4, growth: 1.2e-4},
	{floor: 0.5, each: 8e-5, growth: 2e-5, flat: 0.05, perCache: 3e-6},
	{floor: 0.3, each: 2e-4, growth: 1e-5, flat: 0.08},
}

// traffic is how the points of a log come about.
type traffic struct {
	n       int
	lengths func(r *rand.Rand, i int) int64
	noise   float64 // of the wait, either way
	jitter  float64 // mean of what the network adds, in seconds
	spikes  float64 // share of those that were queued
	quick   float64 // share of those that took a third, for no reason
	cached  bool    // half of them have up to 60,000 cached tokens
}

func rungs(_ *rand.Rand, i int) int64 { return []int64{100, 300, 1000, 3000, 10000}[i%5] }

func anyLength(r *rand.Rand, _ int) int64 { return int64(50 * math.Pow(400, r.Float64())) }

// turns are an agent's: mostly short, since the rest is cached.
func turns(r *rand.Rand, _ int) int64 {
	if r.IntN(12) == 0 {
		return 5000 + r.Int64N(30000)
	}
	return 100 + int64(600*r.ExpFloat64())
}

func (l traffic) points(r *rand.Rand, m truth) []point {
	var ps []point
	for i := range l.n {
		p := point{uncached: l.lengths(r, i)}
		if l.cached && r.IntN(2) == 0 {
			p.cached = r.Int64N(60000)
		}
		wait := m.wait(p)*max(0, 1+l.noise*r.NormFloat64()) + l.jitter*r.ExpFloat64()
		switch at := r.Float64(); {
		case at < l.spikes:
			wait += 0.2 + 2*r.ExpFloat64()
		case at < l.spikes+l.quick:
			wait /= 3
		}
		p.wait = seconds(wait)
		ps = append(ps, p)
	}
	return ps
}

// Errors are in units of 10 % of the truth, or 20 ms.
func TestTheFitRecoversWhatPromptsCost(t *testing.T) {
	for _, c := range []struct {
		name            string
		traffic         traffic
		median, p90     float64
		covered         float64 // share of the truth that lies within the interval
		leastWithACurve int
	}{
		{"a ladder", traffic{n: 25, lengths: rungs, noise: 0.03, jitter: 0.005}, 0.2, 0.4, 0.9, 80},
		{"twice five lengths", traffic{n: 10, lengths: rungs, noise: 0.03, jitter: 0.005}, 0.2, 0.5, 0.8, 80},
		{"half of a ladder was queued", traffic{n: 25, lengths: rungs, noise: 0.03, jitter: 0.005, spikes: 0.5}, 0.2, 0.5, 0.8, 80},
		{"most of it", traffic{n: 50, lengths: rungs, noise: 0.03, jitter: 0.005, spikes: 0.6}, 0.2, 0.5, 0.85, 80},
		{"a dozen", traffic{n: 12, lengths: anyLength, noise: 0.05, jitter: 0.01, spikes: 0.3}, 0.5, 1.2, 0.7, 70},
		{"much noise", traffic{n: 100, lengths: anyLength, noise: 0.1, jitter: 0.01, spikes: 0.4}, 0.5, 1, 0.9, 80},
		{"no noise", traffic{n: 100, lengths: anyLength, spikes: 0.3}, 0.05, 0.1, 0.9, 80},
		{"cache hits", traffic{n: 100, lengths: anyLength, noise: 0.05, jitter: 0.01, spikes: 0.3, cached: true}, 0.3, 0.6, 0.9, 80},
		{"some faster than can be", traffic{n: 100, lengths: anyLength, noise: 0.05, jitter: 0.01, spikes: 0.3, quick: 0.1}, 0.4, 1, 0.85, 80},
		{"an agent", traffic{n: 200, lengths: turns, noise: 0.05, jitter: 0.02, spikes: 0.4, quick: 0.02, cached: true}, 0.5, 0.9, 0.9, 80},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			var off []float64
			curves, covered := 0, 0
			for i := range 80 {
				m := truths[i%len(truths)]
				ps := c.traffic.points(r, m)
				curve := fit(ps)
				if curve == nil {
					continue
				}
				curves++
				for _, p := range ps[:10] {
					miss := math.Abs((curve.Floor + curve.Prefill(p.uncached, p.cached)).Seconds() - m.wait(p))
					off = append(off, miss/max(0.02, m.wait(p)/10))
					if miss <= curve.within(p.uncached, p.cached).Seconds() {
						covered++
					}
				}
			}
			if curves < c.leastWithACurve {
				t.Fatalf("only %d of 80 have a curve", curves)
			}
			if median, p90 := quantile(off, 0.5), quantile(off, 0.9); median > c.median || p90 > c.p90 {
				t.Errorf("off by %.2f at the median and %.2f at p90", median, p90)
			}
			if share := float64(covered) / float64(len(off)); share < c.covered {
				t.Errorf("the interval holds the truth in %.2f of all cases", share)
			}
		})
	}
}

func TestQueuesMoveTheFloorLittle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		m := rapid.SampledFrom(truths).Draw(t, "model")
		ps := traffic{n: 40, lengths: rungs, noise: 0.02, jitter: 0.002}.points(r, m)
		before := fit(ps)
		for range rapid.IntRange(1, 40).Draw(t, "queued") {
			p := rapid.SampledFrom(ps[:40]).Draw(t, "like")
			p.wait += time.Duration(rapid.Float64Range(0.3, 20).Draw(t, "queue") * float64(time.Second))
			ps = append(ps, p)
		}
		after := fit(ps)
		if moved := (after.Floor - before.Floor).Abs(); moved > 20*time.Millisecond+before.Floor/10 {
			t.Errorf("%d queued ones moved the floor from %v to %v", len(ps)-40, before.Floor, after.Floor)
		}
	})
}

func drawPoints(t *rapid.T) []point {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) point {
		return point{
			uncached: rapid.OneOf(rapid.Int64Range(0, 20000), rapid.Int64Range(0, absurd)).Draw(t, "uncached"),
			cached:   rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, absurd)).Draw(t, "cached"),
			wait:     time.Duration(rapid.OneOf(rapid.Int64Range(0, int64(9*time.Second)), rapid.Int64Range(0, int64(time.Hour))).Draw(t, "wait")),
		}
	}), 0, 60).Draw(t, "points")
}

func TestACurveRisesFromZeroEverSteeper(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ps := drawPoints(t)
		c := fit(ps)
		if c == nil {
			return
		}
		if c.Floor < 0 || c.Prefill(0, 0) != 0 || c.PerCached != nil && *c.PerCached < 0 {
			t.Fatalf("floor %v, f(0) = %v, each cached token %v", c.Floor, c.Prefill(0, 0), c.PerCached)
		}
		if !(c.Error > 0 && c.Error < 10) || c.Fast > len(ps) {
			t.Fatalf("error %v by %d of %d", c.Error, c.Fast, len(ps))
		}
		for i := 1; i < len(c.Knots); i++ {
			if c.Knots[i].Tokens <= c.Knots[i-1].Tokens || c.slope(i) < 0 {
				t.Fatalf("a piece from %v to %v", c.Knots[i-1], c.Knots[i])
			}
			if i > 1 && c.slope(i) < c.slope(i-1)*(1-1e-6)-1 {
				t.Fatalf("less steep from %v on: %v", c.Knots[i-1], c.Knots)
			}
		}
		a := rapid.Int64Range(0, absurd).Draw(t, "fewer")
		b := rapid.Int64Range(a, absurd).Draw(t, "more")
		if c.Prefill(b, 0) < c.Prefill(a, 0) || c.within(a, 0) < 0 {
			t.Fatalf("%d tokens cost %v, %d %v, give or take %v", a, c.Prefill(a, 0), b, c.Prefill(b, 0), c.within(a, 0))
		}
	})
}

func TestTooFewOrTooAlikeGiveNoCurve(t *testing.T) {
	some := func(lengths ...int64) []point {
		var ps []point
		for _, n := range lengths {
			ps = append(ps, point{uncached: n, wait: time.Duration(n) * time.Millisecond})
		}
		return ps
	}
	for _, c := range []struct {
		name   string
		points []point
		want   bool
	}{
		{"none", nil, false},
		{"seven", some(100, 200, 300, 400, 500, 600, 700), false},
		{"eight", some(100, 200, 300, 400, 500, 600, 700, 800), true},
		{"a five-fold spread", some(100, 100, 100, 100, 100, 100, 100, 500), true},
		{"less", some(100, 100, 100, 100, 100, 100, 100, 499), false},
		{"nothing uncached counts as one token", some(0, 0, 0, 0, 0, 0, 0, 5), true},
		{"nor four", some(0, 0, 0, 0, 0, 0, 0, 4), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := fit(c.points) != nil; got != c.want {
				t.Errorf("a curve: %v, want %v", got, c.want)
			}
		})
	}
}

func TestPromptsThatTakeNoTimeCostNone(t *testing.T) {
	var ps []point
	for i := range int64(30) {
		ps = append(ps, point{uncached: 100 * i})
	}
	if c := fit(ps); c == nil || c.Floor != 0 || c.Prefill(3000, 0) != 0 || c.Fast != 30 || !(c.Error >= minNoise) {
		t.Errorf("%+v", c)
	}
}

func TestCachedTokensHaveATermFromTwentyExchangesOn(t *testing.T) {
	m := truth{floor: 0.2, each: 1e-4, perCache: 5e-6}
	var ps []point
	for i := range int64(20) {
		p := point{uncached: 100 * (1 + i%7), cached: i % 3 * 30000}
		p.wait = seconds(m.wait(p))
		ps = append(ps, p)
	}
	if c := fit(ps[:19]); c == nil || c.PerCached != nil {
		t.Errorf("nineteen: %+v", c)
	}
	c := fit(ps)
	if c == nil || c.PerCached == nil || (*c.PerCached-5*time.Microsecond).Abs() > 100*time.Nanosecond {
		t.Errorf("twenty: %+v", c)
	}
	for i := range ps {
		ps[i].cached = 0
	}
	if c := fit(ps); c == nil || c.PerCached != nil {
		t.Errorf("none cached: %+v", c)
	}
}

// A template's few tokens are cached in every prompt but the first, and tell
// nothing of what a hit costs.
func TestTheFewCachedTokensOfATemplateHaveNoPrice(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 5))
		var ps []point
		for i := range 26 {
			p := point{uncached: 100 + r.Int64N(8000), cached: min(int64(i), 10)}
			p.wait = seconds((0.023 + 1e-3*float64(p.uncached)) * (1 + 0.05*r.Float64()))
			ps = append(ps, p)
		}
		if c := fit(ps); c == nil || c.PerCached != nil {
			t.Fatalf("seed %d: %+v", seed, c)
		}
	}
}

func TestACachedTokenIsNeverAsDearAsAnother(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 5))
	var ps []point
	for i := range 40 {
		p := point{uncached: 100 + r.Int64N(8000)}
		p.wait = seconds(0.02 + 1e-3*float64(p.uncached))
		if i%4 == 0 { // each hit was queued, the longer the more was cached
			p.cached = 1000 + r.Int64N(8000)
			p.wait += seconds(2e-3 * float64(p.cached))
		}
		ps = append(ps, p)
	}
	if c := fit(ps); c == nil || c.PerCached == nil || *c.PerCached > 300*time.Microsecond {
		t.Errorf("%+v", c)
	}
}

func TestAnEstimateIsLessSureFarFromWhatWasSeen(t *testing.T) {
	c := &Curve{
		Floor: 100 * time.Millisecond, Error: 0.05, Least: 100, Most: 4000,
		Knots: []Knot{{0, 0}, {1000, time.Second}, {4000, 7 * time.Second}},
	}
	got := map[int64]time.Duration{}
	for _, n := range []int64{0, 100, 500, 1000, 2500, 4000, 8000} {
		got[n] = c.Prefill(n, 0).Round(time.Millisecond)
	}
	want := map[int64]time.Duration{
		0: 0, 100: 100 * time.Millisecond, 500: 500 * time.Millisecond, 1000: time.Second,
		2500: 4 * time.Second, 4000: 7 * time.Second, 8000: 15 * time.Second,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("prefill (-want +got):\n%s", diff)
	}
	for n, least := range map[int64]time.Duration{100: 10 * time.Millisecond, 4000: 355 * time.Millisecond, 8000: 2755 * time.Millisecond} {
		if got := c.within(n, 0); got < least || got > least+least/10 {
			t.Errorf("%d tokens: give or take %v, want %v", n, got, least)
		}
	}
	if !c.reaches(90000) {
		t.Error("a well-known slope tells nothing of a prompt of 90,000 tokens")
	}
	vague := &Curve{Floor: 30 * time.Millisecond, Error: 0.05, Least: 1, Most: 8, Knots: []Knot{{0, 0}, {8, time.Millisecond}}}
	if vague.reaches(9000) || !vague.reaches(8) {
		t.Error("what eight tokens cost, within the noise, tells of 9,000")
	}
}

func TestQuantileIsAValueOfTheSet(t *testing.T) {
	vs := []int{9, 1, 5, 3, 7}
	got := []int{quantile(vs, 0), quantile(vs, 0.5), quantile(vs, 0.9), quantile(vs, 1), quantile(vs[:0], 0.5)}
	if want := []int{1, 5, 9, 9, 0}; !slices.Equal(got, want) || vs[0] != 9 {
		t.Errorf("got %v of %v, want %v", got, vs, want)
	}
}

func BenchmarkFit(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	ps := traffic{n: maxSamples, lengths: anyLength, noise: 0.05, jitter: 0.01, spikes: 0.3, cached: true}.points(r, truths[2])
	for b.Loop() {
		fit(ps)
	}
}
