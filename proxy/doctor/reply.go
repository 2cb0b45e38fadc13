package doctor

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ttftap/ttftap/proxy/dialect"
	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/proxy/meter"
	"github.com/ttftap/ttftap/proxy/sse"
)

// reply is what came of a request.
type reply struct {
	Request
	err    error  // why nothing came; nil where something did
	step   string // at which it failed
	status int
	header http.Header
	media  string
	body   []byte // its beginning, also of a stream
	cut    error  // what ended the body before its end
	answer *dialect.Answer
	x      exchange.Exchange // how it came
	asked  time.Time
	took   time.Duration // until the head of the answer
}

// none is the reply to what was never asked.
var none = &reply{answer: new(dialect.Answer)}

// came says whether there is a reply at all.
func (r *reply) came() bool { return r != none && r.err == nil }

// base is the base URL that was asked.
func (r *reply) base() string {
	for _, end := range []string{"/models", "/responses", "/chat/completions"} {
		if base, found := strings.CutSuffix(r.URL, end); found {
			return base
		}
	}
	return ""
}

const (
	keptBody = 1 << 20
	agent    = "ttftap-doctor"
)

// send makes a request and keeps its reply.
func (c *Case) send(ctx context.Context, q Request) *reply {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	r := &reply{Request: q, asked: time.Now(), answer: new(dialect.Answer)}
	c.replies = append(c.replies, r)
	s := &steps{now: "making the request"}
	request, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, s.trace(strings.HasPrefix(q.URL, "https:"))), q.Method, q.URL, strings.NewReader(q.encoded()))
	if err != nil {
		r.err, r.step = err, s.now
		return r
	}
	c.dress(request, q)
	res, err := c.Transport.RoundTrip(request) // it follows no redirect: the key is for this host alone
	if r.took = time.Since(r.asked); err != nil {
		r.err, r.step = err, s.last()
		return r
	}
	defer res.Body.Close()
	r.status, r.header = res.StatusCode, res.Header
	r.media, _, _ = mime.ParseMediaType(res.Header.Get("Content-Type"))
	if r.status != http.StatusSwitchingProtocols {
		r.read(res.Body)
	}
	return r
}

// dress gives a request its headers.
func (c *Case) dress(r *http.Request, q Request) {
	if q.body == nil {
		r.Body, r.ContentLength = http.NoBody, 0
	}
	if q.kind < healthAsk {
		r.URL.RawQuery = c.query()
	}
	r.Header = http.Header{"User-Agent": {agent}, "Accept": {"application/json, text/event-stream"}, "Accept-Encoding": {"identity"}}
	if q.body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" && q.kind != headerAsk && q.kind != healthAsk {
		r.Header.Set("Authorization", scheme+c.key)
	}
	for name, values := range q.extra {
		r.Header[name] = values
	}
}

// read takes the answer's body as it comes, and measures it.
func (r *reply) read(body io.Reader) {
	r.x.Headers, r.x.GotConn = new(r.took), new(time.Duration(0))
	l := listener{reader: dialect.New(r.dialect()), meter: meter.New()}
	p := make([]byte, 4<<10)
	for size := 0; size < keptBody; {
		n, err := body.Read(p)
		at := time.Since(r.asked)
		if n > 0 {
			if r.x.FirstByte == nil {
				r.x.FirstByte = new(at)
			}
			size += n
			r.body = append(r.body, p[:n]...)
			l.hear(at, p[:n], r.isStream())
		}
		if err != nil {
			if err != io.EOF {
				r.cut = err
			}
			break
		}
	}
	r.x.End, r.x.Streamed, r.x.Status = new(time.Since(r.asked)), new(r.isStream()), new(int64(r.status))
	l.end(r)
}

// isStream says whether a body is a stream of events, whatever it is called.
func (r *reply) isStream() bool {
	head := bytes.TrimLeft(r.body, " \t\r\n")
	return r.media == "text/event-stream" && !bytes.HasPrefix(head, []byte("{")) ||
		bytes.HasPrefix(head, []byte("data:")) || bytes.HasPrefix(head, []byte("event:"))
}

// listener gives the bytes of a stream their meaning.
type listener struct {
	cutter sse.Splitter
	reader dialect.Reader
	meter  *meter.Meter
}

func (l *listener) hear(at time.Duration, p []byte, stream bool) {
	if stream {
		l.cutter.Write(p, l.message(at))
	}
}

func (l *listener) message(at time.Duration) func(sse.Message) {
	return func(m sse.Message) { l.meter.Event(at, l.reader.Message(m.Name, m.Data)) }
}

func (l *listener) end(r *reply) {
	if r.isStream() {
		l.cutter.Close(l.message(*r.x.End))
	} else {
		l.reader.Body(r.body)
	}
	r.answer = l.reader.Answer()
	l.meter.Finish(&r.x, r.answer)
}

// isPage says whether the answer is made for a browser.
func (r *reply) isPage() bool {
	head := bytes.ToLower(bytes.TrimLeft(r.body[:min(len(r.body), 512)], " \t\r\n\ufeff"))
	return r.media == "text/html" || bytes.HasPrefix(head, []byte("<!doctype html")) || bytes.HasPrefix(head, []byte("<html"))
}

// speaks says whether the answer is one of the API that was asked: not a page, a
// redirect, or word that there is nothing here.
func (r *reply) speaks() bool {
	switch {
	case r.came() && r.fails():
		return true // there is something, though not well
	case !r.came() || r.isPage() || r.status >= 300 && r.status < 400:
		return false
	case r.status == http.StatusNotFound:
		return r.unknownModel()
	case r.status == http.StatusMethodNotAllowed || r.status == http.StatusNotImplemented:
		return false
	case r.kind == modelsAsk && r.status == http.StatusOK:
		return gjson.GetBytes(r.body, "data").IsArray() || gjson.GetBytes(r.body, "models").IsArray()
	case r.status == http.StatusOK:
		return r.isStream() || gjson.ValidBytes(r.body)
	}
	return true
}

// fails says whether the upstream, or what stands before it, fails by itself.
func (r *reply) fails() bool {
	return r.status >= http.StatusInternalServerError && r.status != http.StatusNotImplemented
}

// answered says whether a question was answered, or a list given.
func (r *reply) answered() bool {
	return r.status == http.StatusOK && r.speaks() && r.answer.Error == nil
}

// unknownModel says whether it is the model that was not found.
func (r *reply) unknownModel() bool {
	e := r.answer.Error
	return e != nil && (strings.Contains(e.Code, "model") || strings.Contains(e.Type, "model") || e.Param == "model")
}

// blame is an error as the upstream named it, its message left out: that may
// repeat what it was sent.
func (r *reply) blame() string {
	words := http.StatusText(r.status)
	e := r.answer.Error
	switch {
	case e == nil || e.Code == "" && e.Type == "":
		return words
	case e.Code == "" || e.Code == e.Type:
		return e.Type
	}
	return e.Code
}

// steps notes how far a request has come. The hooks are called from several
// goroutines.
type steps struct {
	mu  sync.Mutex
	now string
}

func (s *steps) set(step string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = step
}

func (s *steps) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// tunnelling is what comes between connecting and the TLS handshake where there
// is a system proxy; without one it takes no time in which it could fail.
const tunnelling = "asking the system's proxy for a way"

func (s *steps) trace(secure bool) *httptrace.ClientTrace {
	next := "sending the request"
	if secure {
		next = tunnelling
	}
	return &httptrace.ClientTrace{
		DNSStart:     func(httptrace.DNSStartInfo) { s.set("looking the name up") },
		ConnectStart: func(string, string) { s.set("connecting") },
		ConnectDone: func(_, _ string, err error) {
			if err == nil {
				s.set(next)
			}
		},
		TLSHandshakeStart: func() { s.set("the TLS handshake") },
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			if err == nil {
				s.set("sending the request")
			}
		},
		WroteRequest: func(httptrace.WroteRequestInfo) { s.set("waiting for the answer") },
	}
}
