package figure

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestWhatIsNilIsADash(t *testing.T) {
	for name, got := range map[string]string{
		"duration": Duration(nil), "pause": Pause(nil), "count": Count(nil), "output": Output(nil, nil), "rate": Rate(nil, "noisy"),
	} {
		if got != "–" {
			t.Errorf("an unknown %s is %q", name, got)
		}
	}
}

func TestDurationsAreInMillisecondsThenInSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                            "0.0 ms",
		400 * time.Microsecond:       "0.4 ms",
		31 * time.Millisecond:        "31.0 ms",
		99_940 * time.Microsecond:    "99.9 ms",
		99_960 * time.Microsecond:    "0.10 s",
		1420 * time.Millisecond:      "1.42 s",
		9994 * time.Millisecond:      "9.99 s",
		9996 * time.Millisecond:      "10.0 s",
		192_940 * time.Millisecond:   "192.9 s",
		1_234_560 * time.Millisecond: "1,234.6 s",
		-1800 * time.Millisecond:     "−1.80 s",
		-500 * time.Microsecond:      "−0.5 ms",
		-1:                           "0.0 ms",
	} {
		if got := Duration(&d); got != want {
			t.Errorf("%d ns is told as %q, want %q", d, got, want)
		}
	}
}

func TestALongPauseIsToldRoughly(t *testing.T) {
	for d, want := range map[time.Duration]string{
		8200 * time.Millisecond:         "8.20 s",
		119 * time.Second:               "119.0 s",
		2 * time.Minute:                 "2 min",
		25*time.Minute + 29*time.Second: "25 min",
		119 * time.Minute:               "119 min",
		2 * time.Hour:                   "2 h",
		3000 * time.Hour:                "3,000 h",
	} {
		if got := Pause(&d); got != want {
			t.Errorf("%v is told as %q, want %q", d, got, want)
		}
	}
}

func TestCountsAndDecimalsAreGrouped(t *testing.T) {
	got := []string{
		Count(new(int64(1_234_567))), Count(new(int64(0))), Decimal(12_345.678, 1), Decimal(98.780845, 2), Decimal(3, 0),
		Decimal(-0.004, 2), Decimal(-7204.96, 1),
	}
	want := []string{"1,234,567", "0", "12,345.7", "98.78", "3", "0.00", "−7,205.0"}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %q, want %q", got[i], want[i])
		}
	}
}

func TestAnEstimateHasATilde(t *testing.T) {
	reported, estimated := new(int64(1_234)), new(int64(1_200))
	if got := [...]string{Output(nil, estimated), Output(reported, estimated), Output(reported, nil)}; got != [...]string{"~1,200", "1,234", "1,234"} {
		t.Errorf("got %q", got)
	}
}

func TestANoisyRateHasATilde(t *testing.T) {
	for quality, want := range map[string]string{"": "45.5 tokens/s", "fair": "45.5 tokens/s", "noisy": "~45.5 tokens/s"} {
		if got := Rate(new(45.46), quality); got != want {
			t.Errorf("%q: got %q, want %q", quality, got, want)
		}
	}
}

func TestOnlyNothingIsZeroPerCentAndOnlyAllAHundred(t *testing.T) {
	for share, want := range map[float64]string{
		0: "0 %", 0.0001: "< 1 %", 0.01: "1 %", 0.5: "50 %", 0.714: "71 %", 0.99: "99 %", 0.9999: "> 99 %", 1: "100 %",
	} {
		if got := Percent(share); got != want {
			t.Errorf("%v is told as %q, want %q", share, got, want)
		}
	}
}

func TestAShareAndItsRestAreTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := rapid.Int64Range(1, 1_000_000).Draw(t, "whole")
		n := rapid.Int64Range(0, whole).Draw(t, "part")
		part, rest := Percents(float64(n) / float64(whole))
		if part == "< 1 %" && rest == "> 99 %" || part == "> 99 %" && rest == "< 1 %" {
			return
		}
		p, err := strconv.Atoi(strings.TrimSuffix(part, " %"))
		q, err2 := strconv.Atoi(strings.TrimSuffix(rest, " %"))
		if err != nil || err2 != nil || p+q != 100 {
			t.Fatalf("%d of %d: %q and %q", n, whole, part, rest)
		}
	})
}

func TestADurationIsNoFurtherOffThanItsLastDigit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, int64(24*time.Hour)).Draw(t, "duration"))
		text, unit, _ := strings.Cut(Duration(&d), " ")
		v, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
		if err != nil {
			t.Fatal(err)
		}
		of := map[string]time.Duration{"ms": time.Millisecond, "s": time.Second}[unit]
		_, decimals, _ := strings.Cut(text, ".")
		half := math.Pow(10, -float64(len(decimals))) / 2
		if off := math.Abs(v - float64(d)/float64(of)); off > half*1.001 {
			t.Fatalf("%v is told as %s %s", d, text, unit)
		}
	})
}
