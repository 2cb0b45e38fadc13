package diagnosis

import (
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestMixedAdvisesWhatTheRowSupports(t *testing.T) {
	mixed := func(set ...func(*exchange.Exchange)) *exchange.Exchange {
		return streamed(1, 2, set...)
	}
	rtt := func(x *exchange.Exchange) { x.RTT = sec(0.053) }
	usual := line(0.4, 1e-4)
	for _, c := range []struct {
		name   string
		row    *exchange.Exchange
		usual  *Baseline
		en, zh string
	}{
		{
			"a short prompt whose prefill is known, and a short answer",
			mixed(tokens(121, 0, 40), server(0.3, 0.048, -1), rtt), nil,
			"1.00 s of waiting (network 53.0 ms, queue 0.30 s, prefill 48.0 ms) and 1.00 s of decoding: neither takes 60 % of the time.",
			"等待 1.00 s（网络 53.0 ms，排队 0.30 s，预填充（Prefill）48.0 ms），解码 1.00 s，都不到六成。",
		},
		{
			"a short prompt and a longer answer", mixed(tokens(121, 0, 64)), nil,
			"1.00 s of waiting and 1.00 s of decoding: neither takes 60 % of the time. A shorter answer would cut the decoding.",
			"等待 1.00 s，解码 1.00 s，都不到六成。缩短输出可减少解码。",
		},
		{
			"a prefill of half of the wait", mixed(tokens(500, 0, 40), server(-1, 0.5, -1)), nil,
			"1.00 s of waiting (queue 0.50 s, prefill 0.50 s) and 1.00 s of decoding: neither takes 60 % of the time. A shorter input, or a beginning that the cache knows, would cut the wait.",
			"等待 1.00 s（排队 0.50 s，预填充（Prefill）0.50 s），解码 1.00 s，都不到六成。缩短输入或让开头命中缓存可减少等待。",
		},
		{
			"a long prompt, its prefill unknown", mixed(tokens(9000, 0, 40)), nil,
			"1.00 s of waiting and 1.00 s of decoding: neither takes 60 % of the time. Unless it was a queue, a shorter input, or a beginning that the cache knows, would cut the wait.",
			"等待 1.00 s，解码 1.00 s，都不到六成。若非排队，缩短输入或让开头命中缓存可减少等待。",
		},
		{
			"a cache miss", mixed(tokens(5000, 0, 40), reused("missed")), usual,
			"1.00 s of waiting (start 0.40 s, queue 0.10 s, prefill 0.50 s) and 1.00 s of decoding: neither takes 60 % of the time. An earlier request began alike, but the cache was not used: an unchanged beginning and shorter pauses would cut the wait.",
			"等待 1.00 s（固定开销 0.40 s，排队 0.10 s，预填充（Prefill）0.50 s），解码 1.00 s，都不到六成。之前有开头相同的请求，但缓存未命中：保持开头不变、缩短间隔可减少等待。",
		},
		{
			"a prefill that leaves no room for the start", mixed(tokens(9000, 0, 40)), usual,
			"1.00 s of waiting (prefill 0.90 s) and 1.00 s of decoding: neither takes 60 % of the time. A shorter input, or a beginning that the cache knows, would cut the wait.",
			"等待 1.00 s（预填充（Prefill）0.90 s），解码 1.00 s，都不到六成。缩短输入或让开头命中缓存可减少等待。",
		},
		{
			"a slow start", mixed(tokens(500, 0, 40)), line(0.6, 1e-4),
			"1.00 s of waiting (start 0.60 s, queue 0.35 s, prefill 50.0 ms) and 1.00 s of decoding: neither takes 60 % of the time. Most of the wait is what gateway and model need to start (0.60 s), whatever the prompt.",
			"等待 1.00 s（固定开销 0.60 s，排队 0.35 s，预填充（Prefill）50.0 ms），解码 1.00 s，都不到六成。等待主要是网关与模型的固定开销（0.60 s），与输入无关。",
		},
		{
			"a queue", mixed(tokens(500, 0, 40), inFlight(3)), usual,
			"1.00 s of waiting (start 0.40 s, queue 0.55 s, prefill 50.0 ms) and 1.00 s of decoding: neither takes 60 % of the time. 0.55 s of the wait was queue, most likely. With 3 requests in flight here, fewer at once would cut it.",
			"等待 1.00 s（固定开销 0.40 s，排队 0.55 s，预填充（Prefill）50.0 ms），解码 1.00 s，都不到六成。等待中多半有 0.55 s 是排队。当时本机并发 3，减少并发可以缩短。",
		},
		{
			"a cold start", mixed(tokens(500, 0, 40), inFlight(1)), usual.idle(25),
			"1.00 s of waiting (start 0.40 s, queue 0.55 s, prefill 50.0 ms) and 1.00 s of decoding: neither takes 60 % of the time. Most of the wait came before the prefill, on the first request to this model in 25 min: a cold start, most likely.",
			"等待 1.00 s（固定开销 0.40 s，排队 0.55 s，预填充（Prefill）50.0 ms），解码 1.00 s，都不到六成。等待主要在预填充（Prefill）之前；这是该模型 25 min 以来的首个请求，多半是冷启动。",
		},
		{
			"a slow network and slow decode",
			mixed(tokens(500, 0, 40), tpot(0.025, "fair"), inFlight(2), func(x *exchange.Exchange) { x.RTT = sec(0.7) }),
			&Baseline{TPOT: new(12500 * time.Microsecond)},
			"1.00 s of waiting (network 0.70 s) and 1.00 s of decoding: neither takes 60 % of the time. The network took 0.70 s of the wait, most for the round trip (0.70 s): an upstream nearer by saves it. Decoding ran at 40.0 tokens/s, under 0.7 of the 80.0 tokens/s that are usual for this model, with 2 requests in flight here.",
			"等待 1.00 s（网络 0.70 s），解码 1.00 s，都不到六成。等待中网络占 0.70 s，主要是往返时延（0.70 s），换更近的上游即可减少。生成速度 40.0 tokens/s，不到该模型平时 80.0 tokens/s 的七成，当时本机并发 2。",
		},
		{
			"hidden reasoning", streamed(1.6, 2, tokens(500, 0, 70), thinks("hidden", 60, 1.6), tpot(0.01, "fair")), nil,
			"1.00 s of waiting and 1.00 s of decoding: neither takes 60 % of the time. Less reasoning effort would cut the decoding.",
			"等待 1.00 s，解码 1.00 s，都不到六成。降低思考强度可减少解码。",
		},
		{
			"an output that came whole", streamed(2, 2, tokens(500, 0, 101), delivered(exchange.Single)), &Baseline{TPOT: sec(0.01)},
			"1.00 s of waiting and 1.00 s of decoding: neither takes 60 % of the time. A shorter answer would cut the decoding.",
			"等待 1.00 s，解码 1.00 s，都不到六成。缩短输出可减少解码。",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			Judge(c.row, c.usual)
			checkVerdict(t, c.row, "mixed", "both")
			if c.row.Reason != c.en {
				t.Errorf("stored\n%s\nwant\n%s", c.row.Reason, c.en)
			}
			if got := Reason(c.row, "zh"); got != c.zh {
				t.Errorf("in Chinese\n%s\nwant\n%s", got, c.zh)
			}
		})
	}
}

func TestEveryCauseHasItsAdviceForAMixedRow(t *testing.T) {
	for bound, advice := range map[exchange.Bound]map[string]phrase{exchange.DecodeBound: lessDecodes, exchange.WaitBound: lessWaits, exchange.PrefillBound: lessWaits} {
		for _, cause := range causes[bound] {
			if advice[cause].en == "" || advice[cause].zh == "" {
				t.Errorf("%s/%s has none", bound, cause)
			}
		}
	}
}
