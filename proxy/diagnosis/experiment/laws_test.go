package experiment

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
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
		return planned(kind, rounds, laddersOf("large", "light")...), w
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

func TestAComparisonTurnedRoundSaysTheContrary(t *testing.T) {
	contrary := map[Finding]Finding{Faster: Slower, Slower: Faster, Unresolved: Unresolved, Same: Same}
	rapid.Check(t, func(t *rapid.T) {
		p, w := drawn(t)
		a := Find(runOf(p), w.rows(p, nil))
		w.floor *= rapid.Float64Range(0.2, 3).Draw(t, "floor")
		b := Find(runOf(p), w.rows(p, nil))
		there, back := Compare(a, b), Compare(b, a)
		for i, arm := range there.Arms {
			for j, change := range arm.Changes {
				// What is the same or not by shares depends on what they are of.
				turned := back.Arms[i].Changes[j]
				if change.Resolution == Resolved && turned.Resolution == Resolved && contrary[change.found()] != turned.found() {
					t.Fatalf("%s, then %s", change.words().En, turned.words().En)
				}
				if math.Abs(change.Change.At+turned.Change.At) > 1e-9*max(1, change.Before) {
					t.Fatalf("%v, then %v", change.Change.At, turned.Change.At)
				}
			}
		}
		for _, arm := range Compare(a, a).Arms {
			for _, change := range arm.Changes {
				if change.Change.At != 0 || change.Resolution == Resolved {
					t.Fatalf("a run differs from itself: %s", change.words().En)
				}
			}
		}
	})
}

func TestEveryTableIsEven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, w := drawn(t)
		p.Arms[0].Name = rapid.StringMatching(`[a-z|\n ]{1,9}`).Draw(t, "name")
		r := Find(runOf(p), w.rows(p, nil))
		for _, lang := range []string{"en", "zh"} {
			for _, text := range []string{r.Markdown(lang), Compare(r, r).Markdown(lang), Join([]*Report{r}).Markdown(lang)} {
				even(t, text)
			}
		}
	})
}

// even says whether all rows of each table have as many cells as its heads.
func even(t *rapid.T, markdown string) {
	cells := 0
	for line := range strings.Lines(markdown) {
		n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		switch {
		case !strings.HasPrefix(line, "|"):
			cells = 0
		case cells == 0:
			cells = n
		case n != cells:
			t.Fatalf("%d cells instead of %d: %s", n, cells, line)
		}
	}
}
