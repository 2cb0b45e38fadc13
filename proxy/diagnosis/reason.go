package diagnosis

import (
	"os"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// phrase is what to say, in both languages. Figures stand in it as ${name}.
type phrase struct{ en, zh string }

// Reason says in one to three sentences, with their numbers, why the exchange
// got its verdict and what would change it. It is computed from the row alone.
// Lang is "zh" or anything else for English.
func Reason(x *exchange.Exchange, lang string) string {
	t := teller{x, weigh(x), lang}
	if x.Bound == "" {
		return t.tell(phrase{"Under way. ${so far}", "进行中。${so far}"})
	}
	return t.tell(t.reason())
}

// teller puts the figures of one row into phrases.
type teller struct {
	x    *exchange.Exchange
	p    phases
	lang string
}

func (t teller) tell(p phrase) string {
	text := p.en
	if t.lang == "zh" {
		text = p.zh
	}
	return os.Expand(text, t.figure)
}

// reason finds the phrase for a verdict.
func (t teller) reason() phrase {
	switch t.x.Bound {
	case exchange.Unknown:
		return t.whyUnknown()
	case exchange.Stalled:
		return phrase{
			"Silences in the middle of the answer took ${stalled}, ${stalled share} of the total (${stalls} in all, the longest ${gap}). The upstream or the way to it paused; another route would tell which.",
			"回答中途卡顿共 ${stalled}，占总耗时的 ${stalled share}（${stalls} 次，最长 ${gap}）。是上游或中间链路停顿，换一条线路即可分辨。",
		}
	case exchange.DecodeBound:
		return t.whyDecode()
	case exchange.PrefillBound:
		return t.whyPrefill()
	case exchange.WaitBound:
		return t.whyWait()
	}
	return phrase{
		"${wait} of waiting and ${decode} of decoding: neither takes 60 % of the time. A shorter input cuts the one, a shorter answer the other.",
		"等待 ${wait}，解码 ${decode}，都不到六成。缩短输入可减少前者，缩短输出可减少后者。",
	}
}

func (t teller) whyUnknown() phrase {
	switch t.x.Cause {
	case "error":
		return phrase{"${words} ${so far}", "${words}${so far}"}
	case "aborted":
		return phrase{"${words}", "${words}"}
	case "not_streamed":
		return phrase{
			"The answer came whole after ${total}, so wait and decode cannot be told apart. Ask for a stream to see them.",
			"回答在 ${total} 后整段返回，分不清等待与解码。改用流式请求即可看到。",
		}
	case "buffered":
		return t.whyBuffered()
	case "hidden_reasoning":
		return phrase{
			"The ${answer start} before the answer hold prefill and ${reasoning}, and no steady rate tells them apart. A longer answer, the server's own timing, or this model's usual rate would.",
			"回答前的 ${answer start} 里既有预填充（Prefill），也有${reasoning}，没有稳定的生成速度就分不开。回答更长、服务端自报时间，或有该模型平时的生成速度，即可分辨。",
		}
	}
	return t.whyNoOutput()
}

func (t teller) whyNoOutput() phrase {
	switch {
	case t.x.Dialect == exchange.Other:
		return phrase{
			"This path is forwarded but not read, so nothing is known of its tokens.",
			"该路径只转发、不解析，因此没有 token 数据。",
		}
	case t.x.Delivery == exchange.NotStreamed:
		return phrase{
			"The answer holds no generated output, so there is no decode to tell from the wait: it took ${total}.",
			"回答中没有生成的输出，无从区分等待与解码：总耗时 ${total}。",
		}
	case t.x.FirstToken == nil:
		return phrase{
			"The answer ended after ${total} without any output, so there is nothing to divide.",
			"回答在 ${total} 后结束，没有任何输出，无从划分。",
		}
	}
	return phrase{"There was no time to divide into wait and decode.", "没有可划分为等待与解码的时间。"}
}

func (t teller) whyBuffered() phrase {
	switch t.x.Delivery {
	case exchange.Pseudo:
		return phrase{
			"${output} came within ${streaming}${too fast}: made first and sent afterwards, so the ${first token} before hold generation too. A gateway that passes the stream on as it comes would show the split.",
			"${output}，在 ${streaming} 内全部到达${too fast}，是假流式：先生成、后发送，所以首字延迟 ${first token} 里也含生成时间。换一个逐段转发的网关即可看清。",
		}
	case exchange.Bursty:
		return phrase{
			"The output came in bursts every ${period}, about ${burst} bytes each: something on the way collects it, so the first token is late and no rate can be told. Turn its buffering off.",
			"输出每 ${period} 攒包一次，每包约 ${burst} 字节：中间有缓冲，首字偏晚，也算不出生成速度。请关闭它的缓冲。",
		}
	}
	return phrase{
		"${output} came in one piece after ${first token}, and nothing tells how much of that was making them. The server's own timing, or this model's usual rate, would.",
		"${output}，在 ${first token} 后一次到达，无法得知其中多少是生成时间。服务端自报时间或该模型平时的生成速度可以分辨。",
	}
}

func (t teller) whyDecode() phrase {
	switch t.x.Cause {
	case "hidden_reasoning":
		return phrase{
			"${decode lead} ${at least}${hidden} of it went into ${reasoning}.${reckoned} Less reasoning effort would cut it.",
			"${decode lead}其中${at least} ${hidden} 用于${reasoning}。${reckoned}降低思考强度可以缩短。",
		}
	case "whole_output":
		return phrase{
			"${decode lead} ${output} came in one piece after ${first token}, and making them took about ${unseen} of that: it was no prefill.${reckoned} A shorter output would cut it.",
			"${decode lead}${output}，在 ${first token} 后一次到达，其中约 ${unseen} 是在生成，并非预填充。${reckoned}缩短输出可以减少。",
		}
	}
	if t.x.Cause == "slow_decode" {
		return phrase{
			"${decode lead} ${pace}, under 0.7 of the ${usual rate} that are usual for this model${load}. Fewer requests at once, or another hour or route, would tell whether load slows it.",
			"${decode lead}${pace}，不到该模型平时 ${usual rate} tokens/s 的七成${load}。减少并发，或换时段、换线路，可以看出是否因负载变慢。",
		}
	}
	return phrase{
		"${decode lead} ${pace}. A shorter answer or a faster model would cut it.",
		"${decode lead}${pace}。缩短输出或换更快的模型可以减少。",
	}
}
