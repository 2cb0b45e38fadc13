package dialect

import "github.com/tidwall/gjson"

// delta counts the generated output in a chat delta, or in a message in its
// place. Reasoning that is sent under two names at once is counted once.
func (e *Event) delta(d gjson.Result) {
	if !d.IsObject() {
		return
	}
	plain, detailed, kind := 0, 0, Reasoning
	d.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "content":
			e.content(v)
		case "reasoning_content", "reasoning", "reasoning_text": // DeepSeek; OpenRouter, vLLM; Copilot
			plain = max(plain, size(v))
		case "reasoning_details":
			detailed, kind = reasoningDetails(v)
		case "refusal":
			e.add(Refusal, size(v))
		case "tool_calls":
			e.toolCalls(v)
		case "function_call":
			e.add(Tool, sum(v, "name", "arguments"))
		case "audio":
			e.add(Audio, sum(v, "data", "transcript"))
		case "images": // OpenRouter
			e.images(v)
		}
		return true
	})
	e.add(kind, max(plain, detailed))
}

// content counts a content, which is a string or, from Mistral and Databricks, a
// list of parts.
func (e *Event) content(v gjson.Result) {
	if !v.IsArray() {
		e.add(Text, size(v))
		return
	}
	v.ForEach(func(_, part gjson.Result) bool {
		if part.IsObject() {
			e.part(part)
		}
		return true
	})
}

func (e *Event) part(part gjson.Result) {
	kind := part.Get("type")
	switch {
	case kind.Str == "thinking":
		thinking := part.Get("thinking")
		e.add(Reasoning, size(thinking)+sizes(thinking, "text"))
	case kind.Str == "reasoning":
		e.add(Summary, sizes(part.Get("summary"), "text"))
		e.add(Reasoning, size(part.Get("text")))
	case kind.Str == "refusal":
		e.add(Refusal, size(part.Get("refusal")))
	case kind.Str == "text", kind.Str == "output_text", kind.Type == gjson.Null:
		e.add(Text, size(part.Get("text")))
	}
}

// reasoningDetails counts OpenRouter's reasoning_details. They say whether the
// reasoning beside them is a summary; encrypted ones are no output.
func reasoningDetails(v gjson.Result) (n int, kind Kind) {
	texts, summaries := sizes(v, "text"), sizes(v, "summary")
	if texts == 0 && summaries > 0 {
		return summaries, Summary
	}
	return texts + summaries, Reasoning
}

// toolCalls counts calls of functions and of custom tools. The event belongs to
// the call it is about, the first of several.
func (e *Event) toolCalls(v gjson.Result) {
	if !v.IsArray() {
		return
	}
	index := -1
	v.ForEach(func(_, call gjson.Result) bool {
		if index < 0 && call.IsObject() {
			index = place(call.Get("index"))
		}
		function := find(call, "function")
		e.add(Tool, size(find(function, "name"))+payload(find(function, "arguments")))
		e.add(Tool, sum(find(call, "custom"), "name", "input"))
		return true
	})
	if index > 0 {
		e.Index = index
	}
}

func (e *Event) images(v gjson.Result) {
	if v.IsArray() && filled(v) {
		e.add(Image, len(v.Raw))
	}
}

// sum is the length of some strings of an object together.
func sum(v gjson.Result, fields ...string) (n int) {
	if v.IsObject() {
		for _, field := range fields {
			n += size(v.Get(field))
		}
	}
	return n
}

// sizes sums a field over the objects of a list.
func sizes(list gjson.Result, field string) (n int) {
	if !list.IsArray() {
		return 0
	}
	list.ForEach(func(_, v gjson.Result) bool {
		n += sum(v, field)
		return true
	})
	return n
}
