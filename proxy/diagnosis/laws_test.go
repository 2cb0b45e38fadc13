package diagnosis

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

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
	x.CacheOutcome = rapid.SampledFrom([]string{"", "new", "hit", "missed", "expired", "broken"}).Draw(t, "cache")
	x.Delivery = rapid.SampledFrom([]exchange.Delivery{"", exchange.Streamed, exchange.Streamed, exchange.Streamed,
		exchange.Single, exchange.Pseudo, exchange.Bursty, exchange.NotStreamed}).Draw(t, "delivery")
	tokens := rapid.Ptr(rapid.OneOf(rapid.Int64Range(0, 100000), rapid.Int64Min(0)), true)
	for _, n := range []**int64{&x.PromptTokens, &x.CachedTokens, &x.UncachedTokens, &x.OutputTokens, &x.ReasoningTokens, &x.Stalls, &x.DeliveryBytes} {
		*n = tokens.Draw(t, "tokens")
	}
	took := rapid.Ptr(rapid.Map(rapid.Int64Range(-1, int64(time.Hour)), func(n int64) time.Duration { return time.Duration(n) }), true)
	for _, d := range []**time.Duration{
		&x.DNS, &x.TLS, &x.RTT, &x.GotConn, &x.Sent, &x.FirstToken, &x.AnswerStart, &x.LastToken, &x.End,
		&x.Network, &x.Queue, &x.Prefill, &x.HostedTool, &x.HostedBeforeFirst, &x.HostedBeforeAnswer, &x.TPOT,
		&x.StallTime, &x.MaxGap, &x.DeliveryPeriod, &x.ServerDecode, &x.HiddenDecode, &x.UnseenDecode,
	} {
		*d = took.Draw(t, "took")
	}
	if x.TPOT != nil && *x.TPOT > 0 {
		x.TokensPerSec = new(1 / x.TPOT.Seconds())
	}
	return x
}

var causes = map[exchange.Bound][]string{
	exchange.Unknown:      {"error", "aborted", "not_streamed", "no_output", "buffered", "hidden_reasoning"},
	exchange.Stalled:      {"stall"},
	exchange.DecodeBound:  {"hidden_reasoning", "whole_output", "long_output"},
	exchange.WaitBound:    {"network", "queue", "unseparated"},
	exchange.PrefillBound: {"cache_miss", "unseparated", "long_input"},
	exchange.Mixed:        {"both"},
}

func TestAnyFactsGetOneVerdictAndAReason(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawRow(t)
		Judge(x)
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
	negative = regexp.MustCompile(`(^|\s)-\d`)
	percent  = regexp.MustCompile(`(\d+) %`)
)

func checkText(t *rapid.T, text string) {
	if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") || strings.Contains(text, "%!") || negative.MatchString(text) {
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

func TestReasoningThatNobodyCanWeighIsNeverPrefill(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawRow(t)
		x.Reasoning = rapid.SampledFrom([]string{"summary", "hidden"}).Draw(t, "reasoning")
		x.TPOT, x.ServerDecode = nil, nil
		Judge(x)
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
		Judge(a)
		Judge(b)
		if weigh(b).wait > weigh(a).wait {
			t.Fatalf("%d tokens leave a wait of %v, %d one of %v", reasoning, weigh(a).wait, more, weigh(b).wait)
		}
		if p := weigh(b); p.wait+p.decode != *b.LastToken {
			t.Fatalf("wait %v and decode %v do not make up %v", p.wait, p.decode, *b.LastToken)
		}
	})
}
