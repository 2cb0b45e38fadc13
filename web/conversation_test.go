package web

import (
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// conversation is one session: a cold start, a turn with a failed attempt and its
// retry, and an exchange under way. The oldest comes first.
func conversation() []*exchange.Exchange {
	all := []*exchange.Exchange{
		seeded("talk-1", 300*time.Second, func(x *exchange.Exchange) {
			prompted(x, 43_900, 0)
			answered(x, 4200, 6250, 140)
		}),
		seeded("talk-2", 240*time.Second, func(x *exchange.Exchange) {
			prompted(x, 44_200, 43_776)
			answered(x, 1100, 5100, 260)
		}),
		seeded("talk-3", 200*time.Second, func(x *exchange.Exchange) {
			x.Outcome, x.Status, x.Error = exchange.UpstreamError, new(int64(502)), "502 bad_gateway: upstream connect error"
			x.Headers, x.FirstByte, x.End, x.ResponseBytes = span(310), span(311), span(312), new(int64(96))
			x.RetryGroup, x.Attempt = "talk-3", new(int64(1))
		}),
		seeded("talk-4", 190*time.Second, func(x *exchange.Exchange) {
			prompted(x, 44_800, 0)
			answered(x, 8284, 10_434, 112)
			x.RetryGroup, x.Attempt = "talk-3", new(int64(2))
			x.TurnID, x.RequestKind = "turn/2", "turn"
			x.GatewayRequestID, x.RequestID, x.ResponseID = "20260314115650329475Xk2m", "req_8d02c1f7", "resp_51aa"
			paced(x, 100, 24, 26, 20, 24, 0, 0, 28, 24, 24, 22, 24, 24, 20, 28, 24, 24, 22, 26, 24, 24, 24, 12)
			x.Cadence.Gaps = []exchange.Gap{{From: 380 * time.Millisecond, Took: 260 * time.Millisecond}}
		}),
		seeded("talk-5", 150*time.Second, func(x *exchange.Exchange) {
			prompted(x, 46_100, 44_800)
			hidTheReasoning(x, 400)
			answered(x, 6900, 13_400, 900)
			var bytes []int64
			for i := range int64(65) {
				bytes = append(bytes, 28+i%7-i/5)
			}
			paced(x, 100, bytes...)
		}),
		seeded("talk-6", 20*time.Second, func(x *exchange.Exchange) {
			begun(x)
			x.Outcome = exchange.Open
		}),
	}
	for _, x := range all {
		x.SessionID = "talk"
	}
	heldUp(all[3])
	return all
}

// heldUp makes a queue of most of its wait.
func heldUp(x *exchange.Exchange) {
	usual(x)
	x.Estimate(span(4189), span(3200))
	x.Bound, x.Cause, x.Concurrency = exchange.WaitBound, "queue", new(int64(6))
}

// usual gives it what a baseline would have said of it.
func usual(x *exchange.Exchange) {
	x.UsualRows, x.UsualTokens, x.UsualTPOT = new(int64(41)), new(int64(61_000)), span(18.2)
	x.Floor, x.UsualPrefill, x.CachedWait = span(840), span(3200), span(1180)
	x.EstimateError, x.Excess = span(310), span(4280)
}

// paced gives it a cadence: so many bytes of the answer in each step, four with
// the first read.
func paced(x *exchange.Exchange, step float64, bytes ...int64) {
	c := &exchange.Cadence{Step: *span(step), First: exchange.Portion{Answer: 4}}
	for _, n := range bytes {
		c.Steps = append(c.Steps, exchange.Portion{Answer: n})
	}
	x.Cadence = c
}
