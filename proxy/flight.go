package proxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/dialect"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// flight is one exchange under way.
type flight struct {
	proxy    *Proxy
	upstream *Upstream // nil where an unknown one was asked for
	target   string    // path as written, without the name of the upstream
	query    string
	hasQuery bool
	start    time.Time
	client   context.Context // done when the client has left
	secrets  []string        // credentials, kept only to be taken out of error texts
	opened   sync.Once
	named    chan struct{} // closed when the row is opened
	wait     func()        // until the row is stored; set once it is opened
	waited   sync.Once
	tap      *tap // nil until there is an answer to read; set under the lock

	sought  bool    // a WebSocket is asked for whose exchanges are to be told apart
	socket  *socket // what came of it; nil without
	carrier *socket // the socket over which this exchange goes; nil over HTTP

	question question

	upload  *upload
	coding  string           // content coding of the request body
	reading sync.WaitGroup   // of the request body
	reuse   *diagnosis.Reuse // what of its prompt was seen before; set while the body is read
	err     error            // why there was no answer
	before  <-chan struct{}  // closed when the session's exchange before has been judged; nil for none
	ending  ending           // set when the handler is done
	judged  chan struct{}    // closed when it has been judged and recorded

	mu    sync.Mutex // guards what follows: the hooks of the transport outlive the handler
	done  bool
	x     exchange.Exchange
	trail trail
	mark  *sameRequest // nil where the request body was not read

	wantsUsage bool // the client asks for the usage of its stream
}

// ending is what only the handler can tell of the end: its context ends with it.
type ending struct {
	at            *time.Duration
	left, stopped bool // the client had left; the proxy ended the exchange
}

// begin takes the facts of the request head. The row is opened as soon as the
// request body has been read, so that it names the model.
func (p *Proxy) begin(r *http.Request) *flight {
	f := &flight{proxy: p, start: time.Now(), client: r.Context(), named: make(chan struct{})}
	path, query, hasQuery := splitTarget(r.RequestURI)
	f.query, f.hasQuery = query, hasQuery
	f.upstream, f.target = p.route(path)
	f.x = exchange.Exchange{
		ID:        ulid.Make().String(),
		StartedAt: f.start,
		Method:    clip(r.Method),
		Path:      scrubTarget(f.target, f.query),
		Dialect:   dialect.Detect(f.target),
		Outcome:   exchange.Open,
	}
	if f.upstream != nil {
		f.x.Upstream = f.upstream.Name
	}
	f.readHead(r)
	f.before = p.crowd.enter(&f.x)
	f.upload = f.newUpload(r)
	if f.sought = f.wantsSocket(r); f.x.Received != nil && !f.sought {
		f.open()
	}
	p.aloft.enter(f)
	return f
}

// open queues the row for its first commit.
func (f *flight) open() {
	f.opened.Do(func() {
		f.locked(func() { f.wait = f.proxy.config.Record(&f.x) })
		close(f.named)
	})
}

// forward hands the exchange to the reverse proxy. Each exchange has its own,
// since its hooks belong to the flight.
func (f *flight) forward(w http.ResponseWriter, r *http.Request) {
	if u := r.Header.Get("Upgrade"); u != "" && !isWebSocket(r) {
		r.Header.Del("Upgrade") // such as h2c: served over HTTP/1.1
		r.Header.Del("Http2-Settings")
	}
	rp := httputil.ReverseProxy{
		Rewrite:        f.rewrite,
		Transport:      f,
		FlushInterval:  -1,
		ErrorLog:       f.proxy.debug,
		BufferPool:     &f.proxy.buffers,
		ModifyResponse: f.answered,
		ErrorHandler:   f.failed,
	}
	defer func() {
		f.end() // first: to interrupt a read looks to the server as if the client had left
		f.upload.stop(func() { _ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)) })
	}()
	rp.ServeHTTP(&writer{ResponseWriter: w, flight: f, http1: r.ProtoMajor == 1, waits: r.Header.Get("Expect") != ""}, r)
}

// rewrite restores what the reverse proxy cleans and turns the target to the
// upstream.
func (f *flight) rewrite(pr *httputil.ProxyRequest) {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if v, ok := pr.In.Header[name]; ok {
			pr.Out.Header[name] = v
		}
	}
	pr.Out.Host = ""
	pr.Out.URL.Scheme, pr.Out.URL.Host = f.upstream.URL.Scheme, f.upstream.URL.Host
	setTarget(pr.Out.URL, join(f.upstream.URL.EscapedPath(), f.target), f.query, f.hasQuery)
	f.leaveOut(pr.Out.Header)
	pr.Out.Trailer = pr.In.Trailer // filled in when the body has been read
	if pr.Out.Body != nil {
		f.upload.src = pr.Out.Body
		pr.Out.Body = f.upload.open()
		f.letReplay(pr.Out)
	}
}

// letReplay lets the transport send again what HTTP/2 says was not processed, and
// what was not even written. With an idempotency key it would replay more.
func (f *flight) letReplay(r *http.Request) {
	if r.Header.Get("Idempotency-Key") == "" && r.Header.Get("X-Idempotency-Key") == "" {
		r.GetBody = func() (io.ReadCloser, error) { return f.outgoing(), nil }
	}
}

// maxDead is how many dead connections in a row are taken out of the pool for one
// exchange.
const maxDead = 64

// RoundTrip sends the request and takes the head of the answer.
func (f *flight) RoundTrip(r *http.Request) (*http.Response, error) {
	f.askUsage(r)
	r = r.WithContext(httptrace.WithClientTrace(r.Context(), f.hooks()))
	res, err := f.send(r)
	if err == nil && f.refused(r, res) {
		res, err = f.send(r)
	}
	f.question.body = nil
	if err != nil {
		return nil, err
	}
	f.locked(func() {
		f.x.Headers = f.since()
		if f.x.Sent == nil && f.upload.src != nil {
			f.x.Sent = f.x.Headers // the upload counts up to the answer at most
		}
	})
	f.upload.release()
	return res, nil
}

// send sends the request; again on another connection for as long as the pool
// gives one that is found dead before a byte was written to it.
func (f *flight) send(r *http.Request) (*http.Response, error) {
	f.locked(func() { f.x.Proxy = f.since() })
	res, err := f.proxy.transport.RoundTrip(r)
	for n := 0; err != nil && n < maxDead && r.Context().Err() == nil && f.nothingSent(); n++ {
		f.locked(func() { f.trail, f.x.GotConn, f.x.ConnReused = trail{}, nil, nil })
		if r.Body != nil {
			r.Body = f.outgoing()
		}
		res, err = f.proxy.transport.RoundTrip(r)
	}
	return res, err
}

// nothingSent says whether the last attempt died on a pooled connection to
// which no byte of it was written. Each such attempt takes one out of the pool.
func (f *flight) nothingSent() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.trail
	return t.conn != nil && !t.http2 && *f.x.ConnReused && t.conn.written.Load() == t.before && !f.upload.broken()
}

// answered takes the head of the answer and puts the tap on its body.
func (f *flight) answered(res *http.Response) error {
	if conn, ok := res.Body.(io.ReadWriteCloser); ok && f.sought && res.StatusCode == http.StatusSwitchingProtocols {
		f.readAnswerHead(res)
		res.Body = f.board(conn)
		return nil
	}
	f.rowFirst()
	f.readAnswerHead(res)
	f.soften(res)
	if res.StatusCode == http.StatusSwitchingProtocols {
		return nil
	}
	t := newTap(f, res)
	f.locked(func() { f.tap = t })
	res.Body = f.withoutUsage(res, t)
	return nil
}

// namePatience is what an answer waits at most for the request body to be read, once
// that is there. With the recorder's it makes the 50 ms that a stream may be held.
const namePatience = 10 * time.Millisecond

// rowFirst keeps the promise that the row is stored before the client sees a
// byte. The wait itself is short and bounded. A body that is just being read gets a
// moment of it: without its model the row of a killed process says little.
func (f *flight) rowFirst() {
	f.waited.Do(func() {
		if f.upload.ended() && !f.upload.broken() {
			moment := time.NewTimer(namePatience)
			defer moment.Stop()
			select {
			case <-f.named:
			case <-moment.C:
			}
		}
		f.open()
		f.wait()
	})
}

// failed answers for an upstream that gave no answer.
func (f *flight) failed(w http.ResponseWriter, r *http.Request, err error) {
	f.err = err
	if f.client.Err() != nil {
		panic(http.ErrAbortHandler) // nobody is left to be told, and no answer must be made up
	}
	f.takeRest(r)
	step, words := f.unreachable(err)
	f.locked(func() { f.x.Error = words })
	writeError(w, http.StatusBadGateway, "upstream_"+step+"_failed", words)
}

// end takes what the handler alone knows of the end.
func (f *flight) end() {
	if f.ending.at == nil {
		f.endAt(ending{f.since(), f.client.Err() != nil, context.Cause(f.client) == ErrStopped})
	}
}

func (f *flight) endAt(e ending) {
	f.ending, f.judged = e, make(chan struct{})
	if f.socket != nil {
		f.proxy.sockets.leave(f.socket)
		return
	}
	f.proxy.crowd.leave(&f.x, f.start.Add(*e.at), f.judged)
}

// land finishes the exchange beside what goes on.
func (f *flight) land() {
	go func() {
		defer f.proxy.flights.Done()
		f.finish()
	}()
}

// finish ends the exchange, after the handler: the client must not wait for what
// is made of its answer. Whatever happens, the row is recorded.
func (f *flight) finish() {
	defer f.proxy.aloft.leave(f)
	defer close(f.judged)
	if f.socket.carried() {
		return // the rows are those of what it carried
	}
	x := &f.x
	if note := guarded(f.proxy.config.Log, f.conclude); note != "" {
		f.close()
		f.addNote(note)
		if x.Outcome == exchange.Open {
			x.Outcome = exchange.Interrupted
		}
	}
	f.proxy.config.Record(x)
	if ended := f.proxy.config.Ended; ended != nil {
		guarded(f.proxy.config.Log, func() string { ended(x); return "" })
	}
}

// conclude puts together what was seen, and judges it.
func (f *flight) conclude() string {
	f.tap.finish()
	f.settleBody()
	size := f.upload.bytes()
	f.close()
	x, answer := &f.x, f.tap.answer()
	x.End, x.RequestBytes = f.ending.at, &size
	x.Outcome = f.outcome(answer)
	f.carrier.tellEngine(x.TurnID, answer)
	f.tap.measure(x)
	f.question.account(x)
	f.addNote(f.tap.note())
	f.describeError(answer)
	if f.mark != nil {
		f.proxy.retries.ended(x, f.mark)
	}
	f.judge(x)
	return ""
}

// judge says what was reused of the prompt and why x took as long as it did, by
// what is usual for its model. Then x itself is a part of that.
func (f *flight) judge(x *exchange.Exchange) {
	c := &f.proxy.config
	f.reuse.Tell(x)
	usual := c.Book.Baseline(x)
	x.CacheOutcome = diagnosis.CacheOutcome(x, usual)
	diagnosis.Judge(x, usual)
	c.Prefixes.Remember(x)
	c.Book.Add(x)
}

// close makes the hooks leave x alone from here on.
func (f *flight) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = true
}

// outcome says how it ended. A terminal event that was seen wins over a client
// that has left since, and that over a broken transport: Codex hangs up within a
// millisecond of the last event.
func (f *flight) outcome(a *dialect.Answer) exchange.Outcome {
	left := errors.Is(f.err, context.Canceled) || f.ending.left
	switch {
	case f.x.Outcome == exchange.Refused:
		return exchange.Refused
	case f.x.Status == nil && f.ending.stopped:
		return exchange.Interrupted
	case f.x.Status == nil && left:
		return exchange.ClientAbort
	case f.x.Status == nil && f.x.GotConn == nil:
		return exchange.Unreachable
	case f.x.Status == nil:
		return exchange.UpstreamCut
	case f.err != nil: // a switch of protocols that nobody asked for
		return exchange.UpstreamCut
	case *f.x.Status >= 400:
		return exchange.UpstreamError
	case a.End == dialect.EndedInError:
		return exchange.ErrorEvent
	case a.End == dialect.CutShort:
		return exchange.Incomplete
	case a.End == dialect.Completed:
		return exchange.OK
	}
	if outcome := f.tap.broken(left); outcome != exchange.ClientAbort || !f.ending.stopped {
		return outcome
	}
	return exchange.Interrupted
}

// locked runs do under the flight's lock, unless the exchange has ended.
func (f *flight) locked(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.done {
		do()
	}
}

// soFar is a copy of what is known by now, nil where the exchange has ended.
func (f *flight) soFar() *exchange.Exchange {
	var x *exchange.Exchange
	f.locked(func() {
		x = new(f.x)
		if f.tap != nil && f.tap.reading != nil {
			f.tap.reading.meter.SoFar(x)
		}
	})
	if x != nil {
		x.Prompt = nil
		x.Derive()
	}
	return x
}

// landed says whether the exchange has ended.
func (f *flight) landed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.done
}

// since is the instant now.
func (f *flight) since() *time.Duration { return new(time.Since(f.start)) }
