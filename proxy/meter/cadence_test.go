package meter

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/dialect"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// even is a cadence of n steps alike.
func even(step float64, first int64, n int, each exchange.Portion) *exchange.Cadence {
	c := &exchange.Cadence{Step: ms(step), First: exchange.Portion{Answer: first}}
	for range n {
		c.Steps = append(c.Steps, each)
	}
	return c
}

func TestTheCadenceIsTheBytesOfEachStep(t *testing.T) {
	answers := func(bytes int64) exchange.Portion { return exchange.Portion{Answer: bytes} }
	for _, c := range []struct {
		name   string
		script script
		answer *dialect.Answer
		want   *exchange.Cadence
	}{
		{
			"four words a step, and the last step ends with the last read",
			script{}.run(41, 1000, 2000, word), usage(9, -1, 41),
			even(100, 4, 10, answers(16)),
		},
		{
			"a step that has only begun",
			script{}.run(42, 1000, 2025, word), usage(9, -1, 42),
			&exchange.Cadence{Step: ms(100), First: answers(4), Steps: append(even(100, 0, 10, answers(16)).Steps, answers(4))},
		},
		{
			"steps of 200 ms where there would be too many",
			script{}.run(601, 1000, 16_000, word), usage(9, -1, 601),
			even(200, 4, 75, answers(32)),
		},
		{
			"no more steps than are kept",
			script{}.run(481, 1000, 13_000, word), usage(9, -1, 481),
			even(100, 4, 120, answers(16)),
		},
		{
			"reasoning that is shown is kept apart",
			script{}.run(20, 1000, 1475, thought).run(21, 1500, 2000, word), usage(9, -1, 41, 20),
			func() *exchange.Cadence {
				c := even(100, 0, 10, exchange.Portion{Reasoning: 16})
				c.First = exchange.Portion{Reasoning: 4}
				c.Steps[4] = exchange.Portion{Reasoning: 12, Answer: 4}
				for i := range c.Steps[5:] {
					c.Steps[5+i] = answers(16)
				}
				return c
			}(),
		},
		{
			"summaries are left out, before the answer and within",
			script{}.run(3, 1000, 8000, summary).run(41, 9000, 10_000, word).at(10_100, summary), usage(9, -1, 700, 659),
			even(100, 4, 10, answers(16)),
		},
		{
			"a gap",
			script{}.run(9, 1000, 1200, word).run(9, 1600.4, 1800.4, word), usage(9, -1, 18),
			&exchange.Cadence{
				Step: ms(100), First: answers(4),
				Steps: []exchange.Portion{answers(16), answers(16), {}, {}, {}, {}, answers(16), answers(16), answers(4)},
				Gaps:  []exchange.Gap{{From: ms(200), Took: ms(400)}},
			},
		},
		{
			"what a hosted tool took is no gap",
			script{}.run(9, 1000, 1200, word).at(1200, opens(dialect.HostedTool, 1)).at(1550, closes(dialect.HostedTool, 1)).
				run(9, 1575, 1775, word), usage(9, -1, 18),
			&exchange.Cadence{
				Step: ms(100), First: answers(4),
				Steps: []exchange.Portion{answers(16), answers(16), {}, {}, {}, answers(8), answers(16), answers(12)},
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := c.script.measure(c.answer)
			if diff := cmp.Diff(c.want, x.Cadence); diff != "" {
				t.Errorf("delivery %s (-want +got):\n%s", x.Delivery, diff)
			}
		})
	}
}

func TestArrivalsThatTellNothingOfDecodeHaveNoCadence(t *testing.T) {
	lump := out(dialect.Text, 0, 400)
	for name, s := range map[string]script{
		"single": script{}.at(1000, argument),
		"pseudo": script{}.run(10, 1000, 1010, lump),
		"bursty": script{}.run(3, 1000, 5000, lump),
		"none":   script{}.at(1000, nothing),
	} {
		if x := s.measure(usage(9, -1, 300)); x.Cadence != nil {
			t.Errorf("%s, delivery %s: %+v", name, x.Delivery, x.Cadence)
		}
	}
}

func TestOnlyTheLongestGapsAreKept(t *testing.T) {
	s := script{}.at(1000, word)
	at := 1000.
	for i := range 3 * mostGaps {
		s = s.run(20, at+20, at+400, word)
		at += 400 + 200 + 10*float64(i)
		s = s.at(at, word)
	}
	gaps := s.measure(usage(9, -1, 500)).Cadence.Gaps
	if len(gaps) != mostGaps {
		t.Fatalf("%d gaps", len(gaps))
	}
	for i, g := range gaps {
		if want := ms(200 + 10*float64(2*mostGaps+i)); g.Took != want {
			t.Errorf("gap %d took %v, want %v", i, g.Took, want)
		}
		if i > 0 && g.From <= gaps[i-1].From {
			t.Errorf("gap %d is out of order", i)
		}
	}
}

func TestTheCadenceHasAllOutputOfTheRateAndFewSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.OneOf(rapid.Custom(drawAny), rapid.Custom(drawPlain)).Draw(t, "stream")
		x := d.script.measure(d.answer, d.with)
		c := x.Cadence
		if c == nil {
			if x.TokensPerSec != nil {
				t.Fatal("a rate, and no cadence")
			}
			return
		}
		var bytes int64
		for _, st := range d.script {
			if st.Kind != 0 {
				bytes += int64(st.AnswerBytes)
			}
			if st.Kind != 0 && (!x.HidesReasoning() || x.AnswerStart == nil) {
				bytes += int64(st.ThoughtBytes)
			}
		}
		if c.Bytes() != bytes {
			t.Fatalf("%d bytes of %d", c.Bytes(), bytes)
		}
		took := *x.LastToken - *x.FirstToken
		if n := time.Duration(len(c.Steps)); n < 1 || n > mostSteps || (n-1)*c.Step >= took {
			t.Fatalf("%d steps of %v for %v", n, c.Step, took)
		}
		if len(c.Gaps) > mostGaps || len(c.Gaps) > 0 && *x.MaxGap < c.Gaps[0].Took-time.Millisecond {
			t.Fatalf("gaps %v, the longest %v", c.Gaps, *x.MaxGap)
		}
	})
}
