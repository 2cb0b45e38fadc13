package dialect

import (
	"unsafe"

	"github.com/tidwall/gjson"
)

// Output calls each with every generated text in a chat or completions chunk that
// could be read, or in such an answer that came whole. A text is good until each
// returns, unless it is cloned.
func Output(data []byte, each func(text string)) {
	root := gjson.Parse(unsafe.String(unsafe.SliceData(data), len(data)))
	find(root, "choices").ForEach(func(_, choice gjson.Result) bool {
		say(find(choice, "text"), each)
		delta := find(choice, "delta")
		if !delta.IsObject() {
			delta = find(choice, "message")
		}
		sayDelta(delta, each)
		return true
	})
}

// sayDelta says the texts of a delta, or of a message in its place. Reasoning that
// is sent under two names at once is said once.
func sayDelta(delta gjson.Result, each func(string)) {
	thought := false
	delta.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "reasoning_content", "reasoning", "reasoning_text":
			thought = thought || say(v, each)
		case "content":
			say(v, each)
			sayAll(v, each, "#.thinking.#.text", "#.text")
		case "refusal":
			say(v, each)
		case "tool_calls":
			sayAll(v, each, "#.function.name", "#.function.arguments", "#.custom.name", "#.custom.input")
		case "function_call":
			say(find(v, "name"), each)
			say(find(v, "arguments"), each)
		}
		return true
	})
}

// sayAll says what is at some places in the items of a list.
func sayAll(list gjson.Result, each func(string), paths ...string) {
	if list.IsArray() {
		for _, path := range paths {
			say(list.Get(path), each)
		}
	}
}

// say calls each with a text, or with those of a list and of the lists in it, and
// says whether there was any.
func say(v gjson.Result, each func(string)) (some bool) {
	if v.IsArray() {
		v.ForEach(func(_, item gjson.Result) bool {
			some = say(item, each) || some
			return true
		})
		return some
	}
	if size(v) == 0 {
		return false
	}
	each(v.Str)
	return true
}
