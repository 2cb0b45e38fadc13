package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"

	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/proxy/websocket"
)

// conversing is a client at a WebSocket.
type conversing struct {
	play  *play
	conn  net.Conn
	heard chan []byte // messages of the upstream; closed at the end
	call  string      // the exchange under way, "" for none
	read  int64       // of its answer
}

func createdBy(name string) string {
	return fmt.Sprintf(`{"type":"response.create","model":%q,"input":[{"role":"user","content":"about %s"}]}`, name, name)
}

// socketOpens opens one, over which something is asked at once.
func (l *ledger) socketOpens(t *rapid.T) {
	session := "socket " + l.next()
	c := &conversing{play: l.upstream.begin(session), heard: make(chan []byte, 64)}
	c.conn = must(net.Dial("tcp", strings.TrimPrefix(l.i.base, "http://")))
	fmt.Fprintf(c.conn, "GET /v1/responses HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ZGVtbyBvZiB0dGZ0YXAhIQ==\r\n%s: %s\r\nSession-Id: %s\r\n\r\n", playHeader, session, session)
	from := bufio.NewReader(c.conn)
	if res, err := http.ReadResponse(from, nil); err != nil || res.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("no WebSocket: %v, %v", res, err)
	}
	go func() {
		defer close(c.heard)
		_ = eachMessage(from, func(m []byte) bool { c.heard <- m; return true })
	}()
	l.sockets = append(l.sockets, c)
	l.begins(t, c)
}

// anySocket is one over which something is under way, or nothing; or it skips.
func (l *ledger) anySocket(t *rapid.T, busy bool) (at int, c *conversing) {
	var places []int
	for i, c := range l.sockets {
		if (c.call != "") == busy {
			places = append(places, i)
		}
	}
	if len(places) == 0 {
		t.Skip("there is no such socket")
	}
	at = rapid.SampledFrom(places).Draw(t, "which")
	return at, l.sockets[at]
}

func (l *ledger) callBegins(t *rapid.T) {
	_, c := l.anySocket(t, false)
	l.begins(t, c)
}

// begins asks for a response, and reads how it begins.
func (l *ledger) begins(t *rapid.T, c *conversing) {
	c.call, c.read = l.next(), 0
	asked := createdBy(c.call)
	c.conn.Write(websocket.AppendMasked(nil, websocket.Text, [4]byte{1, 2, 3, 4}, []byte(asked)))
	if got := <-c.play.got; string(got) != asked {
		t.Fatalf("the upstream heard %q, not %q", got, asked)
	}
	l.must[c.call] = entry{Outcome: exchange.Open}
	c.hears(t, order{write: responseBegins("r " + c.call)})
}

// hears has the upstream say something, all of which must come.
func (c *conversing) hears(t *rapid.T, o order) {
	c.play.orders <- o
	for line := range strings.Lines(o.write) {
		if got, ok := <-c.heard; !ok || string(got) != strings.TrimSpace(line) {
			t.Fatalf("%s: the client heard %q, not %q", c.call, got, line)
		}
	}
	c.read += payload(o.write)
}

func (c *conversing) ended(o exchange.Outcome, output int64) entry {
	return entry{o, "websocket", 101, int64(len(createdBy(c.call))), c.read, output}
}

func (l *ledger) callEnds(t *rapid.T) {
	_, c := l.anySocket(t, true)
	l.answers(t, c, rapid.IntRange(1, 1000).Draw(t, "tokens"))
}

func (l *ledger) answers(t *rapid.T, c *conversing, tokens int) {
	c.hears(t, order{write: responseEnds("r "+c.call, tokens)})
	l.must[c.call] = c.ended(exchange.OK, int64(tokens))
	c.call = ""
}

// socketEnds has one of both sides go, whatever is under way.
func (l *ledger) socketEnds(t *rapid.T) {
	at, c := l.anySocket(t, rapid.Bool().Draw(t, "busy"))
	l.sockets = append(l.sockets[:at:at], l.sockets[at+1:]...)
	how := exchange.ClientAbort
	if rapid.Bool().Draw(t, "by the upstream") {
		how = exchange.UpstreamCut
		c.play.orders <- order{end: cut}
	} else {
		c.conn.Close()
	}
	c.over(t)
	if c.call != "" {
		l.must[c.call] = c.ended(how, -1)
	}
	l.settle(t, 0)
}

// over waits for the end, before which nothing must come.
func (c *conversing) over(t *rapid.T) {
	for m := range c.heard {
		t.Fatalf("the client heard %q at the end", m)
	}
	c.conn.Close()
}
