package diagnosis

func (t teller) whyPrefill() phrase {
	switch t.x.Cause {
	case "cache_miss":
		return phrase{
			"${wait lead} It had to prefill ${input} although an earlier request began alike: ${miss}.${that took} An unchanged beginning and shorter pauses let the cache serve it${best case}.",
			"${wait lead}之前有开头相同的请求，但${miss}，仍要预填充（Prefill）${input}。${that took}保持开头不变、缩短间隔，才能命中缓存${best case}。",
		}
	case "long_input":
		return phrase{
			"${wait lead} ${prefill took} A shorter input, or a beginning that the cache knows, would cut it${best case}.",
			"${wait lead}${prefill took}缩短输入或让开头命中缓存可以减少${best case}。",
		}
	}
	return phrase{
		"${wait lead} It had to prefill ${input}; a queue cannot be told apart from that${lack}. A shorter input, or a beginning that the cache knows, would cut it.",
		"${wait lead}要预填充（Prefill）${input}；${lack}，无法与排队区分。缩短输入或让开头命中缓存可以减少。",
	}
}

func (t teller) input() phrase {
	switch {
	case t.x.CacheOutcome == cacheUnreported && t.x.PromptTokens != nil: // or told, and belied by the wait
		return hitsUnreported
	case t.x.UncachedTokens != nil && t.x.CachedTokens != nil && *t.x.CachedTokens == 0:
		return phrase{"${prompt tokens} input tokens (none cached)", "输入 ${prompt tokens} tokens（缓存未命中）"}
	case t.x.UncachedTokens != nil:
		return phrase{
			"${uncached tokens} of ${prompt tokens} input tokens (the rest was cached)",
			"输入 ${prompt tokens} tokens 中缓存未命中的 ${uncached tokens} tokens",
		}
	case t.x.PromptTokens != nil:
		return hitsUnreported
	}
	return phrase{"an input of unreported length", "长度未报告的输入"}
}

var hitsUnreported = phrase{
	"${prompt tokens} input tokens (cache hits unreported)",
	"输入 ${prompt tokens} tokens（缓存命中未报告）",
}

// prefillTook says how long the prefill took, and who says so.
func (t teller) prefillTook() phrase {
	switch {
	case t.x.ServerPrefill != nil:
		return phrase{
			"Prefill of ${input} took ${prefill} by the server's own timing.",
			"预填充（Prefill）用了 ${prefill}（服务端自报）：${input}。",
		}
	case t.x.EstimateError == nil:
		return phrase{
			"Prefill of ${input} took the ${prefill} from the headers on, which this upstream was seen to send when prefill begins.",
			"预填充（Prefill）用了响应头之后的 ${prefill}：${input}；已观察到该上游在预填充开始时才发响应头。",
		}
	}
	return phrase{
		"This model needs about ${usual prefill}${basis} to prefill ${input}.${close call}",
		"该模型预填充（Prefill）约需 ${usual prefill}${basis}：${input}。${close call}",
	}
}

// thatTook is the same after the input has been named, and nothing where the
// prefill is unknown.
func (t teller) thatTook() phrase {
	switch {
	case t.x.Prefill == nil:
		return phrase{}
	case t.x.ServerPrefill != nil:
		return phrase{" That took ${prefill} by the server's own timing.", "服务端自报用了 ${prefill}。"}
	case t.x.EstimateError == nil:
		return phrase{" That took the ${prefill} from the headers on.", "用了响应头之后的 ${prefill}。"}
	}
	return phrase{
		" This model needs about ${usual prefill}${basis} for that.${close call}",
		"该模型约需 ${usual prefill}${basis}。${close call}",
	}
}

// bestCase is the first token with all of the prompt cached.
func (t teller) bestCase() phrase {
	if t.x.CachedWait == nil || 2**t.x.CachedWait > known(t.x.FirstToken) {
		return phrase{}
	}
	return phrase{
		": with all of it cached the first token would have come after about ${cached wait}",
		"：若全部命中，首字延迟约 ${cached wait}",
	}
}

var misses = map[string]phrase{
	cacheMissed:  {"the cache was not used", "缓存未命中"},
	cacheExpired: {"the cache had expired", "缓存过期"},
	cacheBroken:  {"an early part of it was changed", "前缀被改动"},
}
