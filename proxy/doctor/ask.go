package doctor

import (
	"bytes"
	"context"
	"net/http"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"
)

// Ask makes the requests. It returns early, with the context's error, when that
// is done; what an upstream does wrong is for the checks to say.
func (c *Case) Ask(ctx context.Context) error {
	if c.first != "" && c.settle(ctx) {
		c.askModels(ctx)
		if c.at(modelsAsk).status == http.StatusUnauthorized && c.key != "" {
			c.askOtherHeaders(ctx)
		}
		c.send(ctx, socket(c.base))
	}
	if via := strings.TrimSuffix(c.Via, "/"); via != "" {
		c.send(ctx, health(via))
		c.send(ctx, through(via))
	}
	return ctx.Err()
}

// questioned is at how many base URLs a question is asked, which costs tokens if it
// is answered.
const questioned = 2

// settle finds where the API is, and says whether anything answers at all. Where
// no list of models tells, an answer to a question does.
func (c *Case) settle(ctx context.Context) bool {
	for i, base := range append([]string{c.first}, otherBases(c.first)...) {
		list := c.send(ctx, models(base))
		if list.err != nil {
			return false
		}
		c.chooseModel(list)
		if list.speaks() || i < questioned && c.model.value != "" && c.send(ctx, responses(base, c.model.value)).speaks() {
			c.base = base
			return true
		}
	}
	return true
}

// askModels asks both wire formats, unless the upstream asks for less.
func (c *Case) askModels(ctx context.Context) {
	model := c.model.value
	if model == "" || c.limited() {
		return
	}
	if !c.at(responsesAsk).came() {
		c.send(ctx, responses(c.base, model))
	}
	if c.at(responsesAsk).refuses("max_output_tokens") {
		c.send(ctx, unlimited(responses(c.base, model)))
	}
	if c.limited() {
		return
	}
	request := chat(c.base, model)
	reply := c.send(ctx, request)
	if reply.refuses("max_tokens") {
		request = otherLimit(request)
		reply = c.send(ctx, request)
	}
	if reply.refuses("stream_options") || reply.refuses("include_usage") {
		c.send(ctx, plain(request))
	}
}

// askOtherHeaders looks for where else the upstream takes the key.
func (c *Case) askOtherHeaders(ctx context.Context) {
	for _, name := range keyHeaders {
		if c.send(ctx, withHeader(c.base, name, c.key)).status == http.StatusOK {
			return
		}
	}
}

// limited says whether the upstream has had enough of us.
func (c *Case) limited() bool {
	for _, r := range c.replies {
		if r.status == http.StatusTooManyRequests {
			return true
		}
	}
	return false
}

// at is the last reply to a kind of request where the API is, none where it was
// not asked.
func (c *Case) at(kind ask) *reply {
	for i := len(c.replies) - 1; i >= 0; i-- {
		if r := c.replies[i]; r.kind == kind && (kind >= healthAsk || r.base() == c.base) {
			return r
		}
	}
	return none
}

// refuses says whether a request was refused because of one of its fields.
func (r *reply) refuses(field string) bool {
	return (r.status == http.StatusBadRequest || r.status == http.StatusUnprocessableEntity) && bytes.Contains(r.body, []byte(field))
}

// noChat are models that answer no question.
var noChat = regexp.MustCompile(`(?i)embed|rerank|whisper|tts|dall-e|image|moderation|audio|realtime|transcribe|sora|video|davinci|babbage`)

// chooseModel takes one of the list where none is set.
func (c *Case) chooseModel(list *reply) {
	if c.model.value != "" {
		return
	}
	for _, id := range list.ids() {
		if !noChat.MatchString(id) {
			c.model = setting{value: id, source: "the upstream's list"}
			return
		}
	}
}

// ids are the models of a list, in the shape of OpenAI or of Codex.
func (r *reply) ids() []string {
	if r.status != http.StatusOK || !gjson.ValidBytes(r.body) {
		return nil
	}
	var ids []string
	for _, path := range []string{"data.#.id", "models.#.slug", "models.#.id", "models.#.name"} {
		for _, id := range gjson.GetBytes(r.body, path).Array() {
			ids = append(ids, id.String())
		}
	}
	return ids
}
