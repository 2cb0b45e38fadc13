package doctor

import (
	"fmt"
	"net/http"
)

// checkSocket says what Codex' first try, a WebSocket, gets.
func checkSocket(c *Case) *Finding {
	r := c.at(socketAsk)
	switch {
	case !r.came():
		return unchecked("no answer to the upgrade")
	case r.status == http.StatusSwitchingProtocols:
		return ok("it opens")
	case r.status == http.StatusUpgradeRequired:
		return ok("it is refused with 426: clients go on over HTTP at once")
	case !c.Codex.triesSocket():
		return ok(fmt.Sprintf("it is refused with %d; the provider in use tries none", r.status))
	case c.with(http.StatusUnauthorized) != nil:
		return unchecked("the key is refused, so the upgrade is too")
	case r.status == http.StatusBadRequest:
		return c.socketless("it is refused with 400, upon which Codex fails the turn")
	}
	return c.socketless(fmt.Sprintf("it is refused with %d: Codex tries for 6 to 7 s before it goes on over HTTP", r.status))
}

func (c *Case) socketless(words string) *Finding {
	if e := c.Codex.provided("supports_websockets"); e != nil {
		return change(words, "supports_websockets = false").at(c.Codex.Config, e.line, c.Codex.Config.put(e, "false"))
	}
	return change(words, "use a provider of your own, which tries none: model_provider and a [model_providers.NAME] table instead of openai_base_url",
		"or go through ttftap, which answers such an upgrade with 426")
}
