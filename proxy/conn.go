package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var errStale = errors.New("the upstream had closed this idle connection")

// dialer makes the connections to the upstreams and knows those that are open.
type dialer struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)

	open   sync.Map  // the two ends of each open connection: the mark of a loop
	copies sync.Pool // of *[copySize]byte

	mu    sync.Mutex
	tls   map[string]handshakes // by host
	lives map[string]observed   // by address: how soon it hung up on an idle connection
}

// observed is how long something lasted, and when that was seen.
type observed struct {
	lasted time.Duration
	at     time.Time
}

// recent is how long what was observed counts.
const recent = 10 * time.Minute

// DialContext dials as its name says, for an http.Transport.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := d.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	own := &conn{Conn: c, raw: rawOf(c), dialer: d, address: address}
	d.open.Store(own.ends(), true)
	return own, nil
}

// ends are the two addresses of a connection, of which the caller's comes first.
// One of them does not tell: the system gives the same port to connections that
// lead to different places.
type ends struct{ from, to string }

// isOwn says whether a client's connection is the other end of one of our own:
// then the request has come back to us.
func (d *dialer) isOwn(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	_, own := d.open.Load(ends{r.RemoteAddr, local.String()})
	return own
}

// noteHandshake keeps a TLS handshake with a host. TLS goes from end to end where a
// tunnel or an outbound proxy answers TCP by itself.
func (d *dialer) noteHandshake(host string, took time.Duration, state tls.ConnectionState) {
	trips := time.Duration(2)
	if state.Version >= tls.VersionTLS13 || state.DidResume {
		trips = 1
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.tls == nil {
		d.tls = make(map[string]handshakes)
	}
	d.tls[host] = d.tls[host].with(took/trips, time.Now())
}

// roundTrip is the round trip to a host over a connection, nil where neither the
// kernel nor a handshake tells.
func (d *dialer) roundTrip(host string, c *conn) *time.Duration {
	var rtt *time.Duration
	if c != nil {
		rtt = kernelRTT(c.raw)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if quickest := d.tls[host].quickest(); rtt == nil || quickest != nil && *quickest > *rtt {
		return quickest
	}
	return rtt
}

// hungUpAfter notes how long an upstream let a connection be idle.
func (d *dialer) hungUpAfter(address string, idle time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lives == nil {
		d.lives = make(map[string]observed)
	}
	now := time.Now()
	if old, ok := d.lives[address]; !ok || idle < old.lasted || now.Sub(old.at) >= recent {
		d.lives[address] = observed{idle, now}
	}
}

// tooIdle says whether a connection has been idle for so long that the upstream
// may be hanging up on it just now: a request written to it would be lost.
func (d *dialer) tooIdle(address string, idle time.Duration) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	life, ok := d.lives[address]
	return ok && idle > life.lasted/2 && time.Since(life.at) < recent
}

// conn is a connection to an upstream that counts what was written to it.
type conn struct {
	net.Conn
	raw     syscall.RawConn // the socket, nil where the connection is none
	dialer  *dialer
	address string
	written atomic.Int64
	doubt   atomic.Bool // taken from the pool: look before the next write whether it still lives
	secure  atomic.Bool // TLS is spoken over it

	mu    sync.Mutex
	uses  int64
	since time.Time // when it came to rest in the pool; zero in use
}

// alert is the most that TLS takes to say that it hangs up. No request is as
// short.
const alert = 31

// Write refuses a connection that the upstream closed while it was idle, so that
// the request can go on another: nothing of it has been sent.
func (c *conn) Write(p []byte) (int, error) {
	secure := c.secure.Load()
	if c.doubt.Swap(false) && hungUp(c.raw, secure) {
		return 0, errStale
	}
	n, err := c.Conn.Write(p)
	if !secure || n > alert {
		c.written.Add(int64(n))
	}
	return n, err
}

// copySize is how much of a request body is passed on at a time, in bytes. The
// system has that much of a long one at once.
const copySize = 64 << 10

// ReadFrom passes a request body on, for the transport, which would make another
// buffer for each.
func (c *conn) ReadFrom(src io.Reader) (int64, error) {
	buf, ok := c.dialer.copies.Get().(*[copySize]byte)
	if !ok {
		buf = new([copySize]byte)
	}
	defer c.dialer.copies.Put(buf)
	return io.CopyBuffer(struct{ io.Writer }{c}, src, buf[:])
}

// CloseWrite closes the sending half, for a tunnel.
func (c *conn) CloseWrite() error { return closeWrite(c.Conn) }

func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

// rest notes that the connection has come to rest after a use. The pool may have
// given it away again by the time that it says so.
func (c *conn) rest(use int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.uses == use {
		c.since = time.Now()
	}
}

// take notes that the connection is in use, and how far it is to be trusted. It
// returns the number of the use.
func (c *conn) take(reused, secure bool) int64 {
	c.secure.Store(secure)
	c.mu.Lock()
	defer c.mu.Unlock()
	if reused && !c.since.IsZero() && c.dialer.tooIdle(c.address, time.Since(c.since)) {
		_ = c.Conn.Close() // the first write fails, and another connection takes the request
	}
	c.since = time.Time{}
	c.doubt.Store(reused)
	c.uses++
	return c.uses
}

func (c *conn) ends() ends { return ends{c.LocalAddr().String(), c.RemoteAddr().String()} }

// Close closes the connection. One that is closed at rest before its time was
// closed by the upstream.
func (c *conn) Close() error {
	c.mu.Lock()
	if idle := time.Since(c.since); !c.since.IsZero() && idle < idleTime*9/10 {
		c.dialer.hungUpAfter(c.address, idle)
	}
	c.since = time.Time{}
	c.mu.Unlock()
	c.dialer.open.Delete(c.ends())
	return c.Conn.Close()
}

// rawOf is the socket of a connection, nil where it is none.
func rawOf(c net.Conn) syscall.RawConn {
	s, ok := c.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}

// unwrap finds our connection below TLS, nil where it is none of ours.
func unwrap(c net.Conn) *conn {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	own, _ := c.(*conn)
	return own
}
