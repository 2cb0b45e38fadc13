package meter

import (
	"math"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/dialect"
	"github.com/ttftap/ttftap/proxy/exchange"
)

func near(got *float64, want float64) bool {
	if got == nil || math.IsNaN(want) {
		return got == nil && math.IsNaN(want)
	}
	return math.Abs(*got-want) <= 0.005*want
}

func TestRateIsTokensAfterTheFirstOverTheSpan(t *testing.T) {
	for _, c := range []struct {
		name    string
		script  script
		answer  *dialect.Answer
		want    float64
		quality string
	}{
		{"three tokens of the published example", script{}.run(3, 2840, 3120, word), usage(12, -1, 3), 7.1428, "noisy"},
		{"2,180 tokens of the published example", script{}.run(2180, 320, 48200, word), usage(12, -1, 2180), 45.51, "steady"},
		{"101 tokens in two seconds, prompt left out", script{}.run(101, 2000, 4000, word).at(4100, terminal), usage(1000, -1, 101), 50, "fair"},
		{"63 tokens are few", script{}.run(63, 1000, 7200, word), usage(12, -1, 63), 10, "noisy"},
		{"64 tokens are not", script{}.run(64, 1000, 7300, word), usage(12, -1, 64), 10, "fair"},
		{"499 tokens are fair", script{}.run(499, 1000, 10960, word), usage(12, -1, 499), 50, "fair"},
		{"500 tokens are steady", script{}.run(500, 1000, 10980, word), usage(12, -1, 500), 50, "steady"},
		{"a short span of few reads is noisy", script{}.run(19, 1000, 1400, out(dialect.Text, 0, 40)), usage(12, -1, 500), 1184, "noisy"},
		{"a short span of many is not", script{}.run(20, 1000, 1400, out(dialect.Text, 0, 40)), usage(12, -1, 500), 1187.5, "steady"},
		{"chunks are no tokens", script{}.run(5, 1000, 3000, out(dialect.Text, 0, 40)), usage(12, -1, 60), 24, "noisy"},
		{"one chunk more than tokens", script{}.run(10, 1000, 1900, word), usage(12, -1, 9), 8 / 0.9, "noisy"},
		{"two events in the first read", script{}.at(1000, word).run(9, 1000, 2000, word), usage(12, -1, 10), 8, "noisy"},
		{
			"by bytes where chunks differ",
			script{}.at(1000, out(dialect.Text, 0, 100)).at(2000, out(dialect.Text, 0, 20)).at(3000, out(dialect.Text, 0, 80)),
			usage(12, -1, 30), 7.5, "noisy",
		},
		{
			"reasoning that is seen belongs to it",
			script{}.run(51, 1000, 2000, thought).run(50, 2020, 3000, word), usage(12, -1, 101, 51), 50, "fair",
		},
		{
			"reasoning that is not seen does not",
			script{}.run(101, 9000, 11000, word), usage(12, -1, 741, 640), 50, "fair",
		},
		{
			"nor do summaries, wherever they come",
			script{}.run(4, 3800, 8000, summary).run(120, 9000, 10500, argument), usage(12, -1, 760, 640), 79.33, "fair",
		},
		{
			"nor the time of hidden reasoning in between",
			script{}.run(51, 1000, 2000, word).at(2000, opens(dialect.ReasoningItem, 1)).at(7000, closes(dialect.ReasoningItem, 1)).
				run(51, 7000, 8000, argument), usage(12, -1, 202, 100), 50.5, "fair",
		},
		{
			"nor that of a hosted tool",
			script{}.run(51, 1000, 2000, word).at(2000, opens(dialect.HostedTool, 1)).at(7000, closes(dialect.HostedTool, 1)).
				run(51, 7000, 8000, word), usage(12, -1, 102), 50.5, "fair",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := c.script.measure(c.answer)
			if !near(x.TokensPerSec, c.want) || x.RateQuality != c.quality {
				t.Fatalf("rate %v %q, want %v %q (delivery %s)", deref(x.TokensPerSec), x.RateQuality, c.want, c.quality, x.Delivery)
			}
			if tpot := x.TPOT.Seconds() * *x.TokensPerSec; math.Abs(tpot-1) > 1e-6 {
				t.Errorf("time per token %v is not the rate's inverse", x.TPOT)
			}
		})
	}
}

func deref(f *float64) float64 {
	if f == nil {
		return math.NaN()
	}
	return *f
}

func TestRateIsNilWhereItWouldMislead(t *testing.T) {
	hundred := script{}.run(100, 1000, 3000, word)
	for _, c := range []struct {
		name   string
		script script
		answer *dialect.Answer
		with   func(*exchange.Exchange)
	}{
		{name: "one token", script: script{}.run(2, 1000, 2000, word), answer: usage(12, -1, 1)},
		{name: "no tokens", script: hundred, answer: usage(12, -1, 0)},
		{name: "one read", script: script{}.at(1000, word).at(1000, word), answer: usage(12, -1, 2)},
		{name: "a span under 100 ms", script: script{}.run(100, 1000, 1099, word), answer: usage(12, -1, 100)},
		{name: "no usage", script: hundred, answer: &dialect.Answer{}},
		{name: "more than one choice", script: hundred, answer: func() *dialect.Answer { a := usage(12, -1, 100); a.Choices = 2; return a }()},
		{name: "a slow client", script: hundred, answer: usage(12, -1, 100), with: func(x *exchange.Exchange) { x.ClientWait = new(ms(201)) }},
		{name: "made before it was sent", script: hundred, answer: usage(12, -1, 100), with: func(x *exchange.Exchange) { x.ServerDecode = new(ms(9000)) }},
		{name: "bursts", script: script{}.run(3, 1000, 5000, out(dialect.Text, 0, 400)), answer: usage(12, -1, 300)},
		{name: "more reasoning than output", script: hundred, answer: usage(12, -1, 100, 120)},
		{name: "reasoning that nobody counted", script: hundred.at(3100, thought), answer: usage(12, -1, 100)},
		{name: "summaries alone", script: script{}.run(5, 1000, 9000, summary), answer: usage(12, -1, 900, 890)},
	} {
		t.Run(c.name, func(t *testing.T) {
			with := c.with
			if with == nil {
				with = func(*exchange.Exchange) {}
			}
			x := c.script.measure(c.answer, with)
			if x.TokensPerSec != nil || x.TPOT != nil || x.RateQuality != "" || x.RateLastOverFirst != nil {
				t.Errorf("rate %v, time per token %v, quality %q", deref(x.TokensPerSec), x.TPOT, x.RateQuality)
			}
		})
	}
	x := hundred.measure(usage(12, -1, 100), func(x *exchange.Exchange) { x.ClientWait = new(ms(200)) })
	if x.TokensPerSec == nil {
		t.Error("no rate though the client held up but a tenth of the span")
	}
}

func TestSlowingAnswerShowsInItsLastThird(t *testing.T) {
	slowing := script{}.run(201, 1000, 3000, word).run(101, 3020, 5000, word).run(50, 5040, 7000, word)
	for _, c := range []struct {
		name   string
		script script
		answer *dialect.Answer
		want   float64
	}{
		{"slowing", slowing, usage(12, -1, 352), 0.25},
		{"even", script{}.run(301, 1000, 7000, word), usage(12, -1, 301), 1},
		{"even around a hosted tool", script{}.run(151, 1000, 4000, word).at(4000, opens(dialect.HostedTool, 9)).
			at(8000, closes(dialect.HostedTool, 9)).run(150, 8020, 11000, word), usage(12, -1, 301), 1},
		{"too short to tell", script{}.run(299, 1000, 7000, word), usage(12, -1, 299), math.NaN()},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := c.script.measure(c.answer)
			if !near(x.RateLastOverFirst, c.want) {
				t.Errorf("last over first %v, want %v", deref(x.RateLastOverFirst), c.want)
			}
		})
	}
}

func TestTokensPerEventCountsWhatNCovers(t *testing.T) {
	for _, c := range []struct {
		name   string
		script script
		answer *dialect.Answer
		events int64
		want   float64
	}{
		{"several tokens a chunk", script{}.run(5, 1000, 3000, word), usage(12, -1, 60), 5, 12},
		{"summaries left out", script{}.run(10, 1000, 3000, summary).run(60, 4000, 6000, word), usage(12, -1, 700, 640), 70, 1},
		{"no usage", script{}.run(5, 1000, 3000, word), &dialect.Answer{}, 5, math.NaN()},
		{"only summaries", script{}.run(5, 1000, 3000, summary), usage(12, -1, 60, 50), 5, math.NaN()},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := c.script.measure(c.answer)
			if *x.OutputEvents != c.events || !near(x.TokensPerEvent, c.want) {
				t.Errorf("%d events, %v tokens each, want %d and %v", *x.OutputEvents, deref(x.TokensPerEvent), c.events, c.want)
			}
		})
	}
}

func TestHalvingKeepsTheFirstReadAndEveryByte(t *testing.T) {
	var rs reads
	for i := range 6 {
		e := out(dialect.Text, i, 10)
		rs.add(time.Duration(i), &e)
	}
	half := rs.halved()
	want := []struct {
		at    time.Duration
		bytes uint32
		last  int16
	}{{0, 10, 0}, {1, 20, 2}, {3, 20, 4}, {5, 10, 5}}
	if len(half) != len(want) {
		t.Fatalf("%d reads, want %d", len(half), len(want))
	}
	for i, w := range want {
		if r := half[i]; r.at != w.at || r.bytes != w.bytes || r.last.index != w.last {
			t.Errorf("read %d: %+v, want %+v", i, r, w)
		}
	}
}
