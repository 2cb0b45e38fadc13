package main

import (
	"bufio"
	"bytes"
	"net"
	"net/http"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ttftap/ttftap/proxy/websocket"
)

// Hijack gives the connection away for a WebSocket, and keeps what goes over it.
func (k *keeping) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, _, err := http.NewResponseController(k.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	kept := &keptConn{Conn: conn, of: k.of}
	return kept, bufio.NewReadWriter(bufio.NewReader(kept), bufio.NewWriter(kept)), nil
}

// keptConn is the model's end of a WebSocket.
type keptConn struct {
	net.Conn
	of *taken
}

func (c *keptConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.of.body = append(c.of.body, p[:n]...)
	return n, err
}

// Write passes on first the head of the answer, and then frames.
func (c *keptConn) Write(p []byte) (int, error) {
	if c.of.upgraded() {
		c.of.answer = append(c.of.answer, p...)
	}
	c.of.status = http.StatusSwitchingProtocols
	return c.Conn.Write(p)
}

// spoken are what a client said over a WebSocket.
func spoken(frames []byte) (texts [][]byte) {
	var reader websocket.Reader
	reader.Write(time.Time{}, frames, func(m websocket.Message) {
		if m.Opcode == websocket.Text {
			texts = append(texts, bytes.Clone(m.Data))
		}
	})
	return texts
}

// asked counts the requests that are to have a row each.
func asked(got []heard) (n int) {
	for _, h := range got {
		if !h.upgraded() {
			n++
			continue
		}
		for _, text := range spoken(h.body) {
			if gjson.GetBytes(text, "type").String() == "response.create" {
				n++
			}
		}
	}
	return n
}
