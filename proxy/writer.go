package proxy

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
)

// writer is the client's side of a flight. It keeps the head of the answer as
// the upstream sent it and takes the time of each write.
type writer struct {
	http.ResponseWriter
	flight *flight
	http1  bool // the client speaks HTTP/1: a connection is one request after the other
	waits  bool // the client waits for a 100, which the server sends when the body is first read
}

func (f *flight) newWriter(w http.ResponseWriter, r *http.Request) *writer {
	return &writer{ResponseWriter: w, flight: f, http1: r.ProtoMajor == 1, waits: r.Header.Get("Expect") != ""}
}

// Unwrap lets an http.ResponseController reach the server's writer.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader adds nothing to the upstream's head: no Date, no Content-Type. An
// informational head loses the headers that are meant for one connection, which
// the reverse proxy leaves in it.
func (w *writer) WriteHeader(code int) {
	if code == http.StatusContinue && w.waits {
		return // it has had one
	}
	w.flight.rowFirst()
	h := w.Header()
	if code < http.StatusOK {
		dropHopByHop(h)
	} else {
		keepAbsent(h, "Date", "Content-Type")
		if w.http1 && (!w.flight.upload.ended() || w.flight.upload.broken()) {
			// An answer before the end of the request: what is left of the
			// request must not be taken for the next one.
			h.Set("Connection", "close")
		}
	}
	w.ResponseWriter.WriteHeader(code)
}

// Hijack hands over the connection for a tunnel, with what the client has sent
// already: of that the reverse proxy takes no notice.
func (w *writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return c, rw, err
	}
	// Where the proxy is to end at once, it closes but the upstream's side.
	context.AfterFunc(w.flight.client, func() { _ = c.Close() })
	if rw.Reader.Buffered() == 0 {
		return c, rw, nil
	}
	early, err := rw.Reader.Peek(rw.Reader.Buffered())
	return &eager{Conn: c, early: early}, rw, err
}

// eager is the connection of a client that did not wait for the answer.
type eager struct {
	net.Conn
	early []byte
}

// Read reads what came early first.
func (c *eager) Read(p []byte) (int, error) {
	if len(c.early) == 0 {
		return c.Conn.Read(p)
	}
	n := copy(p, c.early)
	c.early = c.early[n:]
	return n, nil
}

// CloseWrite closes the sending half.
func (c *eager) CloseWrite() error { return closeWrite(c.Conn) }

// Write passes a chunk on.
func (w *writer) Write(p []byte) (int, error) {
	if t := w.flight.tap; t != nil {
		t.writing()
	}
	return w.ResponseWriter.Write(p)
}

// breakOff makes an answer that was cut look so to a client of HTTP/1.0, to which
// the end of the connection is the end of the answer.
func breakOff(w http.ResponseWriter, r *http.Request) {
	if r.ProtoAtLeast(1, 1) || w.Header().Get("Content-Length") != "" {
		return
	}
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // a reset in place of an end
	}
	_ = c.Close()
}

// keepAbsent stops the server from adding headers that the upstream did not send.
func keepAbsent(h http.Header, names ...string) {
	for _, n := range names {
		if _, ok := h[n]; !ok {
			h[n] = nil
		}
	}
}

func dropHopByHop(h http.Header) {
	for _, v := range h["Connection"] {
		for name := range strings.SplitSeq(v, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	for _, n := range []string{"Connection", "Keep-Alive", "Proxy-Connection", "Transfer-Encoding", "Upgrade"} {
		h.Del(n)
	}
}

// writeError answers in the error shape of the OpenAI API.
func writeError(w http.ResponseWriter, status int, code, message string) {
	body, err := json.Marshal(map[string]any{"error": map[string]any{
		"message": "ttftap: " + message, "type": "proxy_error", "param": nil, "code": code,
	}})
	if err != nil { // a map of strings always marshals
		panic(err)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
