package simulator

import (
	"bytes"
	"context"
	"net"
	"net/http/httptrace"
	"sync"
	"time"
)

// Network is the way to a server. It takes its time by timers and channels alone,
// like the server. The zero value delays nothing.
//
// What it does is done at the dialling end: give the client Dial's dialer.
type Network struct {
	Connect   time.Duration // until a connection is there, beyond its round trip
	RoundTrip time.Duration // half of it each way
	Upload    int           // bytes per second towards the server; 0: no limit
}

// Dialer makes connections, like the DialContext of a net.Dialer.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// Dial puts the network before a dialer. A trace in the context is told of the
// connecting.
func (n Network) Dial(dial Dialer) Dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		trace := httptrace.ContextClientTrace(ctx)
		if trace != nil && trace.ConnectStart != nil {
			trace.ConnectStart(network, address)
		}
		c, err := n.connect(ctx, func() (net.Conn, error) { return dial(ctx, network, address) })
		if trace != nil && trace.ConnectDone != nil {
			trace.ConnectDone(network, address, err)
		}
		return c, err
	}
}

func (n Network) connect(ctx context.Context, dial func() (net.Conn, error)) (net.Conn, error) {
	select {
	case <-time.After(n.Connect + n.RoundTrip):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c, err := dial()
	if err != nil {
		return nil, err
	}
	return n.link(c), nil
}

// link puts the network between a connection and its user.
func (n Network) link(server net.Conn) net.Conn {
	near, far := net.Pipe()
	go carry(server, far, n.RoundTrip/2)
	go carry(far, server, n.RoundTrip/2)
	return &link{Conn: near, server: server, upload: n.Upload, turn: make(chan struct{}, 1), closed: make(chan struct{})}
}

// link is the near end of a connection through a network.
type link struct {
	net.Conn
	server net.Conn // for its addresses
	upload int
	turn   chan struct{} // held while something is written
	close  sync.Once
	closed chan struct{}
}

// LocalAddr is that of the connection to the server.
func (l *link) LocalAddr() net.Addr { return l.server.LocalAddr() }

// RemoteAddr is the server's.
func (l *link) RemoteAddr() net.Addr { return l.server.RemoteAddr() }

// alert is the bytes up to which a write takes no time: a client that closes a
// connection writes so many, of TLS, under a lock for which others wait.
const alert = 64

// Write takes as long as the bytes take to leave. A deadline does not shorten
// that.
func (l *link) Write(p []byte) (int, error) {
	select {
	case l.turn <- struct{}{}:
	case <-l.closed:
		return 0, net.ErrClosed
	}
	defer func() { <-l.turn }()
	if l.upload > 0 && len(p) > alert {
		select {
		case <-time.After(time.Duration(len(p)) * time.Second / time.Duration(l.upload)):
		case <-l.closed:
			return 0, net.ErrClosed
		}
	}
	return l.Conn.Write(p)
}

// Close closes the connection, of which the server learns half a round trip
// later.
func (l *link) Close() error {
	l.close.Do(func() { close(l.closed) })
	return l.Conn.Close()
}

const (
	window    = 1 << 10 // pieces that can be on their way
	pieceSize = 16 << 10
)

// piece is bytes on their way.
type piece struct {
	bytes []byte
	due   time.Time
}

// carry passes on what comes from one end, so much later, and in the end that it
// has ended. It goes on reading what the other end takes no more: whoever closed
// that is heard of by the carrier of the other direction.
func carry(to, from net.Conn, late time.Duration) {
	pieces := make(chan piece, window)
	go collect(pieces, from, late)
	var broken error
	for p := range pieces {
		time.Sleep(time.Until(p.due))
		if len(p.bytes) > 0 && broken == nil {
			_, broken = to.Write(p.bytes)
		}
	}
	_ = to.Close()
}

func collect(pieces chan<- piece, from net.Conn, late time.Duration) {
	defer close(pieces)
	buffer := make([]byte, pieceSize)
	for {
		n, err := from.Read(buffer)
		pieces <- piece{bytes.Clone(buffer[:n]), time.Now().Add(late)}
		if err != nil {
			return
		}
	}
}
