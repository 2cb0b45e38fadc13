package proxy

import (
	"context"
	"errors"
	"log/slog"
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
	secret   string          // the credential, kept only to be taken out of error texts
	opened   sync.Once
	wait     func() // until the row is stored; set once it is opened
	waited   sync.Once
	tap      *tap // nil until there is an answer to read

	upload *upload
	coding string           // content coding of the request body
	reuse  *diagnosis.Reuse // what of its prompt was seen before; set while the body is read
	err    error            // why there was no answer

	mu       sync.Mutex // guards what follows: the hooks of the transport outlive the handler
	done     bool
	x        exchange.Exchange
	trail    trail
	bodyRead chan struct{} // closed when the request body has been read; nil before
	mark     *sameRequest  // nil where the request body was not read
}

// begin takes the facts of the request head. The row is opened as soon as the
// request body has been read, so that it names the model.
func (p *Proxy) begin(r *http.Request) *flight {
	p.flying.Add(1)
	f := &flight{proxy: p, start: time.Now(), client: r.Context()}
	path, query, hasQuery := splitTarget(r.RequestURI)
	f.query, f.hasQuery = query, hasQuery
	f.upstream, f.target = p.route(path)
	f.x = exchange.Exchange{
		ID:        ulid.Make().String(),
		StartedAt: f.start,
		Method:    r.Method,
		Path:      scrubTarget(f.target, f.query, f.hasQuery),
		Dialect:   dialect.Detect(f.target),
		Outcome:   exchange.Open,
	}
	if f.upstream != nil {
		f.x.Upstream = f.upstream.Name
	}
	f.readHead(r)
	p.crowd.enter(&f.x)
	f.upload = f.newUpload(r)
	if f.x.Received != nil {
		f.open()
	}
	return f
}

// open queues the row for its first commit.
func (f *flight) open() {
	f.opened.Do(func() {
		f.locked(func() { f.wait = f.proxy.config.Record(&f.x) })
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
		ErrorLog:       slog.NewLogLogger(f.proxy.config.Log.Handler(), slog.LevelDebug),
		BufferPool:     &f.proxy.buffers,
		ModifyResponse: f.answered,
		ErrorHandler:   f.failed,
	}
	defer f.upload.stop(func() { _ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)) })
	rp.ServeHTTP(&writer{ResponseWriter: w, flight: f, http1: r.ProtoMajor == 1}, r)
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
	pr.Out.Trailer = pr.In.Trailer // filled in when the body has been read
	if pr.Out.Body != nil {
		f.upload.src = pr.Out.Body
		pr.Out.Body = f.upload.open()
	}
}

// RoundTrip sends the request; again on another connection for as long as the
// pool gives one that is found dead before a byte was written to it.
func (f *flight) RoundTrip(r *http.Request) (*http.Response, error) {
	f.locked(func() { f.x.Proxy = f.since() })
	r = r.WithContext(httptrace.WithClientTrace(r.Context(), f.hooks()))
	res, err := f.proxy.transport.RoundTrip(r)
	for err != nil && r.Context().Err() == nil && f.nothingSent() {
		f.locked(func() { f.trail, f.x.GotConn, f.x.ConnReused = trail{}, nil, nil })
		if r.Body != nil {
			r.Body = f.upload.open()
		}
		res, err = f.proxy.transport.RoundTrip(r)
	}
	if err != nil {
		return nil, err
	}
	f.locked(func() { f.x.Headers = f.since() })
	f.upload.release()
	return res, nil
}

// nothingSent says whether the last attempt died on a pooled connection to
// which no byte of it was written. Each such attempt takes one out of the pool.
func (f *flight) nothingSent() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.trail
	return t.conn != nil && *f.x.ConnReused && t.conn.written.Load() == t.before
}

// answered takes the head of the answer and puts the tap on its body.
func (f *flight) answered(res *http.Response) error {
	f.rowFirst()
	f.readAnswerHead(res)
	if res.StatusCode == http.StatusSwitchingProtocols {
		return nil
	}
	f.tap = newTap(f, res)
	res.Body = f.tap
	return nil
}

// rowFirst keeps the promise that the row is stored before the client sees a
// byte. The wait itself is short and bounded.
func (f *flight) rowFirst() {
	f.waited.Do(func() {
		f.open()
		f.wait()
	})
}

// failed answers for an upstream that gave no answer.
func (f *flight) failed(w http.ResponseWriter, _ *http.Request, err error) {
	f.err = err
	if f.client.Err() != nil {
		return // nobody is left to be told
	}
	words := f.unreachable(err)
	f.locked(func() { f.x.Error = words })
	writeError(w, http.StatusBadGateway, "upstream_"+failedStep(words), words)
}

// finish ends the exchange. It is deferred: a copy that breaks off panics.
func (f *flight) finish() {
	defer f.proxy.flying.Add(-1)
	end := f.since()
	f.proxy.crowd.leave(&f.x, f.start.Add(*end))
	f.tap.finish()
	f.settleBody()
	f.mu.Lock()
	f.done = true
	x := &f.x
	x.End = end
	x.RequestBytes = new(f.upload.bytes())
	f.mu.Unlock() // the hooks see done and leave x alone from here on
	answer := f.tap.answer()
	x.Outcome = f.outcome(answer)
	f.tap.measure(x)
	f.addNote(f.tap.note())
	f.describeError(answer)
	if f.mark != nil {
		f.proxy.retries.ended(x, f.mark)
	}
	f.judge(x)
	f.proxy.config.Record(x)
	if f.proxy.config.Ended != nil {
		f.proxy.config.Ended(x)
	}
}

// judge says what was reused of the prompt and why x took as long as it did.
func (f *flight) judge(x *exchange.Exchange) {
	f.reuse.Tell(x)
	x.CacheOutcome = diagnosis.CacheOutcome(x, nil)
	diagnosis.Judge(x, nil)
	f.proxy.config.Prefixes.Remember(x)
}

// outcome says how it ended. A terminal event that was seen wins over a client
// that has left since, and that over a broken transport: Codex hangs up within a
// millisecond of the last event.
func (f *flight) outcome(a *dialect.Answer) exchange.Outcome {
	left := errors.Is(f.err, context.Canceled) || f.client.Err() != nil
	stopped := context.Cause(f.client) == ErrStopped
	switch {
	case f.x.Outcome == exchange.Refused:
		return exchange.Refused
	case f.x.Status == nil && stopped:
		return exchange.Interrupted
	case f.x.Status == nil && left:
		return exchange.ClientAbort
	case f.x.Status == nil && f.x.GotConn == nil:
		return exchange.Unreachable
	case f.x.Status == nil:
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
	if outcome := f.tap.broken(left); outcome != exchange.ClientAbort || !stopped {
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

// landed says whether the exchange has ended.
func (f *flight) landed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.done
}

// since is the instant now.
func (f *flight) since() *time.Duration { return new(time.Since(f.start)) }
