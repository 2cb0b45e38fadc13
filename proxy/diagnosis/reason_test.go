package diagnosis

import (
	"strings"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestReasonIsASentenceWithItsNumbers(t *testing.T) {
	for _, c := range []struct {
		name   string
		row    *exchange.Exchange
		en, zh string
	}{
		{
			"prefill by the server's word",
			streamed(8.17, 11.5, tokens(96210, 12210, 188), server(-1, 7.2, -1)),
			"8.17 s before the first token, 71 % of the time to the last. Prefill of 84,000 of 96,210 input tokens (the rest was cached) took 7.20 s by the server's own timing. A shorter input, or a beginning that the cache knows, would cut it.",
			"首字延迟 8.17 s，占到最后一个 token 为止的 71 %。预填充（Prefill）用了 7.20 s（服务端自报）：输入 96,210 tokens 中缓存未命中的 84,000 tokens。缩短输入或让开头命中缓存可以减少。",
		},
		{
			"prefill or queue",
			streamed(8.17, 11.5, tokens(96210, 0, 188)),
			"8.17 s before the first token, 71 % of the time to the last. It had to prefill 96,210 input tokens (none cached); a queue cannot be told apart from that without the server's own timing, or other exchanges of this model to compare with. A shorter input, or a beginning that the cache knows, would cut it.",
			"首字延迟 8.17 s，占到最后一个 token 为止的 71 %。要预填充（Prefill）输入 96,210 tokens（缓存未命中）；没有服务端自报时间，也没有该模型的其他请求可对照，无法与排队区分。缩短输入或让开头命中缓存可以减少。",
		},
		{
			"a wait that nothing explains",
			streamed(3, 3.2, tokens(12, -1, 9), func(x *exchange.Exchange) { x.RTT = sec(0.083) }),
			"3.00 s before the first token, 94 % of the time to the last. Prefill of 12 input tokens (cache hits unreported) cannot explain that, and queue and start-up cannot be told apart (network 83.0 ms) without the server's own timing, or other exchanges of this model to compare with.",
			"首字延迟 3.00 s，占到最后一个 token 为止的 94 %。输入 12 tokens（缓存命中未报告），预填充（Prefill）不足以解释；没有服务端自报时间，也没有该模型的其他请求可对照，无法区分排队与启动（网络 83.0 ms）。",
		},
		{
			"network, most of it connecting",
			streamed(2, 2.1, tokens(9, 0, 5), func(x *exchange.Exchange) { x.DNS, x.TLS = sec(0.2), sec(1) }),
			"2.00 s before the first token, 95 % of the time to the last. The network took 1.20 s of it, most for connecting (1.20 s): a connection that is kept open saves it.",
			"首字延迟 2.00 s，占到最后一个 token 为止的 95 %。其中网络 1.20 s，主要是建立连接（1.20 s），保持长连接即可省去。",
		},
		{
			"hidden reasoning",
			streamed(183, 192.9, tokens(44214, 0, 13228), thinks("hidden", 12560, 183), tpot(0.0145, "steady")),
			"192.0 s of decoding, > 99 % of the time to the last token. 182.1 s of it went into reasoning that was not shown (12,560 tokens). Less reasoning effort would cut it.",
			"解码 192.0 s，占到最后一个 token 为止的 > 99 %。其中 182.1 s 用于隐藏思考（12,560 tokens）。降低思考强度可以缩短。",
		},
		{
			"a long answer at a noisy rate",
			streamed(0.3, 9.3, tokens(500, 0, 60), tpot(0.1, "noisy")),
			"9.00 s of decoding, 97 % of the time to the last token. 60 output tokens came, at ~10.0 tokens/s. A shorter answer or a faster model would cut it.",
			"解码 9.00 s，占到最后一个 token 为止的 97 %。输出 60 tokens，生成速度 ~10.0 tokens/s。缩短输出或换更快的模型可以减少。",
		},
		{
			"an abort before any token",
			whole(41, outcome(exchange.ClientAbort, 0, "")),
			"No token for 41.0 s when the client left. If nobody pressed stop, raise the client's time limit.",
			"客户端中断时已等待 41.0 s，没有任何 token。若非手动停止，请调大客户端的超时。",
		},
		{
			"an error, and the wait so far",
			whole(1234.56, outcome(exchange.UpstreamError, 504, "")),
			"Something between gave up waiting (504); the model may have gone on, and may be billed. Stream the request, or raise the gateway's time limit. No token had come after 1,234.6 s.",
			"中间网关等待超时（504）；模型可能仍在执行并计费。请改用流式，或调大网关超时。等待 1,234.6 s，没有任何 token。",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			Judge(c.row, nil)
			if c.row.Reason != c.en {
				t.Errorf("stored\n%s\nwant\n%s", c.row.Reason, c.en)
			}
			if got := Reason(c.row, "zh"); got != c.zh {
				t.Errorf("in Chinese\n%s\nwant\n%s", got, c.zh)
			}
		})
	}
}

func TestReasonByWhatIsUsualSaysWhatItRestsOn(t *testing.T) {
	for _, c := range []struct {
		name   string
		row    *exchange.Exchange
		usual  *Baseline
		en, zh string
	}{
		{
			"a cache miss",
			streamed(8.17, 11.5, tokens(96210, 0, 188), reused("expired")), line(0.4, 8e-5),
			"8.17 s before the first token, 71 % of the time to the last. It had to prefill 96,210 input tokens (none cached) although an earlier request began alike: the cache had expired. This model needs about 7.70 s (give or take 0.16 s, by 40 of its exchanges) for that. An unchanged beginning and shorter pauses let the cache serve it: with all of it cached the first token would have come after about 0.40 s.",
			"首字延迟 8.17 s，占到最后一个 token 为止的 71 %。之前有开头相同的请求，但缓存过期，仍要预填充（Prefill）输入 96,210 tokens（缓存未命中）。该模型约需 7.70 s（误差约 0.16 s，依据该模型 40 条请求）。保持开头不变、缩短间隔，才能命中缓存：若全部命中，首字延迟约 0.40 s。",
		},
		{
			"a queue",
			streamed(1.9, 2, tokens(9000, 0, 5), inFlight(3)), line(0.4, 1e-4),
			"1.90 s before the first token, 95 % of the time to the last. 0.60 s of it (give or take 26.0 ms, by 40 of its exchanges) is more than the start (0.40 s) and the prefill of 9,000 input tokens (none cached) (0.90 s) account for: a queue, most likely. With 3 requests in flight here, fewer at once would cut it.",
			"首字延迟 1.90 s，占到最后一个 token 为止的 95 %。除固定开销 0.40 s 与输入 9,000 tokens（缓存未命中）的预填充（Prefill）0.90 s 外，还多出 0.60 s（误差约 26.0 ms，依据该模型 40 条请求），多半是排队。当时本机并发 3，减少并发可以缩短。",
		},
		{
			"a cold start",
			streamed(9, 9.1, tokens(500, 0, 5), inFlight(1)), line(0.4, 1e-4).idle(25),
			"9.00 s before the first token, 99 % of the time to the last. 8.55 s of it (give or take 9.0 ms, by 40 of its exchanges) came before the prefill, on the first request to this model in 25 min, with no other under way here: a cold start, most likely. Requests at shorter intervals keep the model warm.",
			"首字延迟 9.00 s，占到最后一个 token 为止的 99 %。其中 8.55 s（误差约 9.0 ms，依据该模型 40 条请求）在预填充（Prefill）之前；这是该模型 25 min 以来的首个请求，当时也没有其他请求：多半是冷启动。缩短请求间隔可让模型保持就绪。",
		},
		{
			"a slow start",
			streamed(0.5, 0.6, tokens(500, 0, 5)), line(0.4, 1e-4),
			"0.50 s before the first token, 83 % of the time to the last. 0.40 s of it (give or take 9.0 ms, by 40 of its exchanges) is what gateway and model need to start, whatever the prompt. A shorter prompt would not cut that; another route or model may start quicker.",
			"首字延迟 0.50 s，占到最后一个 token 为止的 83 %。其中 0.40 s（误差约 9.0 ms，依据该模型 40 条请求）是网关与模型的固定开销，与输入无关。缩短输入无济于事，换线路或模型也许启动更快。",
		},
		{
			"slow decode",
			streamed(0.5, 9.5, tokens(500, 0, 300), tpot(0.03, "fair"), inFlight(4)), line(0.4, 1e-4),
			"9.00 s of decoding, 95 % of the time to the last token. 300 output tokens came, at 33.3 tokens/s, under 0.7 of the 80.0 tokens/s that are usual for this model, with 4 requests in flight here. Fewer requests at once, or another hour or route, would tell whether load slows it.",
			"解码 9.00 s，占到最后一个 token 为止的 95 %。输出 300 tokens，生成速度 33.3 tokens/s，不到该模型平时 80.0 tokens/s 的七成，当时本机并发 4。减少并发，或换时段、换线路，可以看出是否因负载变慢。",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			Judge(c.row, c.usual)
			if c.row.Reason != c.en {
				t.Errorf("stored\n%s\nwant\n%s", c.row.Reason, c.en)
			}
			if got := Reason(c.row, "zh"); got != c.zh {
				t.Errorf("in Chinese\n%s\nwant\n%s", got, c.zh)
			}
		})
	}
}

func TestReasonSaysHowSureItIsAndWhatIsLacking(t *testing.T) {
	usual := line(0.4, 1e-4)
	beyond := line(0.4, 8e-5)
	beyond.most, beyond.Curve.Most = 3000, 3000
	vague := &Baseline{Rows: 9, least: 1, most: 8, Curve: &Curve{Least: 1, Most: 8, Error: 0.05, Knots: []Knot{{}, {8, time.Millisecond}}}}
	few := &Baseline{Rows: 5, least: 40, most: 3000}
	at := func(headers float64) func(*exchange.Exchange) {
		return func(x *exchange.Exchange) { x.Headers = sec(headers) }
	}
	short := func(set ...func(*exchange.Exchange)) *exchange.Exchange {
		return streamed(3, 3.1, append(set, tokens(9000, 0, 5))...)
	}
	for _, c := range []struct {
		name   string
		row    *exchange.Exchange
		usual  *Baseline
		en, zh string
	}{
		{"a prompt longer than those seen", streamed(8.17, 11.5, tokens(96210, 0, 188)), beyond, "less sure, since none of them had over 3,000 tokens", "把握较小"},
		{"far longer, by little knowledge", streamed(1.3, 1.4, tokens(9000, 0, 5)), vague, "since the longest of this model's known exchanges had 8 tokens", "最多只有 8 tokens"},
		{"too few others", streamed(1.3, 1.4, tokens(9000, 0, 5)), few, "since this model's other exchanges (5) are too few or too alike", "（5 条）太少或长度太接近"},
		{"too few for a short one", streamed(1.3, 1.4, tokens(900, 0, 5)), few, "queue and start-up cannot be told apart, since this model's other exchanges (5)", "无法区分排队与启动"},
		{"hits unreported", streamed(1.3, 1.4, tokens(9000, -1, 5)), usual, "since how much of it was cached is unreported", "不知其中多少命中缓存"},
		{"no hits, which the wait belies", streamed(1.3, 1.4, tokens(9000, 0, 5), reused("unreported")), usual, "9,000 input tokens (cache hits unreported)", "（缓存命中未报告）"},
		{"hits unreported, a sure queue", streamed(5, 5.1, tokens(9000, -1, 5)), usual, "At least 3.70 s", "至少 3.70 s"},
		{"a close call for prefill", streamed(1.8, 1.9, tokens(9000, 0, 5)), usual, "so near to half of the wait", "结论未必成立"},
		{"a close call for queue", streamed(1.81, 1.9, tokens(9000, 0, 5)), usual, "so near to half of the wait", "结论未必成立"},
		{"the server's queue", short(server(2, 0.5, -1), inFlight(1)), usual.idle(3), "was queue by the server's own timing. No other request was in flight here", "（服务端自报）。当时本机没有其他请求"},
		{"the server's prefill alone", short(server(-1, 0.6, -1)), nil, "went into the queue or the start of the request, which cannot be told apart without other", "是排队或启动，没有该模型的其他请求可对照"},
		{"headers at the slot", short(at(2.8)), usual.headersAtSlot(), "2.40 s of it beyond the start (0.40 s) passed before the headers", "除固定开销 0.40 s 外 2.40 s 在响应头之前"},
		{"headers, and no baseline", short(at(2.8)), new(Baseline).headersAtSlot(), "2.80 s of it passed before the headers", "其中 2.80 s 在响应头之前"},
		{"prefill by the headers", short(at(1)), usual.headersAtSlot(), "took the 2.00 s from the headers on", "响应头之后的 2.00 s"},
		{"a miss by the headers", short(at(1), reused("missed")), usual.headersAtSlot(), "That took the 2.00 s from the headers on", "用了响应头之后的 2.00 s"},
		{"a miss by the server", short(server(-1, 2, -1), reused("missed")), usual, "That took 2.00 s by the server's own timing", "服务端自报用了 2.00 s"},
		{"no part over half", streamed(2, 2.1, tokens(9000, 0, 5), func(x *exchange.Exchange) { x.RTT = sec(0.7) }), usual, "(network 0.70 s, start 0.40 s, prefill 0.90 s)", "固定开销 0.40 s"},
		{"the first that is known", short(server(2, 0.5, -1), inFlight(1)), nil, "2.00 s of it (by the server's own timing) came before the prefill, on the first request to this model that is known here", "2.00 s（服务端自报）在预填充（Prefill）之前；这是本机已知的该模型的首个请求"},
		{"a slow start by the server's timing", streamed(1, 1.1, tokens(500, 0, 5), server(0.1, 0.3, -1)), line(0.5, 1e-4), "0.50 s of it is what gateway", "其中 0.50 s 是网关"},
		{"idle for a day", short(inFlight(1)), usual.idle(26 * 60), "in 26 h", "26 h 以来"},
		{"reasoning by the usual rate", streamed(9, 9.5, tokens(9000, 0, 700), thinks("hidden", 600, 9)), usual, "reckoned by this model's usual 80.0 tokens/s", "平时的 80.0 tokens/s 推算"},
		{"one piece by the usual rate", streamed(3.65, 3.65, tokens(40000, 39200, 220), delivered(exchange.Single)), usual, "reckoned by this model's usual 80.0 tokens/s", "平时的 80.0 tokens/s 推算"},
		{"too fast to be true", streamed(5, 5.2, tokens(100, 0, 300)), usual, "within 0.20 s, when this model usually makes 80.0 tokens/s", "该模型平时 80.0 tokens/s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			Judge(c.row, c.usual)
			if en := Reason(c.row, "en"); !strings.Contains(en, c.en) {
				t.Errorf("%q does not say %q", en, c.en)
			}
			if zh := Reason(c.row, "zh"); !strings.Contains(zh, c.zh) {
				t.Errorf("%q does not say %q", zh, c.zh)
			}
		})
	}
}

func TestReasonSaysWhatIsSpecialAboutTheRow(t *testing.T) {
	wait := func(set ...func(*exchange.Exchange)) *exchange.Exchange {
		return streamed(2, 2.1, append(set, tokens(9000, 0, 5))...)
	}
	for _, c := range []struct {
		name   string
		row    *exchange.Exchange
		en, zh string // what must stand in it
	}{
		{"a stream made before", streamed(5, 5.05, tokens(50, 0, 300), delivered(exchange.Pseudo)), "300 output tokens came within 50.0 ms", "假流式"},
		{"bursts", streamed(5, 15, delivered(exchange.Bursty), func(x *exchange.Exchange) { x.DeliveryPeriod, x.DeliveryBytes = sec(5), num(4096) }), "every 5.00 s, about 4,096 bytes", "每 5.00 s 攒包一次"},
		{"one piece", streamed(5, 5, tokens(50, 0, 90), delivered(exchange.Single)), "90 output tokens came in one piece after 5.00 s", "一次到达"},
		{"one piece, its making known", streamed(3.65, 3.65, tokens(9, 0, 220), delivered(exchange.Single), server(-1, -1, 2.7375)), "took about 2.74 s", "并非预填充"},
		{"a whole body", whole(3, tokens(12, -1, 5)), "came whole after 3.00 s", "整段返回"},
		{"a whole body by the server's word", whole(10, tokens(500, 0, 400), server(-1, 1, 8)), "8.00 s of decoding by the server's own timing, 80 % of the total", "服务端自报"},
		{"prefill of a whole body", whole(10, tokens(5000, 0, 40), server(-1, 8, 1)), "9.00 s outside decode", "解码以外"},
		{"no output", whole(3, tokens(12, -1, 0)), "no generated output", "没有生成的输出"},
		{"a stream without output", streamed(1, 2, func(x *exchange.Exchange) { x.FirstToken, x.LastToken = nil, nil }), "without any output", "没有任何输出"},
		{"an unread path", whole(3, func(x *exchange.Exchange) { x.Dialect = exchange.Other }), "not read", "不解析"},
		{"no time at all", streamed(0, 0), "no time to divide", "没有可划分"},
		{"silence", streamed(1, 10, func(x *exchange.Exchange) { x.Stalls, x.StallTime, x.MaxGap = num(2), sec(4.1), sec(2.5) }), "4.10 s, 41 % of the total (2 in all, the longest 2.50 s)", "卡顿共 4.10 s"},
		{"both", streamed(4.5, 10), "4.50 s of waiting and 5.50 s of decoding", "等待 4.50 s，解码 5.50 s"},
		{"queue", wait(server(1.1, 0.5, -1)), "1.10 s of it was queue", "排队 1.10 s"},
		{"no part over half", wait(server(0.5, 0.9, -1)), "(queue 0.50 s, prefill 0.90 s)", "（排队 0.50 s，预填充（Prefill）0.90 s）"},
		{"another's connection", wait(func(x *exchange.Exchange) { x.PoolWait = sec(1.2) }), "most for connecting (1.20 s)", "建立连接（1.20 s）"},
		{"upload", wait(func(x *exchange.Exchange) { x.Sent = sec(1.5) }), "upload (1.50 s)", "上传请求（1.50 s）"},
		{"round trip", wait(func(x *exchange.Exchange) { x.RTT = sec(1.5) }), "round trip (1.50 s)", "往返时延（1.50 s）"},
		{"a changed beginning", wait(func(x *exchange.Exchange) { x.CacheOutcome = "broken" }), "an early part of it was changed", "前缀被改动"},
		{"hidden decode taken out of the wait", streamed(60, 65, tokens(40000, 0, 220), thinks("hidden", 100, 60), tpot(0.01, "fair")), "59.0 s of waiting once unseen decode", "扣除看不见的解码"},
		{"reasoning without a rate", streamed(9, 9.5, tokens(50, 0, 700), thinks("hidden", 690, 9)), "The 9.00 s before the answer hold prefill and reasoning that was not shown (690 tokens)", "隐藏思考（690 tokens）"},
		{"reasoning without a count", streamed(9, 9.5, func(x *exchange.Exchange) { x.Reasoning = "hidden" }), "reasoning that was not shown, and", "也有隐藏思考，"},
		{"reasoning of which the least is known", streamed(1, 12, thinks("summary", 2, 11)), "At least 10.0 s", "至少 10.0 s"},
		{"an output of unknown length", streamed(1, 12), "Usage was not reported", "usage 未报告"},
		{"an output without a rate", streamed(1, 12, tokens(9, 0, 1200)), "1,200 output tokens came. ", "输出 1,200 tokens。"},
		{"an input of unknown length", streamed(2, 2.1), "an input of unreported length", "长度未报告的输入"},
		{"an answer that was left", streamed(1, 2, outcome(exchange.ClientAbort, 200, "")), "in the middle of the answer", "中断了回答"},
		{"killed before its end", whole(0, outcome(exchange.Interrupted, 200, ""), func(x *exchange.Exchange) { x.End = nil }), "under way. What had come by then is unknown.", "被停止。此前收到了什么不得而知。"},
		{"stopped before its first token", whole(2, outcome(exchange.Interrupted, 200, "")), "under way. No token had come after 2.00 s.", "等待 2.00 s，没有任何 token。"},
		{"a whole body, whatever was asked for", whole(3, tokens(12, -1, 5)), "Only an answer that is streamed, or the server's own timing, can tell.", "流式返回或服务端自报时间才能区分"},
		{"hidden tokens did not come", streamed(4, 9, tokens(50, 0, 3168), thinks("hidden", 3000, 4), tpot(0.03, "fair"), began(3.9)), "168 visible output tokens came, at 33.3 tokens/s", "可见输出 168 tokens，生成速度 33.3 tokens/s"},
		{"hidden tokens came in no piece", streamed(5, 5, tokens(50, 0, 590), thinks("hidden", 500, 5), delivered(exchange.Single)), "90 visible output tokens came in one piece", "可见输出 90 tokens，在 5.00 s 后一次到达"},
		{"hidden tokens without a count", streamed(1, 9, tokens(50, 0, 590), func(x *exchange.Exchange) { x.Reasoning = "hidden" }), "How many of the 590 output tokens were no reasoning is unknown", "其中多少不是思考不得而知"},
		{"usage that could have been asked for", streamed(1, 12), "is unknown: stream_options.include_usage in the request asks for it.", "设 stream_options.include_usage 即可要求上报。"},
		{"usage that cannot be asked for", streamed(1, 12, func(x *exchange.Exchange) { x.Dialect = exchange.Responses }), "so how many tokens that made is unknown. A shorter answer", "输出长度未知。缩短"},
	} {
		t.Run(c.name, func(t *testing.T) {
			Judge(c.row, nil)
			if en := Reason(c.row, "en"); !strings.Contains(en, c.en) {
				t.Errorf("%q does not say %q", en, c.en)
			}
			if zh := Reason(c.row, "zh"); !strings.Contains(zh, c.zh) {
				t.Errorf("%q does not say %q", zh, c.zh)
			}
		})
	}
}

func TestTheServersWordIsNotTakenForWhatIsUsual(t *testing.T) {
	x := streamed(3.65, 3.65, delivered(exchange.Single), server(-1, 0.5, 2.7))
	Judge(x, line(0.4, 1e-4))
	want := "2.70 s of decoding, 74 % of the time to the last token. The output came in one piece after 3.65 s, of which generation took about 2.70 s: that was no prefill. A shorter output would cut it."
	if x.Reason != want {
		t.Errorf("%s\nwant\n%s", x.Reason, want)
	}
}

func TestReasonOfWhatIsUnderWaySaysNoMore(t *testing.T) {
	x := streamed(1, 2, outcome(exchange.Open, 200, ""))
	Judge(x, nil)
	if x.Reason != "" || Reason(x, "en") != "Under way." || Reason(x, "zh") != "进行中。" {
		t.Errorf("stored %q, told %q", x.Reason, Reason(x, "en"))
	}
}
