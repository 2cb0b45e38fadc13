package dialect

import (
	"bytes"

	"github.com/tidwall/gjson"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// New returns a reader for one answer in a wire format. Embeddings come in the
// envelope of chat; of exchange.Other nothing but an error is read.
func New(d exchange.Dialect) Reader {
	switch d {
	case exchange.Responses:
		return &responses{}
	case exchange.Chat, exchange.Completions, exchange.Embeddings:
		return &chat{}
	case exchange.Messages:
		return &messages{}
	case exchange.Ollama:
		return &ollama{}
	}
	return &other{}
}

// reading is what all readers have in common.
type reading struct {
	answer    Answer
	usageFrom usageRank
}

// Answer is what has been read so far.
func (r *reading) Answer() *Answer { return &r.answer }

// begin sorts out what is no JSON object: nothing at all, the done marker, and
// what cannot be read. An event that is named an error is one whatever it holds.
func (r *reading) begin(name string, data []byte) (root gjson.Result, e Event, ok bool) {
	data = bytes.TrimSpace(data)
	if string(data) == "[DONE]" {
		r.answer.DoneMarker = true
		r.end(Completed)
		return root, Event{Terminal: true}, false
	}
	if root, ok = parse(data); ok && root.IsObject() {
		return root, e, true
	}
	e.Unread = len(data) > 0
	if name == "error" {
		r.fail(&Error{Message: clip(string(data), maxMessage)}, &e)
	}
	return root, e, false
}

// end notes how the answer ended. The ends are in order of their weight: an
// error is not taken back by a done marker.
func (r *reading) end(end End) { r.answer.End = max(r.answer.End, end) }

// fail notes an error, the first of several, and ends the answer with it.
func (r *reading) fail(err *Error, e *Event) {
	if r.answer.Error == nil {
		r.answer.Error = err
	}
	r.end(EndedInError)
	e.Terminal = true
}

// failAs ends the answer with the error that an event tells of, in whatever
// shape.
func (r *reading) failAs(root gjson.Result, e *Event) {
	err := failure(root)
	if err == nil {
		err = errorIn(root, root)
	}
	r.fail(err, e)
}

// body reads a whole answer by the same function as an event of a stream, of
// which only its generated output is kept.
func (r *reading) body(data []byte, read func(root gjson.Result, e *Event)) {
	root, ok := parse(data)
	if !ok {
		r.answer.Unread = true
		return
	}
	if err := failure(root); err != nil {
		r.fail(err, &Event{})
	}
	if root.IsObject() {
		var e Event
		read(root, &e)
		r.answer.Whole = Event{Kind: e.Kind, ThoughtBytes: e.ThoughtBytes, AnswerBytes: e.AnswerBytes}
	}
}

// add counts n bytes of generated output of a kind; none are no output.
func (e *Event) add(kind Kind, n int) {
	switch {
	case n == 0:
		return
	case kind&Thought != 0:
		e.ThoughtBytes += n
	default:
		e.AnswerBytes += n
	}
	e.Kind |= kind
}

// endOf is the end that a finish or stop reason stands for.
func endOf(reason string) End {
	switch reason {
	case "":
		return NoEnd
	case "length", "max_tokens": // OpenAI and Ollama; Anthropic
		return CutShort
	case "model_length", "model_context_window_exceeded": // Mistral; Anthropic
		return CutShort
	case "error": // Mistral, OpenRouter
		return EndedInError
	}
	return Completed
}

// other reads an answer of no known format: an error body, and nothing else.
// What it holds otherwise is unknown, so it has no end either.
type other struct{ reading }

func (o *other) Message(string, []byte) Event { return Event{} }

func (o *other) Body(data []byte) {
	if root, ok := parse(data); ok {
		o.answer.Error = failure(root)
	}
}
