package diagnosis

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

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
			"8.17 s before the first token, 71 % of the time to the last. Prefill of 84,000 of 96,210 input tokens (the rest was cached) took 7.20 s. A shorter input, or a beginning that the cache knows, would cut it.",
			"首字延迟 8.17 s，占到最后一个 token 为止的 71 %。预填充（Prefill）用了 7.20 s：输入 96,210 tokens 中缓存未命中的 84,000 tokens。缩短输入或让开头命中缓存可以减少。",
		},
		{
			"prefill or queue",
			streamed(8.17, 11.5, tokens(96210, 0, 188)),
			"8.17 s before the first token, 71 % of the time to the last. It had to prefill 96,210 input tokens (none cached); a queue cannot be told apart from that without the server's own timing. A shorter input, or a beginning that the cache knows, would cut it.",
			"首字延迟 8.17 s，占到最后一个 token 为止的 71 %。要预填充（Prefill）输入 96,210 tokens（缓存未命中）；没有服务端自报时间，无法与排队区分。缩短输入或让开头命中缓存可以减少。",
		},
		{
			"a wait that nothing explains",
			streamed(3, 3.2, tokens(12, -1, 9), func(x *exchange.Exchange) { x.RTT = sec(0.083) }),
			"3.00 s before the first token, 94 % of the time to the last. Prefill of 12 input tokens (cache hits unreported) cannot explain that, and queue and start-up cannot be told apart (network 83 ms). The server's own timing would tell.",
			"首字延迟 3.00 s，占到最后一个 token 为止的 94 %。输入 12 tokens（缓存命中未报告），预填充（Prefill）不足以解释；排队与启动无法区分（网络 83 ms）。服务端自报时间可以分辨。",
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
			"192.0 s of decoding, 100 % of the time to the last token. 182.1 s of it went into reasoning that was not shown (12,560 tokens). Less reasoning effort would cut it.",
			"解码 192.0 s，占到最后一个 token 为止的 100 %。其中 182.1 s 用于隐藏思考（12,560 tokens）。降低思考强度可以缩短。",
		},
		{
			"a long answer at a noisy rate",
			streamed(0.3, 9.3, tokens(500, 0, 60), tpot(0.1, "noisy")),
			"9.00 s of decoding, 97 % of the time to the last token. 60 output tokens came, at 10.0~ tokens/s. A shorter answer or a faster model would cut it.",
			"解码 9.00 s，占到最后一个 token 为止的 97 %。输出 60 tokens，生成速度 10.0~ tokens/s。缩短输出或换更快的模型可以减少。",
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

func TestReasonSaysWhatIsSpecialAboutTheRow(t *testing.T) {
	wait := func(set ...func(*exchange.Exchange)) *exchange.Exchange {
		return streamed(2, 2.1, append(set, tokens(9000, 0, 5))...)
	}
	for _, c := range []struct {
		name   string
		row    *exchange.Exchange
		en, zh string // what must stand in it
	}{
		{"a stream made before", streamed(5, 5.05, tokens(50, 0, 300), delivered(exchange.Pseudo)), "300 output tokens came within 50 ms", "假流式"},
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
		{"upload", wait(func(x *exchange.Exchange) { x.Sent = sec(1.5) }), "upload (1.50 s)", "上传请求（1.50 s）"},
		{"round trip", wait(func(x *exchange.Exchange) { x.RTT = sec(1.5) }), "round trip (1.50 s)", "往返时延（1.50 s）"},
		{"a changed beginning", wait(func(x *exchange.Exchange) { x.CacheOutcome = "broken" }), "an early part of it was changed", "前缀被改动"},
		{"hidden decode taken out of the wait", streamed(60, 65, tokens(40000, 0, 220), thinks("hidden", 100, 60), tpot(0.01, "fair")), "59.0 s of waiting once unseen decode", "扣除看不见的解码"},
		{"reasoning without a rate", streamed(9, 9.5, tokens(50, 0, 700), thinks("hidden", 690, 9)), "The 9.00 s before the answer hold prefill and reasoning that was not shown (690 tokens)", "隐藏思考（690 tokens）"},
		{"reasoning without a count", streamed(9, 9.5, func(x *exchange.Exchange) { x.Reasoning = "hidden" }), "reasoning that was not shown, and", "也有隐藏思考，"},
		{"reasoning of which the least is known", streamed(1, 12, thinks("summary", 2, 11)), "At least 10.0 s", "至少 10.0 s"},
		{"an output of unknown length", streamed(1, 12), "unreported", "未报告"},
		{"an output without a rate", streamed(1, 12, tokens(9, 0, 1200)), "1,200 output tokens came. ", "输出 1,200 tokens。"},
		{"an input of unknown length", streamed(2, 2.1), "an input of unreported length", "长度未报告的输入"},
		{"an answer that was left", streamed(1, 2, outcome(exchange.ClientAbort, 200, "")), "in the middle of the answer", "中断了回答"},
		{"killed before its end", whole(0, outcome(exchange.Interrupted, 200, ""), func(x *exchange.Exchange) { x.End = nil }), "No token has come.", "还没有 token。"},
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

func TestReasonOfWhatIsUnderWaySaysSo(t *testing.T) {
	x := streamed(1, 2, outcome(exchange.Open, 200, ""))
	Judge(x, nil)
	if x.Reason != "" || !strings.HasPrefix(Reason(x, "en"), "Under way.") || !strings.HasPrefix(Reason(x, "zh"), "进行中。") {
		t.Errorf("stored %q, told %q", x.Reason, Reason(x, "en"))
	}
}

// A misspelt name in a phrase would leave a hole in the sentence.
func TestEveryNameInAPhraseIsAFigure(t *testing.T) {
	var source string
	for _, file := range []string{"reason.go", "figure.go", "trouble.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source += string(text)
	}
	names := regexp.MustCompile(`\$\{([^}]*)\}`).FindAllStringSubmatch(source, -1)
	if len(names) < 100 {
		t.Fatalf("found only %d names", len(names))
	}
	for _, m := range names {
		name := m[1]
		_, isDuration := durations[name]
		_, isText := texts[name]
		if !isDuration && !isText && name != "name" && !strings.Contains(source, `case "`+name+`":`) {
			t.Errorf("${%s} is no figure", name)
		}
	}
}

func TestFiguresAreReadable(t *testing.T) {
	for seconds, want := range map[float64]string{
		0: "0 ms", 0.0834: "83 ms", 0.0994: "99 ms", 0.0996: "0.10 s", 1.42: "1.42 s",
		9.994: "9.99 s", 9.996: "10.0 s", 41.26: "41.3 s", 1234.56: "1,234.6 s",
	} {
		if got := duration(sec(seconds)); got != want {
			t.Errorf("%v s is told as %q, want %q", seconds, got, want)
		}
	}
	got := []string{duration(nil), count(nil), count(num(1234567)), share(*sec(1), 0), share(*sec(3), *sec(2)), share(*sec(1), *sec(3))}
	if want := []string{"—", "—", "1,234,567", "0 %", "100 %", "33 %"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
