package web

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestAScaleEndsAtARoundNumber(t *testing.T) {
	for atLeast, want := range map[time.Duration]time.Duration{
		0:                       60 * time.Millisecond,
		300 * time.Millisecond:  300 * time.Millisecond,
		5 * time.Second:         6 * time.Second,
		6 * time.Second:         6 * time.Second,
		6001 * time.Millisecond: 9 * time.Second,
		25 * time.Second:        30 * time.Second,
		61 * time.Second:        90 * time.Second,
		14 * time.Second:        15 * time.Second,
		4 * time.Minute:         6 * time.Minute,
		20 * time.Minute:        30 * time.Minute,
	} {
		if got := newScale(atLeast).end; got != want {
			t.Errorf("a scale for %v ends at %v, want %v", atLeast, got, want)
		}
	}
}

func TestTheAxisIsNumberedInSeconds(t *testing.T) {
	want := []tick{{"0.00%", "0"}, {"16.67%", "0.5"}, {"33.33%", "1"}, {"50.00%", "1.5"}, {"66.67%", "2"}, {"83.33%", "2.5 s"}}
	if diff := cmp.Diff(want, newScale(3*time.Second).Ticks); diff != "" {
		t.Errorf("ticks (-want +got):\n%s", diff)
	}
}

func TestOneLongExchangeDoesNotFlattenTheRest(t *testing.T) {
	exchanges := many(20)
	for _, x := range exchanges {
		x.End = span(2800)
	}
	exchanges[7].End = span(600_000)
	s := scaleOf(exchanges, noon)
	if s.end != 3*time.Second {
		t.Fatalf("the scale ends at %v", s.end)
	}
	if b := s.barOf(english, exchanges[7], *exchanges[7].End); !b.Cut {
		t.Error("the long bar is not marked as cut")
	}
	if b := s.barOf(english, exchanges[8], *exchanges[8].End); b.Cut {
		t.Error("a short bar is marked as cut")
	}
}

func TestABarLiesWithinItsScaleAndInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := anyExchange(t)
		s := newScale(time.Duration(rapid.IntRange(0, 9000).Draw(t, "scale")) * time.Millisecond)
		at := 0.0
		for _, r := range s.barOf(english, x, *x.End).Rects {
			from, width := percents(t, r.X), percents(t, r.Width)
			if from < at-0.02 || width < 0 || from+width > 100.02 {
				t.Fatalf("%s is drawn from %v, %v wide, after %v", r.Kind, from, width, at)
			}
			at = from + width
		}
	})
}

func percents(t *rapid.T, s string) float64 {
	v, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestABarHasItsPhasesInWords(t *testing.T) {
	x := seeded("x", time.Second, func(x *exchange.Exchange) { answered(x, 1000, 4000, 100) })
	s := newScale(6 * time.Second)
	if got, want := s.barOf(english, x, *x.End).Alt, "Network 55.0 ms, Wait 0.94 s, Decode 3.00 s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := s.barOf(chinese, x, *x.End).Alt, "网络 55.0 ms，等待 0.94 s，解码 3.00 s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAFailureIsMarkedWhereItsBarEnds(t *testing.T) {
	s := newScale(6 * time.Second)
	for outcome, want := range map[exchange.Outcome]string{
		exchange.OK: "", exchange.ClientAbort: "gone", exchange.UpstreamCut: "bad", exchange.Incomplete: "",
	} {
		x := seeded("x", time.Second, func(x *exchange.Exchange) {
			x.Outcome = outcome
			broken(x, 1000, 2000, 3000)
		})
		b := s.barOf(english, x, *x.End)
		if b.End != want || want != "" && b.EndX != "50.00%" {
			t.Errorf("%s is marked %q at %q", outcome, b.End, b.EndX)
		}
	}
}
