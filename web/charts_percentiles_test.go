package web

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestOneInAHundredIsToldOfAHundred(t *testing.T) {
	for n, shown := range map[int]bool{p99Least - 1: false, p99Least: true} {
		all := crowd(n)
		for i := range all {
			all[i].Model, all[i].FirstToken = "m", new(time.Duration(i+1)*10*time.Millisecond)
		}
		ch := gathered(all).percentileChart(onCanvas(query{}))
		first := ch.Picture.Ranges[0]
		if (first.P99 != "") != shown || strings.Contains(first.Title, "p99") != shown {
			t.Errorf("of %d: %+v", n, first)
		}
		if said := strings.Contains(strings.Join(ch.Notes, ""), "p99 from 100 requests on."); said == shown {
			t.Errorf("of %d: that it is hidden is said: %v", n, said)
		}
		if want := "TTFT · m · p50 0.5"; !strings.HasPrefix(first.Title, want) {
			t.Errorf("%q, want %q", first.Title, want)
		}
		if first.URL != "/-/?model=m" {
			t.Errorf("leads to %s", first.URL)
		}
	}
}

func TestALogScaleHoldsAllAndItsTicksAreRound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.Custom(func(t *rapid.T) float64 { return math.Pow(10, rapid.Float64Range(-3, 5).Draw(t, "exponent")) })
		least := seconds.Draw(t, "p50")
		most := max(least, seconds.Draw(t, "p90"))
		s := newLogScale([]spread{{n: 1, p50: least, p90: most}})
		if s.lo > least*(1+nearly) || s.hi < most*(1-nearly) || s.hi <= s.lo {
			t.Fatalf("%v to %v for %v to %v", s.lo, s.hi, least, most)
		}
		if s.lo < least/2.51 || s.hi > max(most, s.lo)*2.51 {
			t.Fatalf("%v to %v is too wide for %v to %v", s.lo, s.hi, least, most)
		}
		ticks := s.ticks()
		if len(ticks) == 0 || len(ticks) > 10 {
			t.Fatalf("%d ticks from %v to %v", len(ticks), s.lo, s.hi)
		}
		for _, tick := range ticks {
			if digits := strings.Trim(strings.TrimSuffix(tick.Label, " s"), "0."); digits != "1" && digits != "2" && digits != "5" {
				t.Fatalf("a tick is %q", tick.Label)
			}
		}
	})
}

func TestModelsThatAreNotShownAreCounted(t *testing.T) {
	all := crowd(60)
	for i := range all {
		all[i].Model = string(rune('a' + i%6))
	}
	cv := onCanvas(query{})
	cv.full = false
	ch := gathered(all).percentileChart(cv)
	if n := len(ch.Picture.Ranges); n != 8 || !strings.Contains(strings.Join(ch.Notes, " "), "2 more, with fewer requests, are not shown.") {
		t.Errorf("%d ranges, %q", n, ch.Notes)
	}
}
