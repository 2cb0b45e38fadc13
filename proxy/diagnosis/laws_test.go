package diagnosis

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// drawRow is any row at all, whether or not a proxy would write it.
func drawRow(t *rapid.T) *exchange.Exchange {
	x := &exchange.Exchange{
		Dialect:  rapid.SampledFrom([]exchange.Dialect{exchange.Chat, exchange.Embeddings, exchange.Other}).Draw(t, "dialect"),
		Streamed: rapid.Ptr(rapid.Bool(), true).Draw(t, "streamed"),
		Path:     "/v1/responses",
		Error:    rapid.SampledFrom([]string{"", "dns: x", "html: x", "rate_limit: ${wait} $x", "%s %d"}).Draw(t, "error"),
	}
	outcomes := append(slices.Repeat([]exchange.Outcome{exchange.OK}, 12), exchange.Outcomes...)
	x.Outcome = rapid.SampledFrom(outcomes).Draw(t, "outcome")
	x.Status = rapid.Ptr(rapid.Int64Range(100, 599), true).Draw(t, "status")
	x.Reasoning = rapid.SampledFrom([]string{"", "none", "visible", "summary", "hidden"}).Draw(t, "reasoning")
	x.UsageSource = rapid.SampledFrom([]string{"", "reported", "absent"}).Draw(t, "usage")
	x.RateQuality = rapid.SampledFrom([]string{"", "noisy", "fair", "steady"}).Draw(t, "quality")
	x.CacheOutcome = rapid.SampledFrom([]string{"", "new", "hit", "missed", "expired", "broken", "unreported"}).Draw(t, "cache")
	x.Delivery = rapid.SampledFrom([]exchange.Delivery{"", exchange.Streamed, exchange.Streamed, exchange.Streamed,
		exchange.Single, exchange.Pseudo, exchange.Bursty, exchange.NotStreamed}).Draw(t, "delivery")
	tokens := rapid.Ptr(rapid.OneOf(rapid.Int64Range(0, 100000), rapid.Int64Min(0)), true)
	for _, n := range []**int64{&x.PromptTokens, &x.CachedTokens, &x.UncachedTokens, &x.OutputTokens, &x.ReasoningTokens, &x.Stalls, &x.DeliveryBytes, &x.Concurrency, &x.PrefixSharedTokens} {
		*n = tokens.Draw(t, "tokens")
	}
	took := rapid.Ptr(rapid.Map(rapid.Int64Range(-1, int64(time.Hour)), func(n int64) time.Duration { return time.Duration(n) }), true)
	for _, d := range []**time.Duration{
		&x.DNS, &x.TLS, &x.RTT, &x.GotConn, &x.Sent, &x.Headers, &x.GenerationStarted, &x.FirstToken, &x.AnswerStart, &x.LastToken, &x.End,
		&x.Network, &x.PoolWait, &x.Wait, &x.Decode, &x.PrefixIdle, &x.Queue, &x.Prefill, &x.HostedTool, &x.HostedBeforeFirst, &x.HostedBeforeAnswer, &x.TPOT,
		&x.StallTime, &x.MaxGap, &x.DeliveryPeriod, &x.HiddenDecode, &x.UnseenDecode,
		&x.ServerQueue, &x.ServerPrefill, &x.ServerDecode, &x.ModelIdle, &x.Floor, &x.UsualPrefill, &x.CachedWait, &x.EstimateError,
	} {
		*d = took.Draw(t, "took")
	}
	if x.TPOT != nil && *x.TPOT > 0 {
		x.TokensPerSec, x.RateLastOverFirst = new(1/x.TPOT.Seconds()), new(0.9)
	}
	x.ChangedSection = rapid.SampledFrom([]string{"", "", "tools", "model"}).Draw(t, "changed")
	return x
}

// drawBaseline is any baseline that a book may give, or none.
func drawBaseline(t *rapid.T) *Baseline {
	if rapid.Bool().Draw(t, "unknown model") {
		return nil
	}
	took := rapid.Map(rapid.Int64Range(0, int64(time.Hour)), func(n int64) time.Duration { return time.Duration(n) })
	points := drawPoints(t)
	b := &Baseline{
		Rows: len(points), Curve: fit(points), HeadersAtSlot: rapid.Bool().Draw(t, "headers at slot"),
		TPOT: rapid.Ptr(took, true).Draw(t, "tpot"), Idle: rapid.Ptr(took, true).Draw(t, "idle"),
	}
	b.least, b.most = extent(points)
	return b
}

var causes = map[exchange.Bound][]string{
	exchange.Unknown:      {"error", "aborted", "not_streamed", "no_output", "buffered", "hidden_reasoning"},
	exchange.Stalled:      {"stall"},
	exchange.DecodeBound:  {"hidden_reasoning", "whole_output", "slow_decode", "long_output"},
	exchange.WaitBound:    {"network", "floor", "cold_start", "queue", "unseparated"},
	exchange.PrefillBound: {"cache_miss", "unseparated", "long_input"},
	exchange.Mixed:        {"both"},
}

func TestAnyFactsGetOneVerdictAndAReason(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawRow(t)
		Judge(x, drawBaseline(t))
		if x.Outcome == exchange.Open {
			if x.Bound != "" || x.Cause != "" {
				t.Fatalf("%s/%s of what is under way", x.Bound, x.Cause)
			}
		} else if !slices.Contains(causes[x.Bound], x.Cause) {
			t.Fatalf("%s/%s is no verdict", x.Bound, x.Cause)
		}
		for _, d := range []*time.Duration{x.HiddenDecode, x.UnseenDecode} {
			if d != nil && *d < 0 {
				t.Fatalf("an estimate of %v", *d)
			}
		}
		for _, lang := range []string{"en", "zh"} {
			checkText(t, Reason(x, lang))
			checkText(t, ErrorWords(x, lang))
		}
		if Reason(x, "en") == "" || Reason(x, "zh") == "" || Reason(x, "en") == Reason(x, "zh") {
			t.Fatalf("reasons %q and %q", Reason(x, "en"), Reason(x, "zh"))
		}
	})
}

var (
	negative = regexp.MustCompile(`(^|\s)[-−]\d`)
	percent  = regexp.MustCompile(`(\d+) %`)
)

func checkText(t *rapid.T, text string) {
	if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") || strings.Contains(text, "?") || negative.MatchString(text) {
		t.Fatalf("no figure: %s", text)
	}
	for _, m := range percent.FindAllStringSubmatch(text, -1) {
		if len(m[1]) > 2 && m[1] != "100" {
			t.Fatalf("over 100 per cent: %s", text)
		}
	}
	if strings.TrimSpace(text) != text || strings.Contains(text, "  ") {
		t.Fatalf("untidy: %q", text)
	}
}

func TestEstimatesAreNoMoreThanTheWaitAndNeverOfTheUnknown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, b := drawRow(t), drawBaseline(t)
		x.Network = new(max(0, known(x.Network))) // as a proxy has it
		Judge(x, b)
		p := Weigh(x)
		wait := netWait(x, p)
		if x.ServerPrefill == nil && known(x.Prefill) > wait || x.ServerQueue == nil && known(x.Queue) > wait {
			t.Fatalf("queue %v and prefill %v of a wait of %v", known(x.Queue), known(x.Prefill), wait)
		}
		told := x.ServerPrefill != nil || x.ServerQueue != nil
		tells := b != nil && (b.Curve != nil || b.headersTell(x))
		if x.Bound == exchange.Unknown {
			tells = false
		}
		if !told && !tells && (x.Queue != nil || x.Prefill != nil || x.EstimateError != nil) {
			t.Fatalf("out of nothing: queue %v, prefill %v", x.Queue, x.Prefill)
		}
		if (b == nil || b.Curve == nil) && (x.Floor != nil || x.Excess != nil || x.UsualPrefill != nil || x.CachedWait != nil) {
			t.Fatalf("out of no curve: %+v", x.Usual)
		}
		again := *x
		Judge(&again, b)
		if diff := cmp.Diff(*x, again); diff != "" {
			t.Fatalf("judged again (-first +second):\n%s", diff)
		}
	})
}

// What an exchange was judged by before is of no matter: not how often, not by
// which baselines.
func TestTheLastBaselineAloneDecides(t *testing.T) {
	judge := func(x *exchange.Exchange, b *Baseline) {
		x.CacheOutcome = CacheOutcome(x, b)
		Judge(x, b)
	}
	rapid.Check(t, func(t *rapid.T) {
		once := drawRow(t)
		if rapid.Bool().Draw(t, "quick") { // far more so than is usual, perhaps
			once.Delivery, once.Outcome, once.ServerDecode = exchange.Streamed, exchange.OK, nil
			once.Decode = new(rapid.SampledFrom([]time.Duration{0, time.Second, time.Hour}).Draw(t, "span"))
		}
		often := *once
		for range rapid.IntRange(1, 3).Draw(t, "times") {
			judge(&often, drawBaseline(t))
		}
		last := drawBaseline(t)
		judge(once, last)
		judge(&often, last)
		if diff := cmp.Diff(*once, often); diff != "" {
			t.Fatalf("judged once (-) and again (+):\n%s", diff)
		}
	})
}

func TestReasoningThatNobodyCanWeighIsNeverPrefill(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawRow(t)
		x.Reasoning = rapid.SampledFrom([]string{"summary", "hidden"}).Draw(t, "reasoning")
		x.TPOT, x.ServerDecode = nil, nil
		b := drawBaseline(t)
		if b != nil {
			b.TPOT = nil
		}
		Judge(x, b)
		if x.HiddenDecode != nil || slices.Contains([]exchange.Bound{exchange.PrefillBound, exchange.WaitBound, exchange.Mixed}, x.Bound) {
			t.Fatalf("%s/%s, hidden %v: %s", x.Bound, x.Cause, x.HiddenDecode, x.Reason)
		}
	})
}

func TestMoreHiddenReasoningIsNeverMoreWait(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		answer := rapid.Float64Range(0.1, 300).Draw(t, "answer")
		last := answer + rapid.Float64Range(0.1, 300).Draw(t, "decode")
		reasoning := rapid.Int64Range(1, 50000).Draw(t, "reasoning")
		more := reasoning + rapid.Int64Range(0, 50000).Draw(t, "more")
		rate := tpot(rapid.Float64Range(0.001, 0.1).Draw(t, "tpot"), "fair")
		a := streamed(answer, last, tokens(5000, 0, reasoning+100), thinks("hidden", reasoning, answer), rate)
		b := streamed(answer, last, tokens(5000, 0, more+100), thinks("hidden", more, answer), rate)
		Judge(a, nil)
		Judge(b, nil)
		if Weigh(b).Wait > Weigh(a).Wait {
			t.Fatalf("%d tokens leave a wait of %v, %d one of %v", reasoning, Weigh(a).Wait, more, Weigh(b).Wait)
		}
		if p := Weigh(b); p.Wait+p.Decode != *b.LastToken {
			t.Fatalf("wait %v and decode %v do not make up %v", p.Wait, p.Decode, *b.LastToken)
		}
	})
}
