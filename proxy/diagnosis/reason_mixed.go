package diagnosis

// shortAnswer is in tokens: fewer are not worth saving.
const shortAnswer = 64

// whyMixed gives the advice that the parts of the row support, which may be none.
func (t teller) whyMixed() phrase {
	return phrase{
		"${wait} of waiting${known parts} and ${decode} of decoding: neither takes 60 % of the time.${less wait}${less decode}",
		"等待 ${wait}${known parts}，解码 ${decode}，都不到六成。${less wait}${less decode}",
	}
}

func (t teller) lessWait() phrase { return lessWaits[waitCause(t.x, t.p)] }

func (t teller) lessDecode() phrase {
	cause := decodeCause(t.x, t.p)
	if n := t.x.SeenTokens(); cause == "long_output" && n != nil && *n < shortAnswer {
		return phrase{}
	}
	return lessDecodes[cause]
}

// lessWaits say what would cut the wait, by its cause.
var lessWaits = map[string]phrase{
	"network": {
		" The network took ${network} of the wait, most for ${network part}.",
		"等待中网络占 ${network}，主要是${network part}。",
	},
	"floor": {
		" Most of the wait is what gateway and model need to start (${floor}), whatever the prompt.",
		"等待主要是网关与模型的固定开销（${floor}），与输入无关。",
	},
	"cold_start": {
		" Most of the wait came before the prefill, on ${first in}: a cold start, most likely.",
		"等待主要在预填充（Prefill）之前；这是${first in}，多半是冷启动。",
	},
	"queue": {
		" ${queue} of the wait was queue, most likely. ${company}",
		"等待中多半有 ${queue} 是排队。${company}",
	},
	"cache_miss": {
		" An earlier request began alike, but ${miss}: an unchanged beginning and shorter pauses would cut the wait.",
		"之前有开头相同的请求，但${miss}：保持开头不变、缩短间隔可减少等待。",
	},
	"long_input": {
		" A shorter input, or a beginning that the cache knows, would cut the wait.",
		"缩短输入或让开头命中缓存可减少等待。",
	},
	"unseparated": {
		" Unless it was a queue, a shorter input, or a beginning that the cache knows, would cut the wait.",
		"若非排队，缩短输入或让开头命中缓存可减少等待。",
	},
}

// lessDecodes say what would cut decode, by its cause.
var lessDecodes = map[string]phrase{
	"hidden_reasoning": {" Less reasoning effort would cut the decoding.", "降低思考强度可减少解码。"},
	"whole_output":     {" A shorter answer would cut the decoding.", "缩短输出可减少解码。"},
	"long_output":      {" A shorter answer would cut the decoding.", "缩短输出可减少解码。"},
	"slow_decode": {
		" Decoding ran at ${rate}, under 0.7 of the ${usual rate} that are usual for this model${load}.",
		"生成速度 ${rate}，不到该模型平时 ${usual rate} 的七成${load}。",
	},
}
