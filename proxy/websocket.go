package proxy

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/proxy/websocket"
)

// socket is a WebSocket of the Responses API: the upstream's end of a tunnel. What
// comes is passed on as it came, in both directions, and a copy of it is read.
// Each response.create of the client is an exchange of its own.
//
// It is the reverse proxy that runs the tunnel, with io.Copy, which leaves it to
// ReadFrom and WriteTo to copy.
type socket struct {
	io.ReadWriteCloser
	upgrade *flight
	drained chan struct{} // closed when the upstream has said all

	mu      sync.Mutex // guards what follows; nobody writes or waits with it
	up      websocket.Reader
	down    websocket.Reader
	chunk   chunk           // the last of the upstream
	calls   []*call         // exchanges under way, the oldest first
	unheard []*call         // begun since the upstream said something last
	past    string          // id of the response that ended last
	judged  <-chan struct{} // closed when the call that ended last has been judged; nil for none
	engine  engineState
	used    bool   // there was a call
	closed  bool   // one side has said that it closes it
	over    bool   // the tunnel has ended
	leaving bool   // it is to be closed as soon as no call is under way
	note    string // why it is not read any further
}

// chunk is bytes that one read brought.
type chunk struct {
	at    time.Time // when it returned
	bytes []byte    // none once they have been read
	of    *call     // whose they probably are; nil for nobody's
}

var errOver = errors.New("the WebSocket has ended")

// wantsSocket says whether a request asks for a WebSocket whose exchanges can be
// told apart.
func (f *flight) wantsSocket(r *http.Request) bool {
	return isWebSocket(r) && r.Method == http.MethodGet && f.x.Dialect == exchange.Responses &&
		f.upstream != nil && !f.proxy.config.RefuseWebSocket
}

// leaveOut takes the offer of extensions out of an upgrade: compressed frames could
// not be read.
func (f *flight) leaveOut(h http.Header) {
	if !f.sought || h.Get("Sec-Websocket-Extensions") == "" {
		return
	}
	h.Del("Sec-Websocket-Extensions")
	f.note("the offer of WebSocket extensions was left out")
}

// soften makes the refusal of an upgrade one upon which clients fall back to HTTP
// at once: anything but 426 has Codex try again for seconds, or give up.
func (f *flight) soften(res *http.Response) {
	status := res.StatusCode
	if !f.sought || !slices.Contains([]int{400, 404, 405, 501}, status) {
		return
	}
	res.StatusCode = http.StatusUpgradeRequired
	res.Header.Set("Connection", "Upgrade")
	res.Header.Set("Upgrade", "HTTP/1.1")
	f.note(fmt.Sprintf("%s for the upstream's %d", exchange.FellBack, status))
}

// board makes the upstream's end of a tunnel a socket. The upgrade itself is no
// exchange: it is a row only if none comes of it.
func (f *flight) board(upstream io.ReadWriteCloser) *socket {
	f.socket = &socket{ReadWriteCloser: upstream, upgrade: f, drained: make(chan struct{})}
	f.proxy.crowd.quit(&f.x)
	f.proxy.aloft.leave(f)
	f.proxy.sockets.enter(f.socket)
	return f.socket
}

// ReadFrom passes on what the client says, for as long as it says anything.
func (s *socket) ReadFrom(client io.Reader) (all int64, _ error) {
	p := make([]byte, bufferSize)
	for {
		n, err := client.Read(p)
		begun := s.heard(time.Now(), p[:n])
		if n > 0 {
			if _, err := s.ReadWriteCloser.Write(p[:n]); err != nil {
				<-s.drained // the client is to hear what came before
				return all, s.end(upstreamEnds, err)
			}
		}
		for _, c := range begun {
			c.sent()
		}
		all += int64(n)
		if err != nil {
			return all, s.end(clientEnds, err)
		}
		p = roomier(p, n)
	}
}

// WriteTo passes on what the upstream says. It is read afterwards; but no byte
// goes on before the rows of the calls that it may answer are stored.
func (s *socket) WriteTo(client io.Writer) (all int64, _ error) {
	defer close(s.drained)
	p := make([]byte, bufferSize)
	for {
		n, err := s.ReadWriteCloser.Read(p)
		if n > 0 {
			for _, c := range s.came(time.Now(), p[:n]) {
				c.rowFirst()
			}
			ready := time.Now()
			if _, err := client.Write(p[:n]); err != nil {
				return all, s.end(clientEnds, err)
			}
			s.wentOn(ready)
		}
		all += int64(n)
		if err != nil {
			return all, s.end(upstreamEnds, err)
		}
		p = roomier(p, n)
	}
}

// roomier is a larger buffer where a read has filled one. Most sockets are idle
// for most of the time, or bring a few bytes.
func roomier(p []byte, n int) []byte {
	const most = 32 << 10
	if n < len(p) || len(p) == most {
		return p
	}
	return make([]byte, most)
}

// heard reads what the client says, and returns the calls that begin with it.
func (s *socket) heard(at time.Time, p []byte) (begun []*call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.observe() // the client may have heard of it
	s.guarded(func() error {
		return s.up.Write(at, p, func(m websocket.Message) {
			if c := s.said(at, m); c != nil {
				begun = append(begun, c)
			}
		})
	})
	return begun
}

// came takes note of what the upstream says, and returns the calls that it may be
// the first answer to.
func (s *socket) came(at time.Time, p []byte) (unheard []*call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chunk = chunk{at: at, bytes: p}
	if len(s.calls) > 0 {
		s.chunk.of = s.calls[0]
	}
	unheard, s.unheard = s.unheard, nil
	return unheard
}

// wentOn reads what has been passed on since it was ready to be.
func (s *socket) wentOn(ready time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.chunk.of; slices.Contains(s.calls, c) {
		c.tap.own += ready.Sub(s.chunk.at)
		c.tap.waiting += time.Since(ready)
	}
	s.observe()
}

// observe reads the last chunk of the upstream, once.
func (s *socket) observe() {
	p := s.chunk.bytes
	s.chunk.bytes = nil
	s.guarded(func() error { return s.down.Write(s.chunk.at, p, s.answered) })
}

// guarded reads, unless the tunnel has ended. What cannot be read ends the calls,
// of which nothing more will be known, and the reading.
func (s *socket) guarded(read func() error) {
	if s.over || s.note != "" {
		return
	}
	s.note = guarded(s.upgrade.proxy.config.Log, func() string {
		if err := read(); err != nil {
			return "the WebSocket is not read any further: " + err.Error()
		}
		return ""
	})
	if s.note == "" {
		return
	}
	s.upgrade.note(s.note)
	for _, c := range slices.Clone(s.calls) {
		c.tap.reading.fail(s.note)
		c.tap.err = io.EOF
		s.land(c, ending{at: c.since(), unseen: true})
	}
}
