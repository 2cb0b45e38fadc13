package dialect

import (
	"bytes"
	"slices"
	"unsafe"

	"github.com/tidwall/gjson"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// Request is the facts of a request body that say how its answer is to be read.
// Nothing else of a request is kept.
type Request struct {
	Model        string // "" where none was named
	Stream       *bool  // whether a stream was asked for; nil where it was not said
	IncludeUsage *bool  // stream_options.include_usage; nil where it was not said
	Choices      *int64 // number of choices asked for; nil for one
	Continues    string // id of the response whose prompt this one goes on with; "" for none
	Conversation bool   // the upstream keeps a part of the prompt that is not in the body
	Generate     *bool  // whether there is to be any output; nil where it was not said
	Turn         string // what Codex says of the turn, JSON: over a socket no header can; "" where it does not

	head, tail     []byte    // the body without what the client says of itself
	opening, items []Section // of the prompt
}

// maxTurn bounds what is read of a turn, in bytes; Codex says about 800.
const maxTurn = 16 << 10

// ReadRequest reads a request body, which may be any bytes, in one pass. Of a body
// that was cut off it reads the facts that are whole; of a key that comes twice the
// last value, as most servers do.
func ReadRequest(d exchange.Dialect, body []byte) Request {
	if d == exchange.Other {
		return Request{}
	}
	r := Request{head: body}
	c := cutter{scanner: scanner{data: body}}
	var lists [conversation + 1][]Section
	c.object(func(key []byte, _ int) {
		name := unescaped(key)
		v := c.field(promptFields[d][name], &lists)
		if c.broken || v.end == len(body) { // it may have been cut off
			return
		}
		r.fact(d, name, c.text(v))
		if name == "client_metadata" {
			r.head, r.tail = body[:v.start], body[v.end:]
		}
	})
	if !c.broken && c.peek() == 0 {
		r.opening, r.items = slices.Concat(lists[:conversation]...), lists[conversation]
	}
	return r
}

// Gist is what of the body tells the request from another, in two parts: not what
// the client says of itself beside it, which Codex words in another order each time
// that it tries.
func (r Request) Gist() (head, tail []byte) { return r.head, r.tail }

// Sections is the prompt, cut into its sections in the order in which a model reads
// them, whatever their order in the JSON: the head, which is the model, the tools, a
// schema for the answer and the instructions, then the items or messages of the
// conversation. What is added at the end of a conversation leaves every section
// before it as it was.
//
// A section is the text itself where it can be: clients wrap the same message in
// one way now and in another the next time. Of a body that is no whole JSON
// object there is none, nor is there an empty one.
func (r Request) Sections() (head, items []Section) { return r.opening, r.items }

// fact takes the value of a key. Only the few that say something are parsed: the
// prompt may be megabytes.
func (r *Request) fact(d exchange.Dialect, key string, text []byte) {
	choices := d == exchange.Chat || d == exchange.Completions
	value := func() gjson.Result { return gjson.Parse(unsafe.String(unsafe.SliceData(text), len(text))) }
	switch {
	case key == "model":
		keep(&r.Model, value())
	case key == "stream":
		r.Stream = boolean(value())
	case key == "stream_options" && choices:
		r.IncludeUsage = boolean(find(value(), "include_usage"))
	case key == "previous_response_id" && d == exchange.Responses:
		keep(&r.Continues, value())
	case key == "conversation" && d == exchange.Responses:
		r.Conversation = truthy(value())
	case key == "generate" && d == exchange.Responses:
		r.Generate = boolean(value())
	case key == "client_metadata" && d == exchange.Responses:
		r.Turn = clip(find(value(), "x-codex-turn-metadata").Str, maxTurn)
	case key == "n" && choices:
		if r.Choices = count(value()); r.Choices != nil && *r.Choices <= 1 {
			r.Choices = nil
		}
	}
}

// unescaped is a key as it is meant. Hardly any client writes one with escapes.
func unescaped(key []byte) string {
	if bytes.IndexByte(key, '\\') < 0 {
		return string(key)
	}
	return gjson.Parse(`"` + string(key) + `"`).Str
}

// boolean is true or false, nil for any other value.
func boolean(v gjson.Result) *bool {
	if v.Raw != "true" && v.Raw != "false" {
		return nil
	}
	b := v.Raw == "true"
	return &b
}
