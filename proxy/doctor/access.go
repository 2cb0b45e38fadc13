package doctor

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// chat is the best reply to a question in the format of chat.
func (c *Case) chat() *reply {
	if plain := c.at(chatPlainAsk); plain.came() {
		return plain
	}
	return c.at(chatAsk)
}

// answers are the replies where the API is, those of a model first.
func (c *Case) answers() []*reply {
	var all []*reply
	for _, r := range []*reply{c.at(responsesAsk), c.chat(), c.at(modelsAsk)} {
		if r.came() {
			all = append(all, r)
		}
	}
	return all
}

// with is the first of the answers with a status, nil where none has it.
func (c *Case) with(statuses ...int) *reply {
	for _, r := range c.answers() {
		for _, status := range statuses {
			if r.status == status {
				return r
			}
		}
	}
	return nil
}

// taken is the first of the answers that is one, nil where none is.
func (c *Case) taken() *reply {
	for _, r := range c.answers() {
		if r.answered() {
			return r
		}
	}
	return nil
}

// checkAccess says whether the upstream takes the key.
func checkAccess(c *Case) *Finding {
	refused, taken := c.with(http.StatusUnauthorized, http.StatusForbidden), c.taken()
	switch {
	case refused != nil && c.key == "" && c.ownKey() != "":
		return unchecked(fmt.Sprintf("%d without a key, as is right: Codex has its own", refused.status))
	case taken != nil && taken.kind != modelsAsk:
		return ok(c.howTaken())
	case refused != nil && refused.status == http.StatusUnauthorized:
		return c.unauthorized(refused)
	case refused != nil:
		return c.forbidden(refused)
	case taken != nil && c.model.value == "":
		return ok("the list of models is given")
	}
	return unchecked("nothing was answered that tells")
}

func (c *Case) howTaken() string {
	switch {
	case c.key == "":
		return "it answers without a key"
	case c.key != c.secret.value:
		return "the key is taken, once what is wrong with it is put right"
	}
	return "the key is taken"
}

func (c *Case) unauthorized(r *reply) *Finding {
	words := fmt.Sprintf("401 (%s): ", r.blame())
	if other := c.at(headerAsk); other.status == http.StatusOK {
		header := other.keyHeader()
		return change(words+"this upstream takes the key in another header, "+header,
			fmt.Sprintf("in the provider's table: env_http_headers = { %q = %q }, without env_key", header, c.secret.source))
	}
	if c.key == "" {
		return change(words+"it wants a key, and there is none", "export "+c.secret.source+"=...")
	}
	return change(words+"the upstream does not know this key",
		"make a new key in the console of this very upstream ("+c.base+"): one of another is refused", "export "+c.secret.source+"=...")
}

func (c *Case) forbidden(r *reply) *Finding {
	if r.isPage() {
		return change("403 with a web page: something in front of the API refuses this machine, not the key",
			"try without VPN or proxy, or from a region that the upstream serves")
	}
	return change(fmt.Sprintf("403 (%s): the key is known and may not do this", r.blame()),
		"in the upstream's console, allow this key and its project the model "+c.model.value, "a region or an address that is not allowed is answered so, too")
}

// checkLimits says whether the upstream has room, for this key and at all.
func checkLimits(c *Case) *Finding {
	if r := c.with(http.StatusTooManyRequests); r != nil {
		return c.tooMany(r)
	}
	for _, r := range c.answers() {
		if r.fails() {
			return change(fmt.Sprintf("the upstream fails by itself: %d (%s)", r.status, r.blame()), "try again later, or see its status page; nothing in the settings would help")
		}
	}
	if c.taken() == nil {
		return nil
	}
	return ok("no limit is reached")
}

func (c *Case) tooMany(r *reply) *Finding {
	if blame := r.blame(); strings.Contains(blame, "quota") || strings.Contains(blame, "usage_limit") || strings.Contains(blame, "billing") {
		return change("429 ("+blame+"): the account has nothing left to spend", "add credit or raise the limit in the upstream's console; waiting does not help")
	}
	after := r.header.Get("Retry-After")
	if seconds, err := strconv.Atoi(after); err == nil {
		return change(fmt.Sprintf("429 (%s): too many requests, or tokens, in a short time", r.blame()), fmt.Sprintf("wait %d s and ask less at once, or have the limit raised", seconds))
	}
	return change(fmt.Sprintf("429 (%s) without retry-after: Codex gives such a turn up at once", r.blame()),
		"wait a minute and ask less at once, or have the limit raised", "a gateway of one's own should pass retry-after on")
}
