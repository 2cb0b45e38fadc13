package dialect

// piece is what a glance takes of a chunk of chat or of completions.
type piece struct {
	id, model     []byte
	index         int
	choice, delta bool // there was one
	text, thought int
	said          bool // the legacy text was there
}

// glance reads a chunk of one choice that brings text or reasoning, or nothing yet.
func (c *chat) glance(data []byte, e *Event) bool {
	g := glance{data: data}
	var p piece
	g.need('{')
	for first := true; g.field(first); first = false {
		c.glanceField(&g, &p)
	}
	if !g.done() || !p.choice {
		return false
	}
	first(&c.answer.ResponseID, p.id)
	first(&c.answer.Model, p.model)
	e.Index = p.index
	e.add(Text, p.text)
	e.add(Reasoning, p.thought)
	c.seen.add(p.index)
	c.answer.Choices = c.seen.len()
	return true
}

// first keeps a word where none was kept before.
func first(to *string, word []byte) {
	if *to == "" && len(word) > 0 {
		*to = clip(string(word), maxWord)
	}
}

func (c *chat) glanceField(g *glance, p *piece) {
	switch string(g.key) {
	case "choices":
		g.lost = g.lost || p.choice
		g.need('[')
		p.choice = true
		g.choice(p)
		g.need(']')
	case "id":
		firstOf(&p.id, g.word())
	case "model":
		firstOf(&p.model, g.word())
	case "service_tier":
		if g.peek() != 'n' {
			tier := g.word()
			g.lost = g.lost || string(tier) != c.answer.ServiceTier
			return
		}
		g.null()
	case "object", "type":
		g.lost = string(g.word()) == "error" || g.lost
	case "usage", "x_groq", "timings", "metrics", "time_info", "perf_metrics", "stats", "error":
		g.null()
	default:
		g.pass()
	}
}

func firstOf(to *[]byte, word []byte) {
	if len(*to) == 0 {
		*to = word
	}
}

func (g *glance) choice(p *piece) {
	g.need('{')
	for first := true; g.field(first); first = false {
		switch string(g.key) {
		case "index":
			p.index = g.place()
		case "delta":
			g.lost = g.lost || p.delta
			p.delta = true
			g.delta(p)
		case "text":
			g.lost = g.lost || p.said
			p.said = true
			p.text += g.text()
		case "finish_reason", "usage", "message":
			g.null()
		default:
			g.pass()
		}
	}
}

func (g *glance) delta(p *piece) {
	g.need('{')
	for first := true; g.field(first); first = false {
		switch string(g.key) {
		case "content":
			p.text += g.text()
		case "reasoning_content", "reasoning", "reasoning_text":
			p.thought = max(p.thought, g.text())
		case "reasoning_details", "refusal", "tool_calls", "function_call", "audio", "images":
			g.null()
		default:
			g.pass()
		}
	}
}
