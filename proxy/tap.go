package proxy

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/ttftap/ttftap/proxy/dialect"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// tap is the body of an answer on its way to the client. It passes the bytes on
// untouched and reads a copy of each chunk after the chunk has gone on: when the
// next one is asked for.
type tap struct {
	flight *flight
	body   io.ReadCloser
	media  string // media type of the answer

	chunk   []byte        // the last chunk, not yet observed
	chunkAt time.Duration // when the last read returned
	written bool          // the chunk was written on
	wrote   time.Duration // when
	size    int64
	err     error // how reading ended: io.EOF, or what broke
	waiting time.Duration
	own     time.Duration

	inflate *inflater // nil for a plain body
	reading *reading
}

func newTap(f *flight, res *http.Response) *tap {
	media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	t := &tap{flight: f, body: res.Body, media: media}
	if f.x.Dialect != exchange.Other || res.StatusCode >= http.StatusBadRequest {
		t.reading = newReading(f.x.Dialect, media, f.proxy.config.Log)
		t.reading.output = f.newOutput()
	}
	if coding := res.Header.Get("Content-Encoding"); !isIdentity(coding) && t.reading != nil {
		t.inflate = newInflater(coding, f.proxy.config.Log, t.reading.read, f.note)
	}
	return t
}

// Read reads from the upstream, with one stamp for all that one read brings.
func (t *tap) Read(p []byte) (int, error) {
	t.observe()
	n, err := t.body.Read(p)
	t.chunkAt, t.written = time.Since(t.flight.start), false
	if n > 0 {
		if t.size == 0 {
			t.flight.locked(func() { t.flight.x.FirstByte = new(t.chunkAt) })
		}
		t.size += int64(n)
		t.chunk = append(t.chunk[:0], p[:n]...)
	}
	if err != nil {
		t.err = err
	}
	return n, err
}

// writing notes that the last chunk goes to the client now.
func (t *tap) writing() {
	if len(t.chunk) > 0 && !t.written {
		t.written, t.wrote = true, time.Since(t.flight.start)
		t.own += t.wrote - t.chunkAt
	}
}

// observe reads the last chunk. The time since it was written on is what the
// client made us wait.
func (t *tap) observe() {
	if t.written {
		t.waiting += time.Since(t.flight.start) - t.wrote
	}
	if len(t.chunk) == 0 {
		return
	}
	switch {
	case t.inflate != nil:
		t.inflate.write(t.chunkAt, t.chunk)
	case t.reading != nil:
		t.reading.read(t.chunkAt, t.chunk)
	}
	t.chunk = t.chunk[:0]
}

// Close closes the upstream's body.
func (t *tap) Close() error { return t.body.Close() }

// finish observes what is left. A nil tap has read nothing.
func (t *tap) finish() {
	if t == nil {
		return
	}
	t.observe()
	if t.inflate != nil {
		if t.inflate.finish() {
			t.reading.fail("answer read in part: it came faster than it could be decoded")
		}
	}
	if t.reading != nil {
		t.reading.finish(t.err == io.EOF)
	}
}

// answer is what the answer said, never nil.
func (t *tap) answer() *dialect.Answer {
	if t == nil || t.reading == nil {
		return &dialect.Answer{}
	}
	return t.reading.reader.Answer()
}

// measure puts what was seen of the answer into x.
func (t *tap) measure(x *exchange.Exchange) {
	if t == nil {
		x.Derive()
		return
	}
	x.ResponseBytes, x.ClientWait = new(t.size), new(t.waiting)
	if x.Proxy != nil {
		x.Proxy = new(*x.Proxy + t.own)
	}
	if t.reading == nil {
		x.Transport = "http"
		x.Derive()
		return
	}
	t.reading.measure(x)
}

// broken says how an answer without a terminal event ended.
func (t *tap) broken(left bool) exchange.Outcome {
	switch {
	case t == nil:
		return exchange.OK // switched protocols: what came after is not read
	case t.err == io.EOF && t.isHTML() && t.flight.x.Dialect != exchange.Other:
		return exchange.ErrorEvent
	case t.err == io.EOF && (!t.reading.isStream() || t.reading.failed): // or not observed to its end
		return exchange.OK
	case t.err == io.EOF:
		return exchange.UpstreamCut
	case left || t.err == nil: // not read to its end: the client took no more
		return exchange.ClientAbort
	}
	return exchange.UpstreamCut
}

// readError is what broke the reading, nil where nothing did.
func (t *tap) readError() error {
	if t == nil || errors.Is(t.err, io.EOF) {
		return nil
	}
	return t.err
}

// note is what of the answer could not be read.
func (t *tap) note() string {
	if t == nil || t.reading == nil {
		return ""
	}
	return t.reading.note
}

func (t *tap) isHTML() bool { return t != nil && t.media == "text/html" }
