package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/websocket"
)

func clientFaults() []fault {
	return []fault{
		{name: "clients vanish in the midst of their streams", tries: 10, try: clientsVanish},
		{name: "a client reads nothing for a minute", tries: 1, try: clientSleeps},
		{name: "clients send half a body", tries: 10, try: halfABody},
		{name: "1,000 upgrades at once", tries: 3, try: manyUpgrades},
	}
}

// host is where the program listens.
func (c *child) host() string { return strings.TrimPrefix(c.base, "http://") }

// dial connects to the program, for a client that is written by hand.
func (c *child) dial(t *testing.T) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", c.host())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func clientsVanish(t *testing.T) {
	const clients = 50
	var left atomic.Int64
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, textEvent)
			w.(http.Flusher).Flush()
			<-time.After(10 * time.Millisecond)
		}
		left.Add(1)
	}))
	t.Cleanup(upstream.Close)
	c := startChild(t, quickModel(t)+" endless="+upstream.URL, logOf(t))
	for range clients {
		conn := c.dial(t)
		fmt.Fprintf(conn, "POST /to/endless/v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
		_ = must(bufio.NewReader(conn).ReadString('\n'))
		_ = conn.(*net.TCPConn).SetLinger(0)
		conn.Close()
	}
	until(t, "the upstream is left by all", func() bool { return left.Load() == clients })
	rows := c.passes(t, 0)
	until(t, "each has its row", func() bool {
		got := outcomes(t, c.db)
		return got["client_abort"] == clients && got["ok"] == rows
	})
}

// clientSleeps has a client that reads only the head of a long answer, for as long
// as it likes. Nothing of it piles up, others are served, and then it gets all.
func clientSleeps(t *testing.T) {
	const size = 128 << 20
	piece := []byte(strings.Repeat("x", 1<<20))
	want := sha256.New()
	for range size / len(piece) {
		want.Write(piece)
	}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for range size / len(piece) {
			_, _ = w.Write(piece)
		}
	}))
	t.Cleanup(upstream.Close)
	c := startChild(t, quickModel(t)+" long="+upstream.URL, logOf(t))
	before := c.memory(t, "VmRSS")
	res := must(http.Post(c.base+"/to/long/v1/audio/speech", "application/json", strings.NewReader(`{}`)))
	defer res.Body.Close()
	c.passes(t, inChaos(time.Second, time.Minute))
	c.hasGrown(t, before, 48<<20)
	got := sha256.New()
	if n, err := io.Copy(got, res.Body); err != nil || n != size || !bytes.Equal(got.Sum(nil), want.Sum(nil)) {
		t.Errorf("%d bytes came, of %d: %v", n, size, err)
	}
}

func halfABody(t *testing.T) {
	const clients = 20
	c := startChild(t, quickModel(t), logOf(t))
	var silent []net.Conn
	for n := range 2 * clients {
		conn := c.dial(t)
		fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{\"model\":")
		if n%2 == 0 {
			conn.Close()
			continue
		}
		silent = append(silent, conn)
	}
	rows := c.passes(t, 100*time.Millisecond)
	for _, conn := range silent {
		conn.Close()
	}
	until(t, "each has its row", func() bool {
		got := outcomes(t, c.db)
		return got["client_abort"] == 2*clients && got["ok"] == rows
	})
}

// socketModel answers an upgrade, and each message by the events of a response;
// all else as the quick model does.
func socketModel(w http.ResponseWriter, r *http.Request) {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		model(w, r)
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	var reader websocket.Reader
	for p := make([]byte, 4<<10); err == nil; {
		var n int
		n, err = buffered.Read(p)
		_ = reader.Write(time.Now(), p[:n], func(m websocket.Message) {
			if m.Opcode != websocket.Text {
				return
			}
			for _, event := range []string{
				`{"type":"response.created","response":{"id":"r1"}}`,
				`{"type":"response.output_text.delta","delta":"Hi"}`,
				`{"type":"response.completed","response":{"id":"r1","status":"completed","usage":{"input_tokens":12,"output_tokens":5}}}`,
			} {
				_, _ = conn.Write(websocket.Append(nil, websocket.Text, []byte(event)))
			}
		})
	}
}

// manyUpgrades opens so many sockets before the first is used, asks for a response
// over each and wants a row of each.
func manyUpgrades(t *testing.T) {
	sockets := inChaos(200, 1000)
	upstream := httptest.NewServer(http.HandlerFunc(socketModel))
	t.Cleanup(upstream.Close)
	c := startChild(t, upstream.URL, logOf(t))
	before := c.descriptors(t)
	var open, all sync.WaitGroup
	open.Add(sockets)
	for range sockets {
		all.Go(func() {
			if err := oneSocket(c, &open); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	rows := c.passes(t, 0)
	until(t, "each response has its row", func() bool { return outcomes(t, c.db)["ok"] == rows+sockets })
	until(t, "their descriptors are free again", func() bool { return c.descriptors(t) < before+30 })
}

func oneSocket(c *child, open *sync.WaitGroup) error {
	l := lane{agent: "test/1", session: "s"}
	conn, from, err := l.upgrade(context.Background(), c.base)
	open.Done()
	if err != nil {
		return err
	}
	defer conn.Close()
	open.Wait()
	message := `{"type":"response.create","model":"m","input":"hello"}`
	if _, err := conn.Write(websocket.AppendMasked(nil, websocket.Text, [4]byte{1, 2, 3, 4}, []byte(message))); err != nil {
		return err
	}
	if id := answered(from); id != "r1" {
		return fmt.Errorf("the response is %q", id)
	}
	return nil
}
