package web

import (
	"testing"
	"time"
)

func TestDurationsHaveThreeDigitsAtMost(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                               "0.00 ms",
		400 * time.Microsecond:          "0.40 ms",
		31 * time.Millisecond:           "31.0 ms",
		99 * time.Millisecond:           "99.0 ms",
		99_600 * time.Microsecond:       "0.10 s",
		1420 * time.Millisecond:         "1.42 s",
		9994 * time.Millisecond:         "9.99 s",
		9996 * time.Millisecond:         "10.0 s",
		11_434 * time.Millisecond:       "11.4 s",
		192_900 * time.Millisecond:      "193 s",
		999_600 * time.Millisecond:      "16.7 min",
		20 * time.Hour:                  "20.0 h",
		-1800 * time.Millisecond:        "−1.80 s",
		-500 * time.Microsecond:         "−0.50 ms",
		59*time.Minute + 59*time.Second: "60.0 min",
	} {
		if got := inWords(d); got != want {
			t.Errorf("inWords(%d ns) = %q, want %q", d, got, want)
		}
	}
}

func TestFullPrecisionIsKeptInTitles(t *testing.T) {
	d := 1_234_567_891 * time.Nanosecond
	if got, want := milliseconds(d), "1,234.567"; got != want {
		t.Errorf("milliseconds = %q, want %q", got, want)
	}
	if got, want := toTheMillisecond(d), "1.235"; got != want {
		t.Errorf("toTheMillisecond = %q, want %q", got, want)
	}
	if got, want := tokens(new(int64(96_210))).Title, "96,210"; got != want {
		t.Errorf("title of tokens = %q, want %q", got, want)
	}
}

func TestCountsHaveThreeDigitsAtMost(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1.00k", 2522: "2.52k", 9996: "10.0k", 96_210: "96.2k",
		999_400: "999k", 999_600: "1.00M", 7_100_000: "7.10M", 2_000_000_000: "2.00G",
	} {
		q := tokens(&n)
		if got := q.Value + q.Unit; got != want {
			t.Errorf("tokens(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestAnUnknownFigureIsNoNumber(t *testing.T) {
	zero := quantity{}
	for name, q := range map[string]quantity{"duration": seconds(nil), "tokens": tokens(nil), "rate": rate(nil, "steady")} {
		if q != zero {
			t.Errorf("an unknown %s is shown as %+v", name, q)
		}
	}
	if count(nil) != nothing || millisecondsOr(nil) != nothing {
		t.Error("an unknown count or instant is not shown as a dash")
	}
}

func TestANoisyRateIsMarkedAndFaint(t *testing.T) {
	noisy, steady := rate(new(7.14), "noisy"), rate(new(45.5), "steady")
	if noisy.Value != "~7.1" || !noisy.Faint {
		t.Errorf("noisy rate is shown as %+v", noisy)
	}
	if steady.Value != "46" || steady.Faint {
		t.Errorf("steady rate is shown as %+v", steady)
	}
}

func TestOnlyNothingIsZeroPerCentAndOnlyAllAHundred(t *testing.T) {
	for share, want := range map[float64]string{
		0: "0 %", 0.0001: "1 %", 0.5: "50 %", 0.714: "71 %", 0.9999: "99 %", 1: "100 %",
	} {
		if got := percent(share); got != want {
			t.Errorf("percent(%v) = %q, want %q", share, got, want)
		}
	}
}
