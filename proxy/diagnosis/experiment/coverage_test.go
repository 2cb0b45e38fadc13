package experiment

import (
	"math"
	"math/rand/v2"
	"testing"
)

// experiments is how many random set-ups each promise is tried on.
const experiments = 400

// tally counts how often intervals hold the truth.
type tally struct{ held, of int }

func (c *tally) see(e Estimate, truth float64) {
	if e.Low == nil {
		return
	}
	c.of++
	if *e.Low <= truth && truth <= *e.High {
		c.held++
	}
}

func (c *tally) check(t *testing.T, name string) {
	t.Helper()
	t.Logf("%s: %d of %d intervals hold the truth", name, c.held, c.of)
	if c.of < experiments/2 || float64(c.held) < 0.90*float64(c.of) {
		t.Errorf("%s: %d of %d intervals hold the truth", name, c.held, c.of)
	}
}

func between(r *rand.Rand, low, high float64) float64 {
	return low * math.Pow(high/low, r.Float64())
}

// anyWorld is one as they come: near or far, quick or slow, noisy, busy, drifting.
func anyWorld(r *rand.Rand) *world {
	return &world{
		network: between(r, 2, 600), floor: between(r, 20, 1500), perK: between(r, 10, 1500), tpot: between(r, 5, 60),
		noise: between(r, 0.01, 0.15), spikes: 0.15 * r.Float64(), queue: between(r, 300, 5000), drift: 0.3 * r.Float64(), rand: r,
	}
}

func TestALaddersIntervalsHoldTheTruthAndItsVerdictIsNotWrong(t *testing.T) {
	var slopes, floors, bands, prefills tally
	var wrong, resolved, knees int
	for seed := range uint64(experiments) {
		r := seeded(seed)
		w := anyWorld(r)
		p := planned(Ladder, 5+r.IntN(6), ladderOf("large", 100, 1000, 3000)...)
		got := Find(runOf(p), w.rows(p, nil))
		l := got.Lines[0]
		middleDrift := 1 + w.drift/2
		slopes.see(l.Slope, w.perK*middleDrift)
		floors.see(l.Floor, w.floor*middleDrift)
		for _, b := range l.Bands {
			bands.see(b.Slope, w.perK*middleDrift)
		}
		truth := map[Finding]float64{FoundNetwork: w.network, FoundFloor: w.floor * middleDrift, FoundPrefill: 3 * w.perK * middleDrift}
		for _, part := range got.Parts {
			if part.Of == FoundPrefill {
				prefills.see(part.MS, truth[FoundPrefill])
			}
		}
		if l.Knee != nil {
			knees++
		}
		if got.Found[0] == Unresolved {
			continue
		}
		resolved++
		if v := truth[got.Found[0]]; v < max(truth[FoundNetwork], truth[FoundFloor], truth[FoundPrefill]) {
			wrong++
			t.Logf("seed %d: %v, but %v", seed, got.Verdict.En, truth)
		}
	}
	slopes.check(t, "slope")
	floors.check(t, "floor")
	bands.check(t, "bands")
	prefills.check(t, "prefill")
	t.Logf("%d of %d resolved, %d knees", resolved, experiments, knees)
	if wrong > 0 || knees > experiments/100 {
		t.Errorf("%d verdicts are wrong, %d knees are seen where there is none", wrong, knees)
	}
	if resolved < experiments/2 {
		t.Errorf("only %d of %d are resolved", resolved, experiments)
	}
}

func TestAChangesIntervalHoldsTheTruthAndItsWordIsWrongAtMostOnceInAHundred(t *testing.T) {
	var changes, networks tally
	words, wrong := make(map[Finding]int), 0
	for seed := range uint64(experiments) {
		r := seeded(1000 + seed)
		w := anyWorld(r)
		by := 0.0
		if seed%2 == 1 {
			by = w.wait(2000) * (r.Float64() - 0.3)
		}
		p := planned(History, 5+r.IntN(6), armsOf("full", "summarised")...)
		got := Find(runOf(p), w.rows(p, func(arm int, a *asked) { a.slowing = by * float64(arm) }))
		truth := by * (1 + w.drift/2)
		changes.see(got.Changes[0].Change, truth)
		networks.see(got.Changes[2].Change, 0)
		found := got.Found[0]
		words[found]++
		share := truth / (w.network + w.wait(2000)*(1+w.drift/2))
		if found == Faster && truth >= 0 || found == Slower && truth <= 0 || found == Same && math.Abs(share) > 0.06 {
			wrong++
			t.Logf("seed %d: %s, but it is %.1f ms (%.3f)", seed, got.Verdict.En, truth, share)
		}
	}
	changes.check(t, "change")
	networks.check(t, "network")
	t.Logf("%v", words)
	if wrong > experiments/100 {
		t.Errorf("%d of %d are wrong", wrong, experiments)
	}
	if words[Faster]+words[Slower] < experiments/8 {
		t.Errorf("too few are resolved: %v", words)
	}
}

func TestABurstsVerdictIsNeverWrong(t *testing.T) {
	words := make(map[Finding]int)
	for seed := range uint64(experiments) {
		r := seeded(2000 + seed)
		w := anyWorld(r)
		w.drift = 0
		want := FoundFloor
		if w.network > w.wait(30) {
			want = FoundNetwork
		}
		if seed%3 == 0 {
			w.spikes, w.queue = 0.5+0.3*r.Float64(), 6*(w.network+w.wait(30))
			want = FoundQueue
		}
		arms := armsOf("nonce")
		arms[0].PromptTokens = 30
		p := planned(Burst, 10, arms...)
		got := Find(runOf(p), w.rows(p, nil)).Found[0]
		words[got]++
		if got != want && got != Unresolved {
			// Spikes that came by chance may well take most of the time.
			if got == FoundQueue && w.spikes*w.queue > (w.network+w.wait(30))/8 {
				continue
			}
			t.Errorf("seed %d: %s, want %s", seed, got, want)
		}
	}
	t.Logf("%v", words)
	if words[Unresolved] > experiments/8 {
		t.Errorf("too many are not resolved: %v", words)
	}
}

func TestTwoRunsComparedAreToldTheContraryAtMostOnceInAHundred(t *testing.T) {
	var changes tally
	words, wrong := make(map[Finding]int), 0
	for seed := range uint64(experiments) {
		r := seeded(3000 + seed)
		w := anyWorld(r)
		w.drift = 0
		by := w.wait(2000) * (r.Float64() - 0.3) * float64(seed%2)
		p := planned(Burst, 5+r.IntN(6), armsOf("nonce")...)
		a := Find(runOf(p), w.rows(p, nil))
		b := Find(runOf(p), w.rows(p, func(_ int, a *asked) { a.slowing = by }))
		got := Compare(a, b)
		changes.see(got.Arms[0].Changes[0].Change, by)
		found := got.Found[0]
		words[found]++
		if found == Faster && by >= 0 || found == Slower && by <= 0 {
			wrong++
			t.Logf("seed %d: %s, but it is %.1f ms", seed, got.Verdict.En, by)
		}
	}
	changes.check(t, "change")
	t.Logf("%v", words)
	if wrong > experiments/100 {
		t.Errorf("%d of %d are wrong", wrong, experiments)
	}
}

func TestAMediansIntervalHoldsItHoweverTheValuesAreSpread(t *testing.T) {
	r := seeded(4000)
	for name, draw := range map[string]func() float64{
		"normal":  r.NormFloat64,
		"skewed":  func() float64 { return math.Exp(r.NormFloat64()) - 1 },
		"two":     func() float64 { return r.NormFloat64() + 40*math.Floor(r.Float64()+0.2) - tenth },
		"laplace": func() float64 { return r.ExpFloat64() * float64(2*r.IntN(2)-1) },
	} {
		for n := fewValues; n <= 20; n++ {
			var c tally
			for range 2000 {
				values := make([]float64, n)
				for i := range values {
					values[i] = draw()
				}
				c.see(*middle(values), 0)
			}
			if float64(c.held) < 0.97*float64(c.of) {
				t.Errorf("%s, %d values: %d of %d", name, n, c.held, c.of)
			}
		}
	}
}

// tenth is the median of normal values of which a fifth are far above: where five
// eighths of the others lie below.
const tenth = 0.3186
