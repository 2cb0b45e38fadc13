package proxy_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/websocket"
)

// talker is one end of a WebSocket.
type talker struct {
	net.Conn
	from   io.Reader // the connection, and what was read of it before
	mask   *[4]byte  // of a client
	reader websocket.Reader
	heard  []websocket.Message
}

// say sends a message.
func (c *talker) say(op websocket.Opcode, text string) error {
	_, err := c.Write(c.words(op, text))
	return err
}

// words are a message as this end sends it.
func (c *talker) words(op websocket.Opcode, text string) []byte {
	if c.mask != nil {
		return websocket.AppendMasked(nil, op, *c.mask, []byte(text))
	}
	return websocket.Append(nil, op, []byte(text))
}

// tell sends events, or what else is text.
func (c *talker) tell(texts ...string) error {
	for _, text := range texts {
		if err := c.say(websocket.Text, text); err != nil {
			return err
		}
	}
	return nil
}

// hangUp closes with a code.
func (c *talker) hangUp(code uint16, reason string) error {
	return c.say(websocket.Close, string(binary.BigEndian.AppendUint16(nil, code))+reason)
}

// hear is the next message.
func (c *talker) hear() (websocket.Message, error) {
	p := make([]byte, 8<<10)
	for len(c.heard) == 0 {
		n, err := c.from.Read(p)
		c.reader.Write(time.Now(), p[:n], func(m websocket.Message) {
			m.Data = bytes.Clone(m.Data)
			c.heard = append(c.heard, m)
		})
		if err != nil {
			return websocket.Message{}, err
		}
	}
	m := c.heard[0]
	c.heard = c.heard[1:]
	return m, nil
}

// hearUntil reads on until a message has some words in it, and returns that.
func (c *talker) hearUntil(words string) (string, error) {
	for {
		m, err := c.hear()
		if err != nil || bytes.Contains(m.Data, []byte(words)) {
			return string(m.Data), err
		}
	}
}

const switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Request-Id: req_socket\r\nSec-WebSocket-Accept: "

// talking is an upstream that takes each WebSocket and talks as it is told. The
// connection is closed when the talk is over.
func talking(talk func(c *talker)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		io.WriteString(conn, switching+websocket.Accept(r.Header.Get("Sec-WebSocket-Key"))+"\r\n\r\n")
		talk(&talker{Conn: conn, from: rw})
	}
}

// answeringEach is an upstream that says the same to each message, %d being the
// number of the message.
func answeringEach(events ...string) http.HandlerFunc {
	return talking(func(c *talker) {
		for n := 1; ; n++ {
			m, err := c.hear()
			if err != nil || m.Opcode == websocket.Close {
				return
			}
			for _, e := range events {
				if c.tell(fmt.Sprintf(e, n)) != nil {
					return
				}
			}
		}
	})
}

const upgradeHead = "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
	"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nUser-Agent: codex_exec/0.171.0\r\nAuthorization: Bearer sk-canary-of-the-test\r\n"

// upgrade asks for a WebSocket and returns the answer to that.
func (w *world) upgrade(t testing.TB, path string, headers ...string) (*talker, *http.Response) {
	t.Helper()
	c, err := w.dial()
	if err != nil {
		t.Fatal(err)
	}
	head := fmt.Sprintf(upgradeHead, path)
	for i := 0; i < len(headers); i += 2 {
		head += headers[i] + ": " + headers[i+1] + "\r\n"
	}
	if _, err := io.WriteString(c, head+"\r\n"); err != nil {
		t.Fatal(err)
	}
	from := bufio.NewReader(c)
	res, err := http.ReadResponse(from, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &talker{Conn: c, from: from, mask: &[4]byte{0x12, 0x34, 0x56, 0x78}}, res
}

// socket is a WebSocket of the Responses API.
func (w *world) socket(t testing.TB, headers ...string) *talker {
	t.Helper()
	c, res := w.upgrade(t, "/v1/responses", headers...)
	if res.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("the upgrade was answered %d", res.StatusCode)
	}
	return c
}
