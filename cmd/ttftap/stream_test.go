package main

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ttftap/ttftap/proxy"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// soon ends what would hang otherwise.
const soon = 5 * time.Second

// turnTaking sends each piece of a stream only when the one before is said to have
// come.
func turnTaking(t *testing.T, media, coding string, pieces []string, came <-chan bool) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", media)
		flush := w.(http.Flusher).Flush
		var out io.Writer = w
		if coding == "gzip" {
			w.Header().Set("Content-Encoding", coding)
			z := gzip.NewWriter(w)
			defer z.Close()
			out, flush = z, func() { z.Flush(); w.(http.Flusher).Flush() }
		}
		for n, p := range pieces {
			io.WriteString(out, p)
			flush()
			select {
			case <-came:
			case <-time.After(soon):
				t.Errorf("%s %s: piece %d did not come", media, coding, n)
				return
			}
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// The whole program, page and log and all, holds nothing back.
func TestEachPieceOfAStreamComesBeforeTheNextIsSent(t *testing.T) {
	events := []string{"data: {\"n\":1}\n\n", "data: {\"n\":2}\n\n", ": a comment\n\n", "data: [DONE]\n\n"}
	lines := []string{"{\"n\":1}\n", "{\"n\":2}\n", "{\"done\":true}\n"}
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	for _, c := range []struct {
		media, coding string
		pieces        []string
	}{
		{"text/event-stream", "", events},
		{"text/event-stream", "gzip", events},
		{"application/x-ndjson", "", lines},
		{"application/octet-stream", "", lines},
	} {
		for _, transport := range []*http.Transport{{DisableCompression: true}, {DisableCompression: true, Protocols: protocols}} {
			came := make(chan bool)
			r := startProgram(t, "serve", "--upstream", turnTaking(t, c.media, c.coding, c.pieces, came)+"/v1")
			res := must((&http.Client{Transport: transport}).Post(r.base+"/v1/chat/completions", "application/json", strings.NewReader(`{"stream":true}`)))
			body := io.Reader(res.Body)
			if c.coding == "gzip" {
				body = must(gzip.NewReader(body))
			}
			for n, p := range c.pieces {
				got := make([]byte, len(p))
				if _, err := io.ReadFull(body, got); err != nil || string(got) != p {
					t.Fatalf("%s %s: piece %d is %q, %v", c.media, res.Proto, n, got, err)
				}
				came <- true
			}
			if rest, err := io.ReadAll(body); err != nil || len(rest) > 0 {
				t.Errorf("%s %s: then %q, %v", c.media, res.Proto, rest, err)
			}
			transport.CloseIdleConnections()
		}
	}
}

// pipes is a listener in memory, for a bubble of time.
type pipes chan net.Conn

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	near, far := net.Pipe()
	p <- far
	return near, nil
}

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error   { close(p); return nil } // a server closes its listener once
func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// inTime runs a test with the program's own server before an upstream.
func inTime(t *testing.T, upstream http.HandlerFunc, test func(t *testing.T, front pipes)) {
	synctest.Test(t, func(t *testing.T) {
		up, front := make(pipes), make(pipes)
		model := &http.Server{Handler: upstream}
		go model.Serve(up)
		i := &instance{log: slog.New(slog.DiscardHandler)}
		i.proxy = must(proxy.New(proxy.Config{
			Upstreams: []proxy.Upstream{must(proxy.ParseUpstream("http://model.test/v1"))}, Dial: up.dial,
			Record: func(*exchange.Exchange) func() { return func() {} },
		}))
		i.serveOn(http.NotFoundHandler())
		go i.server.Serve(front)
		test(t, front)
		i.close()
		model.Close()
		synctest.Wait()
	})
}

func TestAStreamMayTakeAsLongAsItLikes(t *testing.T) {
	const events, pause = 66, 10 * time.Second
	slow := func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for range events {
			time.Sleep(pause)
			io.WriteString(w, textEvent)
			w.(http.Flusher).Flush()
		}
	}
	inTime(t, slow, func(t *testing.T, front pipes) {
		transport := &http.Transport{DialContext: front.dial}
		defer transport.CloseIdleConnections()
		start := time.Now()
		res := must((&http.Client{Transport: transport}).Post("http://ttftap.test/v1/chat/completions", "application/json", strings.NewReader("{}")))
		got, err := io.ReadAll(res.Body)
		if err != nil || string(got) != strings.Repeat(textEvent, events) || time.Since(start) != events*pause {
			t.Errorf("%d bytes, %v, after %v", len(got), err, time.Since(start))
		}
	})
}

func TestAClientThatNeverEndsItsHeadIsDropped(t *testing.T) {
	inTime(t, http.NotFound, func(t *testing.T, front pipes) {
		for _, head := range []string{"GET /v1/mod", "GET /v1/models HTTP/1.1\r\nHost: x\r\nX-Slow: "} {
			c, _ := front.dial(t.Context(), "", "")
			start := time.Now()
			io.WriteString(c, head)
			if answer, _ := io.ReadAll(c); strings.Contains(string(answer), " 200 ") || time.Since(start) != headerTimeout {
				t.Errorf("%q: %q after %v", head, answer, time.Since(start))
			}
			c.Close()
		}
	})
}

// Only what is below /-/ is the page's.
func TestNoPathIsCleanedOrKeptFromTheUpstream(t *testing.T) {
	got := make(chan string, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- r.Method + " " + r.RequestURI + " " + string(body)
	}))
	t.Cleanup(s.Close)
	r := startProgram(t, "serve", "--upstream", s.URL)
	for _, target := range []string{"//v1/responses", "/v1//chat/completions", "/v1/a/../b", "/v1/./c", "/v1/../-/x", "//-/x", "/-", "/-x/", "/", "/v1/files?after=a;b&x=%zz&flag"} {
		c := must(net.Dial("tcp", strings.TrimPrefix(r.base, "http://")))
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody", target)
		answer := string(must(io.ReadAll(c)))
		c.Close()
		if !strings.HasPrefix(answer, "HTTP/1.1 200 ") {
			t.Errorf("%s: %.60q", target, answer)
			continue
		}
		if s := <-got; s != "POST "+target+" body" {
			t.Errorf("%s arrived as %q", target, s)
		}
	}
}
