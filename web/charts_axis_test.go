package web

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// anyValues are values of an axis, a few of which may be far off.
func anyValues(t *rapid.T) []int64 {
	usual := rapid.SliceOfN(rapid.Int64Range(-2000, 100_000), 0, 300).Draw(t, "usual")
	return append(usual, rapid.SliceOfN(rapid.Int64(), 0, 3).Draw(t, "any")...)
}

func TestAnAxisCutsAFewAtMost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := anyValues(t)
		a := newAxis(values, 10)
		if a.lo > 0 || a.hi < 0 || a.hi-a.lo < 10 {
			t.Fatalf("from %d to %d", a.lo, a.hi)
		}
		over, under, above, below := 0, 0, 0, 0
		for _, v := range values {
			switch {
			case v > 0:
				above++
			case v < 0:
				below++
			}
			if v = min(max(v, -farthest), farthest); v > a.hi {
				over++
			} else if v < a.lo {
				under++
			}
			if s := a.share(v); s < 0 || s > 1 {
				t.Fatalf("%d lies at %v", v, s)
			}
		}
		if over > fewOf(above) || under > fewOf(below) {
			t.Fatalf("%d of %d are over the end, %d of %d under the begin", over, above, under, below)
		}
	})
}

// fewOf is how many of n may be cut.
func fewOf(n int) int {
	if n < tailLeast {
		return 0
	}
	return max(1, n/tailShare)
}

func TestAnOutlierDoesNotSquashTheOthers(t *testing.T) {
	values := []int64{610, 640, 700, 720, 800, 810, 900, 950, 980, 600_000}
	if a := newAxis(values, 1); a.hi != 1000 || !a.cuts(600_000) {
		t.Errorf("the axis goes to %d", a.hi)
	}
	if a := newAxis(values[5:], 1); a.hi != 600_000 {
		t.Errorf("of so few none is usual, but the axis goes to %d", a.hi)
	}
	if a := newAxis([]int64{0, 0, 0, 0, 0, 0, 0, 0, 96_000}, 1); a.hi != 100_000 {
		t.Errorf("nothing would be left of the axis, which goes to %d", a.hi)
	}
}

func TestTicksAreRoundAndFew(t *testing.T) {
	for _, test := range []struct {
		values []int64
		unit   unit
		want   string
	}{
		{[]int64{96_210}, inTokens, "0 20k 40k 60k 80k 100k"},
		{[]int64{0}, inTokens, "0 2 4 6 8 10"},
		{[]int64{3_000_000}, inTokens, "0 1M 2M 3M"},
		{[]int64{int64(8230 * time.Millisecond)}, inSeconds, "0 2 4 6 8 10"},
		{[]int64{int64(1230 * time.Millisecond)}, inSeconds, "0 0.5 1 1.5"},
		{[]int64{int64(123 * time.Millisecond)}, inSeconds, "0 50 100 150"},
		{[]int64{int64(4 * time.Second), -int64(time.Second)}, inSeconds, "−1 0 1 2 3 4"},
		{[]int64{0}, inSeconds, "0 0.2 0.4 0.6 0.8 1"},
		{[]int64{133_400}, inRates, "0 50 100 150"},
	} {
		a := newAxis(test.values, test.unit.least)
		var got []string
		for _, v := range a.ticks(a.step(test.unit.ticks)) {
			got = append(got, test.unit.tick(v, a))
		}
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("%v: %q, want %q", test.values, text, test.want)
		}
	}
}

func TestTheClocksTicksAreRoundInThePagesZone(t *testing.T) {
	at := func(ago time.Duration) int64 { return noon.Add(-ago).UnixNano() }
	for _, test := range []struct {
		span time.Duration
		want string
	}{
		{0, "59.600 59.800 00.000 00.200 00.400"},
		{3 * time.Second, "57.000 57.500 58.000 58.500 59.000 59.500 00.000"},
		{2 * time.Minute, "11:58:00 11:58:30 11:59:00 11:59:30 12:00:00"},
		{3 * time.Hour, "09:00 09:30 10:00 10:30 11:00 11:30 12:00"},
		{20 * time.Hour, "18:00 03-14 06:00 12:00"},
		{7 * day, "03-08 03-10 03-12 03-14"},
		{400 * day, "2025-03-13 2025-05-22 2025-07-31 2025-10-09 2025-12-18 2026-02-26"},
	} {
		a := newTimeAxis([]int64{at(test.span), at(test.span / 3), at(0)}, noon.Location())
		u := inTime(noon.Location())
		var got []string
		for _, v := range a.ticks(a.step(u.ticks)) {
			got = append(got, u.tick(v, a))
		}
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("%v: %q, want %q", test.span, text, test.want)
		}
	}
}

func TestTicksLieOnTheAxisInTheirOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := newAxis(anyValues(t), 10)
		if rapid.Bool().Draw(t, "time") {
			a = newTimeAxis(rapid.SliceOf(rapid.Int64Range(0, 1<<61)).Draw(t, "instants"), noon.Location())
		}
		most := rapid.Int64Range(1, 60).Draw(t, "most")
		ticks := a.ticks(a.step(most))
		if int64(len(ticks)) > most+1 || !slices.IsSorted(ticks) {
			t.Fatalf("ticks %v", ticks)
		}
		for _, v := range ticks {
			if a.cuts(v) {
				t.Fatalf("%d lies beyond %d to %d", v, a.lo, a.hi)
			}
		}
	})
}

func TestAValueLiesBetweenTheEdgesOfItsCell(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := anyValues(t)
		a := newAxis(values, 10)
		step := a.step(rapid.Int64Range(1, 60).Draw(t, "most"))
		for _, v := range values {
			from, to := a.edges(a.cell(v, step), step)
			if v >= a.lo && v < a.hi && (v < from || v >= to) || v >= a.hi && to < a.hi || v < a.lo && from > a.lo {
				t.Fatalf("%d is put between %d and %d, the axis goes from %d to %d", v, from, to, a.lo, a.hi)
			}
		}
	})
}

func TestAQuantileIsTheOneOfValuesInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.Int64Range(-9, 9)).Draw(t, "values")
		share := rapid.Float64Range(0, 1).Draw(t, "share")
		ordered := slices.Sorted(slices.Values(values))
		if diff := cmp.Diff(quantile(ordered, share), quantileOf(values, share)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		if slices.Sort(values); !slices.Equal(values, ordered) {
			t.Fatalf("%v became %v", ordered, values)
		}
	})
}
