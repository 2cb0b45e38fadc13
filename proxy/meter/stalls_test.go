package meter

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAStallIsSeenFromTheSecondGapOn(t *testing.T) {
	for _, c := range []struct {
		name  string
		words []float64 // when they came, in ms
		lost  float64
	}{
		{"after a quick one", []float64{1000, 1010, 9000}, 7990},
		{"before a quick one", []float64{1000, 8990, 9000}, 7990},
		{"among three", []float64{1000, 1010, 9000, 9010}, 7990},
		{"two of four", []float64{1000, 1010, 4010, 4020, 8020}, 7000},
		{"a slow model's first two are none", []float64{1000, 5000, 13000}, 0},
		{"one alone has no other to be told from", []float64{1000, 9000}, 0},
	} {
		var s script
		for _, at := range c.words {
			s = s.at(at, word)
		}
		x := s.measure(usage(12, -1, int64(len(c.words))))
		if diff := cmp.Diff(new(ms(c.lost)), x.StallTime); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestTheLowerMedianIsOneOfTheGaps(t *testing.T) {
	for _, c := range []struct {
		gaps []time.Duration
		want time.Duration
	}{
		{[]time.Duration{7}, 7}, {[]time.Duration{9, 1}, 1}, {[]time.Duration{9, 1, 4}, 4}, {[]time.Duration{9, 1, 4, 6}, 4},
	} {
		if got := lowerMedian(c.gaps); got != c.want {
			t.Errorf("of %v it is %v, want %v", c.gaps, got, c.want)
		}
	}
}
