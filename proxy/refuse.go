package proxy

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// refusal is an answer that the proxy gives itself.
type refusal struct {
	status        int
	code, message string
}

// refusal says whether a request cannot be forwarded, and why.
func (f *flight) refusal(r *http.Request) *refusal {
	switch {
	case f.upstream == nil:
		return &refusal{http.StatusNotFound, "unknown_upstream", fmt.Sprintf(
			"there is no upstream of that name; known are: %s", strings.Join(f.proxy.names(), ", "))}
	case f.proxy.dialer.isOwn(r):
		return &refusal{http.StatusLoopDetected, "loop",
			"this request came back from ttftap itself: the upstream, or HTTPS_PROXY, leads to ttftap"}
	case !sayable(join(f.upstream.URL.EscapedPath(), f.target)):
		return &refusal{http.StatusBadRequest, "target",
			"a request target that begins with two slashes must be properly escaped to be sent on as it is"}
	case r.Method == http.MethodConnect:
		return &refusal{http.StatusMethodNotAllowed, "connect",
			"ttftap is no HTTP proxy for CONNECT: set the client's base URL instead of HTTPS_PROXY"}
	case isWebSocket(r) && f.x.Dialect == exchange.Responses && f.proxy.config.RefuseWebSocket:
		return &refusal{http.StatusUpgradeRequired, "use_http",
			"the Responses API is served over HTTP here; the client falls back by itself"}
	}
	return nil
}

func (f *flight) refuse(w http.ResponseWriter, no *refusal) {
	f.rowFirst()
	f.locked(func() {
		f.x.Outcome, f.x.Error = exchange.Refused, fmt.Sprintf("%d %s: %s", no.status, no.code, no.message)
	})
	if no.status == http.StatusUpgradeRequired {
		w.Header().Set("Upgrade", "HTTP/1.1")
		w.Header().Set("Connection", "Upgrade")
	}
	writeError(w, no.status, no.code, no.message)
}

func (p *Proxy) names() []string {
	var names []string
	for n := range p.upstreams {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

func isWebSocket(r *http.Request) bool {
	return strings.EqualFold(r.Header.Get("Upgrade"), "websocket") &&
		strings.Contains(strings.ToLower(strings.Join(r.Header["Connection"], ",")), "upgrade")
}
