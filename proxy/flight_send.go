package proxy

import (
	"io"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
)

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
		f.learn(res)
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
