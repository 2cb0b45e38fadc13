package experiment

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// quiet is a world without noise, queue or drift; network a little way off.
func quiet() *world { return &world{network: 40, floor: 120, perK: 300, tpot: 20} }

// found is what a plan finds in a world.
func found(w *world, p Plan, adapt func(arm int, a *asked)) *Report {
	return Find(runOf(p), w.rows(p, adapt))
}

// promise is what one made-up experiment must find and say.
type promise struct {
	name  string
	got   *Report
	found []Finding
	says  []string // parts of the verdict and of what else is told, in English
}

func (p promise) check(t *testing.T) {
	t.Helper()
	if !slices.Equal(p.got.Found, p.found) {
		t.Errorf("found %v, want %v", p.got.Found, p.found)
	}
	all := p.got.Verdict.En
	for _, s := range p.got.Says {
		all += "\n" + s.En
	}
	for _, c := range p.got.Checks {
		all += "\n" + c.Sentence.En
	}
	for _, s := range p.says {
		if !strings.Contains(all, s) {
			t.Errorf("%q is not in\n%s", s, all)
		}
	}
}

func ladder(rounds int) Plan { return planned(Ladder, rounds, ladderOf("large", 100, 1000, 3000)...) }

// changed are rows of which some are not as the world has them.
func changed(xs []*exchange.Exchange, change func(i int, x *exchange.Exchange)) []*exchange.Exchange {
	for i, x := range xs {
		change(i, x)
		x.Derive()
	}
	return xs
}

func TestALadderTellsWhatTheFirstTokenIsMadeOf(t *testing.T) {
	near := quiet()
	far := &world{network: 900, floor: 120, perK: 50, tpot: 20}
	slow := &world{network: 40, floor: 1500, perK: 50, tpot: 20}
	bent := &world{network: 40, floor: 120, perK: 100, knee: 1000, beyond: 300, tpot: 20}
	equal := &world{network: 40, floor: 300, perK: 100, tpot: 20, noise: 0.05, rand: seeded(1)}
	reverse := planned(Ladder, 5, ladderOf("large", 3000, 100, 1000)...)
	queued := changed(near.rows(ladder(5), nil), func(i int, x *exchange.Exchange) {
		delay(x, 3*time.Second)
		x.ServerQueue, x.ServerSource = new(3*time.Second), "test"
	})
	hidden := changed(near.rows(ladder(5), nil), func(_ int, x *exchange.Exchange) { x.Reasoning = exchange.HiddenReasoning })
	held := changed(near.rows(ladder(5), nil), func(_ int, x *exchange.Exchange) { x.Delivery = exchange.Pseudo })
	little := changed(near.rows(ladder(5), nil), func(_ int, x *exchange.Exchange) {
		x.Reasoning, x.ReasoningTokens, x.HiddenDecode = exchange.HiddenReasoning, new(int64(1)), new(20*time.Millisecond)
		x.AnswerStart = x.FirstToken
	})
	uncounted := changed(near.rows(ladder(5), nil), func(_ int, x *exchange.Exchange) { x.CachedTokens = nil })
	for _, p := range []promise{
		{"prefill", found(near, ladder(5), nil), []Finding{FoundPrefill}, []string{
			"The first token after 3,000 uncached tokens took 1.06 s (1.06 s to 1.06 s): prefill 0.90 s (0.90 s to 0.90 s), fixed start 0.12 s (0.12 s to 0.12 s), network 40.0 ms",
			"large: a start of 0.12 s (0.12 s to 0.12 s), then 0.30 s (0.30 s to 0.30 s) for 1,000 uncached tokens.",
		}},
		{"in any order of lengths", found(near, reverse, nil), []Finding{FoundPrefill}, []string{"The first token after 3,000 uncached tokens took 1.06 s"}},
		{"network", found(far, ladder(5), nil), []Finding{FoundNetwork}, []string{"The network is the largest part"}},
		{"floor", found(slow, ladder(5), nil), []Finding{FoundFloor}, []string{"The fixed start is the largest part"}},
		{"a bend", found(bent, ladder(5), nil), []Finding{FoundPrefill, FoundKnee}, []string{
			"From 1,000 tokens on the line is steeper: 0.40 s (0.40 s to 0.40 s) for 1,000, against 0.10 s (0.10 s to 0.10 s) up to there.",
		}},
		{"a queue that the server tells of", Find(runOf(ladder(5)), queued), []Finding{FoundQueue}, []string{"Queue is the largest part by the server's own timing", "queue 3.00 s"}},
		{"two parts as large", found(equal, ladder(6), nil), []Finding{Unresolved}, []string{"Not resolved which of them is the largest: more rounds, or longer prompts, would tell."}},
		{"two parts as large, in many rounds", found(equal, ladder(10), nil), []Finding{Unresolved}, []string{"longer prompts would tell, or they are as good as equal."}},
		{"too few rounds", found(near, ladder(3), nil), []Finding{Unresolved}, []string{"prefill 0.90 s, fixed start 0.12 s", "Too few rounds for intervals: 3"}},
		{"one length", found(near, planned(Ladder, 5, ladderOf("large", 100)...), nil), []Finding{Unresolved}, []string{"no round has an answer of each length yet"}},
		{"reasoning that is not shown", Find(runOf(ladder(5)), hidden), []Finding{HiddenReasoning}, []string{"reasoning that is not shown comes before the first token"}},
		{"a little of that, of which the time is known", Find(runOf(ladder(5)), little), []Finding{FoundPrefill}, []string{"fixed start 0.10 s"}},
		{"an answer held back", Find(runOf(ladder(5)), held), []Finding{Buffered}, []string{"sends it in bursts or at once"}},
		{"cache hits untold", Find(runOf(ladder(5)), uncounted), []Finding{FoundPrefill}, []string{"then 0.30 s"}},
	} {
		t.Run(p.name, p.check)
	}
}

func TestALinesKneeIsWhereItBends(t *testing.T) {
	bent := &world{network: 40, floor: 120, perK: 100, knee: 3000, beyond: 300, tpot: 20, noise: 0.02, rand: seeded(3)}
	got := found(bent, planned(Ladder, 8, ladderOf("large", 100, 1000, 3000, 8000)...), nil)
	if l := got.Lines[0]; l.Knee == nil || *l.Knee != 3000 || len(l.Bands) != 3 {
		t.Errorf("%+v", l)
	}
}

func TestABurstTellsALevelFromAQueue(t *testing.T) {
	short := armsOf("with nonce", "identical")
	for i := range short {
		short[i].PromptTokens = 100
	}
	p := planned(Burst, 10, short...)
	late := func(which ...int) func(int, *exchange.Exchange) {
		return func(i int, x *exchange.Exchange) {
			if slices.Contains(which, i) {
				delay(x, 4*time.Second)
			}
		}
	}
	far := &world{network: 900, floor: 120, tpot: 20}
	wide := quiet()
	step := 0
	uneven := found(wide, p, func(_ int, a *asked) { a.slowing = float64(step%5) * 80; step++ })
	for _, c := range []promise{
		{"start", found(quiet(), p, nil), []Finding{FoundFloor}, []string{"A short prompt's first token took 0.19 s", "The fixed start is the largest part"}},
		{"network", found(far, p, nil), []Finding{FoundNetwork}, []string{"The network is the largest part"}},
		{"one spike", Find(runOf(p), changed(quiet().rows(p, nil), late(4))), []Finding{FoundFloor}, []string{"One of 20 requests waited 4.00 s longer than others like it. One spike is too few to call it a queue."}},
		{"a queue", Find(runOf(p), changed(quiet().rows(p, nil), late(4, 8, 12))), []Finding{FoundQueue}, []string{
			"The fastest took 0.15 s to start, 3 of 10 more than twice that, and on average 1.20 s was spent beyond it, 86 % of the time to the first token.",
		}},
		{"a cold start", Find(runOf(p), changed(quiet().rows(p, nil), late(0))), []Finding{FoundFloor, FoundColdStart}, []string{"The first request alone waited 4.00 s longer than the fastest: a cold start, most likely."}},
		{"waits of all lengths", uneven, []Finding{Unresolved}, []string{"a queue that is always there, most likely"}},
		{"too few", found(quiet(), planned(Burst, 4, short...), nil), []Finding{Unresolved}, []string{"4 answers are too few; five at least would tell."}},
	} {
		t.Run(c.name, c.check)
	}
}

func TestACacheIsToldByItsTokensAndByItsTime(t *testing.T) {
	p := planned(Cache, 6, armsOf("cold", "repeated", "extended", "changed early")...)
	hits := func(arm int, a *asked) {
		if arm == 1 || arm == 2 {
			a.cached = 1920
		}
	}
	few := func(arm int, a *asked) {
		if arm == 1 {
			a.cached = 128
		}
	}
	untold := func(cached *int64) func(int, *exchange.Exchange) {
		return func(_ int, x *exchange.Exchange) { x.CachedTokens = cached }
	}
	for _, c := range []promise{
		{"it works", found(quiet(), p, hits), []Finding{CacheWorks, CacheBroken}, []string{
			`of a prompt sent again 1,920 of 2,000 tokens were cached. First token: "repeated" (0.18 s) is lower than "cold" (0.76 s) by 0.58 s (0.58 s to 0.58 s), 76 %.`,
			"With something changed early in it, only 0 of 2,000 tokens were cached",
		}},
		{"nothing is cached", found(quiet(), p, nil), []Finding{CacheIdle}, []string{"by the upstream's own count", "no difference beyond 5 %"}},
		{"a few blocks", found(quiet(), p, few), []Finding{Unresolved}, []string{"only 128 of 2,000 tokens were cached"}},
		{"it works and nobody says so", Find(runOf(p), changed(quiet().rows(p, hits), untold(nil))), []Finding{CacheUnreported}, []string{
			"A prompt sent again is quicker, so it is cached, but the upstream does not report cached tokens.", "Cached tokens are not reported.",
		}},
		{"it works and is said not to", Find(runOf(p), changed(quiet().rows(p, hits), untold(new(int64(0))))), []Finding{CacheUnreported}, nil},
		{"nobody says, and it is no quicker", Find(runOf(p), changed(quiet().rows(p, nil), untold(nil))), []Finding{CacheUnreported}, []string{"not surely quicker"}},
		{"one arm alone", found(quiet(), planned(Cache, 6, armsOf("cold")...), nil), []Finding{Unresolved}, []string{"nothing to compare with"}},
	} {
		t.Run(c.name, c.check)
	}
}

func TestArmsAreComparedWithTheFirst(t *testing.T) {
	history := planned(History, 6, armsOf("full", "summarised", "bare")...)
	shorter := func(arm int, a *asked) { a.prompt = []int64{4000, 800, 300}[arm] }
	noisy := quiet()
	noisy.noise, noisy.rand = 0.3, seeded(5)
	direct := planned(Direct, 6, armsOf("relay", "straight")...)
	for _, c := range []promise{
		{"less history", found(quiet(), history, shorter), []Finding{Faster, Faster}, []string{`"summarised" (0.40 s) is lower than "full" (1.36 s) by 0.96 s`, `"bare" (0.25 s)`}},
		{"no less", found(quiet(), history, nil), []Finding{Same, Same}, []string{`no difference beyond 5 % between "full" (0.76 s) and "summarised" (0.76 s); 0.0 ms (0.0 ms to 0.0 ms)`}},
		{"too noisy", found(noisy, history, nil), []Finding{Unresolved, Unresolved}, []string{"More rounds would tell."}},
		{"too few rounds", found(quiet(), planned(History, 2, armsOf("full", "summarised")...), shorter), []Finding{Unresolved}, []string{"five rounds at least would tell, 2 have both"}},
		{"a relay that costs", found(quiet(), direct, func(arm int, a *asked) { a.network = 300 * float64(1-arm) }), []Finding{Faster}, []string{`"straight" (0.76 s) is lower than "relay" (1.06 s) by 0.30 s`}},
	} {
		t.Run(c.name, c.check)
	}
}

func TestShapesTellPrefillAndDecode(t *testing.T) {
	arms := armsOf("long in", "long out")
	arms[1].PromptTokens = 100
	p := planned(Shapes, 6, arms...)
	long := func(arm int, a *asked) { a.output = []int64{8, 256}[arm] }
	flat := &world{network: 40, floor: 500, perK: 1, tpot: 20}
	for _, c := range []promise{
		{"a long input shows", found(quiet(), p, long), []Finding{FoundPrefill}, []string{"Prefill shows", "large decodes at 50.0 tokens/s", "of a long answer's 5.29 s, 96 % came after the first token."}},
		{"it does not", found(flat, p, long), []Finding{Unresolved}, []string{"Lengthen the input."}},
	} {
		t.Run(c.name, c.check)
	}
	if got := found(quiet(), p, long); got.Parts[0].Of != FoundDecode || got.Parts[0].MS.At != 20 {
		t.Errorf("decode is %+v", got.Parts)
	}
}

func TestLoadTellsWhereTheFirstTokenLeavesTheFloor(t *testing.T) {
	arms := armsOf("4 at once", "1 at once", "2 at once")
	for i, n := range []int{4, 1, 2} {
		arms[i].AtOnce = n
	}
	p := planned(Load, 6, arms...)
	limited := changed(quiet().rows(p, nil), func(i int, x *exchange.Exchange) {
		if p.Steps[i].Arm == 0 && i < 6 {
			x.Outcome, x.Status, x.FirstToken = exchange.UpstreamError, new(int64(429)), nil
		}
	})
	refused := changed(quiet().rows(p, nil), func(i int, x *exchange.Exchange) {
		if p.Steps[i].Arm == 0 {
			x.Outcome, x.Status, x.FirstToken = exchange.UpstreamError, new(int64(429)), nil
		}
	})
	for _, c := range []promise{
		{"at four", found(quiet(), p, func(arm int, a *asked) { a.slowing = []float64{800, 0, 0}[arm] }), []Finding{Slower}, []string{"From 4 requests at a time on the first token waits"}},
		{"nowhere", found(quiet(), p, nil), []Finding{Same}, []string{"Up to 4 requests at a time the first token does not wait."}},
		{"the most all refused", Find(runOf(p), refused), []Finding{Same}, []string{"Up to 2 requests at a time the first token does not wait.", "At 4 at a time 6 of 6 requests were refused"}},
		{"a limit is no slowness", Find(runOf(p), limited), []Finding{Unresolved}, []string{"At 4 at a time 2 of 6 requests were refused by a rate limit (429), which is no slowness.", "A rate limit (429) refused 2."}},
	} {
		t.Run(c.name, c.check)
	}
}

func TestModelsAreComparedLengthByLength(t *testing.T) {
	p := planned(Models, 6, laddersOf("large", "light")...)
	quicker := func(arm int, a *asked) { a.slowing = []float64{0, 0, -60, -500}[arm] }
	promise{"", found(quiet(), p, quicker), []Finding{Faster}, []string{
		`"light 3000" (0.56 s) is lower than "large 3000" (1.06 s) by 0.50 s`, "large: a start of 0.12 s", "light: a start of",
	}}.check(t)
	if got := found(quiet(), p, quicker); len(got.Lines) != 2 || len(got.Changes) != 8 {
		t.Errorf("%d lines, %d changes", len(got.Lines), len(got.Changes))
	}
}
