package diagnosis

import "github.com/ttftap/ttftap/proxy/exchange"

func (t teller) whyDecode() phrase {
	switch t.x.Cause {
	case "hidden_reasoning":
		return phrase{
			"${decode lead} ${at least}${hidden} of it went into ${reasoning}.${reckoned} Less reasoning effort would cut it.",
			"${decode lead}其中${at least} ${hidden} 用于${reasoning}。${reckoned}降低思考强度可以缩短。",
		}
	case "whole_output":
		return phrase{
			"${decode lead} ${output} came in one piece after ${first token}, of which generation took about ${unseen}: that was no prefill.${reckoned} A shorter output would cut it.",
			"${decode lead}${output}，在 ${first token} 后一次到达，其中约 ${unseen} 是在生成，并非预填充。${reckoned}缩短输出可以减少。",
		}
	case "slow_decode":
		return phrase{
			"${decode lead} ${pace}, under 0.7 of the ${usual rate} that are usual for this model${load}. Fewer requests at once, or another hour or route, would tell whether load slows it.",
			"${decode lead}${pace}，不到该模型平时 ${usual rate} 的七成${load}。减少并发，或换时段、换线路，可以看出是否因负载变慢。",
		}
	}
	return phrase{
		"${decode lead} ${pace}. A shorter answer or a faster model would cut it.",
		"${decode lead}${pace}。缩短输出或换更快的模型可以减少。",
	}
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

// output is what came as it was made: hidden reasoning did not.
func (t teller) output() phrase {
	switch n := t.x.SeenTokens(); {
	case n == nil:
		return phrase{"The output", "输出"}
	case *n < tally(t.x.OutputTokens):
		return phrase{"${seen tokens} visible output tokens", "可见输出 ${seen tokens} tokens"}
	}
	return phrase{"${seen tokens} output tokens", "输出 ${seen tokens} tokens"}
}

// pace is how much came, and how fast.
func (t teller) pace() phrase {
	switch {
	case t.x.EstimatedOutput != nil:
		return phrase{
			"About ${estimated output} output tokens came, as counted here since usage was not reported: stream_options.include_usage in the request asks for it",
			"usage 未报告，本地估算输出约 ${estimated output} tokens：在请求中设 stream_options.include_usage 即可要求上报",
		}
	case t.x.OutputTokens == nil && (t.x.Dialect == exchange.Chat || t.x.Dialect == exchange.Completions):
		return phrase{
			"Usage was not reported, so how many tokens that made is unknown: stream_options.include_usage in the request asks for it",
			"usage 未报告，输出长度未知：在请求中设 stream_options.include_usage 即可要求上报",
		}
	case t.x.OutputTokens == nil:
		return phrase{
			"Usage was not reported, so how many tokens that made is unknown",
			"usage 未报告，输出长度未知",
		}
	case t.x.SeenTokens() == nil:
		return phrase{
			"How many of the ${output tokens} output tokens were no reasoning is unknown",
			"输出 ${output tokens} tokens，其中多少不是思考不得而知",
		}
	case t.x.TokensPerSec == nil:
		return phrase{"${output} came", "${output}"}
	}
	return phrase{"${output} came, at ${rate}", "${output}，生成速度 ${rate}"}
}

func (t teller) reasoning() phrase {
	if t.x.ReasoningTokens == nil {
		return phrase{"reasoning that was not shown", "隐藏思考"}
	}
	return phrase{"reasoning that was not shown (${reasoning tokens} tokens)", "隐藏思考（${reasoning tokens} tokens）"}
}

// atLeast is for hidden reasoning of which only a part could be seen.
func (t teller) atLeast() phrase {
	if t.x.HiddenDecode != nil {
		return phrase{}
	}
	return phrase{"At least ", "至少"}
}

// reckoned says by which rate decode was reckoned that nobody saw, where that is
// neither its own nor the server's.
func (t teller) reckoned() phrase {
	if t.x.UsualTPOT == nil || tokenTime(t.x) != t.x.UsualTPOT || t.x.Cause == "whole_output" && uncounted(t.x) {
		return phrase{}
	}
	return phrase{
		" That is reckoned by this model's usual ${usual rate}, since its own rate could not be told.",
		"这是按该模型平时的 ${usual rate} 推算的，因为本次速度无法得知。",
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
