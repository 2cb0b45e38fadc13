package web

import (
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// round is an exchange of a turn that began so many seconds before noon.
func round(turn, id string, ago float64, set func(*exchange.Exchange)) *exchange.Exchange {
	return seeded(id, time.Duration(ago*float64(time.Second)), func(x *exchange.Exchange) {
		x.SessionID, x.TurnID, x.Client, x.KeyID = "019ae2-session", turn, "codex_cli_rs/0.171.0", "k_5d1f09"
		set(x)
	})
}

// byServer gives it a queue and a prefill by the server's own word.
func byServer(x *exchange.Exchange, queue, prefill float64) {
	x.ServerQueue, x.ServerPrefill, x.ServerSource = span(queue), span(prefill), "timings"
}

// agent is a turn of an agent that works through its tools. The first attempt at
// its second request is refused by the upstream.
func agent() []*exchange.Exchange {
	return []*exchange.Exchange{
		round("turn-9", "agent-1", 90, func(x *exchange.Exchange) {
			prompted(x, 68_400, 1_024)
			byServer(x, 120, 5100)
			answered(x, 5900, 14_500, 514)
			filled(x, 140_000)
			x.Prompt = chained(x.Prompt, 1)
		}),
		round("turn-9", "agent-2", 71.2, func(x *exchange.Exchange) {
			x.Outcome, x.Status, x.Error = exchange.UpstreamError, new(int64(429)), "429 rate_limit_exceeded: too many requests"
			x.Headers, x.FirstByte, x.End, x.ResponseBytes = span(210), span(211), span(212), new(int64(312))
			x.RetryGroup, x.Attempt = "again-1", new(int64(1))
		}),
		round("turn-9", "agent-3", 70, func(x *exchange.Exchange) {
			prompted(x, 71_300, 68_608)
			x.RetryGroup, x.Attempt = "again-1", new(int64(2))
			byServer(x, 40, 610)
			hidTheReasoning(x, 161)
			answered(x, 6300, 8420, 244)
		}),
		round("turn-9", "agent-4", 44, func(x *exchange.Exchange) {
			prompted(x, 76_800, 71_168)
			byServer(x, 30, 720)
			answered(x, 1240, 10_300, 388)
			filled(x, 172_000)
			x.Prompt = chained(x.Prompt, 1)
		}),
	}
}

// crew is a turn whose exchanges ran side by side, one of them under way still
// and one lost with the proxy.
func crew() []*exchange.Exchange {
	return []*exchange.Exchange{
		round("turn-crew", "crew-lost", 60, func(x *exchange.Exchange) {
			begun(x)
			x.Outcome, x.Error = exchange.Interrupted, "the proxy was stopped"
		}),
		round("turn-crew", "crew-1", 40, func(x *exchange.Exchange) {
			prompted(x, 21_000, 20_480)
			answered(x, 1400, 12_000, 600)
		}),
		round("turn-crew", "crew-2", 38, func(x *exchange.Exchange) {
			prompted(x, 31_000, 1_024)
			answered(x, 4600, 19_000, 800)
		}),
		round("turn-crew", "crew-open", 3, func(x *exchange.Exchange) {
			begun(x)
			x.Outcome = exchange.Open
		}),
	}
}

// chained are boundaries of a prompt whose text a seed stands for: those of two
// prompts are the same as far as their parts and sizes are.
func chained(bs []exchange.Boundary, seed uint64) []exchange.Boundary {
	for i := range bs {
		seed = seed*1_000_003 + uint64(bs[i].Part)<<32 + uint64(bs[i].Bytes)
		bs[i].Hash = seed
	}
	return bs
}
