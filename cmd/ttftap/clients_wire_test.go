package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// relay passes connections on and keeps what went each way.
type relay struct {
	net.Listener
	mu    sync.Mutex
	calls []*call
}

// call is a connection: what its client sent, and what it got.
type call struct {
	sent, got lockedBuffer
	over      chan struct{}
}

// relayTo listens before address.
func relayTo(t testing.TB, address string) *relay {
	r := &relay{Listener: must(net.Listen("tcp", "127.0.0.1:0"))}
	t.Cleanup(func() { r.Close() })
	go func() {
		for {
			client, err := r.Accept()
			if err != nil {
				return
			}
			c := &call{over: make(chan struct{})}
			r.mu.Lock()
			r.calls = append(r.calls, c)
			r.mu.Unlock()
			go c.pass(client, address)
		}
	}()
	return r
}

func (c *call) pass(client net.Conn, address string) {
	defer close(c.over)
	defer client.Close()
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer server.Close()
	var up sync.WaitGroup
	up.Go(func() {
		io.Copy(io.MultiWriter(&c.sent, server), client)
		server.(*net.TCPConn).CloseWrite()
	})
	io.Copy(io.MultiWriter(&c.got, client), server)
	client.Close()
	up.Wait()
}

// heard is one request as its client sent it, with the answer that it got.
type heard struct {
	*taken
	whole bool // the answer's end was seen
}

// heard are all requests over HTTP/1.1, those of a closed relay.
func (r *relay) heard(t testing.TB) []heard {
	t.Helper()
	r.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []heard
	for _, c := range r.calls {
		<-c.over
		list = append(list, c.heard(t)...)
	}
	return list
}

func (c *call) heard(t testing.TB) (list []heard) {
	t.Helper()
	sent, got := bufio.NewReader(strings.NewReader(c.sent.String())), bufio.NewReader(strings.NewReader(c.got.String()))
	for {
		req, err := http.ReadRequest(sent)
		if err != nil {
			return list
		}
		h := heard{taken: &taken{method: req.Method, target: req.RequestURI, header: req.Header}}
		h.body, _ = io.ReadAll(req.Body)
		list = append(list, h)
		res, err := http.ReadResponse(got, req)
		if err != nil {
			continue // it left before the answer
		}
		h.status, h.requestID = res.StatusCode, res.Header.Get("X-Request-Id")
		if h.upgraded() {
			h.body, _ = io.ReadAll(sent)
			h.answer, _ = io.ReadAll(got)
			return list
		}
		h.answer, err = io.ReadAll(res.Body)
		list[len(list)-1].whole = err == nil
	}
}

// hops are headers of one connection alone.
var hops = []string{"Connection", "Http2-Settings", "Keep-Alive", "Proxy-Connection", "Te", "Transfer-Encoding", "Upgrade"}

// endToEnd are the headers that must arrive as they were sent.
func endToEnd(h http.Header) http.Header {
	h = h.Clone()
	for _, name := range hops {
		h.Del(name)
	}
	h.Del("Sec-Websocket-Extensions") // left out of an upgrade, so that frames can be read
	return h
}

// checkBytes compares what clients sent and got with what the model took and
// answered.
func checkBytes(t testing.TB, base string, sent []heard, got []*taken) {
	t.Helper()
	for _, g := range got {
		i := slices.IndexFunc(sent, func(h heard) bool { return h.upgraded() == g.upgraded() && h.requestID == g.requestID })
		if g.upgraded() {
			i = slices.IndexFunc(sent, func(h heard) bool {
				return h.upgraded() && h.header.Get("Sec-Websocket-Key") == g.header.Get("Sec-Websocket-Key")
			})
		}
		if i < 0 {
			t.Errorf("the model took %s %s (%s), which no client sent", g.method, g.target, g.requestID)
			continue
		}
		h := sent[i]
		sent = slices.Delete(slices.Clone(sent), i, i+1)
		checkOne(t, base, h, g)
	}
	for _, h := range sent {
		if h.requestID != "" {
			t.Errorf("the model did not take %s %s (%s)", h.method, h.target, h.requestID)
		}
	}
}

func checkOne(t testing.TB, base string, h heard, g *taken) {
	t.Helper()
	what := fmt.Sprintf("%s %s (%s)", h.method, h.target, h.requestID)
	if want := base + strings.TrimPrefix(h.target, "/v1"); h.method != g.method || want != g.target {
		t.Errorf("%s: the model took %s %s", what, g.method, g.target)
	}
	if diff := cmp.Diff(endToEnd(h.header), endToEnd(g.header)); diff != "" {
		t.Errorf("%s: headers of the request: %s", what, diff)
	}
	if h.upgraded() {
		if !bytes.HasPrefix(h.body, g.body) || !bytes.HasPrefix(g.answer, h.answer) {
			t.Errorf("%s: the frames differ", what)
		}
		return
	}
	if !bytes.Equal(h.body, g.body) {
		t.Errorf("%s: %d bytes were sent, and the model took other %d", what, len(h.body), len(g.body))
	}
	if isUpgrade(&http.Request{Header: g.header}) && g.status == http.StatusNotFound {
		g.status = http.StatusUpgradeRequired // the one status that is changed
	}
	if h.status != g.status || !bytes.HasPrefix(g.answer, h.answer) || h.whole && len(h.answer) != len(g.answer) {
		t.Errorf("%s: answered %d with %d bytes, and got %d with other %d", what, g.status, len(g.answer), h.status, len(h.answer))
	}
}

// changing is what differs from run to run: ids, times, addresses, and what Codex
// adds to its user agent once it is under way.
var changing = []struct {
	pattern *regexp.Regexp
	by      string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "UUID"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d[:.]\d\d[:.\d]*Z?`), "TIME"},
	{regexp.MustCompile(`(resp_|req_|msg_|fc_|rs_|cmp_|call_|chatcmpl-|gen-|aitxt-|msg-)[0-9A-Za-z_-]+`), "${1}ID"},
	{regexp.MustCompile(`eyJ[0-9A-Za-z_.-]+`), "TOKEN"},
	{regexp.MustCompile(`[0-9a-f]{16,}`), "HEX"},
	{regexp.MustCompile(`\b1[0-9]{9,12}(\.\d+)?\b`), "EPOCH"},
	{regexp.MustCompile(`(127\.0\.0\.1|localhost):\d+`), "ADDRESS"},
	{regexp.MustCompile(`Done:( [a-z]{3})+`), "ANSWER"},
	{regexp.MustCompile(` \(codex_exec; [0-9.]+\)`), ""},
	{regexp.MustCompile(`Chunk ID: [0-9a-f]+`), "CHUNK"},
	{regexp.MustCompile(`(?i)(duration_seconds\\?"?|wall time): ?\d+(\.\d+)?`), "DURATION"},
	{regexp.MustCompile(`\b\d+(\.\d+)? ?(ms|s|seconds)\b`), "DURATION"},
}

func normal(text string) string {
	for _, c := range changing {
		text = c.pattern.ReplaceAllString(text, c.by)
	}
	return text
}

// letters are what the model was sent, without what changes from run to run, in an
// order of their own. An upgrade that came to nothing is left out: the proxy may
// have answered it. A list that was asked for again is there once: Codex does that
// now twice, now three times.
func letters(got []*taken) []string {
	var list []string
	for _, g := range got {
		if isUpgrade(&http.Request{Header: g.header}) && !g.upgraded() {
			continue
		}
		h := endToEnd(g.header)
		for _, name := range []string{"Content-Length", "Sec-Websocket-Key"} {
			h.Del(name)
		}
		var head bytes.Buffer
		h.Write(&head)
		target := strings.TrimPrefix(strings.TrimPrefix(g.target, "/v1"), "/backend-api/codex")
		letter := g.method + " " + target + "\n" + head.String()
		for line := range bytes.Lines(g.plain) {
			letter += "\n" + canonical(string(line))
		}
		if letter = normal(letter); g.method != http.MethodGet || !slices.Contains(list, letter) {
			list = append(list, letter)
		}
	}
	slices.Sort(list)
	return list
}

// canonical is JSON with its keys in order, in the strings of it too: Codex puts
// some in another order each time.
func canonical(text string) string {
	var v any
	if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	return string(must(json.Marshal(ordered(v))))
}

func ordered(v any) any {
	switch v := v.(type) {
	case string:
		return canonical(v)
	case []any:
		for i := range v {
			v[i] = ordered(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = ordered(v[name])
		}
	}
	return v
}

// firstDifference is where two texts part.
func firstDifference(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	near := func(s string) string { return s[max(0, i-80):min(len(s), i+120)] }
	return fmt.Sprintf("at byte %d:\n%q\n%q", i, near(a), near(b))
}
