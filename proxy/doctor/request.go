package doctor

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// Request is one that may be made.
type Request struct {
	Method string `json:"method"`
	URL    string `json:"url"`
	What   string `json:"what"`   // it is for
	When   string `json:"when"`   // "": always
	Tokens int    `json:"tokens"` // of prompt and answer, at most and about
	kind   ask
	extra  http.Header
	body   map[string]any
}

// ask is a kind of request.
type ask uint8

const (
	modelsAsk ask = iota
	responsesAsk
	chatAsk      // asks for usage
	chatPlainAsk // does not
	socketAsk
	headerAsk // the list of models, with the key in another header
	healthAsk
	viaAsk // the list of models, through ttftap
)

// What is asked of a model: enough of an answer to see how it comes.
const (
	question    = "Count from 1 to 40, in digits, separated by blanks. Say nothing else."
	answerLimit = 64
	roundedCost = answerLimit + 36

	unlimitedCost = 200 // of the same where nothing limits it but the question
)

func models(base string) Request {
	return Request{Method: http.MethodGet, URL: base + "/models", What: "the list of models", kind: modelsAsk}
}

func responses(base, model string) Request {
	return Request{Method: http.MethodPost, URL: base + "/responses", What: "a short stream", Tokens: roundedCost, kind: responsesAsk, body: map[string]any{
		"model": model, "input": question, "max_output_tokens": answerLimit, "stream": true, "store": false,
	}}
}

func chat(base, model string) Request {
	return Request{Method: http.MethodPost, URL: base + "/chat/completions", What: "a short stream with its usage", Tokens: roundedCost, kind: chatAsk, body: map[string]any{
		"model": model, "messages": []map[string]string{{"role": "user", "content": question}},
		"max_tokens": answerLimit, "stream": true, "stream_options": map[string]bool{"include_usage": true},
	}}
}

// unlimited is a responses request that leaves the length of its answer to the
// model, as Codex does: some upstreams refuse to be told.
func unlimited(r Request) Request {
	r.body = maps.Clone(r.body)
	delete(r.body, "max_output_tokens")
	r.What, r.When, r.Tokens = "the same without a limit", "if max_output_tokens is refused", unlimitedCost
	return r
}

// otherLimit is a chat request with the newer name of its limit.
func otherLimit(r Request) Request {
	r.body = maps.Clone(r.body)
	r.body["max_completion_tokens"] = r.body["max_tokens"]
	delete(r.body, "max_tokens")
	r.What, r.When = "the same, its limit named max_completion_tokens", "if max_tokens is refused"
	return r
}

// plain is a chat request that does not ask for usage.
func plain(r Request) Request {
	r.body = maps.Clone(r.body)
	delete(r.body, "stream_options")
	r.kind, r.What, r.When = chatPlainAsk, "the same without stream_options", "if stream_options are refused"
	return r
}

// socket asks for an upgrade, and sends nothing after it.
func socket(base string) Request {
	return Request{Method: http.MethodGet, URL: base + "/responses", What: "a WebSocket, closed at once", kind: socketAsk, extra: http.Header{
		"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"dHRmdGFwLWRvY3Rvci0tLQ=="},
		"Openai-Beta": {"responses_websockets=2026-02-06"},
	}}
}

// keyHeaders are where some upstreams want the key instead.
var keyHeaders = []string{"Api-Key", "X-Api-Key"}

func withHeader(base, name, key string) Request {
	r := models(base)
	r.kind, r.extra = headerAsk, http.Header{name: {key}}
	r.What, r.When = "the list of models, the key in "+r.keyHeader(), "if the key is refused"
	return r
}

// keyHeader is the header that bears the key where it is not the usual one.
func (r *Request) keyHeader() string {
	for name := range r.extra {
		return strings.ToLower(name)
	}
	return ""
}

func health(via string) Request {
	origin := via
	if u, err := url.Parse(via); err == nil {
		origin = u.Scheme + "://" + u.Host
	}
	return Request{Method: http.MethodGet, URL: origin + "/-/healthz", What: "whether ttftap is up", kind: healthAsk}
}

func through(via string) Request {
	r := models(via)
	r.kind, r.What = viaAsk, "the list of models, through ttftap"
	return r
}

// encoded is the body as JSON, "" for none.
func (r *Request) encoded() string {
	if r.body == nil {
		return ""
	}
	text, err := json.Marshal(r.body)
	if err != nil {
		panic(err) // it is made of strings and numbers
	}
	return string(text)
}

// dialect is the wire format of the answer.
func (r *Request) dialect() exchange.Dialect {
	switch r.kind {
	case responsesAsk:
		return exchange.Responses
	case chatAsk, chatPlainAsk:
		return exchange.Chat
	}
	return exchange.Other
}

// Requests are all that may be made, in their order. Those with a condition are
// made only where it holds.
func (c *Case) Requests() []Request {
	var all []Request
	if c.first != "" {
		all = append(c.requestsAt(c.first), c.repeats()...)
	}
	for _, base := range otherBases(c.first) {
		for _, r := range c.requestsAt(base) {
			r.When = "if the API is not at " + c.first
			all = append(all, r)
		}
	}
	if c.query() != "" {
		for i := range all {
			all[i].What += ", with the query_params of Codex' config"
		}
	}
	if c.Via != "" {
		via := strings.TrimSuffix(c.Via, "/")
		all = append(all, health(via), through(via))
	}
	return all
}

// requestsAt are the four that are made where the API is.
func (c *Case) requestsAt(base string) []Request {
	model := c.model.value
	return []Request{models(base), responses(base, model), chat(base, model), socket(base)}
}

// repeats are those that are made once more, in another way, where they are
// refused.
func (c *Case) repeats() []Request {
	asked := chat(c.first, c.model.value)
	all := []Request{unlimited(responses(c.first, c.model.value)), otherLimit(asked), plain(asked)}
	if c.key == "" {
		return all
	}
	for _, name := range keyHeaders {
		all = append(all, withHeader(c.first, name, ""))
	}
	return all
}
