package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ttftap/ttftap/proxy/simulator"
)

// ask is one request of the demo's traffic.
type ask struct {
	api      string // path of the endpoint
	model    string
	prompt   int           // tokens
	topic    string        // prompts of one topic share their beginning
	simulate string        // what the model is to do, see simulator.OverrideHeader
	tools    bool          // the model may call a tool
	plain    bool          // not streamed
	leave    time.Duration // the client leaves after so long; 0: it stays
	turn     string        // what the agent says that it belongs to; "" for nothing
	kind     string        // and what it is for
	work     time.Duration // how long the agent's own tools run before it
}

// lane is the requests of one client, one after the other.
type lane struct {
	session string
	agent   string
	asks    []ask
	socket  bool // over one WebSocket, of which the first only prepares the prompt
}

const (
	responses   = "/v1/responses"
	chat        = "/v1/chat/completions"
	completions = "/v1/completions"
	messages    = "/v1/messages"
	embeddings  = "/v1/embeddings"
)

// traffic shows each kind of slowness at least once, within half a minute.
func traffic() []lane {
	var lanes []lane
	lanes = append(lanes, lane{session: "agent-1", agent: "codex_exec/0.171.0", asks: agentTurns()})
	lanes = append(lanes, lane{session: "long-prompts", agent: "codex_exec/0.171.0", asks: []ask{
		{api: responses, model: "sim-large", prompt: 60_000, topic: "manual", simulate: "output=90"},
		{api: responses, model: "sim-large", prompt: 60_000, topic: "manual", simulate: "output=90"},
		{api: responses, model: "sim-large", prompt: 61_500, topic: "manual", simulate: "output=60"},
		{api: responses, model: "sim-large", prompt: 61_500, topic: "another manual", simulate: "output=60"},
		{api: messages, model: "sim-large", prompt: 30_000, topic: "book", simulate: "output=40"},
		{api: messages, model: "sim-large", prompt: 30_000, topic: "book", simulate: "output=40"},
	}})
	lanes = append(lanes, lane{session: "long-answers", agent: "OpenAI/JS 6.9.0", asks: []ask{
		{api: chat, model: "sim-large", prompt: 400, topic: "story", simulate: "output=420"},
		{api: responses, model: "sim-reasoning", prompt: 900, topic: "proof", simulate: "reasoning=hidden:420, output=60"},
		{api: responses, model: "sim-reasoning", prompt: 900, topic: "proof", simulate: "reasoning=summary:320, output=90"},
		{api: chat, model: "sim-reasoning", prompt: 900, topic: "riddle", simulate: "reasoning=visible:200, output=60"},
		{api: responses, model: "sim-light", prompt: 2_000, topic: "patch", tools: true, simulate: "tools=1, whole, call=260"},
		{api: chat, model: "sim-light", prompt: 300, topic: "haiku"},
	}})
	lanes = append(lanes, lane{session: "trouble", agent: "curl/8.17.0", asks: []ask{
		{api: chat, model: "sim-light", prompt: 300, topic: "a", simulate: "output=150, stall=3s"},
		{api: chat, model: "sim-light", prompt: 300, topic: "b", simulate: "output=300, hop=1500ms"},
		{api: responses, model: "sim-light", prompt: 300, topic: "c", simulate: "output=120, mishap=cut"},
		{api: chat, model: "sim-light", prompt: 300, topic: "d", simulate: "output=120, mishap=error"},
		{api: chat, model: "sim-light", prompt: 300, topic: "e", simulate: "status=429, retry_after=1s"},
		{api: chat, model: "sim-light", prompt: 300, topic: "e"},
		{api: responses, model: "sim-large", prompt: 300, topic: "f", simulate: "output=400", leave: 2500 * time.Millisecond},
		{api: responses, model: "sim-large", prompt: 50_000, topic: "g", leave: 1200 * time.Millisecond},
		{api: chat, model: "sim-light", prompt: 300, topic: "h", simulate: "status=401"},
		{api: "/v1/chat/completion", model: "sim-light", prompt: 300, topic: "i"},
		{api: chat, model: "sim-light", prompt: 300, topic: "j", simulate: "network=700ms"},
		{api: chat, model: "sim-light", prompt: 300, topic: "k", simulate: "output=220, pseudo"},
	}})
	lanes = append(lanes, lane{session: "batch", agent: "OpenAI/Python 2.8.0", asks: []ask{
		{api: chat, model: "sim-large", prompt: 1_200, topic: "plain", plain: true},
		{api: responses, model: "sim-light", prompt: 1_200, topic: "plain", plain: true},
		{api: messages, model: "sim-light", prompt: 1_200, topic: "plain", plain: true},
		{api: embeddings, model: "sim-light", prompt: 800, topic: "vector", plain: true},
		{api: chat, model: "sim-large", prompt: 24_000, topic: "digest", simulate: "output=70"},
		{api: chat, model: "sim-large", prompt: 24_000, topic: "digest", simulate: "output=70, uncached"},
		{api: chat, model: "sim-light", prompt: 20_000, topic: "notes", simulate: "output=3"},
		{api: chat, model: "sim-light", prompt: 90_000, topic: "archive", simulate: "output=3"},
	}})
	lanes = append(lanes, lane{session: "review", agent: "claude-cli/2.1.0", asks: []ask{
		{api: messages, model: "sim-light", prompt: 6_000, topic: "review", simulate: "reasoning=visible:60, output=60"},
		{api: messages, model: "sim-light", prompt: 7_500, topic: "review", simulate: "reasoning=visible:60, output=60"},
		{api: completions, model: "sim-light", prompt: 300, topic: "draft", simulate: "chunk=5, output=200"},
		{api: responses, model: "sim-light", prompt: 300, topic: "blocks", simulate: "hop=16384, output=250"},
		{api: chat, model: "sim-local", prompt: 2_600, topic: "progress", simulate: "progress, ping=1s, output=20"},
		{api: responses, model: "sim-light", prompt: 300, topic: "down", simulate: "status=500"},
	}})
	lanes = append(lanes, lane{session: "socket", agent: "codex_exec/0.171.0", socket: true, asks: []ask{
		{model: "sim-large", prompt: 12_000, topic: "tools and rules"},
		{model: "sim-large", prompt: 900, topic: "a question", simulate: "output=60"},
		{model: "sim-large", prompt: 300, topic: "what a tool said", simulate: "output=40"},
		{model: "sim-large", prompt: 14_000, topic: "a long file", simulate: "output=40"},
		{model: "sim-large", prompt: 200, topic: "thanks", simulate: "output=160"},
	}})
	for i := range 5 { // one slot: they queue
		lanes = append(lanes, lane{session: fmt.Sprintf("local-%d", i+1), agent: "llm-cli/0.31", asks: []ask{
			{api: chat, model: "sim-local", prompt: 120, topic: fmt.Sprint("hello ", i)},
			{api: chat, model: "sim-local", prompt: 900 + 600*i, topic: fmt.Sprint("file ", i), simulate: "output=40"},
		}})
	}
	return lanes
}

// agentTurns grow a context as a coding agent does, with one cold start and a
// compaction, after which nothing of the prompt is known any more. Between the
// requests of a turn its tools run.
func agentTurns() []ask {
	var asks []ask
	for i := range 10 {
		asks = append(asks, ask{api: responses, model: "sim-large", prompt: 14_000 + 1_800*i, topic: "repository",
			simulate: fmt.Sprintf("reasoning=hidden:%d, output=%d", 8+4*i, 70+6*i),
			turn:     fmt.Sprintf("agent-1-turn-%d", 1+i/5), kind: "turn", work: time.Duration(i%5) * 150 * time.Millisecond})
	}
	return append(asks,
		ask{api: responses, model: "sim-large", prompt: 9_000, topic: "summary of the repository", simulate: "output=30",
			turn: "agent-1-turn-3", kind: "compaction"},
		ask{api: responses, model: "sim-large", prompt: 9_900, topic: "summary of the repository", simulate: "output=80",
			turn: "agent-1-turn-3", kind: "turn"})
}

// sendTraffic sends the demo's traffic through the proxy and returns how many
// requests it was.
func sendTraffic(ctx context.Context, base string) int64 {
	var sent atomic.Int64
	var group sync.WaitGroup
	for _, l := range traffic() {
		if l.socket {
			group.Go(func() { sent.Add(l.converse(ctx, base)) })
			continue
		}
		group.Go(func() {
			for _, a := range l.asks {
				if isPast(ctx, a.work) {
					l.send(ctx, base, a)
					sent.Add(1)
				}
			}
		})
	}
	group.Wait()
	return sent.Load()
}

// isPast waits, and says whether nothing ended the wait.
func isPast(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// send sends one request and reads the answer to its end. What goes wrong is the
// demo's subject and stands in its log.
func (l lane) send(ctx context.Context, base string, a ask) {
	if a.leave > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, a.leave)
		defer cancel()
	}
	a.topic = l.session + ", " + a.topic // no lane warms the cache of another
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+a.api, bytes.NewReader(a.body()))
	if err != nil {
		return
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer demo-"+l.agent)
	r.Header.Set("User-Agent", l.agent)
	r.Header.Set("Session-Id", l.session)
	if a.turn != "" {
		r.Header.Set("X-Codex-Turn-Metadata", fmt.Sprintf(`{"turn_id":%q,"request_kind":%q}`, a.turn, a.kind))
	}
	r.Header.Set(simulator.OverrideHeader, a.simulate)
	res, err := (&http.Client{Transport: local}).Do(r)
	if err != nil {
		return
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
}

// local never goes through an outbound proxy.
var local = &http.Transport{}

func (a ask) body() []byte {
	text := filler(a.topic, a.prompt)
	body := map[string]any{"model": a.model, "stream": !a.plain}
	said := []map[string]string{{"role": "user", "content": text}}
	switch a.api {
	case responses, embeddings:
		body["input"] = text
	case completions:
		body["prompt"], body["stream_options"] = text, map[string]bool{"include_usage": true}
	case messages:
		body["messages"], body["max_tokens"] = said, 4096
	default:
		body["messages"], body["stream_options"] = said, map[string]bool{"include_usage": true}
	}
	if a.tools {
		body["tools"] = []map[string]string{{"type": "function", "name": "exec_command"}}
	}
	b, err := json.Marshal(body)
	if err != nil { // it is made of strings and numbers
		panic(err)
	}
	return b
}

// filler is a text of about so many tokens of four bytes.
func filler(topic string, tokens int) string {
	unit := topic + ": one more line of the same kind, to be read. "
	return strings.Repeat(unit, tokens*4/len(unit)+1)[:tokens*4]
}
