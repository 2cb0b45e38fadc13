package probe_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

func serveOn(l net.Listener, h http.Handler) *http.Server {
	s := &http.Server{Handler: h, ErrorLog: log.New(io.Discard, "", 0)}
	go s.Serve(l)
	return s
}

// pipes is a listener whose connections are pipes in memory, each with a name of
// its own: a proxy knows by it what comes back to it.
type pipes struct {
	name   pipeEnd
	count  atomic.Int64
	accept chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes(name string) *pipes {
	return &pipes{name: pipeEnd(name), accept: make(chan net.Conn), closed: make(chan struct{})}
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

type pipeEnd string

func (e pipeEnd) Network() string { return "pipe" }
func (e pipeEnd) String() string  { return string(e) }

type namedConn struct {
	net.Conn
	end pipeEnd
}

func (c namedConn) LocalAddr() net.Addr  { return c.end }
func (c namedConn) RemoteAddr() net.Addr { return c.end }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accept:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return p.name }
