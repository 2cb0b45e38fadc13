package web

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// drawn is an answer of 41 tokens from 1 to 2 s, 164 bytes in ten equal steps.
func drawn(set func(*exchange.Exchange)) *exchange.Exchange {
	return seeded("x", time.Minute, func(x *exchange.Exchange) {
		answered(x, 1000, 2000, 41)
		paced(x, 100, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16)
		set(x)
	})
}

// measure reads what a picture is laid out by: percent, or pixels.
func measure(s string) float64 {
	v, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

func titles(c *cadence) []string {
	var all []string
	for _, b := range c.Bars {
		all = append(all, b.Title)
	}
	return all
}

func TestABarIsItsShareOfTheTokens(t *testing.T) {
	c := cadenceOf(english, drawn(func(x *exchange.Exchange) {
		x.Cadence.Steps[3].Answer, x.Cadence.Steps[4].Answer = 0, 32
	}))
	want := []string{
		"1.00 s: 40.0 tokens/s", "1.10 s: 40.0 tokens/s", "1.20 s: 40.0 tokens/s", "1.30 s: 0.0 tokens/s", "1.40 s: 80.0 tokens/s",
		"1.50 s: 40.0 tokens/s", "1.60 s: 40.0 tokens/s", "1.70 s: 40.0 tokens/s", "1.80 s: 40.0 tokens/s", "1.90 s: 40.0 tokens/s",
	}
	if diff := cmp.Diff(want, titles(c)); diff != "" {
		t.Errorf("bars (-want +got):\n%s", diff)
	}
	if c.Unit != "tokens per second as they came, in steps of 0.1 s" {
		t.Errorf("unit %q", c.Unit)
	}
	if want := "Output from 1.00 s to 2.00 s: 40.0 tokens/s on average, in single steps from 0.0 tokens/s to 80.0 tokens/s."; c.Alt != want {
		t.Errorf("in words %q, want %q", c.Alt, want)
	}
	if len(c.Bars[3].Rects) != 0 || c.Bars[4].Rects[0].Kind != decode {
		t.Errorf("rectangles %v, %v", c.Bars[3].Rects, c.Bars[4].Rects)
	}
}

func TestWithoutARateBytesAreDrawnAndCalledSo(t *testing.T) {
	c := cadenceOf(english, drawn(func(x *exchange.Exchange) {
		x.OutputTokens, x.TokensPerSec, x.TPOT, x.RateQuality = nil, nil, nil, ""
	}))
	if c.Bars[0].Title != "1.00 s: 160 B/s" || !strings.HasPrefix(c.Unit, "bytes of output per second") || strings.Contains(c.Alt, "tokens/s") {
		t.Errorf("%q, %q, %q", c.Bars[0].Title, c.Unit, c.Alt)
	}
}

func TestAFewTokensAreSaidToBeAHintOnly(t *testing.T) {
	c := cadenceOf(english, drawn(func(x *exchange.Exchange) { x.RateQuality = "noisy" }))
	if !strings.HasSuffix(c.Unit, ", short sample, a hint only") {
		t.Errorf("unit %q", c.Unit)
	}
}

func TestReasoningThatWasShownStandsBelowTheAnswer(t *testing.T) {
	c := cadenceOf(english, drawn(func(x *exchange.Exchange) {
		x.Reasoning, x.ReasoningTokens = "visible", new(int64(10))
		x.Cadence.Steps[0] = exchange.Portion{Reasoning: 16}
		x.Cadence.Steps[1] = exchange.Portion{Reasoning: 4, Answer: 12}
	}))
	want := [][]kind{{reasoning}, {reasoning, decode}, {decode}}
	for i, kinds := range want {
		var got []kind
		for _, r := range c.Bars[i].Rects {
			got = append(got, r.Kind)
		}
		if diff := cmp.Diff(kinds, got); diff != "" {
			t.Errorf("bar %d (-want +got):\n%s", i, diff)
		}
	}
	if lower, upper := c.Bars[1].Rects[0], c.Bars[1].Rects[1]; !(measure(lower.Y) > measure(upper.Y)) {
		t.Errorf("reasoning at %s px, the answer at %s px", lower.Y, upper.Y)
	}
}

func TestALateTokenIsNoSpurt(t *testing.T) {
	for name, test := range map[string]struct {
		last float64
		want string
	}{
		"hardly begun":  {2020, "1.90 s: 41.7 tokens/s"},
		"half over":     {2050, "2.00 s: 20.0 tokens/s"},
		"nearly over":   {2090, "2.00 s: 11.1 tokens/s"},
		"beyond itself": {2400, "2.00 s: 10.0 tokens/s"}, // summaries came after the answer
	} {
		x := drawn(func(x *exchange.Exchange) {
			x.Cadence.Steps = append(x.Cadence.Steps, exchange.Portion{Answer: 4})
			x.LastToken, x.OutputTokens = span(test.last), new(int64(42))
		})
		if got := titles(cadenceOf(english, x)); got[len(got)-1] != test.want {
			t.Errorf("%s: the last bar is %q, want %q", name, got[len(got)-1], test.want)
		}
	}
}

func TestReasoningBeforeTheAnswerIsVeiledAndNeverMostOfThePicture(t *testing.T) {
	for _, test := range []struct {
		hidden      float64
		width, word string
		cut         bool
	}{
		{0, "", "", false},
		{250, "20.00%", "0.25 s of reasoning, not shown", false},
		{500, "33.33%", "0.50 s of reasoning, not shown", false},
		{900, "33.33%", "0.90 s of reasoning, not shown", true},
	} {
		x := drawn(func(x *exchange.Exchange) {})
		if test.hidden > 0 {
			x.Reasoning, x.ReasoningTokens, x.HiddenDecode = "hidden", new(int64(20)), span(test.hidden)
		}
		c := cadenceOf(english, x)
		if c.Hidden == nil {
			if test.width != "" || c.Bars[0].Rects[0].X != "0.00%" {
				t.Errorf("%v ms hidden are not drawn", test.hidden)
			}
			continue
		}
		if c.Hidden.Width != test.width || c.Hidden.Word != test.word || c.Hidden.Cut != test.cut || c.Bars[0].Rects[0].X != test.width {
			t.Errorf("%v ms hidden: %+v, the first bar at %s", test.hidden, *c.Hidden, c.Bars[0].Rects[0].X)
		}
	}
}

func TestSummariesBeforeTheAnswerMoveItsStart(t *testing.T) {
	x := drawn(func(x *exchange.Exchange) {
		x.Reasoning, x.ReasoningTokens = "summary", new(int64(20))
		x.FirstReasoning, x.FirstToken = span(400), span(400)
	})
	if c := cadenceOf(english, x); !strings.HasPrefix(c.Bars[0].Title, "1.00 s: ") {
		t.Errorf("the first bar is %q", c.Bars[0].Title)
	}
}

func TestGapsAreMarkedAndTellTheirLengthWhereThereIsRoom(t *testing.T) {
	x := drawn(func(x *exchange.Exchange) {
		for _, from := range []float64{300, 380, 700, 950} {
			x.Cadence.Gaps = append(x.Cadence.Gaps, exchange.Gap{From: *span(from), Took: 40 * time.Millisecond})
		}
	})
	var got []string
	for _, g := range cadenceOf(english, x).Gaps {
		got = append(got, g.X+" "+g.Width+" "+g.Word)
	}
	want := []string{"30.00% 4.00% 40.0 ms gap", "38.00% 4.00% ", "70.00% 4.00% 40.0 ms gap", "95.00% 4.00% "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("gaps (-want +got):\n%s", diff)
	}
}

func TestBothScalesHaveFewRoundMarks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.Float64Range(1, 1e6).Draw(t, "from")
		took := rapid.Float64Range(100, 1e7).Draw(t, "took")
		x := drawn(func(x *exchange.Exchange) { x.FirstToken, x.LastToken = span(from), span(from+took) })
		x.Cadence.Step = *span(math.Ceil(took / 10))
		bytes := rapid.Int64Range(1, 1e6)
		for i := range x.Cadence.Steps {
			x.Cadence.Steps[i].Answer = bytes.Draw(t, "bytes")
		}
		c := cadenceOf(english, x)
		if n := len(c.Levels); n < 3 || n > 6 {
			t.Fatalf("%d levels: %v", n, c.Levels)
		}
		if n := len(c.Ticks); n < 2 || n > 8 {
			t.Fatalf("%d ticks: %v", n, c.Ticks)
		}
	})
}

func TestTheBarsFillThePictureAndMakeUpTheRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 120).Draw(t, "steps")
		part := rapid.Float64Range(0.01, 1).Draw(t, "last step")
		var bytes []int64
		sum := int64(4)
		for range n {
			b := rapid.Int64Range(0, 500).Draw(t, "bytes")
			bytes, sum = append(bytes, b), sum+b
		}
		took := 100 * (float64(n-1) + part)
		x := drawn(func(x *exchange.Exchange) {
			answered(x, 1000, 1000+took, sum) // a token a byte, four of them before the span
			paced(x, 100, bytes...)
		})
		c := cadenceOf(english, x)
		if c == nil && took >= 100 {
			t.Fatal("nothing is drawn")
		}
		if c == nil {
			return
		}
		area, p := 0., newPlot(x)
		at := p.from
		for i, piece := range p.pieces {
			for _, r := range c.Bars[i].Rects {
				if y, height := measure(r.Y), measure(r.Height); !(y >= plotTop-0.1 && y+height <= plotTop+plotHeight+0.1) {
					t.Fatalf("bar %d from %v to %v px", i, y, y+height)
				}
				if r.X != p.at(at) {
					t.Fatalf("bar %d at %s, want %s", i, r.X, p.at(at))
				}
			}
			at += piece.took
			area += p.rate(piece, piece.Bytes()) * piece.took.Seconds()
		}
		if at != p.to || math.Abs(area-float64(sum-4)) > 1e-3*float64(sum) {
			t.Fatalf("the bars end at %v and hold %v of %d tokens", at, area, sum-4)
		}
	})
}

func TestWhereThereIsNoPictureItIsSaidWhy(t *testing.T) {
	const arrivals, unkept = "When it came says nothing", "an older version recorded it"
	for _, test := range []struct {
		name string
		set  func(*exchange.Exchange)
		want string
	}{
		{"pseudo", func(x *exchange.Exchange) { x.Delivery = exchange.Pseudo }, arrivals},
		{"single", func(x *exchange.Exchange) { x.Delivery = exchange.Single }, arrivals},
		{"bursty", func(x *exchange.Exchange) { x.Delivery = exchange.Bursty }, arrivals},
		{"a whole body", func(x *exchange.Exchange) { x.Delivery = exchange.NotStreamed }, arrivals},
		{"an old row", func(x *exchange.Exchange) { x.Cadence, x.OutputEvents = nil, new(int64(41)) }, unkept},
		{"too short to draw", func(x *exchange.Exchange) { x.LastToken = span(1090) }, ""},
	} {
		x := drawn(func(*exchange.Exchange) {})
		test.set(x)
		v := arrivalsOf(english, x)
		for _, reason := range []string{arrivals, unkept} {
			if strings.Contains(v.Said, reason) != (reason == test.want) {
				t.Errorf("%s: %q", test.name, v.Said)
			}
		}
		if v.Cadence != nil {
			t.Errorf("%s is drawn", test.name)
		}
	}
	if v := arrivalsOf(english, ended()); v != nil {
		t.Errorf("of no output it is said that %q", v.Said)
	}
}

func TestSilencesThatStandOutAreListedInPlaceOfTheLongestGap(t *testing.T) {
	x := conversation()[3]
	for l, want := range map[language]string{
		english: "Streamed as it was generated. Silences over five times the usual gap: 0.26 s at 8.66 s.",
		chinese: "边生成边返回。超过平时间隔五倍的停顿：0.26 s（8.66 s 处）。",
	} {
		if got := arrivalsOf(l, x).Said; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
