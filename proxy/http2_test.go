package proxy_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// Kinds and codes of HTTP/2 frames (RFC 9113).
const (
	dataFrame     = 0x0
	headersFrame  = 0x1
	resetFrame    = 0x3
	settingsFrame = 0x4
	goAwayFrame   = 0x7

	endStream     = 0x1
	endHeaders    = 0x4
	noError       = 0x0
	internalError = 0x2
	refusedStream = 0x7

	statusOK = "\x88" // in HPACK
)

// frames is a server's end of an HTTP/2 connection, served by hand.
type frames struct {
	net.Conn
	r *bufio.Reader
}

func (f frames) send(kind, flags byte, stream uint32, payload string) {
	head := binary.BigEndian.AppendUint32(nil, uint32(len(payload)))
	head = append(head[1:], kind, flags)
	head = binary.BigEndian.AppendUint32(head, stream)
	f.Write(append(head, payload...))
}

// codes is the payload of a frame that is made of numbers.
func codes(numbers ...uint32) string {
	var b []byte
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return string(b)
}

// request waits for the end of the next request's body and returns its stream, 0
// where none comes.
func (f frames) request() uint32 {
	for {
		var head [9]byte
		if _, err := io.ReadFull(f.r, head[:]); err != nil {
			return 0
		}
		size := int(head[0])<<16 | int(head[1])<<8 | int(head[2])
		if _, err := f.r.Discard(size); err != nil {
			return 0
		}
		if (head[3] == headersFrame || head[3] == dataFrame) && head[4]&endStream != 0 {
			return binary.BigEndian.Uint32(head[5:])
		}
	}
}

// answer sends a stream of events, whole unless something is to come between its
// first and its last.
func (f frames) answer(stream uint32, between func()) {
	f.send(headersFrame, endHeaders, stream, statusOK)
	f.send(dataFrame, 0, stream, chatText)
	between()
	f.send(dataFrame, endStream, stream, chatFinish+chatUsage+chatDone)
}

// byFrames is a world whose upstream speaks HTTP/2 by hand: serve is called with
// each connection and its number.
func byFrames(t *testing.T, serve func(n int64, f frames)) *world {
	certified := httptest.NewUnstartedServer(nil)
	certified.EnableHTTP2 = true
	certified.StartTLS()
	t.Cleanup(certified.Close)
	var n atomic.Int64
	l := byHand(t, func(c net.Conn, r *bufio.Reader) {
		secure := tls.Server(c, certified.TLS)
		f := frames{secure, bufio.NewReader(secure)}
		if _, err := f.r.Discard(len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")); err != nil {
			return
		}
		f.send(settingsFrame, 0, 0, "")
		serve(n.Add(1), f)
	})
	return onSockets(t, "", http.NotFoundHandler(), func(c *proxy.Config) {
		u, err := proxy.ParseUpstream("https://example.com/v1")
		if err != nil {
			t.Fatal(err)
		}
		c.Upstreams[0] = u
		c.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, l.Addr().String())
		}
		c.Transport = func(tr *http.Transport) {
			tr.TLSClientConfig = certified.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
		}
	})
}

const wholeAnswer = chatText + chatFinish + chatUsage + chatDone

// A connection that a server leaves has not processed what came after its last
// word: it is sent again, and once.
func TestRequestThatAGoingServerDidNotTakeGoesToTheNextConnection(t *testing.T) {
	var taken atomic.Int64
	w := byFrames(t, func(n int64, f frames) {
		if n == 1 {
			f.request()
			f.send(goAwayFrame, 0, 0, codes(0, noError))
			return
		}
		for id := f.request(); id != 0; id = f.request() {
			taken.Add(1)
			f.answer(id, func() {})
		}
	})
	got, x := w.exchange("/v1/chat/completions", chatAsked)
	if got != wholeAnswer || x.Outcome != exchange.OK || taken.Load() != 1 {
		t.Errorf("outcome %s, %s, taken %d times; %q", x.Outcome, x.Error, taken.Load(), got)
	}
}

func TestStreamOutlivesTheServersGoodbye(t *testing.T) {
	var connections atomic.Int64
	w := byFrames(t, func(n int64, f frames) {
		connections.Store(n)
		id := f.request()
		f.answer(id, func() { f.send(goAwayFrame, 0, 0, codes(id, noError)) })
		f.request() // none: until it is closed
	})
	for n := range int64(2) {
		got, x := w.exchange("/v1/chat/completions", chatAsked)
		if got != wholeAnswer || x.Outcome != exchange.OK || number(x.OutputTokens) != 5 {
			t.Errorf("exchange %d: outcome %s, %s; %q", n, x.Outcome, x.Error, got)
		}
	}
	if connections.Load() != 2 {
		t.Errorf("%d connections", connections.Load())
	}
}

func TestStreamThatTheServerRefusedIsSentAgain(t *testing.T) {
	w := byFrames(t, func(_ int64, f frames) {
		f.send(resetFrame, 0, f.request(), codes(refusedStream))
		for id := f.request(); id != 0; id = f.request() {
			f.answer(id, func() {})
		}
	})
	if got, x := w.exchange("/v1/chat/completions", chatAsked); got != wholeAnswer || x.Outcome != exchange.OK {
		t.Errorf("outcome %s, %s; %q", x.Outcome, x.Error, got)
	}
}

// What was processed, or may have been, is not sent again: it may be billed.
func TestStreamThatTheServerResetIsNotSentAgain(t *testing.T) {
	for name, answered := range map[string]bool{"before its head": false, "in the middle": true} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			w := byFrames(t, func(_ int64, f frames) {
				for id := f.request(); id != 0; id = f.request() {
					asked.Add(1)
					if answered {
						f.send(headersFrame, endHeaders, id, statusOK)
						f.send(dataFrame, 0, id, chatText)
					}
					f.send(resetFrame, 0, id, codes(internalError))
				}
			})
			res := w.post("/v1/chat/completions", chatAsked)
			got, err := io.ReadAll(res.Body)
			x := w.row()
			if x.Outcome != exchange.UpstreamCut || asked.Load() != 1 {
				t.Errorf("outcome %s, asked %d times", x.Outcome, asked.Load())
			}
			if answered && (err == nil || string(got) != chatText) || !answered && res.StatusCode != http.StatusBadGateway {
				t.Errorf("status %d, %q, %v", res.StatusCode, got, err)
			}
		})
	}
}

// A client that resets its stream leaves as one does that closes its connection,
// which others go on using.
func TestClientThatResetsItsStreamLeavesTheUpstreamToo(t *testing.T) {
	gone := make(chan bool, 1)
	w := onSockets(t, "/v1", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		script(eventStream, step{0, chatText})(w, r)
		select {
		case <-r.Context().Done():
			gone <- true
		case <-time.After(soon):
			gone <- false
		}
	}))
	w.client = overHTTP2(t)
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", w.url+"/v1/chat/completions", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := w.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(res.Body, make([]byte, len(chatText))); err != nil {
		t.Fatal(err)
	}
	leave()
	if !<-gone {
		t.Error("the upstream was not told")
	}
	if x := w.row(); x.Outcome != exchange.ClientAbort || x.FirstToken == nil {
		t.Errorf("outcome %s, first token %v", x.Outcome, ms(x.FirstToken))
	}
}

// overHTTP2 is a client that speaks HTTP/2 without TLS.
func overHTTP2(t *testing.T) *http.Client {
	tr := &http.Transport{Protocols: new(http.Protocols), DisableCompression: true}
	tr.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}
