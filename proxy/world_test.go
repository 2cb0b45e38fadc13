package proxy_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ttftap/ttftap/proxy"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// world is a client, the proxy and an upstream. In a bubble they are joined by
// pipes and time is exact; otherwise by sockets on the loopback interface.
type world struct {
	t      *testing.T
	url    string
	proxy  *proxy.Proxy
	client *http.Client
	dial   func() (net.Conn, error) // a connection to the proxy
	rows   rows
}

// rows are the exchanges that the proxy has recorded.
type rows struct {
	mu    sync.Mutex
	begun []exchange.Exchange
	ended chan exchange.Exchange
	wait  func() // what the proxy waits for before the first byte
}

func (r *rows) record(x *exchange.Exchange) func() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if x.Outcome == exchange.Open {
		r.begun = append(r.begun, *x)
	} else {
		r.ended <- *x
	}
	if r.wait != nil {
		return r.wait
	}
	return func() {}
}

// row is the next exchange that has ended.
func (w *world) row() exchange.Exchange {
	w.t.Helper()
	return <-w.rows.ended
}

func (w *world) config(upstreams []string) proxy.Config {
	w.rows.ended = make(chan exchange.Exchange, 4096)
	c := proxy.Config{Secret: []byte("a secret of this install"), Record: w.rows.record}
	for _, s := range upstreams {
		u, err := proxy.ParseUpstream(s)
		if err != nil {
			w.t.Fatal(err)
		}
		c.Upstreams = append(c.Upstreams, u)
	}
	return c
}

// onSockets is a world on real sockets. The upstream's base path is base.
func onSockets(t *testing.T, base string, upstream http.Handler, adjust ...func(*proxy.Config)) *world {
	t.Helper()
	server := httptest.NewServer(upstream)
	t.Cleanup(server.Close)
	w := &world{t: t}
	c := w.config([]string{server.URL + base})
	for _, a := range adjust {
		a(&c)
	}
	var err error
	if w.proxy, err = proxy.New(c); err != nil {
		t.Fatal(err)
	}
	front := httptest.NewUnstartedServer(w.proxy)
	front.Config.DisableGeneralOptionsHandler = true
	front.Config.Protocols = new(http.Protocols)
	front.Config.Protocols.SetHTTP1(true)
	front.Config.Protocols.SetUnencryptedHTTP2(true)
	front.Start()
	t.Cleanup(func() { front.Close(); w.proxy.Close() })
	w.url = front.URL
	w.dial = func() (net.Conn, error) { return net.Dial("tcp", front.Listener.Addr().String()) }
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	w.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return w
}

// inBubble runs test in a bubble of fake time.
func inBubble(t *testing.T, upstream http.Handler, test func(t *testing.T, w *world), adjust ...func(*proxy.Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		up, front := newPipes("upstream"), newPipes("proxy")
		w := &world{t: t, url: "http://proxy.test"}
		c := w.config([]string{"http://upstream.test/v1"})
		c.Dial = up.dial
		for _, a := range adjust {
			a(&c)
		}
		var err error
		if w.proxy, err = proxy.New(c); err != nil {
			t.Fatal(err)
		}
		servers := []*http.Server{serveOn(up, upstream), serveOn(front, w.proxy)}
		transport := &http.Transport{DialContext: front.dial, DisableCompression: true}
		w.client = &http.Client{Transport: transport}
		w.dial = func() (net.Conn, error) { return front.dial(t.Context(), "", "") }
		test(t, w)
		transport.CloseIdleConnections()
		w.proxy.Wait()
		w.proxy.Close()
		for _, s := range servers {
			s.Close()
		}
		synctest.Wait()
	})
}

func serveOn(l net.Listener, h http.Handler) *http.Server {
	s := &http.Server{Handler: h}
	go s.Serve(l)
	return s
}

// pipes is a listener whose connections are pipes in memory.
type pipes struct {
	name   string
	count  atomic.Int64
	accept chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes(name string) *pipes {
	return &pipes{name: name, accept: make(chan net.Conn), closed: make(chan struct{})}
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	end := pipeEnd(fmt.Sprintf("%s-%d", p.name, p.count.Add(1)))
	select {
	case p.accept <- namedConn{far, end}:
		return namedConn{near, end}, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accept:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return pipeEnd(p.name) }

type pipeEnd string

func (e pipeEnd) Network() string { return "pipe" }
func (e pipeEnd) String() string  { return string(e) }

type namedConn struct {
	net.Conn
	end pipeEnd
}

func (c namedConn) LocalAddr() net.Addr  { return c.end }
func (c namedConn) RemoteAddr() net.Addr { return c.end }

// post sends a body and returns the answer.
func (w *world) post(path, body string, headers ...string) *http.Response {
	w.t.Helper()
	r, err := http.NewRequest(http.MethodPost, w.url+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := w.client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	return res
}

// exchange posts a body and returns the whole answer and its row.
func (w *world) exchange(path, body string, headers ...string) (string, exchange.Exchange) {
	w.t.Helper()
	res := w.post(path, body, headers...)
	got, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	res.Body.Close()
	return string(got), w.row()
}

// raw sends bytes as they are over a fresh connection and returns the answer's
// reader.
func (w *world) raw(request string) (*bufio.Reader, net.Conn) {
	w.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, request); err != nil {
		w.t.Fatal(err)
	}
	return bufio.NewReader(c), c
}

// step is something that a scripted upstream does after a pause.
type step struct {
	after time.Duration
	write string
}

// script answers with a stream written step by step; each step is flushed.
func script(contentType string, steps ...step) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", contentType)
		for _, s := range steps {
			time.Sleep(s.after)
			if r.Context().Err() != nil {
				return
			}
			io.WriteString(w, s.write)
			w.(http.Flusher).Flush()
		}
	}
}

func ms(d *time.Duration) float64 {
	if d == nil {
		return -1
	}
	return float64(*d) / float64(time.Millisecond)
}

const eventStream = "text/event-stream"
