package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// streaming is a stream that a client reads.
type streaming struct {
	name  string
	play  *play
	body  io.ReadCloser
	leave context.CancelFunc
	read  int64
}

// next names an exchange.
func (l *ledger) next() string {
	l.n++
	return fmt.Sprintf("x%d", l.n)
}

func askedBy(name string, stream bool) string {
	return fmt.Sprintf(`{"model":%q,"stream":%t,"messages":[{"role":"user","content":"about %s"}]}`, name, stream, name)
}

// ask sends a request. What the upstream gets must be what was sent.
func (l *ledger) ask(t *rapid.T, name, path string, stream bool, orders ...order) (*http.Response, *streaming) {
	ctx, leave := context.WithCancel(context.Background())
	body := askedBy(name, stream)
	q := must(http.NewRequestWithContext(ctx, http.MethodPost, l.i.base+path, strings.NewReader(body)))
	q.Header = http.Header{playHeader: {name}, "Session-Id": {name}}
	p := l.upstream.begin(name)
	for _, o := range orders {
		p.orders <- o
	}
	res, err := l.client.Do(q)
	if err != nil {
		t.Fatalf("no answer to %s: %v", name, err)
	}
	if path == "/v1/chat/completions" {
		if got := <-p.got; string(got) != body {
			t.Fatalf("the upstream got %q, not %q", got, body)
		}
	}
	return res, &streaming{name: name, play: p, body: res.Body, leave: leave}
}

const chatPath = "/v1/chat/completions"

func (l *ledger) streamBegins(t *rapid.T) {
	name := l.next()
	first := chunkSaying(rapid.StringN(1, 20, 200).Draw(t, "text"))
	_, s := l.ask(t, name, chatPath, true, order{kind: "text/event-stream", write: first})
	l.streams = append(l.streams, s)
	l.must[name] = entry{Outcome: exchange.Open}
	s.reads(t, first)
}

// reads reads what must come next.
func (s *streaming) reads(t *rapid.T, want string) {
	got := make([]byte, len(want))
	n, err := io.ReadFull(s.body, got)
	if err != nil || string(got) != want {
		t.Fatalf("%s: the client read %q, %v, not %q", s.name, got[:n], err, want)
	}
	s.read += int64(n)
}

// anyStream takes one of the streams out, or skips.
func (l *ledger) anyStream(t *rapid.T) *streaming {
	if len(l.streams) == 0 {
		t.Skip("there is no stream")
	}
	at := rapid.IntRange(0, len(l.streams)-1).Draw(t, "which")
	s := l.streams[at]
	l.streams = append(l.streams[:at:at], l.streams[at+1:]...)
	return s
}

func (l *ledger) streamGoesOn(t *rapid.T) {
	s := l.anyStream(t)
	l.streams = append(l.streams, s)
	more := strings.Repeat(chunkSaying(rapid.StringN(0, 20, 200).Draw(t, "text")), rapid.IntRange(1, 20).Draw(t, "times"))
	s.play.orders <- order{write: more}
	s.reads(t, more)
}

// ended is what must be in the log of a stream of which the client has read so much.
func (s *streaming) ended(o exchange.Outcome, output int64) entry {
	return entry{o, "sse", 200, int64(len(askedBy(s.name, true))), s.read, output}
}

func (l *ledger) streamEnds(t *rapid.T) {
	s := l.anyStream(t)
	switch rapid.SampledFrom([]string{"well", "error", "cut", "without its end", "left"}).Draw(t, "how") {
	case "well":
		l.endsWell(t, s, rapid.IntRange(0, 1000).Draw(t, "tokens"))
	case "error":
		s.play.orders <- order{write: failedChunk, end: complete}
		s.reads(t, failedChunk)
		s.over(t, io.EOF)
		l.must[s.name] = s.ended(exchange.ErrorEvent, -1)
	case "cut":
		s.play.orders <- order{end: cut}
		s.over(t, io.ErrUnexpectedEOF)
		l.must[s.name] = s.ended(exchange.UpstreamCut, -1)
	case "without its end":
		s.play.orders <- order{end: complete}
		s.over(t, io.EOF)
		l.must[s.name] = s.ended(exchange.UpstreamCut, -1)
	case "left":
		s.leave()
		s.body.Close()
		l.must[s.name] = s.ended(exchange.ClientAbort, -1)
	}
	l.settle(t, 0)
}

func (l *ledger) endsWell(t *rapid.T, s *streaming, tokens int) {
	last := lastChunk(tokens)
	s.play.orders <- order{write: last, end: complete}
	s.reads(t, last)
	s.over(t, io.EOF)
	l.must[s.name] = s.ended(exchange.OK, int64(tokens))
}

// over reads to the end, where nothing must come any more.
func (s *streaming) over(t *rapid.T, want error) {
	rest, err := io.ReadAll(s.body)
	if err == nil {
		err = io.EOF
	}
	if len(rest) > 0 || err != want {
		t.Fatalf("%s ends with %q, %v, not %v", s.name, rest, err, want)
	}
	s.body.Close()
	s.leave()
}

func (l *ledger) wholeAnswer(t *rapid.T) {
	name, status := l.next(), rapid.SampledFrom([]int{200, 400, 429, 500}).Draw(t, "status")
	answer, outcome, output := `{"error":{"message":"no","type":"t"}}`, exchange.UpstreamError, int64(-1)
	if status == 200 {
		output = rapid.Int64Range(0, 1e6).Draw(t, "tokens")
		outcome = exchange.OK
		answer = fmt.Sprintf(`{"id":"r","model":%q,"choices":[{"index":0,"finish_reason":"stop","message":{"content":"Hi"}}],"usage":{"prompt_tokens":3,"completion_tokens":%d}}`, name, output)
	}
	res, s := l.ask(t, name, chatPath, false, order{status: status, kind: "application/json", write: answer, end: complete})
	got, err := io.ReadAll(res.Body)
	if err != nil || string(got) != answer || res.StatusCode != status {
		t.Fatalf("%s: %d %q, %v", name, res.StatusCode, got, err)
	}
	s.leave()
	l.must[name] = entry{outcome, "http", int64(status), int64(len(askedBy(name, false))), int64(len(answer)), output}
}

// uploadEnds is a client that leaves in the middle of its request.
func (l *ledger) uploadEnds(t *rapid.T) {
	name := l.next()
	l.upstream.begin(name)
	body := askedBy(name, true)
	sent := body[:rapid.IntRange(1, len(body)-1).Draw(t, "sent")]
	c := must(net.Dial("tcp", strings.TrimPrefix(l.i.base, "http://")))
	fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\n%s: %s\r\nSession-Id: %s\r\nContent-Length: %d\r\n\r\n%s", chatPath, playHeader, name, name, len(body), sent)
	l.settle(t, 1)
	c.Close()
	l.settle(t, 0)
	l.must[name] = entry{exchange.ClientAbort, "", -1, int64(len(sent)), -1, -1}
}

func (l *ledger) nobodyAnswers(t *rapid.T) {
	name := l.next()
	want := entry{exchange.Unreachable, "", -1, int64(len(askedBy(name, false))), -1, -1}
	path, status := "/to/gone"+chatPath, http.StatusBadGateway
	switch rapid.SampledFrom([]string{"gone", "unknown", "cut"}).Draw(t, "why") {
	case "unknown":
		want.Outcome, want.Request = exchange.Refused, 0
		path, status = "/to/nowhere"+chatPath, http.StatusNotFound
	case "cut":
		want.Outcome = exchange.UpstreamCut
		path = chatPath
	}
	res, s := l.ask(t, name, path, false, order{end: cut})
	if body, err := io.ReadAll(res.Body); err != nil || res.StatusCode != status || !bytes.Contains(body, []byte(`"error"`)) {
		t.Fatalf("%s: %d %q, %v", name, res.StatusCode, body, err)
	}
	s.leave()
	l.must[name] = want
}

// allEnd has everything under way end well.
func (l *ledger) allEnd(t *rapid.T) {
	for _, s := range l.streams {
		l.endsWell(t, s, 7)
	}
	for _, c := range l.sockets {
		if c.call != "" {
			l.answers(t, c, 7)
		}
		c.over(t)
	}
	l.streams, l.sockets = nil, nil
}

// allBroken is what clients see of a stop at once.
func (l *ledger) allBroken(t *rapid.T) {
	for _, s := range l.streams {
		s.over(t, io.ErrUnexpectedEOF)
		l.must[s.name] = s.ended(exchange.Interrupted, -1)
	}
	for _, c := range l.sockets {
		c.over(t)
		if c.call != "" {
			l.must[c.call] = c.ended(exchange.Interrupted, -1)
		}
	}
	l.streams, l.sockets = nil, nil
}
