package dialect

import "github.com/tidwall/gjson"

// responses reads OpenAI's Responses API, over SSE or a WebSocket. Source: its
// API reference; the older names of some events are from recordings.
type responses struct {
	reading
	counted places // output indexes of which something counted
	any     bool   // something counted at all
	running places // hosted tools at work
}

// deltas are the events that bring generated output piece by piece.
var deltas = map[string]Kind{
	"response.output_text.delta":                     Text,
	"response.refusal.delta":                         Refusal,
	"response.reasoning_text.delta":                  Reasoning,
	"response.reasoning.delta":                       Reasoning,
	"response.reasoning_summary_text.delta":          Summary,
	"response.reasoning_summary.delta":               Summary,
	"response.function_call_arguments.delta":         Tool,
	"response.custom_tool_call_input.delta":          Tool,
	"response.mcp_call_arguments.delta":              Tool,
	"response.mcp_call.arguments.delta":              Tool,
	"response.code_interpreter_call_code.delta":      Tool,
	"response.code_interpreter_call.code.delta":      Tool,
	"response.apply_patch_call_operation_diff.delta": Tool,
	"response.shell_call_command.delta":              Tool,
	"response.audio.delta":                           Audio,
	"response.output_audio.delta":                    Audio,
	"response.audio.transcript.delta":                Audio,
	"response.audio_transcript.delta":                Audio,
}

// wholes are the events that say once more what the deltas brought.
var wholes = map[string]struct {
	field string
	kind  Kind
}{
	"response.output_text.done":                {"text", Text},
	"response.refusal.done":                    {"refusal", Refusal},
	"response.reasoning_text.done":             {"text", Reasoning},
	"response.reasoning_summary_text.done":     {"text", Summary},
	"response.function_call_arguments.done":    {"arguments", Tool},
	"response.custom_tool_call_input.done":     {"input", Tool},
	"response.mcp_call_arguments.done":         {"arguments", Tool},
	"response.code_interpreter_call_code.done": {"code", Tool},
}

// terminals are the events that end a response, and statuses its own word.
var (
	terminals = map[string]End{
		"response.completed":  Completed,
		"response.done":       Completed,
		"response.incomplete": CutShort,
		"response.cancelled":  CutShort,
		"response.failed":     EndedInError,
	}
	statuses = map[string]End{
		"completed":  Completed,
		"incomplete": CutShort,
		"cancelled":  CutShort,
		"failed":     EndedInError,
	}
)

// frame is the fields of an event, found in one pass: the last event of a
// response may be megabytes long.
type frame struct {
	event                                string
	index                                int
	delta, response, item, part, timings gjson.Result
}

func frameOf(name string, root gjson.Result) frame {
	f := frame{event: name, index: -1}
	root.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "type":
			if size(v) > 0 && name != "error" {
				f.event = v.Str
			}
		case "output_index":
			f.index = place(v)
		case "delta":
			f.delta = v
		case "response":
			f.response = v
		case "item":
			f.item = v
		case "part":
			f.part = v
		case "timings": // llama.cpp puts them beside the response
			f.timings = v
		}
		return true
	})
	return f
}

func (r *responses) Message(name string, data []byte) Event {
	var e Event
	if r.glance(name, data, &e) {
		return e
	}
	return r.full(name, data)
}

// full reads any message.
func (r *responses) full(name string, data []byte) Event {
	root, e, ok := r.begin(name, data)
	if !ok {
		r.unread(name, &e)
		return e
	}
	f := frameOf(name, root)
	e.Index = max(0, f.index)
	if kind, ok := deltas[f.event]; ok {
		e.add(kind, payload(f.delta))
	} else {
		r.event(&f, root, &e)
	}
	if e.Kind != 0 {
		r.any = true
		r.counted.add(f.index)
	}
	return e
}

// unread makes the best of a terminal event that is too long to be read: its
// name says how the answer ended.
func (r *responses) unread(name string, e *Event) {
	if end, ok := terminals[name]; ok && e.Unread {
		r.end(end)
		e.Terminal = true
	}
}

// event takes an event that is no delta.
func (r *responses) event(f *frame, root gjson.Result, e *Event) {
	of := r.response(f.response, e)
	whole, again := wholes[f.event]
	end, terminal := terminals[f.event]
	switch {
	case again:
		if !r.counted.has(f.index) {
			e.add(whole.kind, size(root.Get(whole.field)))
		}
	case terminal:
		r.time("timings", f.timings)
		r.terminal(end, of, e)
	case f.event == "response.output_item.added":
		e.item(f.item)
		r.opens(f.item, f.index, e)
	case f.event == "response.output_item.done":
		if !r.counted.has(f.index) {
			e.item(f.item)
		}
		r.closes(f.item, f.index, e)
	case f.event == "response.content_part.added":
		e.contentPart(f.part)
	case f.event == "responsesapi.websocket_timing":
		r.answer.Engine = engineIn(root.Get("timing_metrics"))
	case f.event == "response.image_generation_call.partial_image":
		e.add(Image, size(root.Get("partial_image_b64")))
	case f.event == "error", f.event == "" && failure(root) != nil:
		r.failAs(root, e)
	case f.event == "":
		e.Unread = true
	}
	r.starts(f.event, f.index, e)
}

// ending is what a response object says of its end.
type ending struct{ response, status, err, details, output gjson.Result }

// response takes over what a response object says of itself, in whatever event
// it comes, and finds what it says of its end.
func (r *responses) response(v gjson.Result, e *Event) (of ending) {
	if !v.IsObject() {
		e.Unread = v.Type != gjson.Null
		return of
	}
	of.response = v
	a := &r.answer
	v.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "id":
			keep(&a.ResponseID, v)
		case "model":
			keep(&a.Model, v)
		case "service_tier":
			keep(&a.ServiceTier, v)
		case "usage":
			r.use(v, fromTop)
		case "metrics":
			r.time("metrics", v)
		case "status":
			of.status = v
		case "error":
			of.err = v
		case "incomplete_details":
			of.details = v
		case "output":
			of.output = v
		}
		return true
	})
	return of
}

// terminal ends the answer. If nothing counted before, what the response holds
// as a whole does.
func (r *responses) terminal(end End, of ending, e *Event) {
	r.finish(of)
	r.end(end)
	e.Terminal = true
	if truthy(of.err) || end == EndedInError {
		r.fail(errorIn(of.err, of.response), e)
	}
	if !r.any {
		e.items(of.output)
	}
}

// finish reads a response's status and the reason for it.
func (r *responses) finish(of ending) {
	keep(&r.answer.FinishReason, of.status)
	r.end(statuses[of.status.Str])
	detail := find(of.details, "reason")
	if size(detail) == 0 {
		detail = find(of.err, "code")
	}
	r.answer.FinishDetail = word(detail, maxWord)
}

func (r *responses) Body(data []byte) {
	r.body(data, func(root gjson.Result, e *Event) {
		of := r.response(root, e)
		e.items(of.output)
		if size(of.status) == 0 {
			r.end(Completed) // an error body, or a gateway that leaves the status out
			return
		}
		r.finish(of)
	})
}
