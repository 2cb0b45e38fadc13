package dialect

import (
	"strings"

	"github.com/tidwall/gjson"
)

// ollama reads Ollama's own API, /api/chat and /api/generate: one JSON object a
// line, the last with done. Source: its API documentation. It does not report
// what came from the cache: prompt_eval_count is the whole prompt either way.
type ollama struct{ reading }

func (o *ollama) Message(name string, data []byte) Event {
	root, e, ok := o.begin(name, data)
	if ok {
		o.read(root, &e)
	}
	return e
}

func (o *ollama) Body(data []byte) {
	o.body(data, func(root gjson.Result, e *Event) { o.read(root, e) })
}

func (o *ollama) read(root gjson.Result, e *Event) {
	done := false
	root.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "model":
			keep(&o.answer.Model, v)
		case "message":
			e.ollamaMessage(v)
		case "response":
			e.add(Text, size(v))
		case "thinking":
			e.add(Reasoning, size(v))
		case "done":
			done = v.Type == gjson.True
		case "done_reason":
			keep(&o.answer.FinishReason, v)
		case "error":
			if truthy(v) {
				o.fail(errorIn(v, root), e)
			}
		}
		return true
	})
	if done {
		o.done(root, e)
	}
}

func (e *Event) ollamaMessage(v gjson.Result) {
	if !v.IsObject() {
		e.Unread = v.Type != gjson.Null
		return
	}
	e.add(Text, size(v.Get("content")))
	e.add(Reasoning, size(v.Get("thinking")))
	e.add(Tool, list(v.Get("tool_calls")))
}

// done takes the counts and durations of the last object.
func (o *ollama) done(root gjson.Result, e *Event) {
	o.end(max(Completed, endOf(o.answer.FinishReason)))
	o.time("", root)
	e.Terminal = true
	var fields []string
	for _, row := range ollamaCounters {
		if v := root.Get(row.paths[0]); v.Exists() {
			fields = append(fields, `"`+row.paths[0]+`":`+v.Raw)
		}
	}
	if len(fields) > 0 {
		raw := "{" + strings.Join(fields, ",") + "}"
		o.answer.Usage = usageOf(gjson.Parse(raw), ollamaCounters)
	}
}
