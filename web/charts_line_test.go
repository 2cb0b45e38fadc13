package web

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/diagnosis"
)

// over is a cloud of one kind with these values, one a second.
func over(values ...int64) *cloud {
	c := new(cloud)
	for i, v := range values {
		at := int64(i) * int64(time.Second)
		c.add(origin{at: at}, at, v, 0)
	}
	return c
}

func heights(line []vertex) (all []int64) {
	for _, v := range line {
		all = append(all, v.y)
	}
	return all
}

func TestARunningMedianIsNotMovedByAnOutlier(t *testing.T) {
	c := over(10, 12, 11, 900, 13, 12, 11, 10, 12, 11, 30, 31, 32, 33, 34)
	lines := c.medians(newTimeAxis(c.xs, time.UTC))[0]
	if len(lines) != 1 {
		t.Fatalf("%d lines", len(lines))
	}
	want := []int64{12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 30, 31, 31, 32, 32}
	if diff := cmp.Diff(want, heights(lines[0])); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestALineIsBrokenWhereNothingWasAskedFor(t *testing.T) {
	c := over(1, 2, 3)
	pause := int64(10 * time.Minute)
	for i := range int64(3) {
		c.add(origin{}, pause+i, 10*i, 0)
	}
	c.add(origin{}, 3*pause, 7, 0)
	for name, lines := range map[string]map[int32][][]vertex{
		"marks": c.medians(newTimeAxis(c.xs, time.UTC)), "bins": c.columnMedians(newTimeAxis(c.xs, time.UTC), int64(time.Second)),
	} {
		for _, line := range lines[0] {
			for i := range line[1:] {
				if line[i+1].x-line[i].x > pause/2 {
					t.Errorf("%s: a line goes from %d to %d", name, line[i].x, line[i+1].x)
				}
			}
		}
		if got := len(lines[0]); name == "marks" && got != 2 || name == "bins" && got != 1 {
			t.Errorf("%s: %d lines", name, got)
		}
	}
}

func TestMediansLieAmongTheValuesAndOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 1000), 1, 60).Draw(t, "values")
		c := over(values...)
		x := newTimeAxis(c.xs, time.UTC)
		want := [2]map[int32][][]vertex{c.medians(x), c.columnMedians(x, 5*int64(time.Second))}
		for _, lines := range want {
			for _, line := range lines[0] {
				if hs := heights(line); slices.Min(hs) < slices.Min(values) || slices.Max(hs) > slices.Max(values) {
					t.Fatalf("%v leads through %v", values, hs)
				}
			}
		}
		rand.New(rand.NewPCG(uint64(len(values)), 1)).Shuffle(len(values), func(i, j int) {
			c.xs[i], c.xs[j] = c.xs[j], c.xs[i]
			c.ys[i], c.ys[j] = c.ys[j], c.ys[i]
		})
		got := [2]map[int32][][]vertex{c.medians(x), c.columnMedians(x, 5*int64(time.Second))}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(vertex{})); diff != "" {
			t.Fatalf("in another order:\n%s", diff)
		}
	})
}

func TestTheUsualLineEndsWhereItsModelOrTheChartEnds(t *testing.T) {
	curve := &diagnosis.Curve{Floor: 500, Knots: []diagnosis.Knot{{}, {Tokens: 100, Prefill: 0}, {Tokens: 300, Prefill: 1000}}}
	for _, test := range []struct {
		x, y axis
		want []vertex
	}{
		{axis{hi: 1000}, axis{hi: 2000}, []vertex{{0, 600}, {100, 600}, {300, 1600}}},
		{axis{hi: 200}, axis{hi: 2000}, []vertex{{0, 600}, {100, 600}, {200, 1100}}},
		{axis{hi: 50}, axis{hi: 2000}, []vertex{{0, 600}, {50, 600}}},
		{axis{hi: 1000}, axis{hi: 850}, []vertex{{0, 600}, {100, 600}, {150, 850}}},
		{axis{hi: 1000}, axis{hi: 550}, nil},
	} {
		got := clip(envelope(curve, 600), test.x, test.y)
		if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(vertex{})); diff != "" {
			t.Errorf("to %d and %d (-want +got):\n%s", test.x.hi, test.y.hi, diff)
		}
	}
}

func TestALabelLiesOnItsLine(t *testing.T) {
	line := []vertex{{0, 100}, {10, 100}, {30, 500}}
	for part, want := range map[float64]vertex{0: {0, 100}, 0.25: {7, 100}, 0.5: {15, 200}, 1: {30, 500}} {
		if got := along(line, part); got != want {
			t.Errorf("at %v: %v, want %v", part, got, want)
		}
	}
}
