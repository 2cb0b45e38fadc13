package dialect

import (
	"strings"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// cutter cuts the values of a request into sections, in one pass. A section
// whose part is not known yet is an exchange.OtherPart: what it is in says it
// later, since a role may stand behind the content.
type cutter struct {
	scanner
	list  []Section // of the value that is being cut
	depth int       // contents within contents
}

// maxContents is how deep contents are looked into.
const maxContents = 4

var roles = map[string]exchange.Part{
	"system": exchange.InstructionsPart, "developer": exchange.InstructionsPart,
	"user":      exchange.UserPart,
	"assistant": exchange.AssistantPart, "model": exchange.AssistantPart,
	"tool": exchange.ToolResultPart, "function": exchange.ToolResultPart,
}

// types are what an item or a piece of content says that it is, where its role
// does not tell.
var types = map[string]exchange.Part{
	"reasoning": exchange.ReasoningPart, "thinking": exchange.ReasoningPart, "redacted_thinking": exchange.ReasoningPart,
	"tool_use": exchange.ToolCallPart, "server_tool_use": exchange.ToolCallPart, "mcp_tool_use": exchange.ToolCallPart,
	"tool_result": exchange.ToolResultPart, "mcp_list_tools": exchange.ToolsPart,
	"image": exchange.ImagePart, "image_url": exchange.ImagePart, "input_image": exchange.ImagePart,
	"computer_screenshot": exchange.ImagePart, "image_generation_call": exchange.ImagePart,
	"file": exchange.FilePart, "input_file": exchange.FilePart, "document": exchange.FilePart, "input_audio": exchange.FilePart,
}

// partOf is the part that a type stands for; ok is false where the role says it.
func partOf(kind string) (part exchange.Part, ok bool) {
	if part, ok = types[kind]; ok {
		return part, true
	}
	switch {
	case strings.HasSuffix(kind, "_call"):
		return exchange.ToolCallPart, true
	case strings.HasSuffix(kind, "_call_output") || strings.HasSuffix(kind, "_tool_result"):
		return exchange.ToolResultPart, true
	}
	return exchange.OtherPart, false
}

// whole makes one section of a value.
func (c *cutter) whole(part exchange.Part) { c.add(part, c.value(), extent{}) }

// format cuts the format, which may be a schema, out of an object with more.
func (c *cutter) format(part exchange.Part) {
	if c.peek() != '{' {
		c.value()
		return
	}
	c.object(func(key []byte, _ int) {
		if string(key) == "format" {
			c.whole(part)
		} else {
			c.value()
		}
	})
}

// items cuts a conversation: one text, or a list of items or messages.
func (c *cutter) items(part exchange.Part) {
	if c.peek() != '[' {
		c.content(part)
		return
	}
	c.array(func() {
		if c.peek() == '{' {
			c.item()
		} else {
			c.content(part)
		}
	})
}

// item cuts an item or a message: into its content, or not at all where it is
// something else.
func (c *cutter) item() {
	from, start := len(c.list), c.at
	var role, kind string
	c.object(func(key []byte, _ int) {
		switch string(key) {
		case "role":
			role = c.word()
		case "type":
			kind = c.word()
		case "content", "output", "refusal":
			c.content(exchange.OtherPart)
		case "reasoning", "reasoning_content", "thinking":
			c.whole(exchange.ReasoningPart)
		case "tool_calls", "function_call":
			c.whole(exchange.ToolCallPart)
		case "images":
			c.whole(exchange.ImagePart)
		default:
			c.value()
		}
	})
	part, known := partOf(kind)
	switch {
	case !known && (kind == "" || kind == "message"):
		c.settle(from, roles[role])
	case part == exchange.ToolResultPart && len(c.list) > from:
		c.settle(from, part)
	default:
		c.list = c.list[:from]
		c.add(part, extent{start, c.at}, extent{})
	}
}

// content cuts a text, or a list of pieces.
func (c *cutter) content(part exchange.Part) {
	from := len(c.list)
	if c.depth++; c.depth > maxContents {
		c.value()
	} else if c.peek() == '[' {
		c.array(c.piece)
	} else {
		c.piece()
	}
	c.depth--
	c.settle(from, part)
}

// piece cuts one piece of content: into its text, the content of a tool's
// result, or not at all.
func (c *cutter) piece() {
	switch c.peek() {
	case '"':
		c.whole(exchange.OtherPart)
		return
	case '{':
	default:
		c.value()
		return
	}
	from, start := len(c.list), c.at
	var kind string
	var text, mark extent
	c.object(func(key []byte, at int) {
		switch string(key) {
		case "type":
			kind = c.word()
		case "text", "refusal":
			text = c.value()
		case "content":
			c.content(exchange.OtherPart)
		case "cache_control":
			mark = c.cacheMark(at)
		default:
			c.value()
		}
	})
	part, known := partOf(kind)
	if part == exchange.ToolResultPart && len(c.list) > from {
		c.settle(from, part)
		return
	}
	c.list = c.list[:from]
	if !known && text.end > 0 {
		c.add(part, text, extent{})
	} else {
		c.add(part, extent{start, c.at}, mark)
	}
}

// cacheMark passes over a cache mark and returns its range, with the comma that
// goes where it goes: clients move the mark on as the conversation grows.
func (c *cutter) cacheMark(from int) extent {
	c.value()
	end := c.at
	if c.data[from] != ',' && c.peek() == ',' {
		c.at++
		c.peek()
		c.at, end = end, c.at
	}
	return extent{from, end}
}

// word is a string as it is written, "" for any other value.
func (c *cutter) word() string {
	v := c.text(c.value())
	if len(v) < 2 || len(v) > maxWord || v[0] != '"' {
		return ""
	}
	return string(v[1 : len(v)-1])
}

// add adds a section, unless there is nothing in it.
func (c *cutter) add(part exchange.Part, v, mark extent) {
	switch string(c.text(v)) {
	case "", `""`, "null", "[]", "{}":
		return
	}
	if n := len(c.list); n == MaxSections {
		c.list[n-1].End = v.end
		return
	}
	c.list = append(c.list, Section{part, v.start, v.end, mark})
}

// settle says what the sections from the from-th on are, as far as it is not
// known.
func (c *cutter) settle(from int, part exchange.Part) {
	for i := from; i < len(c.list); i++ {
		if c.list[i].Part == exchange.OtherPart {
			c.list[i].Part = part
		}
	}
}
