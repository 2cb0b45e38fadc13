package simulator

// responsesVoice speaks the Responses API.
type responsesVoice struct {
	*reply
	sequence int
	summary  int // parts of the summary so far
}

func newResponsesVoice(r *reply) voice { return &responsesVoice{reply: r} }

// event numbers an event and gives it its type, and the item that it is about.
func (v *responsesVoice) event(name string, it *item, o object) []byte {
	o["type"], o["sequence_number"] = name, v.sequence
	v.sequence++
	if it != nil {
		o["output_index"] = it.index
	}
	return event(name, o)
}

func (v *responsesVoice) begin() []byte {
	created := v.event("response.created", nil, object{"response": responseObject(v.reply, "in_progress")})
	return append(created, v.progress(0)...)
}

func (v *responsesVoice) ping() []byte { return []byte(": keepalive\n\n") }

func (v *responsesVoice) progress(int) []byte {
	return v.event("response.in_progress", nil, object{"response": responseObject(v.reply, "in_progress")})
}

func (v *responsesVoice) open(it *item) []byte {
	out := v.event("response.output_item.added", it, object{"item": outputItem(it, false)})
	if it.kind == speech {
		out = append(out, v.detail("response.content_part.added", it, "part", outputText(""))...)
	}
	return out
}

// detail is an event about the one content of an item.
func (v *responsesVoice) detail(name string, it *item, key string, value any) []byte {
	return v.event(name, it, object{"item_id": it.id, "content_index": 0, key: value})
}

func (v *responsesVoice) piece(it *item, text string) []byte {
	switch {
	case it.kind == call:
		return v.event("response.function_call_arguments.delta", it, object{"item_id": it.id, "delta": text})
	case it.kind == speech:
		return v.detail("response.output_text.delta", it, "delta", text)
	case it.shown == Visible:
		return v.detail("response.reasoning_text.delta", it, "delta", text)
	}
	return v.summarise(it, text)
}

// summarise is one part of a summary, from its beginning to its end.
func (v *responsesVoice) summarise(it *item, text string) []byte {
	about := func(key string, value any) object {
		return object{"item_id": it.id, "summary_index": v.summary, key: value}
	}
	out := v.event("response.reasoning_summary_part.added", it, about("part", summaryText("")))
	out = append(out, v.event("response.reasoning_summary_text.delta", it, about("delta", text))...)
	out = append(out, v.event("response.reasoning_summary_text.done", it, about("text", text))...)
	out = append(out, v.event("response.reasoning_summary_part.done", it, about("part", summaryText(text)))...)
	v.summary++
	return out
}

func (v *responsesVoice) close(it *item) []byte {
	var out []byte
	switch {
	case it.kind == call:
		out = v.event("response.function_call_arguments.done", it, object{"item_id": it.id, "arguments": it.text()})
	case it.kind == speech:
		out = v.detail("response.output_text.done", it, "text", it.text())
		out = append(out, v.detail("response.content_part.done", it, "part", outputText(it.text()))...)
	case it.shown == Visible:
		out = v.detail("response.reasoning_text.done", it, "text", it.text())
	}
	return append(out, v.event("response.output_item.done", it, object{"item": outputItem(it, true)})...)
}

func (v *responsesVoice) end() []byte {
	name := "response.completed"
	if v.plan.finish == cutShort {
		name = "response.incomplete"
	}
	last := object{"response": responsesBody(v.reply)}
	v.time(last, inLast)
	return v.event(name, nil, last)
}

func (v *responsesVoice) fail(f *fault) []byte {
	b := blameFor(f.status)
	said := object{"type": b.kind, "code": b.code, "message": f.message, "param": nil}
	failed := responseObject(v.reply, "failed")
	failed["error"] = object{"code": b.code, "message": f.message}
	out := v.event("error", nil, object{"error": said})
	return append(out, v.event("response.failed", nil, object{"response": failed})...)
}

// responsesBody is the whole answer.
func responsesBody(r *reply) object {
	status := "completed"
	if r.plan.finish == cutShort {
		status = "incomplete"
	}
	body := responseObject(r, status)
	if status == "incomplete" {
		body["incomplete_details"] = object{"reason": "max_output_tokens"}
	}
	output := []object{}
	for _, it := range r.plan.items {
		if it.kind == thought || it.text() != "" {
			output = append(output, outputItem(it, true))
		}
	}
	body["output"] = output
	r.count(body, r.responsesUsage())
	return body
}

// responseObject is the response without output.
func responseObject(r *reply, status string) object {
	return object{
		"id": r.truth.ResponseID, "object": "response", "created_at": r.created, "model": r.truth.Model, "status": status,
		"output": []object{}, "usage": nil, "error": nil, "incomplete_details": nil,
	}
}

// outputItem is an item, complete or about to begin.
func outputItem(it *item, complete bool) object {
	status, text := "in_progress", ""
	if complete {
		status, text = "completed", it.text()
	}
	switch it.kind {
	case thought:
		return reasoningItem(it, complete)
	case call:
		return object{"type": "function_call", "id": it.id, "call_id": "call_" + it.id, "name": it.tool, "arguments": text, "status": status}
	}
	content := []object{}
	if complete {
		content = append(content, outputText(text))
	}
	return object{"type": "message", "id": it.id, "role": "assistant", "status": status, "content": content}
}

func reasoningItem(it *item, complete bool) object {
	summary := []object{}
	o := object{"type": "reasoning", "id": it.id}
	switch {
	case complete && it.shown == Visible:
		o["content"] = []object{{"type": "reasoning_text", "text": it.text()}}
	case complete:
		for _, part := range it.parts() {
			summary = append(summary, summaryText(part))
		}
		o["encrypted_content"] = "c2ltdWxhdGVkIHJlYXNvbmluZw=="
	}
	o["summary"] = summary
	return o
}

func outputText(text string) object {
	return object{"type": "output_text", "text": text, "annotations": []object{}}
}

func summaryText(text string) object { return object{"type": "summary_text", "text": text} }
