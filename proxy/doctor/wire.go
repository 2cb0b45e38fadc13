package doctor

import (
	"fmt"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// asked is the reply to a question in the format that the client speaks.
func (c *Case) asked() *reply {
	if c.wire == exchange.Chat {
		return c.chat()
	}
	return c.at(responsesAsk)
}

// checkWire says whether the upstream speaks what the client does.
func checkWire(c *Case) *Finding {
	own, responses, chat := c.asked(), c.at(responsesAsk), c.chat()
	switch {
	case !responses.came() && !chat.came():
		return unchecked("no question was asked")
	case c.first == chatGPT:
		return unchecked("a ChatGPT login is not read, so nothing could be asked")
	case own.answered():
		return ok(fmt.Sprintf("it answers %s", c.wire), c.alsoSpoken()...)
	case own.speaks() || !own.came():
		return unchecked(fmt.Sprintf("%s is there, but the question was refused with %d (%s)", c.wire, own.status, own.blame()))
	case c.wire == exchange.Responses && chat.speaks():
		return change(fmt.Sprintf("it answers chat but not responses (%d): Codex from 0.98 on cannot use it", own.status),
			"take an upstream, or a newer version of this server, that answers "+c.base+"/responses",
			`or Codex 0.94 or older with wire_api = "chat"; a client of chat: ttftap doctor --wire chat`)
	case c.wire == exchange.Chat && responses.speaks():
		return c.toResponses(own)
	}
	return change(fmt.Sprintf("it answers neither responses (%d) nor chat (%d)", responses.status, chat.status), "see the base URL: this is no API of this kind")
}

// toResponses is the finding that the client speaks chat to one that does not.
func (c *Case) toResponses(own *reply) *Finding {
	f := change(fmt.Sprintf("it answers responses but not chat (%d)", own.status), `wire_api = "responses"`, "or, for other clients, their setting for the Responses API")
	if e := c.Codex.provided("wire_api"); e != nil && c.Wire == "" {
		return f.at(c.Codex.Config, e.line, c.Codex.Config.replace(e, "responses"))
	}
	return f
}

// alsoSpoken is what is good to know of the other format.
func (c *Case) alsoSpoken() []string {
	other, name := c.chat(), exchange.Chat
	if c.wire == exchange.Chat {
		other, name = c.at(responsesAsk), exchange.Responses
	}
	if other.came() && !other.speaks() {
		return []string{fmt.Sprintf("it does not answer %s (%d): a client of that needs another upstream", name, other.status)}
	}
	return nil
}
