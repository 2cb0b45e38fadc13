package doctor

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// checkVia says whether the ttftap that was named is up, and forwards to the
// upstream that was examined.
func checkVia(c *Case) *Finding {
	if c.Via == "" {
		return nil
	}
	up, list, direct := c.at(healthAsk), c.at(viaAsk), c.at(modelsAsk)
	serve := "ttftap serve --upstream " + c.base
	switch {
	case !up.came():
		return change("nothing answers at "+c.Via, serve)
	case up.status != http.StatusOK || !strings.HasPrefix(string(up.body), "ok"):
		return change(fmt.Sprintf("what answers at %s is no ttftap (%d)", c.Via, up.status), serve+" --listen localhost:PORT, and that port in the client")
	case !direct.came() || !list.came():
		return unchecked("ttftap is up; where it forwards to could not be told")
	case list.status != direct.status || !slices.Equal(sorted(list.ids()), sorted(direct.ids())):
		return change(fmt.Sprintf("ttftap is up, and forwards elsewhere than to %s: %d there, %d through it", c.base, direct.status, list.status), serve)
	}
	return ok("it is up and forwards there")
}

func sorted(ids []string) []string { return slices.Sorted(slices.Values(ids)) }
