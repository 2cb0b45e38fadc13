package diagnosis

import (
	stdcmp "cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
)

var large = truth{floor: 0.4, each: 8e-5, growth: 4e-6}

func TestEachModelHasABaselineOfItsOwn(t *testing.T) {
	b := learned(ladderOf(large)...)
	for name, set := range map[string]func(*exchange.Exchange){
		"another upstream": func(x *exchange.Exchange) { x.Upstream = "other" },
		"another model":    func(x *exchange.Exchange) { x.ModelServed = "light" },
		"another tier":     func(x *exchange.Exchange) { x.ServiceTier = "flex" },
		"no model":         func(x *exchange.Exchange) { x.ModelServed = "" },
	} {
		x := logged(60, 1, 1000, 0)
		set(x)
		if got := b.Baseline(x); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	asked := logged(60, 1, 1000, 0)
	asked.ModelServed, asked.ModelRequested = "", "large"
	got := b.Baseline(asked)
	if got == nil || got.Curve == nil || got.Rows != 25 || got.Upstream != "default" || got.Model != "large" {
		t.Fatalf("%+v", got)
	}
	if off := got.Curve.Floor.Seconds() - large.floor; off < -0.02 || off > 0.02 {
		t.Errorf("the floor is %v", got.Curve.Floor)
	}
	if *got.TPOT != 20*time.Millisecond || got.Rates != 25 || *got.TokensPerSec != 50 {
		t.Errorf("%v a token of %d, %v a second pooled", *got.TPOT, got.Rates, *got.TokensPerSec)
	}
}

func TestABookThatKnowsNothingSaysNothing(t *testing.T) {
	b := new(Book)
	x := logged(0, 1, 1000, 0)
	if got := b.Baseline(x); got != nil {
		t.Errorf("%+v", got)
	}
	if got := b.Baselines(); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	open := logged(0, 1, 1000, 0)
	open.Outcome = exchange.Open
	b.Add(open)
	if got := b.Baseline(x); got != nil {
		t.Errorf("learned from what is under way: %+v", got)
	}
}

func TestTooLittleEvidenceIsNoCurve(t *testing.T) {
	log := ladderOf(large)
	b := learned(log[:7]...)
	if got := b.Baseline(log[7]); got.Rows != 7 || got.Curve != nil {
		t.Errorf("seven: %+v", got)
	}
	b.Add(log[7])
	if got := b.Baseline(log[8]); got.Rows != 8 || got.Curve == nil {
		t.Errorf("eight: %+v", got)
	}
	var alike []*exchange.Exchange
	for i := range 40 {
		alike = append(alike, logged(i, 1, 1000+int64(i), 0))
	}
	if got := learned(alike...).Baselines()[0]; got.Rows != 40 || got.Curve != nil || got.TPOT == nil {
		t.Errorf("forty of the same length: %+v", got)
	}
}

func TestTheUsualRateIsAMedianOfThreeOrMoreAndThePooledOneOfAll(t *testing.T) {
	noisy := tpot(0.05, "noisy")
	rated := func(minute int, seconds float64) *exchange.Exchange {
		return logged(minute, 1, 1000, 0, tpot(seconds, "steady"))
	}
	two := learned(rated(0, 0.02), rated(1, 0.01), logged(2, 1, 1000, 0, noisy)).Baselines()[0]
	if two.TPOT != nil || two.Rates != 2 || *two.TokensPerSec != (50.+100+20)/3 {
		t.Errorf("two: %v of %d, pooled %v", two.TPOT, two.Rates, *two.TokensPerSec)
	}
	failed := outcome(exchange.ErrorEvent, 200, "")
	three := learned(rated(0, 0.02), rated(1, 0.01), logged(2, 1, 1000, 0, tpot(0.04, "fair"), failed)).Baselines()[0]
	if three.TPOT == nil || *three.TPOT != 20*time.Millisecond || three.Rates != 3 {
		t.Errorf("three: %v of %d", three.TPOT, three.Rates)
	}
}

func TestWhatIsLeftOutIsCountedByWhy(t *testing.T) {
	for _, c := range []struct {
		why string
		row *exchange.Exchange
	}{
		{"", logged(1, 1, 1000, 0)},
		{"", logged(1, 1, 1000, 0, outcome(exchange.Incomplete, 200, ""))},
		{leftAborted, logged(1, 1, 1000, 0, outcome(exchange.ClientAbort, 200, ""))},
		{leftAborted, logged(1, 1, 1000, 0, outcome(exchange.Interrupted, 200, ""))},
		{leftFailed, logged(1, 1, 1000, 0, outcome(exchange.UpstreamError, 500, ""))},
		{leftFailed, logged(1, 1, 1000, 0, outcome(exchange.UpstreamCut, 200, ""))},
		{leftWhole, logged(1, 1, 1000, 0, delivered(exchange.NotStreamed))},
		{leftNoOutput, logged(1, 1, 1000, 0, func(x *exchange.Exchange) { x.FirstToken = nil })},
		{leftBuffered, logged(1, 1, 1000, 0, delivered(exchange.Pseudo))},
		{leftBuffered, logged(1, 1, 1000, 0, delivered(exchange.Bursty))},
		{leftBuffered, logged(1, 1, 1000, 0, delivered(exchange.Single), tpot(0.02, "noisy"))},
		{leftUnseen, logged(1, 1, 1000, 0, delivered(exchange.Single))},
		{"", logged(1, 9, 1000, 0, delivered(exchange.Single))},
		{leftStalled, logged(1, 1, 1000, 0, func(x *exchange.Exchange) { x.StallTime = sec(0.91) })},
		{"", logged(1, 1, 1000, 0, func(x *exchange.Exchange) { x.StallTime = sec(0.9) })},
		{leftUnseen, logged(1, 1, 1000, 0, thinks("hidden", 16, 1))},
		{"", logged(1, 1, 1000, 0, thinks("hidden", 15, 1))},
		{leftUnseen, logged(1, 1, 1000, 0, thinks("hidden", 15, 1), tpot(0.02, "noisy"))},
		{"", logged(1, 1, 1000, 0, thinks("summary", 80, 2.6))},
		{leftUnseen, logged(1, 1, 1000, 0, thinks("summary", 100, 2.6))},
		{leftCacheHidden, logged(1, 1, 1000, -1)},
		{leftCacheHidden, logged(1, 1, 1000, -1, reused("partial"))},
		{"", logged(1, 1, 1000, -1, reused("new"))},
		{leftCacheHidden, logged(1, 1, 1000, 0, reused("unreported"))},
		{leftCacheHidden, logged(1, 1, 1<<40, 0)},
	} {
		Judge(c.row, nil)
		if got := leftOut(c.row); got != c.why {
			t.Errorf("left out as %q, want %q: %+v", got, c.why, c.row)
		}
	}
	b := learned(append(ladderOf(large), logged(30, 1, 1000, -1), logged(31, 1, 1000, -1), logged(32, 1, 1000, 0, outcome(exchange.UpstreamError, 500, "")))...)
	want := map[string]int{leftCacheHidden: 2, leftFailed: 1}
	if got := b.Baselines(); len(got) != 1 || got[0].Rows != 25 || !cmp.Equal(got[0].LeftOut, want) {
		t.Errorf("%+v, want %v left out", got, want)
	}
}

func TestAPromptWithoutACountIsAPointOnlyIfNewOrAsGoodAsThat(t *testing.T) {
	for _, c := range []struct {
		name           string
		prompt, shared int64
		changed        string
		new            bool
	}{
		{"new", 3000, 0, "", true},
		{"a beginning of less than a block", 3000, 255, "", true},
		{"a block", 3000, 256, "", false},
		{"under a twentieth", 60_000, 2999, "", true},
		{"a twentieth", 60_000, 3000, "", false},
		{"as little, but the client changed what the model may not have seen", 60_000, 0, "tools", false},
	} {
		x := logged(1, 1, c.prompt+1, -1, func(x *exchange.Exchange) {
			x.PrefixSharedTokens, x.ChangedSection = num(c.shared), c.changed
			x.CacheOutcome = CacheOutcome(x, nil)
		})
		Judge(x, nil)
		s := sampled(x)
		if want := (point{uncached: c.prompt, wait: time.Second}); c.new && s.point != want {
			t.Errorf("%s (%s): %+v, want %+v", c.name, x.CacheOutcome, s.point, want)
		}
		if !c.new && s.left != leftCacheHidden {
			t.Errorf("%s (%s): left out as %q", c.name, x.CacheOutcome, s.left)
		}
	}
}

func TestAZeroIsDoubtedWhereNoCacheHitWasEverReported(t *testing.T) {
	log := ladderOf(large)
	for i := range 40 { // answered from a cache that is never told of
		log = append(log, logged(30+i, 0.45, 9000, 0, reused("missed"), func(x *exchange.Exchange) { x.PrefixSharedTokens = num(8500) }))
	}
	b := learned(log...)
	got := b.Baselines()[0]
	if got.TellsCached || got.Rows != 25 || got.LeftOut[leftCacheHidden] != 40 || got.Curve.Prefill(9000, 0) < 600*time.Millisecond {
		t.Errorf("%s", got.Words("en"))
	}
	b.Add(logged(90, 0.5, 500, 8500))
	if got := b.Baselines()[0]; !got.TellsCached || got.Rows != 66 || got.LeftOut[leftCacheHidden] != 0 {
		t.Errorf("hits are reported after all: %s", got.Words("en"))
	}
	short := logged(91, 0.5, 900, 0, reused("too_short"), func(x *exchange.Exchange) { x.PrefixSharedTokens = num(890) })
	if sampled(short).doubtful {
		t.Error("a prompt too short to be cached is doubted")
	}
}

func TestAPointIsTheWaitForThePromptAlone(t *testing.T) {
	x := logged(1, 3, 1000, 500, server(0.5, -1, -1), thinks("hidden", 20, 3), func(x *exchange.Exchange) {
		x.RTT, x.HostedTool, x.HostedBeforeFirst, x.HostedBeforeAnswer = sec(0.1), sec(0.3), sec(0.3), sec(0.3)
	})
	Judge(x, nil)
	if got, want := sampled(x).point, (point{1000, 500, 1700 * time.Millisecond}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestAQueueThatGrowsWithThePromptsIsNotTheirCost(t *testing.T) {
	var rows []*exchange.Exchange
	for i := range 12 { // one slot: each waits longer, and asks more, than the one before
		tokens := int64(200 + 250*i)
		prefill := 0.0005 * float64(tokens)
		rows = append(rows, logged(i, 0.1+prefill+0.6*float64(i), tokens, 0, func(x *exchange.Exchange) { x.ServerPrefill = sec(prefill) }))
	}
	got := learned(rows...).Baselines()[0]
	if got.Curve == nil {
		t.Fatalf("no curve: %s", got.Words("en"))
	}
	last := got.Curve.Prefill(2950, 0)
	if off := last.Seconds() - 0.0005*2950; off < -0.02 || off > 0.02 {
		t.Errorf("2,950 tokens cost %v, want 1.475 s", last)
	}
	if off := got.Curve.Floor.Seconds() - 0.1; off < -0.02 || off > 0.02 {
		t.Errorf("the floor is %v, want 100 ms", got.Curve.Floor)
	}
}

func TestAnExchangeIsJudgedWithoutItself(t *testing.T) {
	log := ladderOf(large)
	b := learned(log...)
	x := logged(40, 30, 9000, 0)
	before := b.Baseline(x)
	Judge(x, before)
	if *x.UsualRows != 25 || x.Cause != "queue" {
		t.Errorf("%s by %d others", x.Cause, *x.UsualRows)
	}
	b.Add(x)
	if got := b.Baselines()[0].Rows; got != 26 || before.Rows != 25 {
		t.Errorf("%d rows after, %d before", got, before.Rows)
	}
}

func TestTheOrderOfStoredRowsDoesNotMatter(t *testing.T) {
	log := append(ladderOf(large), logged(90, 3, 700, 0), logged(91, 1, 20, 40000))
	want := learned(log...).Baselines()
	slices.Reverse(log)
	got := learned(log...).Baselines()
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Baseline{})); diff != "" {
		t.Errorf("newest first (+) is another baseline:\n%s", diff)
	}
}

func TestWhatIsOldIsForgotten(t *testing.T) {
	b := learned(ladderOf(large)...)
	week := 7 * 24 * 60
	if got := b.Baseline(logged(week+10, 1, 1000, 0)); got.Rows != 15 || got.Curve == nil {
		t.Errorf("after a week %d rows are left", got.Rows)
	}
	if got := b.Baseline(logged(week+100, 1, 1000, 0)); got.Rows != 0 || got.Curve != nil || got.TPOT != nil {
		t.Errorf("later %+v", got)
	}
	for i := range 700 {
		b.Add(logged(2*week+i, 1, int64(100+i), 0))
	}
	if got := b.Baselines()[0]; got.Rows != maxSamples || got.least != 300 || got.most != 799 {
		t.Errorf("%d rows with %d to %d tokens", got.Rows, got.least, got.most)
	}
}

func TestFailuresDoNotPushOutWhatIsKnown(t *testing.T) {
	b := learned(ladderOf(large)...)
	for i := range 2000 {
		b.Add(logged(30+i, 0.1, 1000, 0, outcome(exchange.UpstreamError, 429, "")))
	}
	if got := b.Baselines()[0]; got.Rows != 25 || got.Curve == nil || got.LeftOut[leftFailed] != maxSamples {
		t.Errorf("%d rows, %v left out", got.Rows, got.LeftOut)
	}
}

func TestTheFitIsNotMadeForEachExchange(t *testing.T) {
	b := new(Book)
	for i := range 100 {
		b.Add(logged(i, 1+float64(i%10)/10, int64(100*(1+i%10)), 0))
	}
	x := logged(200, 1, 1000, 0)
	first := b.Baseline(x)
	for i := range 10 {
		b.Add(logged(100+i, 1, 1000, 0))
		if b.Baseline(x).Curve != first.Curve {
			t.Fatalf("fitted anew after %d of a hundred", i+1)
		}
	}
	for i := range 10 {
		b.Add(logged(110+i, 1, 1000, 0))
	}
	if got := b.Baseline(x); got.Curve == first.Curve || got.Rows != 120 {
		t.Errorf("not fitted anew after 20 of a hundred")
	}
}

func TestIdleIsTheTimeSinceTheModelWasLastAsked(t *testing.T) {
	b := learned(logged(0, 1, 1000, 0), logged(10, 1, 1000, 0), logged(20, 0.1, 1000, 0, outcome(exchange.UpstreamError, 429, "")),
		logged(30, 0.1, 1000, 0, outcome(exchange.Unreachable, 0, "")))
	for minute, want := range map[int]*time.Duration{
		0: nil, 5: sec(297), 10: sec(597), 12: sec(117), 40: sec(1797),
	} {
		x := logged(minute, 1, 1000, 0)
		if got := b.Baseline(x).Idle; !cmp.Equal(got, want) {
			t.Errorf("minute %d: idle for %v, want %v", minute, got, want)
		}
	}
	under := logged(10, 1, 1000, 0)
	under.StartedAt = under.StartedAt.Add(time.Second)
	if got := b.Baseline(under).Idle; got == nil || *got != 0 {
		t.Errorf("with another under way: idle for %v", got)
	}
}

func TestAClientCannotFillTheBookWithNames(t *testing.T) {
	b := learned(ladderOf(large)...)
	for i := range 3 * maxModels {
		x := logged(100+i, 1, 1000, 0)
		x.ModelServed = fmt.Sprintf("model-%04d", i)
		b.Add(x)
		known := logged(100+i, 1, 1000, 0)
		b.Add(known)
	}
	all := b.Baselines()
	if len(all) != maxModels {
		t.Errorf("%d models are known", len(all))
	}
	if !slices.IsSortedFunc(all, func(a, b *Baseline) int { return stdcmp.Compare(a.Model, b.Model) }) || all[0].Model != "large" {
		t.Error("the models are not in the order of their names, or the one in use was forgotten")
	}
}

func TestABookIsSafeForConcurrentUse(t *testing.T) {
	b := learned(ladderOf(large)...)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 1))
			for j := range 50 {
				x := logged(100+j, 1, 100+r.Int64N(9000), 0)
				Judge(x, b.Baseline(x))
				b.Add(x)
				b.Baselines()[0].LeftOut["mine"]++
			}
		})
	}
	all.Wait()
	if got := b.Baselines()[0]; got.Rows != 425 || len(got.LeftOut) != 0 {
		t.Errorf("%d rows, %v left out", got.Rows, got.LeftOut)
	}
}

// answeredAt is an exchange whose server told of its prefill, and sent its head
// and its first token at those times.
func answeredAt(minute int, head, first, prefill float64) *exchange.Exchange {
	return logged(minute, first, 1000, 0, server(-1, prefill, -1), func(x *exchange.Exchange) { x.Headers = sec(head) })
}

func TestABookLearnsWhenAnUpstreamSendsItsHeaders(t *testing.T) {
	late := func(n int, head, first, prefill float64) []*exchange.Exchange {
		var xs []*exchange.Exchange
		for i := range n {
			xs = append(xs, answeredAt(i, head, first, prefill))
		}
		return xs
	}
	idle := late(10, 0.01, 0.5, 0.49)
	for _, c := range []struct {
		name string
		log  []*exchange.Exchange
		want bool
	}{
		{"never late: the queue has not been seen", idle, false},
		{"late, and a prefill before the first token", append(late(3, 1.3, 1.44, 0.136), idle...), true},
		{"late but twice", append(late(2, 1.3, 1.44, 0.136), idle...), false},
		{"sent when accepted, the queue comes after", append(late(3, 0.01, 1.44, 0.136), idle...), false},
		{"sent with the first token", append(late(3, 1.44, 1.44, 0.136), idle...), false},
		{"one in ten may hold text back", append(late(1, 0.01, 0.9, 0.49), append(late(3, 1.3, 1.44, 0.136), idle...)...), true},
		{"but no more", append(late(2, 0.01, 0.9, 0.49), append(late(3, 1.3, 1.44, 0.136), idle...)...), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := new(Book)
			for _, x := range c.log {
				b.Add(x)
			}
			if got := b.Baseline(c.log[0]).HeadersAtSlot; got != c.want {
				t.Errorf("at the slot: %v, want %v", got, c.want)
			}
		})
	}
	b := learned(append(late(3, 1.3, 1.44, 0.136), idle...)...)
	other := logged(50, 1, 1000, 0)
	other.ModelServed = "never seen"
	if got := b.Baseline(other); got == nil || !got.HeadersAtSlot || got.Rows != 0 || got.Idle != nil {
		t.Errorf("what an upstream does holds for all its models: %+v", got)
	}
	other.Upstream = "elsewhere"
	if got := b.Baseline(other); got != nil {
		t.Errorf("and for no other upstream: %+v", got)
	}
}
