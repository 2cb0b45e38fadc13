package dialect

// blockTexts are the deltas of a block that bring generated output: in which field,
// and of which kind.
var blockTexts = map[string]struct {
	field string
	kind  Kind
}{
	"text_delta":       {"text", Text},
	"thinking_delta":   {"thinking", Reasoning},
	"input_json_delta": {"partial_json", Tool},
}

// glance reads an event that brings a piece of a block.
func (m *messages) glance(name string, data []byte, e *Event) bool {
	if name == "error" {
		return false
	}
	g := glance{data: data}
	var event []byte
	index, placed, brought := 0, false, false
	g.need('{')
	for first := true; g.field(first); first = false {
		switch string(g.key) {
		case "type":
			g.lost = g.lost || event != nil
			event = g.word()
		case "index":
			g.lost = g.lost || placed
			index, placed = g.place(), true
		case "delta":
			g.lost = g.lost || brought
			g.block(e)
			brought = true
		default:
			g.pass()
		}
	}
	e.Index = index
	return g.done() && brought && string(event) == "content_block_delta"
}

// block adds what a delta of a block brings.
func (g *glance) block(e *Event) {
	var delta, field []byte
	size := 0
	g.need('{')
	for first := true; g.field(first); first = false {
		switch string(g.key) {
		case "type":
			g.lost = g.lost || delta != nil
			delta = g.word()
		case "text", "thinking", "partial_json":
			g.lost = g.lost || field != nil
			field = g.key
			size = g.text()
		default:
			g.pass()
		}
	}
	text, ok := blockTexts[string(delta)]
	g.lost = g.lost || !ok || string(field) != text.field
	e.add(text.kind, size)
}
