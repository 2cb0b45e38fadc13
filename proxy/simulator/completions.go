package simulator

// completionsVoice speaks the legacy Completions API, which knows text alone.
type completionsVoice struct{ *reply }

func newCompletionsVoice(r *reply) voice { return completionsVoice{r} }

func (v completionsVoice) begin() []byte { return nil }

func (v completionsVoice) ping() []byte { return []byte(": ping\n\n") }

func (v completionsVoice) progress(done int) []byte {
	o := v.envelope("text_completion", textChoice("", nil))
	o["prompt_progress"] = v.promptProgress(done)
	return chunk(o)
}

func (v completionsVoice) open(*item) []byte { return nil }

func (v completionsVoice) piece(it *item, text string) []byte {
	if it.kind != speech {
		return nil
	}
	return chunk(v.envelope("text_completion", textChoice(text, nil)))
}

func (v completionsVoice) close(*item) []byte { return nil }

func (v completionsVoice) end() []byte {
	return v.closing(v.envelope("text_completion", textChoice("", v.finishReason())))
}

func (v completionsVoice) fail(f *fault) []byte { return chunk(f.body("")) }

// completionsBody is the whole answer.
func completionsBody(r *reply) object {
	text := ""
	for _, it := range r.plan.items {
		if it.kind == speech {
			text = it.text()
		}
	}
	return r.whole("text_completion", textChoice(text, r.finishReason()))
}

func textChoice(text string, finish any) object {
	return object{"index": 0, "text": text, "finish_reason": finish, "logprobs": nil}
}

// What follows is common to Chat and Completions.

// envelope is a chunk or a body around its choices.
func (r *reply) envelope(kind string, choices ...object) object {
	return object{
		"id": r.truth.ResponseID, "object": kind, "created": r.created, "model": r.truth.Model,
		"choices": append([]object{}, choices...),
	}
}

// whole is a body.
func (r *reply) whole(kind string, choice object) object {
	body := r.envelope(kind, choice)
	r.count(body, r.completionUsage())
	r.time(body, inFinish, inLast)
	return body
}

// closing is the last of a stream: the finish chunk, one more with the usage
// where it was asked for, and the marker.
func (r *reply) closing(finish object) []byte {
	var out []byte
	last := finish
	r.time(finish, inFinish)
	if r.usage {
		out = chunk(finish)
		last = r.envelope(finish["object"].(string))
		r.count(last, r.completionUsage())
	}
	r.time(last, inLast)
	out = append(out, chunk(last)...)
	return append(out, "data: [DONE]\n\n"...)
}

func (r *reply) finishReason() string {
	switch r.plan.finish {
	case cutShort:
		return "length"
	case called:
		return "tool_calls"
	}
	return "stop"
}

func (r *reply) promptProgress(done int) object {
	return object{
		"total": r.truth.PromptTokens, "cache": r.truth.CachedTokens, "processed": done,
		"time_ms": r.truth.Prefill.Milliseconds(),
	}
}
