package simulator

// count puts the token counts into a message, unless they are unreported, and the
// timing that goes with them.
func (r *reply) count(into, usage object) {
	if r.how.Usage == Unreported {
		return
	}
	r.time(usage, inUsage)
	into["usage"] = usage
	r.time(into, besideUsage)
}

func (r *reply) completionUsage() object {
	return r.usageAs("prompt_tokens", "completion_tokens")
}

func (r *reply) responsesUsage() object {
	return r.usageAs("input_tokens", "output_tokens")
}

// usageAs is OpenAI's usage object, which names its counts in two ways.
func (r *reply) usageAs(prompt, output string) object {
	t := r.truth
	usage := object{prompt: t.PromptTokens, output: t.OutputTokens, "total_tokens": t.PromptTokens + t.OutputTokens}
	if r.how.Thoughts == Apart {
		usage[output] = t.OutputTokens - t.ReasoningTokens
	}
	if r.how.Cached != Unreported {
		usage[prompt+"_details"] = object{"cached_tokens": r.cached()}
	}
	if r.how.Thoughts != Unreported {
		usage[output+"_details"] = object{"reasoning_tokens": t.ReasoningTokens}
	}
	return usage
}

// messagesUsage leaves what was cached, or is now, out of the input tokens. It
// knows no count of reasoning.
func (r *reply) messagesUsage() object {
	t := r.truth
	usage := object{"input_tokens": t.PromptTokens - r.cached() - t.CacheWriteTokens, "output_tokens": t.OutputTokens}
	if r.how.Cached == Unreported {
		usage["input_tokens"] = t.PromptTokens
		return usage
	}
	usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"] = r.cached(), t.CacheWriteTokens
	return usage
}

// cached is what is told of the cached tokens.
func (r *reply) cached() int {
	if r.how.Cached == Zero {
		return 0
	}
	return r.truth.CachedTokens
}
