package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// misdeed is what an upstream does wrong, and what becomes of it.
type misdeed struct {
	does    func(c net.Conn)
	answer  string // what reaches the client; "" where that is looked at by other means
	status  int    // 0 for 200
	broken  bool   // the client is told that it is not the whole
	outcome string
	patient time.Duration // after which the client leaves; 0 for never
}

const (
	streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
	chunkHead  = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	garbage    = "\x00\xff\xfe{]data:\r\r\n\x01event\n\n: \xc3\x28\n\ndata: {\"choices\":[{\"delta\":\n\ndata: \x80\n\n"
)

func upstreamFaults() []fault {
	return []fault{
		{name: "upstream dies before its answer", tries: 10, try: misdeed{does: says(""), status: 502, outcome: "upstream_cut"}.try},
		{name: "upstream dies in its answer", tries: 10, try: misdeed{does: says(chunkHead + chunk(textEvent)), answer: textEvent, broken: true, outcome: "upstream_cut"}.try},
		{name: "upstream resets the connection", tries: 10, try: misdeed{does: resets, broken: true, outcome: "upstream_cut"}.try},
		{name: "upstream stalls, and goes on", tries: 1, try: misdeed{does: stalls, answer: textEvent + lastEvent, outcome: "ok"}.try},
		{name: "upstream stalls until its client leaves", tries: 5, try: misdeed{does: hangs(chunkHead + chunk(textEvent)), broken: true, patient: 300 * time.Millisecond, outcome: "client_abort"}.try},
		{name: "upstream sends garbage for an answer", tries: 10, try: misdeed{does: says(garbage), status: 502, outcome: "upstream_cut"}.try},
		{name: "upstream sends garbage for chunks", tries: 10, try: misdeed{does: says(chunkHead + chunk(textEvent) + "zz\r\n" + garbage), answer: textEvent, broken: true, outcome: "upstream_cut"}.try},
		{name: "upstream sends garbage for events", tries: 10, try: misdeed{does: says(streamHead + garbage + textEvent + lastEvent), answer: garbage + textEvent + lastEvent, outcome: "ok"}.try},
		{name: "upstream sends 1 GiB in one line", tries: 1, try: longLine},
		{name: "upstream never ends a header, at full speed", tries: 5, try: misdeed{does: floods("HTTP/1.1 200 OK\r\nX-Long: "), status: 502, outcome: "upstream_cut"}.try},
		{name: "upstream never ends a header, a byte now and then", tries: 5, try: misdeed{does: drips("HTTP/1.1 200 OK\r\nX-Long: "), broken: true, patient: 300 * time.Millisecond, outcome: "client_abort"}.try},
	}
}

// wrongdoer is the address of an upstream that reads a request and then does what
// it should not. Its connections are closed when that returns.
func wrongdoer(t *testing.T, does func(net.Conn)) string {
	t.Helper()
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				if req, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					_, _ = io.Copy(io.Discard, req.Body)
					does(c)
				}
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

func (m misdeed) try(t *testing.T) {
	c := startChild(t, quickModel(t)+" bad="+wrongdoer(t, m.does), logOf(t))
	status, body, err := leaveAfter(c.base+"/to/bad/v1/chat/completions", m.patient)
	if want := max(m.status, http.StatusOK); err == nil && status != want {
		t.Errorf("status %d, want %d", status, want)
	}
	if m.answer != "" && body != m.answer {
		t.Errorf("the client got %q, want %q", body, m.answer)
	}
	if m.broken == (err == nil) {
		t.Errorf("the client is told %v", err)
	}
	c.serves(t, m.outcome)
}

// serves wants the program to go on as ever, and what went wrong to be a row.
func (c *child) serves(t *testing.T, outcome string) {
	t.Helper()
	rows := c.passes(t, 0)
	until(t, "the row has its outcome: "+outcome, func() bool {
		got := outcomes(t, c.db)
		if outcome == "ok" {
			return got["ok"] == rows+1
		}
		return got["ok"] == rows && got[outcome] == 1
	})
}

// leaveAfter asks for a stream and reads it, for so long at most if that is not 0.
func leaveAfter(url string, patience time.Duration) (status int, body string, err error) {
	client := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Post(url, "application/json", strings.NewReader(`{"model":"m","stream":true}`))
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, string(b), err
}

func chunk(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }

func says(text string) func(net.Conn) {
	return func(c net.Conn) { _, _ = io.WriteString(c, text) }
}

// hangs says something, and then nothing until the other side leaves.
func hangs(text string) func(net.Conn) {
	return func(c net.Conn) {
		_, _ = io.WriteString(c, text)
		_, _ = io.Copy(io.Discard, c)
	}
}

func resets(c net.Conn) {
	_, _ = io.WriteString(c, chunkHead+chunk(textEvent))
	<-time.After(20 * time.Millisecond)
	_ = c.(*net.TCPConn).SetLinger(0)
}

func stalls(c net.Conn) {
	_, _ = io.WriteString(c, chunkHead+chunk(textEvent))
	<-time.After(inChaos(time.Second, 70*time.Second))
	_, _ = io.WriteString(c, chunk(lastEvent)+"0\r\n\r\n")
}

// floods says something and goes on with the letter x for ever.
func floods(text string) func(net.Conn) {
	return func(c net.Conn) {
		_, err := io.WriteString(c, text)
		for x := strings.Repeat("x", 64<<10); err == nil; {
			_, err = io.WriteString(c, x)
		}
	}
}

// drips does the same slowly.
func drips(text string) func(net.Conn) {
	return func(c net.Conn) {
		_, err := io.WriteString(c, text)
		for err == nil {
			<-time.After(20 * time.Millisecond)
			_, err = io.WriteString(c, "x")
		}
	}
}

// longLineMost is what a line of any length may take: 32 MiB of it are kept to be
// read, and while they are put together some of it is there twice or three times.
const longLineMost = 160 << 20

// longLine has an event of a line that no buffer holds. It passes, and the event
// after it is read.
func longLine(t *testing.T) {
	size := inChaos(64<<20, 1<<30)
	upstream := wrongdoer(t, func(c net.Conn) {
		_, _ = io.WriteString(c, streamHead+textEvent+"data: ")
		for x, left := strings.Repeat("x", 64<<10), size; left > 0; left -= len(x) {
			_, _ = io.WriteString(c, x)
		}
		_, _ = io.WriteString(c, "\n\n"+lastEvent)
	})
	c := startChild(t, quickModel(t)+" bad="+upstream, logOf(t))
	before := c.memory(t, "VmRSS")
	res := must(http.Post(c.base+"/to/bad/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","stream":true}`)))
	n, err := io.Copy(io.Discard, res.Body)
	if want := int64(size + len(textEvent) + len("data: \n\n") + len(lastEvent)); n != want || err != nil {
		t.Errorf("%d bytes came, want %d: %v", n, want, err)
	}
	c.hasGrown(t, before, longLineMost)
	c.serves(t, "ok")
}
