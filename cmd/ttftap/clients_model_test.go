package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/tidwall/gjson"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/proxy/simulator"
)

// taken is one request as the model's server took it, and what it answered. For
// a WebSocket, the body and the answer are the bytes after the upgrade.
type taken struct {
	method, target string
	header         http.Header
	body, plain    []byte // as sent, and uncompressed
	status         int
	answer         []byte
	encoding       string // of the answer
	requestID      string
	over           chan struct{} // closed when the answer has ended
}

// upgraded says whether it became a WebSocket.
func (s *taken) upgraded() bool { return s.status == http.StatusSwitchingProtocols }

// conduct is how a model's server is to behave.
type conduct struct {
	answers  string   // content-encoding of the answers, where the client takes it; "" for none
	mishaps  []string // what befalls the first calls, as simulator.OverrideHeader has it
	sockets  int      // status of the answer to a WebSocket upgrade; 0 takes it
	down     bool     // nobody listens any more
	external string   // an origin from which a browser may call
}

// modelServer is a simulated model that keeps what it was sent and what it knows
// of each answer.
type modelServer struct {
	conduct
	*httptest.Server
	simulated *simulator.Server

	mu     sync.Mutex
	taken  []*taken
	truths map[string]simulator.Truth // by the response's id, and by the request's
}

func serveModel(t testing.TB, how conduct) *modelServer {
	s := &modelServer{conduct: how, truths: map[string]simulator.Truth{}}
	quick := simulator.Behaviour{
		Floor: 5 * time.Millisecond, TPOT: 2 * time.Millisecond, Output: 40, Headers: simulator.AtAccept,
		Reasoning: simulator.Hidden, ReasoningTokens: 8,
	}
	agent := quick
	agent.ToolRounds = 2
	s.simulated = simulator.New(simulator.Config{Done: s.tell, Profiles: []simulator.Profile{
		{Name: "sim-plain", Behaviour: quick}, {Name: "sim-codex", Behaviour: agent},
	}})
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.take))
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	if t.Cleanup(s.Close); how.down {
		s.Close()
	}
	return s
}

func (s *modelServer) tell(truth simulator.Truth) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.truths[truth.ResponseID], s.truths[truth.RequestID] = truth, truth
}

// take keeps a request and its answer.
func (s *modelServer) take(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	got := &taken{method: r.Method, target: r.RequestURI, header: r.Header.Clone(), body: body, plain: plain(r.Header, body), over: make(chan struct{})}
	s.mu.Lock()
	s.taken = append(s.taken, got)
	s.mu.Unlock()
	defer close(got.over)
	keep := &keeping{ResponseWriter: w, of: got, encoding: s.encoding(r)}
	defer keep.end()
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(got.plain)), int64(len(got.plain))
	r.Header.Del("Content-Encoding")
	r.URL.Path = strings.TrimPrefix(r.URL.Path, "/backend-api/codex")
	s.answer(keep, r, got.plain)
}

func (s *modelServer) encoding(r *http.Request) string {
	if s.answers != "" && strings.Contains(r.Header.Get("Accept-Encoding"), s.answers) {
		return s.answers
	}
	return ""
}

func (s *modelServer) answer(w http.ResponseWriter, r *http.Request, body []byte) {
	if s.external != "" {
		maps.Copy(w.Header(), http.Header{
			"Access-Control-Allow-Origin": {s.external}, "Access-Control-Allow-Headers": {"authorization, content-type, x-stainless-os"},
		})
	}
	switch {
	case r.Method == http.MethodOptions:
		w.Header().Set("X-Request-Id", "req_preflight")
		w.WriteHeader(http.StatusNoContent)
	case isUpgrade(r) && s.sockets != 0:
		w.Header().Set("X-Request-Id", "req_upgrade")
		w.WriteHeader(s.sockets)
	case gjson.GetBytes(body, "input.@reverse.0.type").String() == "compaction_trigger":
		s.compact(w)
	default:
		if r.Method == http.MethodPost {
			r.Header.Set(simulator.OverrideHeader, s.mishap())
		}
		s.simulated.ServeHTTP(w, r)
	}
}

// mishap is what befalls the next call.
func (s *modelServer) mishap() (next string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.mishaps) > 0 {
		next, s.mishaps = s.mishaps[0], s.mishaps[1:]
	}
	return next
}

// compact answers a call for a compaction, which the simulator does not know.
func (s *modelServer) compact(w http.ResponseWriter) {
	s.mu.Lock()
	id := fmt.Sprintf("%d", time.Now().UnixNano())
	s.truths["resp_"+id] = simulator.Truth{
		RequestID: "req_" + id, ResponseID: "resp_" + id, Dialect: exchange.Responses, Outcome: exchange.OK, Streamed: true,
		PromptTokens: 900, CachedTokens: 256, OutputTokens: 33,
	}
	s.mu.Unlock()
	w.Header().Set("X-Request-Id", "req_"+id)
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range []string{
		`{"type":"response.created","response":{"id":"resp_%s","status":"in_progress","output":[]}}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"type":"compaction","id":"cmp_%s","encrypted_content":"c2hvcnRlcg=="}}`,
		`{"type":"response.completed","response":{"id":"resp_%s","status":"completed","output":[],"usage":{"input_tokens":900,` +
			`"input_tokens_details":{"cached_tokens":256},"output_tokens":33,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":933}}}`,
	} {
		e = fmt.Sprintf(e, id)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", gjson.Get(e, "type"), e)
	}
}

// all are the requests taken so far, once each has been answered.
func (s *modelServer) all() []*taken {
	s.mu.Lock()
	list := append([]*taken(nil), s.taken...)
	s.mu.Unlock()
	for _, one := range list {
		select {
		case <-one.over:
		case <-time.After(10 * time.Second):
		}
		if one.upgraded() {
			one.plain = bytes.Join(spoken(one.body), []byte("\n"))
		}
	}
	return list
}

// await calls then once n requests have been answered, and the client has had a
// moment to read the answers.
func (s *modelServer) await(ctx context.Context, n int, then func()) {
	for answered := 0; answered < n && ctx.Err() == nil; {
		<-time.After(200 * time.Millisecond)
		answered = 0
		s.mu.Lock()
		for _, truth := range s.truths {
			if truth.Outcome == exchange.OK {
				answered++
			}
		}
		answered /= 2 // each is there by two ids
		s.mu.Unlock()
	}
	<-time.After(time.Second)
	then()
}

func isUpgrade(r *http.Request) bool { return strings.EqualFold(r.Header.Get("Upgrade"), "websocket") }

// plain is a body as it was before it was compressed.
func plain(h http.Header, body []byte) []byte {
	if h.Get("Content-Encoding") != "zstd" {
		return body
	}
	d := must(zstd.NewReader(bytes.NewReader(body)))
	defer d.Close()
	return must(io.ReadAll(d))
}

// keeping is an answer of which a copy is kept, compressed if that is wanted.
type keeping struct {
	http.ResponseWriter
	of       *taken
	encoding string
	squeezer interface {
		io.WriteCloser
		Flush() error
	}
}

// copying writes what is sent into the copy, too.
type copying struct{ k *keeping }

func (c copying) Write(p []byte) (int, error) {
	c.k.of.answer = append(c.k.of.answer, p...)
	return c.k.ResponseWriter.Write(p)
}

func (k *keeping) WriteHeader(status int) {
	k.of.status, k.of.requestID = status, k.Header().Get("X-Request-Id")
	if k.encoding != "" && status == http.StatusOK {
		k.of.encoding = k.encoding
		k.Header().Set("Content-Encoding", k.encoding)
		k.Header().Del("Content-Length")
		if k.squeezer = gzip.NewWriter(copying{k}); k.encoding == "zstd" {
			k.squeezer = must(zstd.NewWriter(copying{k}))
		}
	}
	k.ResponseWriter.WriteHeader(status)
}

func (k *keeping) Write(p []byte) (int, error) {
	if k.of.status == 0 {
		k.WriteHeader(http.StatusOK)
	}
	if k.squeezer != nil {
		return k.squeezer.Write(p)
	}
	return copying{k}.Write(p)
}

func (k *keeping) Flush() {
	if k.squeezer != nil {
		k.squeezer.Flush()
	}
	http.NewResponseController(k.ResponseWriter).Flush()
}

func (k *keeping) end() {
	if k.squeezer != nil {
		k.squeezer.Close()
	}
}
