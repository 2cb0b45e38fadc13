package dialect

import (
	"strings"

	"github.com/tidwall/gjson"
)

// hosted are the items of Responses whose tool the upstream runs, each with the
// event by which it starts to run: "" for the item's own beginning. What comes
// between the two is generated like any other call.
var hosted = map[string]string{
	"web_search_call":       "",
	"file_search_call":      "",
	"image_generation_call": "",
	"mcp_list_tools":        "",
	"mcp_call":              "response.mcp_call_arguments.done",
	"code_interpreter_call": "response.code_interpreter_call.interpreting",
}

// opens says what kind of item begins.
func (r *responses) opens(item gjson.Result, index int, e *Event) {
	kind := find(item, "type").Str
	start, isHosted := hosted[kind]
	switch {
	case !item.IsObject():
		e.Unread = true
	case kind == "reasoning":
		e.Opens = ReasoningItem
	case isHosted && (start == "" || size(item.Get("arguments")) > 0):
		e.Opens = HostedTool
		r.running.add(index)
	case !isToolOutput(kind):
		e.Opens = OutputItem
	}
}

// starts says that a hosted tool, whose item began earlier, begins to run.
func (r *responses) starts(event string, index int, e *Event) {
	if event != hosted["mcp_call"] && event != hosted["code_interpreter_call"] {
		return
	}
	if !r.running.has(index) {
		e.Opens = HostedTool
		r.running.add(index)
	}
}

// closes says what kind of item ends.
func (r *responses) closes(item gjson.Result, index int, e *Event) {
	kind := find(item, "type").Str
	_, isHosted := hosted[kind]
	switch {
	case !item.IsObject():
		e.Unread = true
	case kind == "reasoning":
		e.Closes = ReasoningItem
	case isHosted:
		e.Closes = HostedTool
		r.running.remove(index)
	case !isToolOutput(kind):
		e.Closes = OutputItem
	}
}

// isToolOutput tells the items that hold what a tool gave back.
func isToolOutput(kind string) bool { return strings.HasSuffix(kind, "_output") }

// contentPart counts a part that begins with something in it.
func (e *Event) contentPart(part gjson.Result) {
	kind := Text
	if find(part, "type").Str == "reasoning_text" {
		kind = Reasoning
	}
	e.add(kind, sum(part, "text"))
	e.add(Refusal, sum(part, "refusal"))
}

// item counts the visible generated output in an item as a whole. Of a call it
// is the name and what the tool is given, never what the tool gave back.
func (e *Event) item(item gjson.Result) {
	kind := find(item, "type").Str
	switch kind {
	case "message":
		e.add(Text, sizes(item.Get("content"), "text"))
		e.add(Refusal, sizes(item.Get("content"), "refusal"))
		e.add(Audio, sizes(item.Get("content"), "transcript"))
	case "reasoning":
		e.add(Summary, sizes(item.Get("summary"), "text"))
		e.add(Reasoning, sizes(item.Get("content"), "text"))
	case "code_interpreter_call", "program":
		e.add(Tool, size(item.Get("code")))
	case "local_shell_call":
		e.add(Tool, list(item.Get("action.command")))
	case "shell_call":
		e.add(Tool, list(item.Get("action.commands")))
	case "apply_patch_call":
		e.add(Tool, sum(find(item, "operation"), "path", "diff"))
	case "computer_call":
		e.add(Tool, payload(item.Get("action"))+list(item.Get("actions")))
	case "image_generation_call":
		e.add(Image, size(item.Get("result")))
	}
	if strings.HasSuffix(kind, "_call") || kind == "mcp_approval_request" {
		e.add(Tool, sum(item, "name", "arguments", "input"))
	}
}

// items counts a list of items.
func (e *Event) items(list gjson.Result) {
	if list.IsArray() {
		list.ForEach(func(_, item gjson.Result) bool {
			e.item(item)
			return true
		})
	}
}

// list is the length of an array that is not empty, in bytes.
func list(v gjson.Result) int {
	if !v.IsArray() || !filled(v) {
		return 0
	}
	return len(v.Raw)
}
