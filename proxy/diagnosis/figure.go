package diagnosis

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// figure is what stands for a name in a phrase: a number, or another phrase
// that depends on what is known.
func (t teller) figure(name string) string {
	if f, ok := durations[name]; ok {
		return duration(f(t))
	}
	if f, ok := texts[name]; ok {
		return f(t)
	}
	return t.tell(t.part(name))
}

var durations = map[string]func(teller) *time.Duration{
	"wait":          func(t teller) *time.Duration { return &t.p.wait },
	"decode":        func(t teller) *time.Duration { return &t.p.decode },
	"hidden":        func(t teller) *time.Duration { return &t.p.hidden },
	"unseen":        func(t teller) *time.Duration { return t.x.UnseenDecode },
	"streaming":     func(t teller) *time.Duration { return t.x.Decode },
	"network":       func(t teller) *time.Duration { return t.x.Network },
	"upload":        func(t teller) *time.Duration { return t.x.Upload },
	"round trip":    func(t teller) *time.Duration { return t.x.RTT },
	"connecting":    func(t teller) *time.Duration { return new(connecting(t.x)) },
	"queue":         func(t teller) *time.Duration { return t.x.Queue },
	"prefill":       func(t teller) *time.Duration { return t.x.Prefill },
	"stalled":       func(t teller) *time.Duration { return t.x.StallTime },
	"gap":           func(t teller) *time.Duration { return t.x.MaxGap },
	"period":        func(t teller) *time.Duration { return t.x.DeliveryPeriod },
	"silence":       func(t teller) *time.Duration { return new(silence(t.x)) },
	"first token":   func(t teller) *time.Duration { return t.x.FirstToken },
	"last token":    func(t teller) *time.Duration { return t.x.LastToken },
	"total":         func(t teller) *time.Duration { return t.x.End },
	"floor":         func(t teller) *time.Duration { return t.x.Floor },
	"usual prefill": func(t teller) *time.Duration { return t.x.UsualPrefill },
	"cached wait":   func(t teller) *time.Duration { return t.x.CachedWait },
	"give or take":  func(t teller) *time.Duration { return t.x.EstimateError },
	"answer start":  func(t teller) *time.Duration { at, _ := answerStart(t.x); return &at },
}

var texts = map[string]func(teller) string{
	"wait share":       func(t teller) string { return share(t.p.wait, t.p.wait+t.p.decode) },
	"decode share":     func(t teller) string { return share(t.p.decode, t.p.wait+t.p.decode) },
	"stalled share":    func(t teller) string { return share(known(t.x.StallTime), known(t.x.End)) },
	"stalls":           func(t teller) string { return count(t.x.Stalls) },
	"burst":            func(t teller) string { return count(t.x.DeliveryBytes) },
	"uncached tokens":  func(t teller) string { return count(t.x.UncachedTokens) },
	"prompt tokens":    func(t teller) string { return count(t.x.PromptTokens) },
	"output tokens":    func(t teller) string { return count(t.x.OutputTokens) },
	"reasoning tokens": func(t teller) string { return count(t.x.ReasoningTokens) },
	"rate":             func(t teller) string { return rate(t.x) },
	"usual rate":       func(t teller) string { return perSecond(t.x.UsualTPOT) },
	"usual rows":       func(t teller) string { return count(t.x.UsualRows) },
	"usual tokens":     func(t teller) string { return count(t.x.UsualTokens) },
	"concurrency":      func(t teller) string { return count(t.x.Concurrency) },
	"model idle":       func(t teller) string { return idleFor(t.x.ModelIdle) },
	"status":           func(t teller) string { return count(t.x.Status) },
	"path":             func(t teller) string { return t.x.Path },
	"error":            func(t teller) string { return cmp.Or(strings.TrimRight(t.x.Error, ".。 "), unknownFigure) },
}

// part finds the phrase for a part of a sentence.
func (t teller) part(name string) phrase {
	switch name {
	case "decode lead":
		return t.decodeLead()
	case "input":
		return t.input()
	case "output":
		return t.output()
	case "reasoning":
		return t.reasoning()
	case "so far":
		return t.soFar()
	case "words":
		return trouble(t.x)
	case "pace":
		return t.pace()
	case "too fast":
		return t.tooFast()
	case "reckoned":
		return t.reckoned()
	case "load":
		return t.load()
	case "at least":
		if t.x.HiddenDecode == nil {
			return phrase{"At least ", "至少"}
		}
		return phrase{}
	}
	return t.waitPart(name)
}

func (t teller) decodeLead() phrase {
	if t.x.Delivery == exchange.NotStreamed {
		return phrase{
			"${decode} of decoding by the server's own timing, ${decode share} of the total.",
			"按服务端自报时间，解码 ${decode}，占总耗时的 ${decode share}。",
		}
	}
	return phrase{
		"${decode} of decoding, ${decode share} of the time to the last token.",
		"解码 ${decode}，占到最后一个 token 为止的 ${decode share}。",
	}
}

func (t teller) input() phrase {
	switch {
	case t.x.UncachedTokens != nil && t.x.CachedTokens != nil && *t.x.CachedTokens == 0:
		return phrase{"${prompt tokens} input tokens (none cached)", "输入 ${prompt tokens} tokens（缓存未命中）"}
	case t.x.UncachedTokens != nil:
		return phrase{
			"${uncached tokens} of ${prompt tokens} input tokens (the rest was cached)",
			"输入 ${prompt tokens} tokens 中缓存未命中的 ${uncached tokens} tokens",
		}
	case t.x.PromptTokens != nil:
		return phrase{
			"${prompt tokens} input tokens (cache hits unreported)",
			"输入 ${prompt tokens} tokens（缓存命中未报告）",
		}
	}
	return phrase{"an input of unreported length", "长度未报告的输入"}
}

func (t teller) output() phrase {
	if t.x.OutputTokens == nil {
		return phrase{"The output", "输出"}
	}
	return phrase{"${output tokens} output tokens", "输出 ${output tokens} tokens"}
}

func (t teller) pace() phrase {
	switch {
	case t.x.OutputTokens == nil:
		return phrase{"How many tokens that made is unreported", "输出长度未报告"}
	case t.x.TokensPerSec == nil:
		return phrase{"${output} came", "${output}"}
	}
	return phrase{"${output} came, at ${rate} tokens/s", "${output}，生成速度 ${rate} tokens/s"}
}

func (t teller) reasoning() phrase {
	if t.x.ReasoningTokens == nil {
		return phrase{"reasoning that was not shown", "隐藏思考"}
	}
	return phrase{"reasoning that was not shown (${reasoning tokens} tokens)", "隐藏思考（${reasoning tokens} tokens）"}
}

// tooFast says how a stream that was made before gave itself away.
func (t teller) tooFast() phrase {
	if t.x.UsualTPOT == nil || t.x.ServerDecode != nil {
		return phrase{}
	}
	return phrase{
		", when this model usually makes ${usual rate} tokens/s",
		"（该模型平时 ${usual rate} tokens/s）",
	}
}

// reckoned says by which rate decode was reckoned that nobody saw, where that is
// neither its own nor the server's.
func (t teller) reckoned() phrase {
	if t.x.UsualTPOT == nil || tokenTime(t.x) != t.x.UsualTPOT {
		return phrase{}
	}
	return phrase{
		" That is reckoned by this model's usual ${usual rate} tokens/s, since its own rate could not be told.",
		"这是按该模型平时的 ${usual rate} tokens/s 推算的，因为本次速度无法得知。",
	}
}

// load says what else was in flight.
func (t teller) load() phrase {
	switch {
	case t.x.Concurrency == nil:
		return phrase{}
	case *t.x.Concurrency <= 1:
		return phrase{", with no other request in flight here", "，当时本机没有其他请求"}
	}
	return phrase{", with ${concurrency} requests in flight here", "，当时本机并发 ${concurrency}"}
}

// soFar tells how far an exchange got that did not end well, or has not ended.
func (t teller) soFar() phrase {
	left := t.x.Outcome == exchange.ClientAbort
	switch {
	case t.x.FirstToken != nil && left:
		return phrase{
			"The client left after ${total}, in the middle of the answer: the first token had come after ${first token}, the last after ${last token}.",
			"客户端在 ${total} 时中断了回答：首个 token 在 ${first token}，最后一个在 ${last token}。",
		}
	case t.x.FirstToken != nil:
		return phrase{
			"The first token came after ${first token}, the last after ${last token}.",
			"首个 token 在 ${first token}，最后一个在 ${last token}。",
		}
	case t.x.End == nil:
		return phrase{"No token has come.", "还没有 token。"}
	case left:
		return phrase{"No token for ${total} when the client left.", "客户端中断时已等待 ${total}，没有任何 token。"}
	}
	return phrase{"No token had come after ${total}.", "等待 ${total}，没有任何 token。"}
}

func connecting(x *exchange.Exchange) time.Duration {
	return known(x.DNS) + known(x.Connect) + known(x.TLS)
}

// silence is how long nothing had been generated when the exchange ended.
func silence(x *exchange.Exchange) time.Duration {
	if x.LastToken == nil {
		return 0
	}
	return max(0, known(x.End)-*x.LastToken)
}

// unknownFigure is the dash for what is nil.
const unknownFigure = "—"

// duration is milliseconds below 100 ms, else seconds: two decimals below 10 s,
// one above.
func duration(d *time.Duration) string {
	switch {
	case d == nil:
		return unknownFigure
	case *d < 99500*time.Microsecond:
		return fmt.Sprintf("%.0f ms", max(0, d.Seconds()*1000))
	case *d < 9995*time.Millisecond:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return humanize.FormatFloat("#,###.#", d.Seconds()) + " s"
}

func count(n *int64) string {
	if n == nil {
		return unknownFigure
	}
	return humanize.Comma(*n)
}

// perSecond is the rate of so much time per token.
func perSecond(tpot *time.Duration) string {
	if tpot == nil || *tpot <= 0 {
		return unknownFigure
	}
	return humanize.FormatFloat("#,###.#", 1/tpot.Seconds())
}

// idleFor is in minutes, from two hours on in hours.
func idleFor(d *time.Duration) string {
	switch {
	case d == nil:
		return unknownFigure
	case *d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f h", d.Hours())
}

// rate has one decimal, and a tilde where it is noisy.
func rate(x *exchange.Exchange) string {
	text := humanize.FormatFloat("#,###.#", *x.TokensPerSec)
	if x.RateQuality == "noisy" {
		text += "~"
	}
	return text
}

// share is a part of a whole in per cent, from 0 to 100.
func share(part, whole time.Duration) string {
	if whole <= 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.0f %%", min(100, 100*float64(part)/float64(whole)))
}
