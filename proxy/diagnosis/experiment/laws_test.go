package experiment

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// drawn is an experiment of any kind in any world.
func drawn(t *rapid.T) (Plan, *world) {
	r := seeded(rapid.Uint64().Draw(t, "seed"))
	w := anyWorld(r)
	rounds := rapid.IntRange(1, 9).Draw(t, "rounds")
	switch kind := rapid.SampledFrom(Kinds).Draw(t, "kind"); kind {
	case Ladder:
		return planned(kind, rounds, ladderOf("large", 100, 1000, 3000)...), w
	case Models:
		return planned(kind, rounds, append(ladderOf("large", 100, 1000), ladderOf("light", 100, 1000)...)...), w
	case Burst:
		return planned(kind, rounds, armsOf("nonce")...), w
	default:
		return planned(kind, rounds, armsOf("one", "two", "three", "four")...), w
	}
}

func TestTheOrderOfTheRowsChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, w := drawn(t)
		xs := w.rows(p, nil)
		want := Find(runOf(p), xs)
		rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 1)).Shuffle(len(xs), func(i, j int) { xs[i], xs[j] = xs[j], xs[i] })
		if diff := cmp.Diff(want, Find(runOf(p), xs)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestARowThatFailedIsInNoFigure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, w := drawn(t)
		xs := w.rows(p, nil)
		without := Find(runOf(p), xs)
		n := rapid.IntRange(1, len(p.Steps)).Draw(t, "failures")
		for i := range n {
			x := w.answer(asked{step: i, prompt: 90_000, output: 900})
			x.Outcome = rapid.SampledFrom([]exchange.Outcome{exchange.UpstreamError, exchange.UpstreamCut, exchange.ClientAbort, exchange.Open}).Draw(t, "outcome")
			xs = append(xs, x)
		}
		got := Find(runOf(p), xs)
		ignored := cmp.Options{
			cmpopts.IgnoreFields(ArmReport{}, "Sent", "Failures"),
			cmpopts.IgnoreFields(Report{}, "Sent", "Samples", "Checks"),
		}
		if diff := cmp.Diff(without, got, ignored); diff != "" {
			t.Fatal(diff)
		}
		if got.Sent != without.Sent+n {
			t.Fatalf("%d of %d are there", got.Sent, without.Sent+n)
		}
	})
}

// times as many milliseconds for everything that is timed, in whole nanoseconds.
func slower(xs []*exchange.Exchange, by int64) []*exchange.Exchange {
	var slowed []*exchange.Exchange
	for _, x := range xs {
		y := *x
		for _, d := range []**time.Duration{&y.GotConn, &y.Sent, &y.RTT, &y.FirstToken, &y.LastToken, &y.End} {
			*d = new(**d * time.Duration(by))
		}
		y.Derive()
		slowed = append(slowed, &y)
	}
	return slowed
}

func TestTimesTwiceAsLongMakeIntervalsTwiceAsWide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorld(seeded(rapid.Uint64().Draw(t, "seed")))
		w.floor += 400 // spikes are then judged by shares alone, and not by a time
		p := planned(Ladder, rapid.IntRange(5, 9).Draw(t, "rounds"), ladderOf("large", 100, 1000, 3000)...)
		xs := w.rows(p, nil)
		a, b := Find(runOf(p), xs), Find(runOf(p), slower(xs, 2))
		pairs := [][2]Estimate{
			{a.Lines[0].Slope, b.Lines[0].Slope}, {a.Lines[0].Floor, b.Lines[0].Floor},
			{*a.Arms[2].TTFT, *b.Arms[2].TTFT}, {a.Changes[0].Change, b.Changes[0].Change},
		}
		for _, pair := range pairs {
			for _, v := range [][2]float64{{pair[0].At, pair[1].At}, {*pair[0].Low, *pair[1].Low}, {*pair[0].High, *pair[1].High}} {
				if math.Abs(2*v[0]-v[1]) > 1e-6*max(1, math.Abs(v[1])) {
					t.Fatalf("%v becomes %v", v[0], v[1])
				}
			}
		}
	})
}

func TestAnIntervalHoldsItsFigureAndNarrowsWithAgreement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 40).Draw(t, "values")
		e := middle(values)
		if len(values) < fewValues {
			if e.Low != nil || e.High != nil {
				t.Fatalf("%d values have an interval", len(values))
			}
			return
		}
		if *e.Low > e.At || e.At > *e.High {
			t.Fatalf("%v is not between %v and %v", e.At, *e.Low, *e.High)
		}
		agreed := middle(append(slices.Repeat([]float64{e.At}, 3*len(values)), values...))
		if *agreed.High-*agreed.Low > *e.High-*e.Low {
			t.Fatalf("%v to %v becomes %v to %v", *e.Low, *e.High, *agreed.Low, *agreed.High)
		}
	})
}

func TestADifferenceTurnedRoundIsTheSameWithTheOtherSign(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		side := rapid.SliceOfN(rapid.Float64Range(0, 1e5), 1, 30)
		a, b := side.Draw(t, "a"), side.Draw(t, "b")
		there, back := apart(a, b), apart(b, a)
		turned := Estimate{At: -back.At, N: back.N}
		if back.Low != nil {
			turned.Low, turned.High = new(-*back.High), new(-*back.Low)
		}
		if diff := cmp.Diff(*there, turned, cmpopts.EquateApprox(1e-9, 1e-9)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestMoreRoundsNeverMakeAFindingWrong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{
			network: between(seeded(rapid.Uint64().Draw(t, "network")), 5, 500), floor: between(seeded(rapid.Uint64().Draw(t, "floor")), 50, 1500),
			perK: between(seeded(rapid.Uint64().Draw(t, "slope")), 10, 1500), noise: 0.03, tpot: 20, rand: seeded(rapid.Uint64().Draw(t, "seed")),
		}
		truth := map[Finding]float64{FoundNetwork: w.network, FoundFloor: w.floor, FoundPrefill: 3 * w.perK}
		for _, rounds := range []int{5, 10, 20, 40} {
			p := planned(Ladder, rounds, ladderOf("large", 100, 1000, 3000)...)
			found := Find(runOf(p), w.rows(p, nil)).Found[0]
			// Within noise of one another no word is wrong.
			if found != Unresolved && truth[found] < 0.95*max(w.network, w.floor, 3*w.perK) {
				t.Fatalf("after %d rounds %s, but %v", rounds, found, truth)
			}
		}
	})
}

func TestAReportIsTheSameThroughJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, w := drawn(t)
		want := Find(runOf(p), w.rows(p, nil))
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got := new(Report)
		if err := json.Unmarshal(text, got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
		for _, lang := range []string{"en", "zh"} {
			if got.Markdown(lang) != want.Markdown(lang) {
				t.Fatal("its Markdown is another")
			}
		}
	})
}
