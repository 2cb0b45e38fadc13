package dialect

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// messages reads Anthropic's Messages API. Source: its API reference, section
// "Streaming messages".
type messages struct {
	reading
	usage  merged
	blocks []block // the open ones, and hosted tools without their result yet
}

// block is a content block that is open, or a hosted tool that is at work.
type block struct {
	index   int
	id      string // of a tool use
	item    Item
	running bool // a hosted tool whose call is over
}

// maxBlocks bounds the open blocks; there is one at a time, and a few tools.
const maxBlocks = 64

// calls are the blocks of a tool call. Those that the upstream runs itself are
// followed by a block of their result.
var calls = map[string]Item{
	"tool_use":        OutputItem,
	"server_tool_use": HostedTool,
	"mcp_tool_use":    HostedTool,
}

func (m *messages) Message(name string, data []byte) Event {
	var e Event
	if m.glance(name, data, &e) {
		return e
	}
	return m.full(name, data)
}

// full reads any message.
func (m *messages) full(name string, data []byte) Event {
	root, e, ok := m.begin(name, data)
	if !ok {
		return e
	}
	event := root.Get("type").Str
	if event == "" || name == "error" {
		event = name
	}
	e.Index = max(0, place(root.Get("index")))
	switch event {
	case "message_start":
		m.message(find(root, "message"), &e)
		m.answer.Usage.Output = nil // a placeholder, until message_delta counts
	case "content_block_start":
		m.start(find(root, "content_block"), &e)
	case "content_block_delta":
		e.blockDelta(find(root, "delta"))
	case "content_block_stop":
		m.stop(&e)
	case "message_delta":
		keep(&m.answer.FinishReason, root.Get("delta.stop_reason"))
		m.addUsage(root.Get("usage"))
	case "message_stop":
		m.end(max(Completed, endOf(m.answer.FinishReason)))
		e.Terminal = true
	case "error", "":
		m.odd(event, root, &e)
	}
	return e
}

func (m *messages) Body(data []byte) {
	m.body(data, func(root gjson.Result, e *Event) {
		m.message(root, e)
		e.blocks(root.Get("content"))
		keep(&m.answer.FinishReason, root.Get("stop_reason"))
		m.end(max(Completed, endOf(m.answer.FinishReason)))
	})
}

// message takes over what a message object says of itself.
func (m *messages) message(v gjson.Result, e *Event) {
	if !v.IsObject() {
		e.Unread = true
		return
	}
	keep(&m.answer.ResponseID, v.Get("id"))
	keep(&m.answer.Model, v.Get("model"))
	m.addUsage(v.Get("usage"))
}

// addUsage merges a usage object into what came before. The input tokens on the wire
// leave the cached ones out; ours do not.
func (m *messages) addUsage(v gjson.Result) {
	if !m.usage.merge(v) {
		return
	}
	raw := gjson.Parse(m.usage.String())
	u := usageOf(raw, anthropicCounters)
	for _, part := range []*int64{u.Cached, u.CacheWrite} {
		if u.Prompt != nil && part != nil {
			*u.Prompt += *part
		}
	}
	m.answer.Usage = u
	keep(&m.answer.ServiceTier, raw.Get("service_tier"))
}

// start takes a block that begins, with its name or text in it.
func (m *messages) start(v gjson.Result, e *Event) {
	kind := find(v, "type").Str
	item := OutputItem
	switch {
	case !v.IsObject():
		e.Unread = true
		return
	case kind == "thinking", kind == "redacted_thinking":
		item = ReasoningItem
		e.add(Reasoning, size(v.Get("thinking")))
	case strings.HasSuffix(kind, "_tool_result"):
		m.result(v.Get("tool_use_id").Str, e)
		return
	case calls[kind] != NoItem:
		item = calls[kind]
		e.add(Tool, size(v.Get("name")))
	case kind == "text":
		e.add(Text, size(v.Get("text")))
	}
	e.Opens = item
	if item == HostedTool {
		e.Opens = OutputItem // until it runs, its call is generated like any other
	}
	if len(m.blocks) < maxBlocks {
		m.blocks = append(m.blocks, block{index: e.Index, id: word(v.Get("id"), maxWord), item: item})
	}
}

// stop ends a block. A hosted tool begins to run where its call ends.
func (m *messages) stop(e *Event) {
	i := slices.IndexFunc(m.blocks, func(b block) bool { return b.index == e.Index && !b.running })
	switch {
	case i < 0:
		return
	case m.blocks[i].item == HostedTool:
		e.Opens = HostedTool
		m.blocks[i].running = true
	default:
		e.Closes = m.blocks[i].item
		m.blocks = slices.Delete(m.blocks, i, i+1)
	}
}

// result ends the hosted tool whose result begins, or the oldest where none is
// named. The event belongs to the tool's own block.
func (m *messages) result(id string, e *Event) {
	i := slices.IndexFunc(m.blocks, func(b block) bool { return b.item == HostedTool && (b.id == id || id == "") })
	if i >= 0 {
		e.Closes = HostedTool
		e.Index = m.blocks[i].index
		m.blocks = slices.Delete(m.blocks, i, i+1)
	}
}

// odd takes an event without a type: it is an error, or cannot be read.
func (m *messages) odd(event string, root gjson.Result, e *Event) {
	if event == "" && failure(root) == nil {
		e.Unread = true
		return
	}
	m.failAs(root, e)
}

// blocks counts the blocks of a whole message: in each, what its deltas would
// have brought.
func (e *Event) blocks(list gjson.Result) {
	if !list.IsArray() {
		return
	}
	list.ForEach(func(_, block gjson.Result) bool {
		kind := find(block, "type").Str
		switch {
		case kind == "text":
			e.add(Text, size(block.Get("text")))
		case kind == "thinking":
			e.add(Reasoning, size(block.Get("thinking")))
		case calls[kind] != NoItem:
			e.add(Tool, size(block.Get("name"))+payload(block.Get("input")))
		}
		return true
	})
}

// blockDelta counts a piece of a block. Signatures and citations are no output.
func (e *Event) blockDelta(v gjson.Result) {
	e.Unread = !v.IsObject()
	kind := find(v, "type").Str
	if text, ok := blockTexts[kind]; ok {
		e.add(text.kind, size(v.Get(text.field)))
	}
	if kind == "compaction_delta" {
		e.add(Text, size(v.Get("content")))
	}
}
