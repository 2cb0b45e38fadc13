package diagnosis

import (
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func (t teller) whyUnknown() phrase {
	switch t.x.Cause {
	case "error":
		return phrase{"${words} ${so far}", "${words}${so far}"}
	case "aborted":
		return phrase{"${words}", "${words}"}
	case "not_streamed":
		return phrase{
			"The answer came whole after ${total}, so wait and decode cannot be told apart. Only an answer that is streamed, or the server's own timing, can tell.",
			"回答在 ${total} 后整段返回，分不清等待与解码。流式返回或服务端自报时间才能区分。",
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
	case t.x.IsPrewarm():
		return phrase{
			"A prewarm: the client had its prompt prepared in ${total} and asked for no output.",
			"这是预热请求：客户端让上游提前准备提示词（${total}），不要求输出。",
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

// tooFast says how a stream that was made before gave itself away.
func (t teller) tooFast() phrase {
	if t.x.UsualTPOT == nil || t.x.ServerDecode != nil {
		return phrase{}
	}
	return phrase{
		", when this model usually makes ${usual rate}",
		"（该模型平时 ${usual rate}）",
	}
}

// soFar tells how far an exchange got that did not end well. What a proxy had
// seen that was killed is lost with it.
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
		return phrase{"What had come by then is unknown.", "此前收到了什么不得而知。"}
	case left:
		return phrase{"No token for ${total} when the client left.", "客户端中断时已等待 ${total}，没有任何 token。"}
	}
	return phrase{"No token had come after ${total}.", "等待 ${total}，没有任何 token。"}
}

// silence is how long nothing had been generated when the exchange ended.
func silence(x *exchange.Exchange) time.Duration {
	if x.LastToken == nil {
		return 0
	}
	return max(0, known(x.End)-*x.LastToken)
}
