package experiment

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestTwoRunsAreComparedArmByArm(t *testing.T) {
	slow := quiet()
	slow.floor = 900
	crossed := quiet()
	crossed.floor, crossed.perK = 900, 10
	noisy := quiet()
	noisy.noise, noisy.rand = 0.4, seeded(9)
	longer := func(_ int, a *asked) { a.prompt = a.prompt * 3 / 2 }
	before := found(quiet(), ladder(5), nil)
	for _, c := range []struct {
		name  string
		after *Report
		found Finding
		says  string
	}{
		{"slower", found(slow, ladder(5), nil), Slower, `In "100": First token: "E" (0.97 s) is higher than "E" (0.19 s) by 0.78 s (0.78 s to 0.78 s), 411 %.`},
		{"the same", found(quiet(), ladder(6), nil), Same, "no difference beyond 5 %"},
		{"some slower, some faster", found(crossed, ladder(5), nil), Unresolved, "some are faster, some slower"},
		{"noisy", found(noisy, ladder(5), nil), Unresolved, "More rounds would tell."},
		{"too few", found(slow, ladder(4), nil), Unresolved, "five rounds at least would tell"},
		{"longer prompts", found(quiet(), ladder(5), longer), Slower, `The prompts of "3000" differ: 3,000 tokens in the median, then 4,500. That alone makes a difference.`},
		{"nothing in common", found(quiet(), planned(Ladder, 5, ladderOf("large", 50, 500)...), nil), Unresolved, "have no arm in common"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Compare(before, c.after)
			if got.Found[0] != c.found || !strings.Contains(got.Markdown("en"), c.says) {
				t.Errorf("%s: %s", got.Found[0], got.Markdown("en"))
			}
		})
	}
}

func TestTimeRangesAreComparedModelByModel(t *testing.T) {
	rows := func(w *world) []*exchange.Exchange {
		return changed(w.rows(planned(Load, 6, armsOf("a", "b")...), nil), func(i int, x *exchange.Exchange) {
			x.Step, x.Experiment, x.ModelRequested = nil, "", []string{"large", "light"}[i%2]
			x.RateQuality, x.TokensPerSec = exchange.SteadyRate, new(50.0)
		})
	}
	slow := quiet()
	slow.floor = 900
	warm := quiet().answer(asked{step: 99, prompt: 9_000_000, output: 8})
	warm.MarkPrewarm()
	before := Range("-2d..-1d", append(rows(quiet()), warm))
	after := rows(slow)
	slices.Reverse(after)
	got := Compare(before, Range("-1d..", after))
	if got.Found[0] != Slower || len(got.Arms) != 2 || len(got.Arms[0].Changes) != 3 {
		t.Errorf("%+v", got)
	}
	if rate := got.Arms[1].Changes[2]; rate.Figure != Rate || rate.Resolution != NoChange {
		t.Errorf("the rate is %+v", rate)
	}
	if before.Sent != 12 || before.Kind != Observed || !before.StartedAt.Equal(noon) {
		t.Errorf("%d requests of kind %s from %v", before.Sent, before.Kind, before.StartedAt)
	}
	if empty := Range("-9d..-8d", nil); empty.Sent != 0 || len(Compare(empty, before).Arms) != 0 {
		t.Errorf("%+v", empty)
	}
}

func TestATimeRangeHasPromptsOfAllLengthsAndNoSpikes(t *testing.T) {
	var xs []*exchange.Exchange
	for i := range 20 {
		x := quiet().answer(asked{step: i, prompt: 100 + int64(i)*int64(i)*400, output: 8})
		x.Step = nil
		xs = append(xs, x)
	}
	for _, s := range Range("-1h..", xs).Samples {
		if s.Over != nil {
			t.Errorf("%+v", s)
		}
	}
}

func TestAFasterDecodeIsFaster(t *testing.T) {
	rates := func(v float64) *Estimate { return middle(slices.Repeat([]float64{v}, 6)) }
	quick := newChange(rates(40), rates(60), *rates(20))
	quick.Figure = Rate
	late := newChange(rates(40), rates(60), *rates(20))
	late.Figure = TTFT
	if quick.found() != Faster || late.found() != Slower {
		t.Errorf("a rate is %s, a time %s", quick.found(), late.found())
	}
}

func burst(w *world, delayed ...int) *Report {
	arms := armsOf("with nonce")
	arms[0].PromptTokens = 100
	p := planned(Burst, 10, arms...)
	return Find(runOf(p), changed(w.rows(p, nil), func(i int, x *exchange.Exchange) {
		if slices.Contains(delayed, i) {
			delay(x, 12*time.Second)
		}
	}))
}

func TestSeveralExperimentsHaveOneVerdict(t *testing.T) {
	dear := quiet()
	dear.perK = 4000
	even := quiet()
	even.perK = 1000
	hidden := Find(runOf(ladder(5)), changed(quiet().rows(ladder(5), nil), func(_ int, x *exchange.Exchange) { x.Reasoning = exchange.HiddenReasoning }))
	told := func(p Plan) *Report {
		return Find(runOf(p), changed(quiet().rows(p, nil), func(_ int, x *exchange.Exchange) {
			delay(x, 3*time.Second)
			x.ServerQueue = new(3 * time.Second)
		}))
	}
	for _, c := range []struct {
		name    string
		reports []*Report
		found   Finding
		says    string
	}{
		{"prefill and decode", []*Report{found(quiet(), ladder(5), nil), burst(quiet()), shaped()}, FoundPrefill, "Decode costs 20.0 ms (20.0 ms to 20.0 ms) a token, so an answer of 1,000 tokens takes 20.0 s."},
		{"a queue that is worse than prefill", []*Report{found(quiet(), ladder(5), nil), burst(quiet(), 2, 5)}, FoundQueue, "Queue: like prompts waited very differently."},
		{"prefill that is worse than a queue", []*Report{found(dear, ladder(5), nil), burst(quiet(), 2, 5)}, FoundPrefill, "Queue: like prompts"},
		{"neither much worse", []*Report{found(even, ladder(5), nil), burst(quiet(), 2, 5)}, Unresolved, "a queue that comes and goes takes 2.40 s on average, and of a long prompt's first token prefill is 3.00 s"},
		{"a queue that the server tells of", []*Report{told(ladder(5)), told(planned(Burst, 10, armsOf("with nonce")...))}, FoundQueue, "Queue is the largest part by the server's own timing"},
		{"a burst alone", []*Report{burst(quiet())}, FoundFloor, "What decode costs is not resolved"},
		{"reasoning that is not shown", []*Report{hidden}, HiddenReasoning, "reasoning that is not shown"},
		{"neither ladder nor burst", []*Report{cached()}, Unresolved, "that takes a ladder or a burst"},
		{"nothing", nil, Unresolved, "that takes a ladder or a burst"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Join(c.reports)
			if got.Found[0] != c.found || !strings.Contains(got.Markdown("en"), c.says) || len(got.IDs) != len(c.reports) || twice(got.Parts) {
				t.Errorf("%v: %s", got.Found, got.Markdown("en"))
			}
		})
	}
}

// twice says whether a part is counted more than once.
func twice(parts []Part) bool {
	seen := make(map[Finding]bool)
	for _, p := range parts {
		if seen[p.Of] {
			return true
		}
		seen[p.Of] = true
	}
	return false
}
