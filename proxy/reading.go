package proxy

import (
	"bytes"
	"log/slog"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/dialect"
	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/proxy/meter"
	"github.com/ttftap/ttftap/proxy/sse"
)

// form is how an answer is laid out. It is decided by the answer, not by what
// the request asked for.
type form uint8

const (
	undecided form = iota
	events         // server-sent events
	lines          // a JSON object a line
	whole          // one body
	frames         // messages of a WebSocket
)

// cutter cuts a stream into messages.
type cutter interface {
	Write(p []byte, emit func(sse.Message))
	Close(emit func(sse.Message))
}

// reading turns the plain bytes of an answer into their meaning.
type reading struct {
	media  string
	log    *slog.Logger
	form   form
	head   []byte // until the form is decided
	reader dialect.Reader
	meter  *meter.Meter
	output *output       // nil where its tokens are not to be counted
	cutter cutter        // of a stream
	body   []byte        // of an answer that is none, up to the limit
	at     time.Duration // instant of the read that brought what is being read
	emit   func(sse.Message)
	note   string // what could not be read
	failed bool
}

func newReading(d exchange.Dialect, media string, log *slog.Logger) *reading {
	r := &reading{media: media, log: log, reader: dialect.New(d), meter: meter.New()}
	r.emit = r.message // bound once: binding it for each chunk would allocate
	return r
}

// read takes the plain bytes that one read brought, and says whether more is
// wanted.
func (r *reading) read(at time.Duration, p []byte) (more bool) {
	if r.failed {
		return false
	}
	if note := guarded(r.log, func() string { r.take(at, p); return "" }); note != "" {
		r.fail(note)
	}
	return !r.failed
}

// fail gives up reading.
func (r *reading) fail(note string) { r.failed, r.note = true, note }

func (r *reading) take(at time.Duration, p []byte) {
	r.at = at
	if r.form == undecided {
		p = r.begin(p)
	}
	switch r.form {
	case events, lines:
		r.cutter.Write(p, r.emit)
	case whole:
		room := readable - len(r.body)
		r.body = append(r.body, p[:min(len(p), room)]...)
		if len(p) > room {
			r.fail("answer too long to be read")
		}
	}
}

// begin collects the answer's beginning until it shows its form, and then gives
// it back. White space before it means nothing in any form.
func (r *reading) begin(p []byte) []byte {
	r.head = append(r.head, p...)
	r.head = bytes.TrimLeft(bytes.TrimPrefix(r.head, []byte("\ufeff")), " \t\r\n")
	if r.form = r.formOf(r.head); r.form == undecided {
		return nil
	}
	switch r.form {
	case events:
		r.cutter = new(sse.Splitter)
	case lines:
		r.cutter = new(sse.Lines)
	}
	p, r.head = r.head, nil
	return p
}

// formOf looks at how an answer begins. Some servers call a stream JSON, and
// some send a plain error as an event stream.
func (r *reading) formOf(head []byte) form {
	switch {
	case len(head) == 0:
		return undecided
	case strings.Contains(r.media, "ndjson") || strings.Contains(r.media, "jsonl"):
		return lines
	case bytes.IndexByte([]byte(`{["<`), head[0]) >= 0:
		return whole
	case r.media == "text/event-stream" || beginsField(head):
		return events
	case len(head) < len("event:"):
		return undecided
	}
	return whole
}

// beginsField says whether a body begins as a stream of events does.
func beginsField(p []byte) bool {
	for _, field := range []string{":", "data:", "event:", "id:", "retry:"} {
		if bytes.HasPrefix(p, []byte(field)) {
			return true
		}
	}
	return false
}

func (r *reading) message(m sse.Message) {
	e := r.reader.Message(m.Name, m.Data)
	r.meter.Event(r.at, e)
	r.output.read(m.Data, e, r.reader.Answer())
}

// finish reads what waited for the end. Only what came whole is read: of a
// broken answer the last piece means nothing.
func (r *reading) finish(complete bool) {
	if r.failed || !complete {
		return
	}
	r.note = guarded(r.log, func() string {
		r.body = append(r.body, r.head...) // too short to show a form
		switch {
		case r.cutter != nil:
			r.cutter.Close(r.emit)
		case len(r.body) > 0:
			r.reader.Body(r.body)
			r.output.read(r.body, r.reader.Answer().Whole, r.reader.Answer())
		}
		if r.reader.Answer().Unread {
			return "the answer is no JSON"
		}
		return ""
	})
	r.body = nil
}

func (r *reading) isStream() bool {
	return r != nil && (r.form == events || r.form == lines || r.form == frames)
}

// measure puts the facts of the answer into x.
func (r *reading) measure(x *exchange.Exchange) {
	x.Streamed = new(r.isStream())
	x.Transport = map[form]string{events: "sse", lines: "ndjson", frames: "websocket"}[r.form]
	if x.Transport == "" {
		x.Transport = "http"
	}
	r.meter.Finish(x, r.reader.Answer())
	r.output.estimate(x)
}
