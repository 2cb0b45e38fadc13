package dialect

// glance reads an event that brings a piece of text.
func (r *responses) glance(name string, data []byte, e *Event) bool {
	if name == "error" {
		return false
	}
	g := glance{data: data}
	var event []byte
	index, size, brought := -1, 0, false
	g.need('{')
	for first := true; g.field(first); first = false {
		switch string(g.key) {
		case "type":
			g.lost = g.lost || event != nil
			event = g.word()
		case "output_index":
			index = g.place()
		case "delta":
			g.lost = g.lost || brought
			size, brought = g.text(), true
		default:
			g.pass()
		}
	}
	kind, ok := deltas[string(event)]
	if !ok || !g.done() || size == 0 {
		return false
	}
	e.Index = max(0, index)
	e.add(kind, size)
	r.any = true
	r.counted.add(index)
	return true
}
