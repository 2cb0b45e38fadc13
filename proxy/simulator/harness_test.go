package simulator

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"
)

// bench is a server and a client joined by pipes within a bubble, so that
// instants are exact.
type bench struct {
	t      *testing.T
	client *http.Client

	mu     sync.Mutex
	truths []Truth
}

// inBubble runs a test against a server of the profiles given.
func inBubble(t *testing.T, c Config, run func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{t: t}
		c.Done = func(truth Truth) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.truths = append(b.truths, truth)
		}
		listener := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		server := &http.Server{Handler: New(c)}
		go server.Serve(listener)
		transport := &http.Transport{DialContext: listener.dial, DisableCompression: true}
		b.client = &http.Client{Transport: transport}
		defer server.Close()
		defer transport.CloseIdleConnections()
		run(b)
	})
}

// one is a server with one model, called m.
func one(how Behaviour) Config {
	return Config{Profiles: []Profile{{Name: "m", Behaviour: how}}}
}

// pipes is a listener without a network.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// answer is what a client sees.
type answer struct {
	status   int
	header   http.Header
	headers  time.Duration // when the head came
	messages []message     // of a stream
	body     gjson.Result  // where it is none
	end      time.Duration
	err      error // the connection broke
}

// message is one message of a stream, or a comment.
type message struct {
	at      time.Duration
	name    string
	data    string
	comment string
}

func (m message) get(path string) gjson.Result { return gjson.Get(m.data, path) }

// post sends a request and reads all of the answer. Simulate is the value of
// the override header.
func (b *bench) post(path string, body object, simulate string) answer {
	b.t.Helper()
	return b.postAs(context.Background(), path, body, simulate)
}

func (b *bench) postAs(ctx context.Context, path string, body object, simulate string) answer {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://simulator"+path, bytes.NewReader(encode(body)))
	if err != nil {
		return answer{err: err}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(OverrideHeader, simulate)
	return b.do(req)
}

func (b *bench) do(req *http.Request) answer {
	start := time.Now()
	resp, err := b.client.Do(req)
	if err != nil {
		return answer{err: err, end: time.Since(start)}
	}
	defer resp.Body.Close()
	a := answer{status: resp.StatusCode, header: resp.Header, headers: time.Since(start)}
	if resp.Header.Get("Content-Type") == "text/event-stream" {
		a.messages, a.err = readStream(resp.Body, start)
	} else {
		var text []byte
		text, a.err = io.ReadAll(resp.Body)
		a.body = gjson.ParseBytes(text)
	}
	a.end = time.Since(start)
	return a
}

// readStream is a plain reading of server-sent events: fields by line, a
// message at each blank line, stamped as it comes.
func readStream(r io.Reader, start time.Time) ([]message, error) {
	var all []message
	var next message
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF && line == "" {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "\n":
			next.at = time.Since(start)
			all, next = append(all, next), message{}
		case field == "":
			next.comment = value
		case field == "event":
			next.name = value
		case field == "data":
			next.data += value
		}
	}
}

// told are the truths so far, in the order in which requests ended.
func (b *bench) told() []Truth {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.truths)
}

// latest is the truth of the request that came last.
func latest(told []Truth) Truth {
	return slices.MaxFunc(told, func(t, u Truth) int { return strings.Compare(t.RequestID, u.RequestID) })
}

// truth is that of the only request so far.
func (b *bench) truth() Truth {
	b.t.Helper()
	told := b.told()
	if len(told) != 1 {
		b.t.Fatalf("%d requests have ended, want 1", len(told))
	}
	return told[0]
}

// api is one way to ask and to read.
type api struct {
	name string
	path string
	ask  func(text string) object
	text func(m message) string // what of the answer a message shows
	done func(m message) bool   // whether it completes the answer
}

// of makes the body of a streamed request to model m.
func (a api) of(text string, more ...object) object {
	body := a.ask(text)
	body["model"], body["stream"] = "m", true
	for _, o := range more {
		for key, value := range o {
			body[key] = value
		}
	}
	return body
}

var apis = []api{
	{
		"responses", "/v1/responses",
		func(text string) object { return object{"input": text} },
		func(m message) string {
			if m.name == "response.output_text.delta" || m.name == "response.function_call_arguments.delta" {
				return m.get("delta").Str
			}
			return ""
		},
		func(m message) bool { return m.name == "response.completed" },
	},
	{
		"chat", "/v1/chat/completions",
		func(text string) object { return object{"messages": []object{{"content": text}}} },
		func(m message) string {
			return m.get("choices.0.delta.content").Str + m.get("choices.0.delta.tool_calls.0.function.arguments").Str
		},
		func(m message) bool { return m.data == "[DONE]" },
	},
	{
		"completions", "/v1/completions",
		func(text string) object { return object{"prompt": text} },
		func(m message) string { return m.get("choices.0.text").Str },
		func(m message) bool { return m.data == "[DONE]" },
	},
	{
		"messages", "/v1/messages",
		func(text string) object { return object{"messages": []object{{"content": text}}} },
		func(m message) string { return m.get("delta.text").Str + m.get("delta.partial_json").Str },
		func(m message) bool { return m.name == "message_stop" },
	},
}

// shown are the messages that show something of the answer.
func (a api) shown(all []message) []message {
	var shown []message
	for _, m := range all {
		if a.text(m) != "" {
			shown = append(shown, m)
		}
	}
	return shown
}

// spoken is all that they show.
func (a api) spoken(all []message) string {
	var b strings.Builder
	for _, m := range all {
		b.WriteString(a.text(m))
	}
	return b.String()
}

// each runs a test for every API, each in a bubble of its own.
func each(t *testing.T, c Config, run func(b *bench, a api)) {
	t.Helper()
	for _, a := range apis {
		t.Run(a.name, func(t *testing.T) {
			inBubble(t, c, func(b *bench) { run(b, a) })
		})
	}
}

// text is that many tokens of prompt, in any API.
func text(tokens int) string { return strings.Repeat("word", tokens) }

// equal fails the test where a duration is not exactly so.
func equal(t *testing.T, what string, got, want time.Duration) {
	t.Helper()
	if got != want {
		t.Errorf("%s at %v, want %v", what, got, want)
	}
}

const ms = time.Millisecond
