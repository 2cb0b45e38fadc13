package proxy

import (
	"crypto/tls"
	"net"
	"net/http/httptrace"
	"syscall"
	"time"
)

// Steps of reaching an upstream, as an error names them.
const (
	stepDNS     = "dns"
	stepConnect = "connect"
	stepTLS     = "tls"
)

// polled is the body size from which the kernel may hold so much of an upload
// that handing it over is not sending it.
const polled = 64 << 10

// trail is what the trace hooks of one flight have left. Hooks outlive the
// handler, so every stamp goes through the flight's lock.
type trail struct {
	step                          string // the step under way
	dnsStart, dialStart, tlsStart time.Time
	conn                          *conn
	http2                         bool  // it serves other exchanges, too
	taken                         int64 // which use of conn this is
	before                        int64 // bytes written to conn before it
}

// hooks stamp; the subtractions that they do are of instants of their own.
func (f *flight) hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn: func(string) { // again, where the connection before was found dead
			f.locked(func() { f.trail.conn, f.x.GotConn = nil, nil })
		},
		DNSStart: func(httptrace.DNSStartInfo) {
			f.dialing(func() { f.trail.step, f.trail.dnsStart = stepDNS, time.Now() })
		},
		DNSDone: func(i httptrace.DNSDoneInfo) {
			if i.Err == nil {
				f.dialing(func() { f.x.DNS = lasted(f.trail.dnsStart) })
			}
		},
		ConnectStart: func(_, _ string) {
			f.dialing(func() {
				if f.trail.step != stepConnect { // the first of several addresses tried
					f.trail.step, f.trail.dialStart = stepConnect, time.Now()
				}
			})
		},
		ConnectDone: func(_, _ string, err error) {
			if err == nil {
				f.dialing(func() { f.x.Connect = lasted(f.trail.dialStart) })
			}
		},
		TLSHandshakeStart: func() {
			f.dialing(func() { f.trail.step, f.trail.tlsStart = stepTLS, time.Now() })
		},
		TLSHandshakeDone: f.handshaken,
		GotConn:          f.gotConn,
		PutIdleConn:      f.putIdle,
		WroteRequest:     f.wroteRequest,
	}
}

// dialing runs do while the exchange has no connection: a dial that was begun for
// it goes on when another connection has come free in the meantime.
func (f *flight) dialing(do func()) {
	f.locked(func() {
		if f.x.GotConn == nil {
			do()
		}
	})
}

func (f *flight) handshaken(state tls.ConnectionState, err error) {
	if err != nil {
		return
	}
	f.dialing(func() {
		if f.x.TLS = lasted(f.trail.tlsStart); f.x.TLS != nil {
			f.proxy.dialer.noteHandshake(f.upstream.URL.Host, *f.x.TLS, state)
		}
	})
}

// lasted is how long a step has taken, nil where it was begun for an attempt of
// which nothing is kept.
func lasted(start time.Time) *time.Duration {
	if start.IsZero() {
		return nil
	}
	return new(time.Since(start))
}

func (f *flight) gotConn(i httptrace.GotConnInfo) {
	f.locked(func() {
		f.x.GotConn, f.x.ConnReused, f.x.PoolWait = f.since(), new(i.Reused), nil
		if i.Reused || !f.dialled() {
			if f.trail.step != "" { // a dial for us was under way when another's connection came free
				f.x.PoolWait = new(*f.x.GotConn - *f.x.Proxy)
			}
			f.x.DNS, f.x.Connect, f.x.TLS = nil, nil, nil
		}
		f.trail.step = ""
		if f.trail.conn = unwrap(i.Conn); f.trail.conn != nil {
			f.trail.before = f.trail.conn.written.Load()
			_, secure := i.Conn.(*tls.Conn)
			f.trail.http2 = isHTTP2(i.Conn)
			f.trail.taken = f.trail.conn.take(i.Reused && !f.trail.http2, secure)
		}
	})
}

// dialled says whether the dial for this exchange is done. Of two that wait for
// one HTTP/2 connection the first to use it need not be the one that dialled it.
func (f *flight) dialled() bool {
	switch f.trail.step {
	case stepConnect:
		return f.x.Connect != nil
	case stepTLS:
		return f.x.TLS != nil
	}
	return false
}

// putIdle may be called when the exchange has ended: it is about the connection.
func (f *flight) putIdle(err error) {
	f.mu.Lock()
	c, taken := f.trail.conn, f.trail.taken
	f.mu.Unlock()
	if err == nil && c != nil {
		c.rest(taken)
	}
}

func isHTTP2(c net.Conn) bool {
	t, ok := c.(*tls.Conn)
	return ok && t.ConnectionState().NegotiatedProtocol == "h2"
}

// wroteRequest stamps the end of the upload. The kernel takes megabytes at once,
// so for a large body it is asked until it has none left, or the answer begins.
func (f *flight) wroteRequest(i httptrace.WroteRequestInfo) {
	if i.Err != nil {
		return
	}
	size := f.upload.bytes()
	f.locked(func() {
		if f.answering() {
			return
		}
		f.x.Sent = f.since()
		if size <= polled || f.trail.conn == nil {
			return
		}
		raw := f.trail.conn.raw
		switch left, ok := unsent(raw); {
		case !ok:
			f.x.UploadLowerBound = new(true)
		case left > 0:
			go f.drained(raw)
		}
	})
}

// drained moves the end of the upload to when the kernel's queue ran empty.
func (f *flight) drained(raw syscall.RawConn) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for over := false; !over; {
		<-tick.C
		left, ok := unsent(raw)
		f.locked(func() {
			if over = !ok || f.answering(); !over {
				f.x.Sent = f.since()
				over = left == 0
			}
		})
		over = over || f.landed()
	}
}

// answering says whether the answer has begun. Over a socket it has no head.
func (f *flight) answering() bool { return f.x.Headers != nil || f.x.FirstByte != nil }
