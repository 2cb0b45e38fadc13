package web

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// policy lets a view load its own style sheet, icon and script, follow its own
// events and send its own forms, and nothing else: a quoted error can be no
// script, whatever it says.
const policy = "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guard puts the headers on every answer and turns away what no view is meant
// for: other methods, a host name that is not ours, a form of another site.
func (s *site) guard(next http.Handler) http.Handler {
	crossOrigin := http.NewCrossOriginProtection()
	return s.view(func(w http.ResponseWriter, r *http.Request) error {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY") // for browsers that do not read the policy
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch {
		case !slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodPost}, r.Method):
			return errMethod
		case !s.answersTo(r.Host):
			return errHost
		case crossOrigin.Check(r) != nil, embeds(r):
			return errCrossOrigin
		}
		next.ServeHTTP(w, r)
		return nil
	})
}

// embeds says whether a page of another site loads a part of this one, as an image
// or a script. It could not read it, but tell by the time what is in the log, and
// take the places of those who follow it. A link that is followed is none.
func embeds(r *http.Request) bool {
	site, mode := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Sec-Fetch-Mode")
	return (site == "cross-site" || site == "same-site") && mode != "navigate"
}

// answersTo says whether a Host header names this page. A web site can point a
// name of its own at a loopback address and so read, in a visitor's browser,
// what listens there; it cannot make the browser send our name for it.
func (s *site) answersTo(hostport string) bool {
	host := hostOf(hostport)
	if ip, err := netip.ParseAddr(host); err == nil && (ip.Unmap().IsLoopback() || s.Token != "") {
		return true
	}
	listen, err := url.Parse(s.Listen)
	return host == "localhost" ||
		err == nil && host != "" && host == hostOf(listen.Host) ||
		slices.ContainsFunc(s.AllowHosts, func(name string) bool { return host == hostOf(name) })
}

// hostOf is the host of a Host header, in the one spelling that is compared:
// lower case, no port, no brackets, no final dot.
func hostOf(hostport string) string {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}
