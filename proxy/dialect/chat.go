package dialect

import "github.com/tidwall/gjson"

// chat reads OpenAI's chat completions and what others made of them, the legacy
// completions, which differ in choices[].text only, and embeddings, which have
// no choices. Sources: OpenAI's API reference; for the fields that only others
// have, the vendor named beside it.
type chat struct {
	reading
	seen     places // choices
	finished places
	reached  End // the weightiest end of a choice
}

func (c *chat) Message(name string, data []byte) Event {
	var e Event
	if name != "error" && c.glance(data, &e) {
		return e
	}
	return c.full(name, data)
}

// full reads any message.
func (c *chat) full(name string, data []byte) Event {
	root, e, ok := c.begin(name, data)
	if ok {
		c.read(name, root, &e)
	}
	return e
}

func (c *chat) Body(data []byte) {
	c.body(data, func(root gjson.Result, e *Event) {
		c.read("", root, e)
		c.end(Completed)
	})
}

// read takes one chunk, or a whole body.
func (c *chat) read(name string, root gjson.Result, e *Event) {
	a, failed := &c.answer, name == "error"
	root.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "choices":
			c.choices(v, e)
		case "id":
			keepFirst(&a.ResponseID, v)
		case "model":
			keepFirst(&a.Model, v)
		case "service_tier":
			keep(&a.ServiceTier, v)
		case "usage":
			c.use(v, fromTop)
		case "x_groq":
			c.use(find(v, "usage"), fromGroq)
		case "timings", "metrics", "time_info", "perf_metrics", "stats":
			c.time(key.Str, v)
		case "error":
			failed = failed || truthy(v)
		case "object", "type":
			failed = failed || v.Str == "error"
		}
		return true
	})
	if failed {
		c.failAs(root, e)
	}
}

func (c *chat) choices(v gjson.Result, e *Event) {
	if !v.IsArray() {
		e.Unread = v.Type != gjson.Null
		return
	}
	v.ForEach(func(_, choice gjson.Result) bool {
		c.choice(choice, e)
		return true
	})
}

// choice reads one choice. Its message is looked at only without a delta:
// Perplexity sends the delta and, beside it, the whole text so far.
func (c *chat) choice(v gjson.Result, e *Event) {
	if !v.IsObject() {
		e.Unread = true
		return
	}
	var delta, message, text, reason gjson.Result
	index := 0
	v.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "index":
			index = place(v)
		case "delta":
			delta = v
		case "message":
			message = v
		case "text":
			text = v
		case "finish_reason":
			reason = v
		case "usage":
			c.use(v, fromChoice)
		}
		return true
	})
	if !delta.IsObject() {
		delta = message
	}
	e.Index = max(0, index)
	e.add(Text, size(text))
	e.delta(delta)
	c.finish(index, reason, e)
}

// finish counts the choice, and ends the answer when every choice that was seen
// has a reason: how many there will be is not said, but servers open them all
// before they finish one.
func (c *chat) finish(index int, reason gjson.Result, e *Event) {
	index = max(0, index)
	c.seen.add(index)
	c.answer.Choices = c.seen.len()
	if size(reason) == 0 {
		return
	}
	if index == 0 {
		keep(&c.answer.FinishReason, reason)
	}
	c.finished.add(index)
	c.reached = max(c.reached, endOf(reason.Str))
	if c.finished.len() == c.seen.len() {
		c.end(c.reached)
		e.Terminal = true
	}
}
