package simulator

// chatVoice speaks Chat Completions.
type chatVoice struct{ *reply }

func newChatVoice(r *reply) voice { return chatVoice{r} }

// choice is a chunk with news of the one choice.
func (v chatVoice) choice(delta object) object {
	o := v.envelope("chat.completion.chunk", object{"index": 0, "delta": delta, "finish_reason": nil})
	if v.usage {
		o["usage"] = nil
	}
	return o
}

func (v chatVoice) begin() []byte {
	return chunk(v.choice(object{"role": "assistant", "content": ""}))
}

func (v chatVoice) ping() []byte { return []byte(": ping\n\n") }

// progress repeats the role, as llama-server does.
func (v chatVoice) progress(done int) []byte {
	o := v.choice(object{"role": "assistant", "content": nil})
	o["prompt_progress"] = v.promptProgress(done)
	return chunk(o)
}

func (v chatVoice) open(it *item) []byte {
	if it.kind != call {
		return nil
	}
	o := toolCall(it, "")
	o["index"] = 0
	return chunk(v.choice(object{"tool_calls": []object{o}}))
}

func (v chatVoice) piece(it *item, text string) []byte {
	delta := object{"content": text}
	switch {
	case it.kind == call:
		delta = object{"tool_calls": []object{{"index": 0, "function": object{"arguments": text}}}}
	case it.kind == thought && it.shown == Visible:
		delta = object{"reasoning_content": text}
	case it.kind == thought:
		delta = object{"reasoning_details": []object{reasoningDetail(text)}}
	}
	return chunk(v.choice(delta))
}

func (v chatVoice) close(*item) []byte { return nil }

func (v chatVoice) end() []byte {
	return v.closing(v.envelope("chat.completion.chunk", object{"index": 0, "delta": object{}, "finish_reason": v.finishReason()}))
}

func (v chatVoice) fail(f *fault) []byte { return chunk(f.body("")) }

// chatBody is the whole answer.
func chatBody(r *reply) object {
	said := object{"role": "assistant", "content": nil}
	for _, it := range r.plan.shown() {
		switch {
		case it.kind == call:
			said["tool_calls"] = []object{toolCall(it, it.text())}
		case it.kind == speech:
			said["content"] = it.text()
		case it.shown == Visible:
			said["reasoning_content"] = it.text()
		default:
			said["reasoning_details"] = []object{reasoningDetail(it.text())}
		}
	}
	return r.whole("chat.completion", object{"index": 0, "message": said, "finish_reason": r.finishReason()})
}

func toolCall(it *item, arguments string) object {
	return object{"id": "call_" + it.id, "type": "function", "function": object{"name": it.tool, "arguments": arguments}}
}

func reasoningDetail(text string) object {
	return object{"type": "reasoning.summary", "summary": text}
}
