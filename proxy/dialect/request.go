package dialect

import (
	"bytes"
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

	head, tail []byte // the body without what the client says of itself
}

// maxTurn bounds what is read of a turn, in bytes; Codex says about 800.
const maxTurn = 16 << 10

// ReadRequest reads the facts of a request body, which may be any bytes. Of a
// body that was cut off it reads what is whole; of a key that comes twice the
// last value, as most servers do.
func ReadRequest(d exchange.Dialect, body []byte) Request {
	var r Request
	if d == exchange.Other {
		return r
	}
	body = bytes.TrimSpace(body)
	r.head = body
	root := gjson.Parse(unsafe.String(unsafe.SliceData(body), len(body)))
	if !root.IsObject() {
		return r
	}
	root.ForEach(func(key, v gjson.Result) bool {
		if v.Index+len(v.Raw) < len(body) { // else it may have been cut off
			r.field(d, key.Str, v)
			if key.Str == "client_metadata" {
				r.head, r.tail = body[:v.Index], body[end(v):]
			}
		}
		return true
	})
	return r
}

// Gist is what of the body tells the request from another, in two parts: not what
// the client says of itself beside it, which Codex words in another order each time
// that it tries.
func (r Request) Gist() (head, tail []byte) { return r.head, r.tail }

func (r *Request) field(d exchange.Dialect, key string, v gjson.Result) {
	choices := d == exchange.Chat || d == exchange.Completions
	switch {
	case key == "model":
		keep(&r.Model, v)
	case key == "stream":
		r.Stream = boolean(v)
	case key == "stream_options" && choices:
		r.IncludeUsage = boolean(find(v, "include_usage"))
	case key == "previous_response_id" && d == exchange.Responses:
		keep(&r.Continues, v)
	case key == "conversation" && d == exchange.Responses:
		r.Conversation = truthy(v)
	case key == "generate" && d == exchange.Responses:
		r.Generate = boolean(v)
	case key == "client_metadata" && d == exchange.Responses:
		r.Turn = clip(find(v, "x-codex-turn-metadata").Str, maxTurn)
	case key == "n" && choices:
		if r.Choices = count(v); r.Choices != nil && *r.Choices <= 1 {
			r.Choices = nil
		}
	}
}

// boolean is true or false, nil for any other value.
func boolean(v gjson.Result) *bool {
	if v.Raw != "true" && v.Raw != "false" {
		return nil
	}
	b := v.Raw == "true"
	return &b
}
