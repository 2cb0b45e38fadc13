package simulator

import "encoding/json"

// messagesVoice speaks Anthropic's Messages API.
type messagesVoice struct{ *reply }

func newMessagesVoice(r *reply) voice { return messagesVoice{r} }

// say is an event, which carries its own name as its type.
func (v messagesVoice) say(name string, o object) []byte {
	o["type"] = name
	return event(name, o)
}

func (v messagesVoice) begin() []byte {
	return v.say("message_start", object{"message": messageObject(v.reply)})
}

func (v messagesVoice) ping() []byte { return v.say("ping", object{}) }

func (v messagesVoice) progress(int) []byte { return v.ping() }

func (v messagesVoice) open(it *item) []byte {
	start := object{"type": "text", "text": ""}
	switch it.kind {
	case thought:
		start = object{"type": "thinking", "thinking": "", "signature": ""}
	case call:
		start = object{"type": "tool_use", "id": "toolu_" + it.id, "name": it.tool, "input": object{}}
	}
	return v.say("content_block_start", object{"index": it.index, "content_block": start})
}

func (v messagesVoice) piece(it *item, text string) []byte {
	switch it.kind {
	case thought:
		return v.delta(it, object{"type": "thinking_delta", "thinking": text})
	case call:
		return v.delta(it, object{"type": "input_json_delta", "partial_json": text})
	}
	return v.delta(it, object{"type": "text_delta", "text": text})
}

func (v messagesVoice) delta(it *item, delta object) []byte {
	return v.say("content_block_delta", object{"index": it.index, "delta": delta})
}

func (v messagesVoice) close(it *item) []byte {
	var out []byte
	if it.kind == thought {
		out = v.delta(it, object{"type": "signature_delta", "signature": signature})
	}
	return append(out, v.say("content_block_stop", object{"index": it.index})...)
}

func (v messagesVoice) end() []byte {
	delta := object{"stop_reason": stopReason(v.reply), "stop_sequence": nil}
	last := object{"delta": delta}
	v.count(last, v.messagesUsage())
	out := v.say("message_delta", last)
	return append(out, v.say("message_stop", object{})...)
}

func (v messagesVoice) fail(f *fault) []byte {
	return event("error", f.body(v.truth.Dialect))
}

// messagesBody is the whole answer.
func messagesBody(r *reply) object {
	body := messageObject(r)
	content := []object{}
	for _, it := range r.plan.shown() {
		content = append(content, contentBlock(it))
	}
	body["content"], body["stop_reason"] = content, stopReason(r)
	return body
}

// messageObject is the message before it says anything.
func messageObject(r *reply) object {
	o := object{
		"id": r.truth.ResponseID, "type": "message", "role": "assistant", "model": r.truth.Model,
		"content": []object{}, "stop_reason": nil, "stop_sequence": nil,
	}
	r.count(o, r.messagesUsage())
	return o
}

// signature stands for the opaque proof that goes with a thought.
const signature = "c2ltdWxhdGVk"

func contentBlock(it *item) object {
	switch it.kind {
	case thought:
		return object{"type": "thinking", "thinking": it.text(), "signature": signature}
	case call:
		return object{"type": "tool_use", "id": "toolu_" + it.id, "name": it.tool, "input": toolInput(it)}
	}
	return object{"type": "text", "text": it.text()}
}

// toolInput is the arguments as an object, an empty one where they were cut
// short.
func toolInput(it *item) any {
	if text := it.text(); json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return object{}
}

func stopReason(r *reply) string {
	switch r.plan.finish {
	case cutShort:
		return "max_tokens"
	case called:
		return "tool_use"
	}
	return "end_turn"
}
