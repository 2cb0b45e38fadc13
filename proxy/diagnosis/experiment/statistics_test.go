package experiment

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func upTo(n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = float64(i + 1)
	}
	return values
}

func estimate(at, low, high float64, n int) *Estimate {
	return &Estimate{At: at, Low: &low, High: &high, N: n}
}

var closely = cmpopts.EquateApprox(1e-9, 1e-9)

func TestAMedianIsBetweenTwoOfItsValues(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float64
		want   *Estimate
	}{
		{"none", nil, nil},
		{"one", []float64{7}, &Estimate{At: 7, N: 1}},
		{"four have no interval", []float64{4, 1, 3, 2}, &Estimate{At: 2.5, N: 4}},
		{"five, and a good third of their range beyond", upTo(5), estimate(3, 1-1.48, 5+1.48, 5)},
		{"six", upTo(6), estimate(3.5, 1-0.85, 6+0.85, 6)},
		{"seven", upTo(7), estimate(4, 0.7, 7.3, 7)},
		{"eight: the least to the greatest", upTo(8), estimate(4.5, 1, 8, 8)},
		{"eleven", upTo(11), estimate(6, 1, 11, 11)},
		{"twelve leave one out on each side", upTo(12), estimate(6.5, 2, 11, 12)},
		{"twenty leave three out", upTo(20), estimate(10.5, 4, 17, 20)},
		{"a hundred", upTo(100), estimate(50.5, 37, 64, 100)},
		{"all alike", slices.Repeat([]float64{3}, 9), estimate(3, 3, 3, 9)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, middle(c.values), closely); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnIntervalLeavesOutNoMoreThanACoinAllows(t *testing.T) {
	for n := fewValues; n < 300; n++ {
		k, tail := outside(n), 0.0
		for heads := range k {
			tail += math.Exp(choose(n, heads) - float64(n)*math.Ln2)
		}
		if 2*tail > miss {
			t.Errorf("of %d values %d are left out on each side, by a chance of %v", n, k, 2*tail)
		}
		if k > 0 || n > 11 {
			tail += math.Exp(choose(n, k) - float64(n)*math.Ln2)
			if next := tail + math.Exp(choose(n, k+1)-float64(n)*math.Ln2); 2*next <= miss {
				t.Errorf("of %d values %d could be left out, by a chance of %v", n, k+1, 2*next)
			}
		}
	}
}

// choose is the logarithm of the ways to have so many heads in n throws.
func choose(n, heads int) float64 {
	all, _ := math.Lgamma(float64(n + 1))
	some, _ := math.Lgamma(float64(heads + 1))
	others, _ := math.Lgamma(float64(n - heads + 1))
	return all - some - others
}

func TestADifferenceOfTwoSamplesIsTheMedianOfAllDifferences(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b []float64
		want *Estimate
	}{
		{"nothing", nil, upTo(9), nil},
		{"too few for an interval", []float64{1, 2}, []float64{11, 12, 13}, &Estimate{At: 10.5, N: 2}},
		{"five and five: the least to the greatest difference", upTo(5), []float64{11, 12, 13, 14, 15}, estimate(10, 6, 14, 5)},
		{"alike: seven left out on each side, as tables have it", upTo(8), upTo(8), estimate(0, -4, 4, 8)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, apart(c.a, c.b), closely); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAChangeIsResolvedByItsInterval(t *testing.T) {
	for _, c := range []struct {
		name string
		by   Estimate
		want Resolution
	}{
		{"no interval", Estimate{At: 500, N: 3}, Undecided},
		{"it excludes none", *estimate(200, 10, 400, 6), Resolved},
		{"it excludes none, downwards", *estimate(-200, -400, -10, 6), Resolved},
		{"it holds none", *estimate(200, -10, 400, 6), Undecided},
		{"it is within five in a hundred", *estimate(10, -50, 50, 6), NoChange},
		{"it is, and excludes none", *estimate(30, 10, 45, 6), NoChange},
		{"it is just beyond", *estimate(30, -10, 51, 6), Undecided},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := newChange(&Estimate{At: 1000}, &Estimate{At: 1200}, c.by)
			if got.Resolution != c.want || got.Share != c.by.At/1000 {
				t.Errorf("%s, %v", got.Resolution, got.Share)
			}
		})
	}
	if got := newChange(&Estimate{}, &Estimate{At: 1}, *estimate(1, 1, 1, 6)); got.Share != 0 || got.Resolution != Resolved {
		t.Errorf("from nothing: %+v", got)
	}
}

func TestASpikeIsFarBeyondAllThreeBounds(t *testing.T) {
	for _, c := range []struct {
		name  string
		waits []float64
		want  float64 // the bar
	}{
		{"fifty milliseconds, where all is quick and even", []float64{10, 10, 11, 10, 9}, 60},
		{"a quarter, where all is slow and even", []float64{1000, 1001, 999, 1000, 1002}, 1250},
		{"six distances, where all is uneven", []float64{800, 900, 1000, 1100, 1200}, 1600},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, bar := spikeBar(c.waits); bar != c.want {
				t.Errorf("the bar is %v, want %v", bar, c.want)
			}
		})
	}
}

func TestALineThroughOneRoundIsPlainArithmetic(t *testing.T) {
	ps := []point{{100, 150}, {1000, 420}, {3000, 1620}}
	got := []float64{steep(ps[0], ps[1]), steep(ps[1], ps[2]), slope(ps), floor(ps), steepest(ps[:1]), steepest(ps)}
	want := []float64{300, 600, (1620.0 - 150) / 2.9, 120, 0, 600}
	if diff := cmp.Diff(want, got, closely); diff != "" {
		t.Error(diff)
	}
	if growing([]point{{100, 1}, {100, 2}}) || !growing(ps) {
		t.Error("lengths that are alike are taken for a line")
	}
}

func TestRoundsArePairedAndRepeatsMakeOneValue(t *testing.T) {
	rows := []row{}
	for _, s := range []Sample{
		{Arm: 0, Round: 0, TTFT: new(10.0)}, {Arm: 0, Round: 0, TTFT: new(20.0)}, {Arm: 0, Round: 0, TTFT: new(90.0)},
		{Arm: 0, Round: 1, TTFT: new(30.0)}, {Arm: 0, Round: 2},
		{Arm: 1, Round: 0, TTFT: new(25.0)}, {Arm: 1, Round: 2, TTFT: new(70.0)},
	} {
		rows = append(rows, row{Sample: s})
	}
	ttft := func(r row) *float64 { return r.TTFT }
	a, b := rounds(rows, 0, ttft), rounds(rows, 1, ttft)
	if diff := cmp.Diff(map[int]float64{0: 20, 1: 30}, a); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]float64{5}, paired(a, b)); diff != "" {
		t.Error(diff)
	}
}

func TestThePartThatIsLargestForSureIsSo(t *testing.T) {
	high := map[int]float64{0: 9, 1: 8, 2: 9, 3: 10, 4: 9, 5: 9, 6: 8, 7: 9}
	low := map[int]float64{0: 2, 1: 3, 2: 2, 3: 2, 4: 1, 5: 2, 6: 3, 7: 2}
	mixed := map[int]float64{0: 2, 1: 13, 2: 8, 3: 12, 4: 7, 5: 3, 6: 12, 7: 8}
	for _, c := range []struct {
		name string
		all  []portion
		want Finding
		sure bool
	}{
		{"one of two", []portion{{FoundFloor, low}, {FoundPrefill, high}}, FoundPrefill, true},
		{"neither of two", []portion{{FoundFloor, mixed}, {FoundPrefill, high}}, FoundPrefill, false},
		{"one that is not known", []portion{{FoundQueue, nil}, {FoundFloor, low}}, FoundFloor, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			ranked, sure := rank(c.all)
			if ranked[0].of != c.want || sure != c.sure {
				t.Errorf("%s, sure: %v", ranked[0].of, sure)
			}
		})
	}
	if ranked, sure := rank(nil); len(ranked) > 0 || sure {
		t.Error("of nothing something is the largest")
	}
}
