package proxy

import (
	"bytes"
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
)

// cutter cuts a stream into messages.
type cutter interface {
	Write(p []byte, emit func(sse.Message))
	Close(emit func(sse.Message))
}

// reading turns the plain bytes of an answer into their meaning.
type reading struct {
	media  string
	form   form
	reader dialect.Reader
	meter  *meter.Meter
	cutter cutter        // of a stream
	body   []byte        // of an answer that is none, up to the limit
	at     time.Duration // instant of the read that brought what is being read
	emit   func(sse.Message)
	note   string // what could not be read
	failed bool
}

func newReading(d exchange.Dialect, media string) *reading {
	r := &reading{media: media, reader: dialect.New(d), meter: meter.New()}
	r.emit = r.message // bound once: binding it for each chunk would allocate
	return r
}

// read takes the plain bytes that one read brought.
func (r *reading) read(at time.Duration, p []byte) {
	if r.failed {
		return
	}
	if note := guarded(func() string { r.take(at, p); return "" }); note != "" {
		r.failed, r.note = true, note
	}
}

func (r *reading) take(at time.Duration, p []byte) {
	r.at = at
	if r.form == undecided {
		r.decide(p)
	}
	switch r.form {
	case events, lines:
		r.cutter.Write(p, r.emit)
	case whole:
		room := readable - len(r.body)
		r.body = append(r.body, p[:min(len(p), room)]...)
		if len(p) > room {
			r.failed, r.note = true, "answer too long to be read"
		}
	}
}

// decide looks at the first byte that is no white space. Some servers call a
// stream JSON, and some send a plain error as an event stream.
func (r *reading) decide(p []byte) {
	p = bytes.TrimLeft(bytes.TrimPrefix(p, []byte("\ufeff")), " \t\r\n")
	switch {
	case len(p) == 0:
	case strings.Contains(r.media, "ndjson") || strings.Contains(r.media, "jsonl"):
		r.form, r.cutter = lines, new(sse.Lines)
	case bytes.IndexByte([]byte(`{["<`), p[0]) >= 0:
		r.form = whole
	case r.media == "text/event-stream" || bytes.IndexByte([]byte(":deir"), p[0]) >= 0:
		r.form, r.cutter = events, new(sse.Splitter)
	default:
		r.form = whole
	}
}

func (r *reading) message(m sse.Message) { r.meter.Event(r.at, r.reader.Message(m.Name, m.Data)) }

// finish reads what waited for the end. Only what came whole is read: of a
// broken answer the last piece means nothing.
func (r *reading) finish(complete bool) {
	if r.failed || !complete {
		return
	}
	r.note = guarded(func() string {
		switch {
		case r.isStream():
			r.cutter.Close(r.emit)
		case len(r.body) > 0:
			r.reader.Body(r.body)
		}
		return ""
	})
	r.body = nil
}

func (r *reading) isStream() bool { return r != nil && (r.form == events || r.form == lines) }

// measure puts the facts of the answer into x.
func (r *reading) measure(x *exchange.Exchange) {
	x.Streamed = new(r.isStream())
	x.Transport = map[form]string{events: "sse", lines: "ndjson"}[r.form]
	if x.Transport == "" {
		x.Transport = "http"
	}
	r.meter.Finish(x, r.reader.Answer())
}
