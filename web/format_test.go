package web

import (
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
)

func TestDurationsHaveThreeDigitsAtMost(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                               "0.00ms",
		400 * time.Microsecond:          "0.40ms",
		31 * time.Millisecond:           "31.0ms",
		99_940 * time.Microsecond:       "99.9ms",
		99_960 * time.Microsecond:       "0.10s",
		1420 * time.Millisecond:         "1.42s",
		9994 * time.Millisecond:         "9.99s",
		9996 * time.Millisecond:         "10.0s",
		192_900 * time.Millisecond:      "193s",
		999_600 * time.Millisecond:      "16.7min",
		20 * time.Hour:                  "20.0h",
		59*time.Minute + 59*time.Second: "60.0min",
	} {
		if q := seconds(&d); q.Value+q.Unit != want {
			t.Errorf("%v is shown as %q %q, want %q", d, q.Value, q.Unit, want)
		}
	}
}

func TestFullPrecisionIsKeptInTitles(t *testing.T) {
	d := 1_234_567_891 * time.Nanosecond
	if got, want := milliseconds(d), "1,234.568"; got != want {
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
	if millisecondsOr(nil) != figure.Unknown {
		t.Error("an unknown instant is not shown as a dash")
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

func TestFiguresAreRoundedAlikeEverywhere(t *testing.T) {
	v, d := 98.780845, 98_780_845*time.Nanosecond
	x := ended()
	x.TokensPerSec, x.RateLastOverFirst, x.TPOT = &v, &v, &d
	facts := pairs(rateList(english, x))
	for got, want := range map[string]string{
		facts["Decode rate"]: "98.8 tokens/s|", facts["last third / first"]: "98.78|", facts["per token (TPOT)"]: "98.8 ms|",
		rate(&v, "").Title: "98.781 tokens/s", rate(&v, "").Value: "99", seconds(&d).Value: "98.8", milliseconds(d): "98.781",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
