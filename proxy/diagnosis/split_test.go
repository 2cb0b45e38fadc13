package diagnosis

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestTheWaitIsSplitByWhatIsUsual(t *testing.T) {
	usual := line(0.4, 1e-4)
	few := &Baseline{Rows: 5, TPOT: sec(0.0125), most: 3000}
	at := func(headers float64) func(*exchange.Exchange) {
		return func(x *exchange.Exchange) { x.Headers = sec(headers) }
	}
	for _, c := range []struct {
		name           string
		row            *exchange.Exchange
		usual          *Baseline
		bound          exchange.Bound
		cause          string
		queue, prefill float64 // -1 for nil
	}{
		{"nothing known", streamed(2, 2.1, tokens(9000, 0, 5)), nil, "prefill", "unseparated", -1, -1},
		{"too few others", streamed(2, 2.1, tokens(9000, 0, 5)), few, "prefill", "unseparated", -1, -1},
		{"prefill, and nothing else", streamed(1.3, 1.4, tokens(9000, 0, 5)), usual, "prefill", "long_input", 0, 0.9},
		{"half of the wait is prefill", streamed(1.8, 1.9, tokens(9000, 0, 5)), usual, "prefill", "long_input", 0.5, 0.9},
		{"less is, the rest is queue", streamed(1.9, 2, tokens(9000, 0, 5)), usual, "wait", "queue", 0.6, 0.9},
		{"shorter than usual", streamed(0.85, 0.9, tokens(9000, 0, 5)), usual, "prefill", "long_input", 0, 0.85},
		{"most of it floor", streamed(0.5, 0.6, tokens(500, 0, 5)), usual, "wait", "floor", 0.05, 0.05},
		{"queue as long as the floor", streamed(0.85, 0.9, tokens(500, 0, 5)), usual, "wait", "floor", 0.4, 0.05},
		{"longer", streamed(0.86, 0.9, tokens(500, 0, 5)), usual, "wait", "queue", 0.41, 0.05},
		{"the first in ten minutes, alone", streamed(9, 9.1, tokens(500, 0, 5), inFlight(1)), usual.idle(10), "wait", "cold_start", 8.55, 0.05},
		{"in nine", streamed(9, 9.1, tokens(500, 0, 5), inFlight(1)), usual.idle(9), "wait", "queue", 8.55, 0.05},
		{"not alone", streamed(9, 9.1, tokens(500, 0, 5), inFlight(2)), usual.idle(99), "wait", "queue", 8.55, 0.05},
		{"others uncounted", streamed(9, 9.1, tokens(500, 0, 5)), usual.idle(99), "wait", "queue", 8.55, 0.05},
		{"the first of all", streamed(9, 9.1, tokens(500, 0, 5), inFlight(1), server(8, 0.1, -1)), nil, "wait", "cold_start", 8, 0.1},
		{"a cache miss", streamed(1.3, 1.4, tokens(9000, 0, 5), reused("missed")), usual, "prefill", "cache_miss", 0, 0.9},
		{"a cache hit that waited is none", streamed(2, 2.1, tokens(90000, 89000, 5), reused("hit")), usual, "wait", "queue", 1.5, 0.1},
		{"network", streamed(2, 2.1, tokens(500, 0, 5), func(x *exchange.Exchange) { x.RTT = sec(1.2) }), usual, "wait", "network", 0.35, 0.05},
		{"network is taken off", streamed(2, 2.1, tokens(9000, 0, 5), func(x *exchange.Exchange) { x.RTT = sec(0.7) }), usual, "wait", "unseparated", 0, 0.9},

		{"the server's word stands", streamed(2, 2.1, tokens(9000, 0, 5), server(0.2, 1.3, -1)), usual, "prefill", "long_input", 0.2, 1.3},
		{"the queue is what its prefill leaves", streamed(3, 3.1, tokens(9000, 0, 5), server(-1, 0.6, -1)), usual, "wait", "queue", 2, 0.6},
		{"its queue leaves the prefill alone", streamed(3, 3.1, tokens(9000, 0, 5), server(2, -1, -1)), usual, "wait", "queue", 2, 0.9},
		{"its prefill alone, without others", streamed(3, 3.1, tokens(9000, 0, 5), server(-1, 0.6, -1)), nil, "wait", "queue", 2.4, 0.6},
		{"its prefill is more than the wait", streamed(1, 1.1, tokens(9000, 0, 5), server(-1, 1.2, -1)), usual, "prefill", "long_input", 0, 1.2},

		{"headers that come when prefill begins", streamed(3, 3.1, tokens(9000, 0, 5), at(2.8)), usual.headersAtSlot(), "wait", "queue", 2.4, 0.2},
		{"even without others", streamed(3, 3.1, tokens(9000, 0, 5), at(1)), new(Baseline).headersAtSlot(), "prefill", "long_input", 1, 2},
		{"but not unless seen to", streamed(3, 3.1, tokens(9000, 0, 5), at(2.8)), usual, "wait", "queue", 1.7, 0.9},
		{"nor of a body", whole(3, tokens(9000, 0, 5), server(-1, -1, 0.1), at(2.8)), usual.headersAtSlot(), "wait", "queue", 1.6, 0.9},

		{"cache hits unreported, but nothing was cached", streamed(1.3, 1.4, tokens(9000, -1, 5), reused("new")), usual, "prefill", "long_input", 0, 0.9},
		{"something may have been", streamed(1.3, 1.4, tokens(9000, -1, 5), reused("unreported")), usual, "prefill", "unseparated", -1, -1},
		{"a queue beyond any prefill", streamed(5, 5.1, tokens(9000, -1, 5)), usual, "wait", "queue", 3.7, -1},
		{"none of that", streamed(2, 2.1, tokens(9000, -1, 5)), usual, "wait", "queue", 0.7, -1},
		{"a greeting", streamed(3, 3.2, tokens(12, -1, 9)), usual, "wait", "queue", 2.5988, -1},
		{"a greeting that only waits for the start", streamed(0.5, 0.52, tokens(12, -1, 9)), usual, "wait", "floor", 0.0988, -1},
		{"a zero that the wait belies", streamed(1.3, 1.4, tokens(9000, 0, 5), reused("unreported")), usual, "prefill", "unseparated", -1, -1},
		{"a prompt of unknown length", streamed(2, 2.1), usual, "wait", "unseparated", -1, -1},

		{"hidden reasoning leaves its wait", streamed(9, 9.5, tokens(9000, 0, 700), thinks("hidden", 600, 9), tpot(0.0125, "fair")), usual, "decode", "hidden_reasoning", 0.2, 0.9},
		{"a call that came whole", streamed(3, 3, tokens(9000, 0, 41), delivered(exchange.Single)), usual, "wait", "queue", 1.2, 0.9},
		{"made before: the wait holds generation", streamed(3, 3.1, tokens(9000, 0, 300), delivered(exchange.Pseudo)), usual, "unknown", "buffered", -1, -1},
		{"bursts", streamed(3, 13, tokens(9000, 0, 300), delivered(exchange.Bursty)), usual, "unknown", "buffered", -1, -1},
		{"the server's word on a stream made before", streamed(3, 3.1, tokens(9000, 0, 300), delivered(exchange.Pseudo), server(0.1, 0.9, 2)), usual, "unknown", "buffered", 0.1, 0.9},
		{"an abort", streamed(3, 4, tokens(9000, 0, 5), outcome(exchange.ClientAbort, 200, "")), usual, "unknown", "aborted", -1, -1},
		{"a body", whole(3, tokens(9000, 0, 5)), usual, "unknown", "not_streamed", -1, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			Judge(c.row, c.usual)
			checkVerdict(t, c.row, c.bound, c.cause)
			want := [2]*time.Duration{}
			for i, s := range []float64{c.queue, c.prefill} {
				if s >= 0 {
					want[i] = sec(s)
				}
			}
			if diff := cmp.Diff(want, [2]*time.Duration{c.row.Queue, c.row.Prefill}, near); diff != "" {
				t.Errorf("queue and prefill (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatWasUsualStandsBesideTheVerdict(t *testing.T) {
	x := streamed(2, 3.5, tokens(9000, 4000, 101), tpot(0.015, "fair"), func(x *exchange.Exchange) { x.RTT = sec(0.1) })
	usual := line(0.4, 1e-4)
	usual.Curve.PerCached = new(10 * time.Microsecond)
	Judge(x, usual)
	want := exchange.Usual{
		UsualRows: num(40), UsualTokens: num(100_000), UsualTPOT: sec(0.0125), UsualPrefill: sec(0.54),
		CachedWait: sec(0.59), EstimateError: sec(0.0188),
	}
	if diff := cmp.Diff(want, x.Usual, near); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if x.Floor == nil || *x.Floor != *sec(0.4) {
		t.Errorf("floor %v", x.Floor)
	}
	if want := 5000 / 0.54; x.PrefillTokensPerSec == nil || math.Abs(*x.PrefillTokensPerSec-want) > 0.1 {
		t.Errorf("%v tokens prefilled a second, want %v", *x.PrefillTokensPerSec, want)
	}
	Judge(x, nil)
	if diff := cmp.Diff(exchange.Usual{}, x.Usual); diff != "" || x.Floor != nil || x.Prefill != nil || x.Queue != nil || x.PrefillTokensPerSec != nil {
		t.Errorf("judged anew without a baseline, these are left: %+v %s", x.Figures, diff)
	}
}

func TestAFewTokensAtOnceMakeAnEstimateLessSure(t *testing.T) {
	one := streamed(2, 2, tokens(9000, 0, 1), delivered(exchange.Single))
	eight := streamed(2, 2, tokens(9000, 0, 8), delivered(exchange.Single))
	Judge(one, line(0.4, 1e-4))
	Judge(eight, line(0.4, 1e-4))
	if more := *eight.EstimateError - *one.EstimateError; more != 7*12500*time.Microsecond {
		t.Errorf("eight tokens may hide %v", more)
	}
}

func TestExcessIsWhatTheWorkDoesNotExplain(t *testing.T) {
	work := func(set ...func(*exchange.Exchange)) *exchange.Exchange { // usually 0.1 + 0.4 + 0.9 + 2.5
		return streamed(3, 5, append(set, tokens(9000, 0, 200), func(x *exchange.Exchange) { x.RTT = sec(0.1) })...)
	}
	hosted := func(x *exchange.Exchange) { x.HostedTool = sec(0.5) }
	none := line(0.4, 1e-4)
	none.TPOT = nil
	for _, c := range []struct {
		name  string
		row   *exchange.Exchange
		usual *Baseline
		want  *time.Duration
	}{
		{"slower", work(), line(0.4, 1e-4), sec(1.1)},
		{"hosted tools are no excess", work(hosted), line(0.4, 1e-4), sec(0.6)},
		{"faster", work(func(x *exchange.Exchange) { x.End = sec(3) }), line(0.4, 1e-4), sec(-0.9)},
		{"a body", whole(5, tokens(9000, 0, 200)), line(0.4, 1e-4), sec(1.2)},
		{"made before it was sent", work(delivered(exchange.Pseudo)), line(0.4, 1e-4), sec(1.1)},
		{"nothing is usual", work(), nil, nil},
		{"no rate is", work(), none, nil},
		{"no curve is known", work(), &Baseline{Rows: 5, TPOT: sec(0.0125)}, nil},
		{"an error", work(outcome(exchange.ErrorEvent, 200, "")), line(0.4, 1e-4), nil},
		{"an unknown amount of work", streamed(3, 5), line(0.4, 1e-4), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			Judge(c.row, c.usual)
			if diff := cmp.Diff(c.want, c.row.Excess, near); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAStreamFarFasterThanUsualWasMadeBefore(t *testing.T) {
	usual := &Baseline{TPOT: sec(0.02), Rates: 9}
	fast := func(n int64, took float64, set ...func(*exchange.Exchange)) *exchange.Exchange {
		set = append(set, tokens(100, 0, n))
		if n > 1 && took >= 0.1 {
			set = append(set, tpot(took/float64(n-1), "fair"))
		}
		return streamed(5, 5+took, set...)
	}
	for _, c := range []struct {
		name  string
		row   *exchange.Exchange
		usual *Baseline
		want  exchange.Delivery
	}{
		{"five times", fast(101, 0.4), usual, exchange.Streamed},
		{"over five times", fast(101, 0.399), usual, exchange.Pseudo},
		{"too short for a rate of its own", fast(101, 0.05), usual, exchange.Pseudo},
		{"31 tokens are too few to say", fast(31, 0.01), usual, exchange.Streamed},
		{"32 are not", fast(32, 0.01), usual, exchange.Pseudo},
		{"nothing is usual", fast(101, 0.2), nil, exchange.Streamed},
		{"the server tells of its decode", fast(101, 0.2, server(-1, -1, 0.2)), usual, exchange.Streamed},
		{"the answer after hidden reasoning", streamed(9, 9.2, tokens(100, 0, 1101), thinks("hidden", 1000, 9)), usual, exchange.Pseudo},
		{"at its usual pace", streamed(9, 11, tokens(100, 0, 1101), thinks("hidden", 1000, 9)), usual, exchange.Streamed},
	} {
		t.Run(c.name, func(t *testing.T) {
			Judge(c.row, c.usual)
			if c.row.Delivery != c.want {
				t.Errorf("%s, want %s", c.row.Delivery, c.want)
			}
			if pseudo := c.want == exchange.Pseudo; pseudo && (c.row.TPOT != nil || c.row.TokensPerSec != nil || c.row.Cause != "buffered") {
				t.Errorf("%s with a rate of %v", c.row.Cause, c.row.TokensPerSec)
			}
		})
	}
}

func TestARateThatWasTakenIsGivenBack(t *testing.T) {
	seen := streamed(5, 5.2, tokens(100, 0, 101), tpot(0.002, "fair"), func(x *exchange.Exchange) { x.RateLastOverFirst = new(0.97) })
	x := *seen
	Judge(&x, &Baseline{TPOT: sec(0.02), Rates: 9})
	if x.Delivery != exchange.Pseudo || x.TokensPerSec != nil {
		t.Fatalf("%s, at %v", x.Delivery, x.TokensPerSec)
	}
	Judge(&x, nil)
	Judge(seen, nil)
	if diff := cmp.Diff(*seen, x); diff != "" || x.TPOT == nil || x.Delivery != exchange.Streamed {
		t.Errorf("(-never taken +given back):\n%s", diff)
	}
}

func TestSlowDecodeIsSlowForThisModel(t *testing.T) {
	for _, c := range []struct {
		name    string
		tpot    float64
		quality string
		usual   *Baseline
		want    string
	}{
		{"under 0.7 of the usual rate", 0.0179, "fair", line(0.4, 1e-4), "slow_decode"},
		{"0.7 of it", 0.0178, "fair", line(0.4, 1e-4), "long_output"},
		{"noisy", 0.03, "noisy", line(0.4, 1e-4), "long_output"},
		{"nothing is usual", 0.03, "fair", nil, "long_output"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := streamed(0.5, 9.5, tokens(500, 0, 300), tpot(c.tpot, c.quality))
			if Judge(x, c.usual); x.Cause != c.want {
				t.Errorf("%s, want %s: %s", x.Cause, c.want, x.Reason)
			}
		})
	}
}

// Published shapes, after a ladder has told what is usual.
func TestPublishedShapesAfterALadder(t *testing.T) {
	rtt := func(s float64) func(*exchange.Exchange) { return func(x *exchange.Exchange) { x.RTT = sec(s) } }
	measured := truth{floor: 0.05, each: 8e-4, growth: 1e-4}
	slowNet := measured
	slowNet.floor += 0.8
	for _, c := range []struct {
		name  string
		model truth
		set   func(*exchange.Exchange) // of the ladder too
		row   *exchange.Exchange
		bound exchange.Bound
		cause string
	}{
		{"3,000 in, 3 out", measured, rtt(0), logged(60, 2.84, 3000, 0, until(3.12, 3)), "prefill", "long_input"},
		{"2,180 out at 45.5 tokens/s", measured, rtt(0), logged(60, 0.32, 200, 0, until(48.2, 2180), tpot(1/45.5, "steady")), "decode", "long_output"},
		{"a short prompt with a spike", measured, rtt(0), logged(60, 2.9, 29, 0, until(3.1, 16)), "wait", "queue"},
		{"an hour later, alone", measured, rtt(0), logged(90, 2.9, 29, 0, until(3.1, 16), inFlight(1)), "wait", "cold_start"},
		{"a slow network", slowNet, rtt(0.8), logged(60, 0.9, 29, 0, until(1.1, 12)), "wait", "network"},
		{"a long prompt again", measured, rtt(0), logged(60, 0.08, 9, 2991, until(0.3, 12), reused("hit")), "decode", "long_output"},
		{"the same, but a word", measured, rtt(0), logged(60, 0.08, 9, 2991, until(0.09, 2), reused("hit")), "wait", "floor"},
		{"12,560 of 13,228 hidden", measured, rtt(0), logged(60, 183, 44214, 0, until(192.9, 13228), tpot(0.0148, "steady"), thinks("hidden", 12560, 183)), "decode", "hidden_reasoning"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := learned(ladderOf(c.model, c.set)...)
			c.set(c.row)
			c.row.Derive()
			Judge(c.row, b.Baseline(c.row))
			checkVerdict(t, c.row, c.bound, c.cause)
		})
	}
}

// until ends the answer, with so many tokens that tell no rate by themselves.
func until(last float64, output int64) func(*exchange.Exchange) {
	return func(x *exchange.Exchange) {
		x.LastToken, x.End, x.OutputTokens = sec(last), sec(last), num(output)
		x.TPOT, x.TokensPerSec, x.RateQuality = nil, nil, ""
	}
}

// Traffic of an agent with queues and cache hits, judged in its order from the
// row alone: estimates come near the truth, and no clear queue is called prefill.
func TestEstimatesComeNearTheTruth(t *testing.T) {
	var queues, prefills []float64 // off, in units of 10 % or 20 ms
	right, clear := 0, 0
	for i, m := range truths {
		r := rand.New(rand.NewPCG(uint64(i), 7))
		b := learned(ladderOf(m)...)
		ps := traffic{n: 300, lengths: anyLength, noise: 0.03, jitter: 0.005, cached: true}.points(r, m)
		for j, p := range ps {
			queue := 0.
			if r.IntN(4) == 0 {
				queue = 0.3 + 3*r.ExpFloat64()
			}
			x := logged(100+j, p.wait.Seconds()+queue, p.uncached, p.cached, until(p.wait.Seconds()+queue+0.1, 6))
			Judge(x, b.Baseline(x))
			b.Add(x)
			if x.Prefill == nil || x.Queue == nil {
				t.Fatalf("nothing estimated: %s", x.Reason)
			}
			prefill := m.prefill(p.uncached, p.cached) - m.flat // which no prompt is spared: part of the start
			prefills = append(prefills, math.Abs(x.Prefill.Seconds()-prefill)/max(0.02, prefill/10))
			queues = append(queues, math.Abs(x.Queue.Seconds()-queue)/max(0.02, queue/10))
			switch total := x.LastToken.Seconds(); {
			case queue > 0.65*total:
				clear++
				right += btoi(x.Cause == "queue")
			case prefill > 0.65*total:
				clear++
				right += btoi(x.Bound == exchange.PrefillBound)
			}
		}
	}
	t.Logf("prefill off by %.2f at the median, %.2f at p95; queue by %.2f and %.2f; %d of %d clear ones right",
		quantile(prefills, 0.5), quantile(prefills, 0.95), quantile(queues, 0.5), quantile(queues, 0.95), right, clear)
	if quantile(prefills, 0.5) > 1 || quantile(queues, 0.5) > 1 || 100*right < 98*clear || clear < 300 {
		t.Fail()
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
