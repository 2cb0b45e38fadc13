package proxy

import (
	"context"
	"io"
	"net/http"
	"net/http/httputil"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/ttftap/ttftap/proxy/diagnosis"
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
	request  *http.Request   // its credentials are taken out of error texts
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
	hurried bool             // reading the request body was ended here, which looks as if the client had left
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

// begin takes the facts of the request head. The row is opened as soon as the
// request body has been read, so that it names the model.
func (p *Proxy) begin(r *http.Request) *flight {
	f := &flight{proxy: p, start: time.Now(), client: r.Context(), request: r, named: make(chan struct{})}
	path, query, hasQuery := splitTarget(r.RequestURI)
	f.query, f.hasQuery = query, hasQuery
	f.upstream, f.target = p.route(path)
	f.x = exchange.Exchange{
		ID:        ulid.Make().String(),
		StartedAt: f.start,
		Method:    clip(r.Method),
		Path:      scrubTarget(f.target, f.query),
		Dialect:   dialectOf(r, f.target),
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

// reverse is what forwards the exchange. Each has its own, since its hooks belong
// to the flight.
func (f *flight) reverse(r *http.Request) *httputil.ReverseProxy {
	if u := r.Header.Get("Upgrade"); u != "" && !isWebSocket(r) {
		r.Header.Del("Upgrade") // such as h2c: served over HTTP/1.1
		r.Header.Del("Http2-Settings")
	}
	return &httputil.ReverseProxy{
		Rewrite:        f.rewrite,
		Transport:      f,
		FlushInterval:  -1,
		ErrorLog:       f.proxy.debug,
		BufferPool:     &f.proxy.buffers,
		ModifyResponse: f.answered,
		ErrorHandler:   f.failed,
	}
}

// handled is deferred for when the handler is done, or has panicked.
func (f *flight) handled(w http.ResponseWriter, r *http.Request) {
	broken := recover()
	f.end() // first: to interrupt a read looks to the server as if the client had left
	f.upload.stop(func() { _ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)) })
	f.land()
	if broken != nil {
		breakOff(w, r)
		panic(broken)
	}
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
		if !f.sought && f.upload.ended() && !f.upload.broken() { // an upgrade has none
			f.awaitName()
		}
		f.open()
		f.wait()
	})
}

// awaitName waits a moment until the row is opened.
func (f *flight) awaitName() {
	select {
	case <-f.named: // mostly: no timer is worth its price
		return
	default:
	}
	moment := time.NewTimer(namePatience)
	defer moment.Stop()
	select {
	case <-f.named:
	case <-moment.C:
	}
}

// failed answers for an upstream that gave no answer.
func (f *flight) failed(w http.ResponseWriter, r *http.Request, err error) {
	f.err = err
	if f.client.Err() != nil {
		panic(http.ErrAbortHandler) // nobody is left to be told, and no answer must be made up
	}
	f.takeRest(w, r)
	step, words := f.unreachable(err)
	f.locked(func() { f.x.Error = words })
	writeError(w, http.StatusBadGateway, "upstream_"+step+"_failed", words)
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
