package diagnosis

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestEachRuleGivesItsBoundAndCause(t *testing.T) {
	for _, c := range []struct {
		name  string
		row   *exchange.Exchange
		bound exchange.Bound
		cause string
	}{
		{"an error", whole(0.2, outcome(exchange.UpstreamError, 401, "Unauthorized")), "unknown", "error"},
		{"an error in a stream", streamed(1, 2, outcome(exchange.ErrorEvent, 200, "engine died")), "unknown", "error"},
		{"a cut stream", streamed(1, 2, outcome(exchange.UpstreamCut, 200, "")), "unknown", "error"},
		{"refused", whole(0, outcome(exchange.Refused, 0, "508 loop: x")), "unknown", "error"},
		{"the client left", streamed(1, 2, outcome(exchange.ClientAbort, 200, "")), "unknown", "aborted"},
		{"the proxy was killed", streamed(1, 2, outcome(exchange.Interrupted, 200, "")), "unknown", "aborted"},
		{"not streamed", whole(3, tokens(12, -1, 5)), "unknown", "not_streamed"},
		{"not streamed, usage absent", whole(3, func(x *exchange.Exchange) { x.UsageSource = "absent" }), "unknown", "not_streamed"},
		{"not streamed and no output", whole(3, tokens(12, -1, 0)), "unknown", "no_output"},
		{"no output by nature", whole(3, func(x *exchange.Exchange) { x.Dialect, x.UsageSource = exchange.Embeddings, "absent" }), "unknown", "no_output"},
		{"a list of models", whole(3, func(x *exchange.Exchange) { x.Dialect = exchange.Other }), "unknown", "no_output"},
		{"a stream without output", streamed(1, 2, func(x *exchange.Exchange) { x.FirstToken, x.LastToken = nil, nil }), "unknown", "no_output"},
		{"made before it was sent", streamed(5, 5.1, tokens(5000, 0, 300), delivered(exchange.Pseudo)), "unknown", "buffered"},
		{"bursts", streamed(5, 15, tokens(5000, 0, 300), delivered(exchange.Bursty)), "unknown", "buffered"},
		{"whole, 9 tokens, no rate", streamed(5, 5, tokens(5000, 0, 9), delivered(exchange.Single)), "unknown", "buffered"},
		{"hidden reasoning, no rate", streamed(9, 9.5, tokens(5000, 0, 700), thinks("hidden", 690, 9)), "unknown", "hidden_reasoning"},
		{"a noisy rate is none", streamed(9, 9.5, tokens(5000, 0, 700), thinks("hidden", 690, 9), tpot(0.05, "noisy")), "unknown", "hidden_reasoning"},
		{"all at once", streamed(0, 0, tokens(12, -1, 5)), "unknown", "no_output"},

		{"silence over 30 % of the total", streamed(1, 10, func(x *exchange.Exchange) { x.StallTime = sec(3.001) }), "stalled", "stall"},
		{"silence of 30 %", streamed(1, 10, func(x *exchange.Exchange) { x.StallTime = sec(3) }), "decode", "long_output"},

		{"decode of 60 %", streamed(4, 10, tokens(50000, 0, 500)), "decode", "long_output"},
		{"incomplete is judged too", streamed(4, 10, outcome(exchange.Incomplete, 200, "")), "decode", "long_output"},
		{"reasoning over half of decode", streamed(9, 11, tokens(500, 0, 800), thinks("hidden", 700, 9), tpot(0.01, "fair")), "decode", "hidden_reasoning"},
		{"reasoning of half of decode", streamed(3, 5, tokens(500, 0, 400), thinks("hidden", 200, 3), tpot(0.01, "fair")), "decode", "long_output"},
		{"whole, the server's rate known", streamed(3.65, 3.65, tokens(40000, 39200, 220), delivered(exchange.Single), server(-1, -1, 2.7375)), "decode", "whole_output"},
		{"whole, uncounted, but the server tells of its decode", streamed(3.65, 3.65, delivered(exchange.Single), server(-1, 0.5, 2.7)), "decode", "whole_output"},
		{"whole, uncounted, and little of it decode", streamed(3.65, 3.65, delivered(exchange.Single), server(-1, 3.5, 0.1)), "prefill", "long_input"},
		{"whole, uncounted after reasoning that nobody counted", streamed(9, 9, tokens(500, 0, 800), func(x *exchange.Exchange) { x.Reasoning = "hidden" }, delivered(exchange.Single), server(-1, 0.5, 8)), "decode", "whole_output"},
		{"a body, by the server's word", whole(10, tokens(500, 0, 400), server(-1, 1, 8)), "decode", "long_output"},
		{"a body with reasoning, by the server's word", whole(10, tokens(500, 0, 401), thinks("hidden", 300, 0), server(-1, 1, 8)), "decode", "hidden_reasoning"},

		{"network over half of the wait", streamed(2, 2.1, tokens(9000, 0, 5), func(x *exchange.Exchange) { x.Sent = sec(1.01) }), "wait", "network"},
		{"network of half", streamed(2, 2.1, tokens(9000, 0, 5), func(x *exchange.Exchange) { x.Sent = sec(1) }), "prefill", "unseparated"},
		{"queue over half of the wait", streamed(2, 2.1, tokens(9000, 0, 5), server(1.01, 0.5, -1)), "wait", "queue"},
		{"queue of half", streamed(2, 2.1, tokens(9000, 0, 5), server(1, 0.5, -1)), "wait", "unseparated"},
		{"prefill of half of the wait", streamed(2, 2.1, tokens(500, 0, 5), server(0.5, 1, -1)), "prefill", "long_input"},
		{"prefill under half", streamed(2, 2.1, tokens(50000, 0, 5), server(0.5, 0.99, -1)), "wait", "unseparated"},
		{"a thousand tokens, prefill unknown", streamed(2, 2.1, tokens(9000, 8000, 5)), "prefill", "unseparated"},
		{"fewer", streamed(2, 2.1, tokens(9000, 8001, 5)), "wait", "unseparated"},
		{"cache hits unreported", streamed(2, 2.1, tokens(1000, -1, 5)), "prefill", "unseparated"},
		{"nothing reported", streamed(2, 2.1), "wait", "unseparated"},
		{"an expired cache", streamed(2, 2.1, tokens(9000, 0, 5), func(x *exchange.Exchange) { x.CacheOutcome = "expired" }), "prefill", "cache_miss"},
		{"a hit is no miss", streamed(2, 2.1, tokens(9000, 0, 5), func(x *exchange.Exchange) { x.CacheOutcome = "hit" }), "prefill", "unseparated"},
		{"neither has 60 %", streamed(4.5, 10, tokens(50000, 0, 500)), "mixed", "both"},
		{"eight tokens at once are no riddle", streamed(5, 5, tokens(50, 0, 8), delivered(exchange.Single)), "wait", "unseparated"},
	} {
		t.Run(c.name, func(t *testing.T) {
			Judge(c.row, nil)
			checkVerdict(t, c.row, c.bound, c.cause)
			if c.row.RulesVersion == nil || *c.row.RulesVersion != RulesVersion {
				t.Errorf("rules version %v", c.row.RulesVersion)
			}
		})
	}
}

func TestChecksOnPaper(t *testing.T) {
	for _, c := range []struct {
		name         string
		row          *exchange.Exchange
		bound        exchange.Bound
		cause        string
		wait, decode float64
	}{
		{
			"13,228 out, 12,560 of them hidden",
			streamed(183, 192.9, tokens(44214, 0, 13228), thinks("hidden", 12560, 183), tpot(0.0145, "steady")),
			"decode", "hidden_reasoning", 0.88, 192.02,
		},
		{
			"640 tokens of reasoning in summary, then a call of 120",
			streamed(3.8, 10.5, tokens(5000, 0, 760), thinks("summary", 640, 9), tpot(1./79.3, "fair")),
			"decode", "hidden_reasoning", 0.93, 9.57,
		},
		{
			"a call of 220 tokens in one event, 80 tokens/s by the server",
			streamed(3.65, 3.65, tokens(40000, 39200, 220), delivered(exchange.Single), server(-1, -1, 219./80)),
			"decode", "whole_output", 0.91, 2.74,
		},
		{
			"a greeting that waits three seconds",
			streamed(3, 3.2, tokens(12, -1, 9)),
			"wait", "unseparated", 3, 0.2,
		},
		{
			"96,210 in, none cached, 8.2 s, 188 out, by the server's prefill",
			streamed(8.2, 11.4, tokens(96210, 0, 188), tpot(0.017, "fair"), server(-1, 7.6, -1)),
			"prefill", "long_input", 8.2, 3.2,
		},
		{
			"one queued behind others, by the server's prefill",
			streamed(1.487, 1.723, tokens(27, 7, 16), tpot(0.0157, "noisy"), server(-1, 0.136, 0.236)),
			"wait", "queue", 1.487, 0.236,
		},
		{
			"hidden reasoning of 10 s after a prefill of 1 s",
			streamed(11, 13, tokens(9000, 0, 1200), thinks("hidden", 1000, 11), tpot(0.01, "fair")),
			"decode", "hidden_reasoning", 1, 12,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			Judge(c.row, nil)
			checkVerdict(t, c.row, c.bound, c.cause)
			checkPhases(t, c.row, c.wait, c.decode)
		})
	}
}

func TestChecksOnPaperByWhatIsUsual(t *testing.T) {
	for _, c := range []struct {
		name         string
		row          *exchange.Exchange
		bound        exchange.Bound
		cause        string
		wait, decode float64
		usual        *Baseline
	}{
		{
			"a call of 220 tokens in one event, 80 tokens/s by what is usual",
			streamed(3.65, 3.65, tokens(40000, 39200, 220), delivered(exchange.Single)),
			"decode", "whole_output", 0.91, 2.74, &Baseline{TPOT: sec(0.0125)},
		},
		{
			"60,000 in, 99 % of them cached, 25 out, prefill 0.1 s",
			streamed(1.1, 1.4, tokens(60000, 59400, 25), tpot(0.0125, "noisy")),
			"wait", "floor", 1.1, 0.3, line(0.95, 0.1/600),
		},
		{
			"96,210 in, none cached, 8.2 s, 188 out, by what is usual",
			streamed(8.2, 11.4, tokens(96210, 0, 188), tpot(0.017, "fair")),
			"prefill", "long_input", 8.2, 3.2, line(0.4, 8e-5),
		},
		{
			"the same, some of which should have been cached",
			streamed(8.2, 11.4, tokens(96210, 0, 188), tpot(0.017, "fair"), reused("expired")),
			"prefill", "cache_miss", 8.2, 3.2, line(0.4, 8e-5),
		},
		{
			"640 tokens of reasoning in summary, then a call too short for a rate",
			streamed(3.8, 9.3, tokens(5000, 0, 680), thinks("summary", 640, 9), tpot(0.0075, "noisy")),
			"decode", "hidden_reasoning", 1, 8.3, &Baseline{TPOT: sec(0.0125)},
		},
		{
			"640 tokens of reasoning, then a few with a pause among them",
			streamed(9, 9.5, tokens(5000, 0, 650), thinks("hidden", 640, 9), tpot(0.05, "noisy")),
			"decode", "hidden_reasoning", 1, 8.5, &Baseline{TPOT: sec(0.0125)},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			Judge(c.row, c.usual)
			checkVerdict(t, c.row, c.bound, c.cause)
			checkPhases(t, c.row, c.wait, c.decode)
		})
	}
}

func checkVerdict(t *testing.T, x *exchange.Exchange, bound exchange.Bound, cause string) {
	t.Helper()
	if x.Bound != bound || x.Cause != cause {
		t.Errorf("%s/%s, want %s/%s: %s", x.Bound, x.Cause, bound, cause, x.Reason)
	}
}

func checkPhases(t *testing.T, x *exchange.Exchange, wait, decode float64) {
	t.Helper()
	p := Weigh(x)
	if math.Abs(p.Wait.Seconds()-wait) > 0.02 || math.Abs(p.Decode.Seconds()-decode) > 0.02 {
		t.Errorf("wait %v, decode %v, want %v and %v", p.Wait, p.Decode, wait, decode)
	}
}

func TestHiddenDecodeLiesBetweenItsBounds(t *testing.T) {
	for _, c := range []struct {
		name string
		row  *exchange.Exchange
		want *time.Duration
	}{
		{"by the rate", streamed(9, 11, tokens(50, 0, 800), thinks("hidden", 600, 9), tpot(0.01, "fair")), sec(6)},
		{"at most until the answer, the network taken off", streamed(9, 11, tokens(50, 0, 9999), thinks("hidden", 9000, 9), tpot(0.01, "fair"), func(x *exchange.Exchange) { x.RTT = sec(0.5) }), sec(8.5)},
		{"at least from the first summary", streamed(2, 11, tokens(50, 0, 200), thinks("summary", 100, 9), tpot(0.01, "fair")), sec(7)},
		{"at least from when its item was opened", streamed(9, 11, tokens(50, 0, 200), thinks("hidden", 100, 9), tpot(0.01, "fair"), began(2)), sec(7)},
		{"by the rate where its item was opened late", streamed(9, 11, tokens(50, 0, 800), thinks("hidden", 600, 9), tpot(0.01, "fair"), began(8.9)), sec(6)},
		{"without hosted tools", streamed(2, 11, tokens(50, 0, 200), thinks("summary", 100, 9), tpot(0.01, "fair"), func(x *exchange.Exchange) {
			x.HostedTool, x.HostedBeforeAnswer, x.HostedBeforeFirst = sec(4), sec(4), sec(1)
		}), sec(4)},
		{"by the server's rate where ours is noisy", streamed(9, 9.2, tokens(50, 0, 801), thinks("hidden", 700, 9), tpot(9, "noisy"), server(-1, -1, 8)), sec(7)},
		{"of a body, by the server's rate", whole(11, tokens(50, 0, 801), thinks("hidden", 700, 0), server(-1, -1, 8)), sec(7)},
		{"unknown without a rate", streamed(9, 11, tokens(50, 0, 800), thinks("hidden", 600, 9)), nil},
		{"unknown where the server says it took no time", streamed(9, 9.2, tokens(50, 0, 801), thinks("hidden", 700, 9), server(-1, -1, 0)), nil},
		{"unknown without a count", streamed(9, 11, tokens(50, 0, 800), thinks("hidden", 0, 9), tpot(0.01, "fair"), func(x *exchange.Exchange) { x.ReasoningTokens = nil }), nil},
		{"nothing hidden, an item opened before", streamed(9, 11, tokens(50, 0, 800), tpot(0.01, "fair"), began(2)), nil},
		{"nothing hidden", streamed(9, 11, tokens(50, 0, 800), thinks("visible", 600, 10), tpot(0.01, "fair")), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			Judge(c.row, nil)
			if diff := cmp.Diff(c.want, c.row.HiddenDecode, near); diff != "" {
				t.Errorf("hidden decode (-want +got):\n%s", diff)
			}
		})
	}
}

var near = cmp.Comparer(func(a, b time.Duration) bool { return (a - b).Abs() < time.Millisecond })

// A stream whose seen decode is most of its time is decode-bound whatever its
// hidden reasoning took.
func TestDecodeThatWasSeenNeedsNoRate(t *testing.T) {
	summary := streamed(1, 12, tokens(12, -1, 5), thinks("summary", 2, 11), tpot(0.5, "noisy"))
	Judge(summary, nil)
	if summary.Bound != exchange.DecodeBound || summary.Cause != "hidden_reasoning" || summary.HiddenDecode != nil {
		t.Errorf("summaries from 1 s, answer from 11 to 12 s: %s/%s, hidden %v", summary.Bound, summary.Cause, summary.HiddenDecode)
	}
	long := streamed(4, 12, thinks("hidden", 0, 4), func(x *exchange.Exchange) { x.ReasoningTokens = nil })
	Judge(long, nil)
	if long.Bound != exchange.DecodeBound || long.Cause != "long_output" {
		t.Errorf("answer from 4 to 12 s: %s/%s", long.Bound, long.Cause)
	}
}

func TestHostedToolsAreNeitherWaitNorDecode(t *testing.T) {
	x := streamed(6, 20, tokens(5000, 0, 300), func(x *exchange.Exchange) {
		x.HostedTool, x.HostedBeforeFirst, x.HostedBeforeAnswer = sec(15), sec(4), sec(4)
	})
	Judge(x, nil)
	if p := Weigh(x); p.Wait != 2*time.Second || p.Decode != 3*time.Second || x.Bound != exchange.DecodeBound {
		t.Errorf("wait %v, decode %v, %s", p.Wait, p.Decode, x.Bound)
	}
}

func TestOnlyEndedExchangesAreJudged(t *testing.T) {
	x := streamed(1, 2, outcome(exchange.Open, 200, ""))
	x.Bound, x.Cause, x.Reason, x.RulesVersion = exchange.Mixed, "both", "old", num(0)
	Judge(x, nil)
	if diff := cmp.Diff(exchange.Verdict{}, x.Verdict); diff != "" {
		t.Errorf("a verdict on what is under way (-want +got):\n%s", diff)
	}
}

func TestJudgingAgainGivesTheSame(t *testing.T) {
	x := streamed(9, 11, tokens(50, 0, 800), thinks("hidden", 600, 9), tpot(0.01, "fair"))
	Judge(x, nil)
	first := *x
	Judge(x, nil)
	if diff := cmp.Diff(first, *x); diff != "" {
		t.Errorf("(-first +second):\n%s", diff)
	}
}
