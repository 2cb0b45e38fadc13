package proxy

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// DefaultUpstream is the name of the upstream that takes every request that
// names no other.
const DefaultUpstream = "default"

// Upstream is where requests go: a name, and exactly the base URL that the
// client would have had without ttftap.
type Upstream struct {
	Name string
	URL  *url.URL
}

var (
	upstreamName = regexp.MustCompile(`^[a-z0-9-]+$`)
	version      = regexp.MustCompile(`^v[0-9]+$`)
)

// endpoints are what a client appends to its base URL: a base that ends in one
// would have it twice.
var endpoints = []string{"/responses", "/chat/completions", "/completions", "/messages", "/embeddings"}

// ParseUpstream reads `URL` or `NAME=URL`. The error names what to change.
func ParseUpstream(s string) (Upstream, error) {
	name, raw := DefaultUpstream, s
	if before, after, ok := strings.Cut(s, "="); ok && !strings.Contains(before, ":") {
		name, raw = before, after
	}
	if !upstreamName.MatchString(name) {
		return Upstream{}, fmt.Errorf("upstream name %q: use lower-case letters, digits and hyphens", name)
	}
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil {
		return Upstream{}, fmt.Errorf("upstream %q is no URL: give the base URL that the client would have, such as https://api.openai.com/v1", name)
	}
	if err := checkBase(u); err != nil {
		// What is shown is what can be no secret: of localhost:80, which has no
		// scheme, nothing at all.
		shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
		if strings.Contains(u.Path, "//") || strings.Contains(u.Path, "@") {
			shown.Path = "/…" // which may be another URL, with all that one can hold
		}
		if u.Opaque != "" {
			return Upstream{}, fmt.Errorf("upstream %q: the base URL must begin with http:// or https://", name)
		}
		return Upstream{}, fmt.Errorf("upstream %q: %w", shown.String(), err)
	}
	u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/"), strings.TrimSuffix(u.RawPath, "/")
	return Upstream{Name: name, URL: u}, nil
}

func checkBase(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("the base URL must begin with http:// or https://")
	case u.Host == "" || u.Hostname() == "":
		return errors.New("the base URL has no host")
	case u.User != nil:
		return errors.New("the base URL must not hold a credential: let the client send its key")
	case u.RawQuery != "" || u.ForceQuery:
		return fmt.Errorf("the base URL must not have a query: drop everything from the ? on, and let the client send it")
	case u.Fragment != "":
		return errors.New("the base URL must not have a fragment: drop everything from the # on")
	case strings.Contains(u.Path, "//"):
		return errors.New("the base URL has an empty path segment: drop the doubled slash")
	}
	for _, e := range endpoints {
		if base, ok := strings.CutSuffix(strings.TrimSuffix(u.Path, "/"), e); ok {
			return fmt.Errorf("give the base URL without the endpoint: end it in %q", base)
		}
	}
	return nil
}

// join puts a request target, escaped as it came, behind the base path. A
// target whose first segment is a version loses it where the base has one of
// its own, or is the ChatGPT backend, which has none.
func join(base, target string) string {
	if base == "" {
		return target
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(target, "/"), "/")
	if version.MatchString(first) && hasVersion(base) {
		target = strings.TrimPrefix(target, "/"+first)
	}
	return base + target
}

func hasVersion(base string) bool {
	last := base[strings.LastIndexByte(base, '/')+1:]
	return version.MatchString(last) || base == "/backend-api/codex"
}

// splitTarget parts a request target into its path and its query, as written.
// A target in absolute form loses its scheme and authority.
func splitTarget(target string) (path, query string, hasQuery bool) {
	if !strings.HasPrefix(target, "/") {
		if _, after, ok := strings.Cut(target, "://"); ok {
			if i := strings.IndexAny(after, "/?"); i >= 0 {
				target = after[i:]
			} else {
				target = "/"
			}
		}
	}
	return strings.Cut(target, "?")
}

// setTarget makes u ask for exactly this path and query. Go re-escapes what it
// holds to be badly escaped unless the target is given as opaque.
func setTarget(u *url.URL, path, query string, hasQuery bool) {
	u.RawQuery, u.ForceQuery = query, hasQuery && query == ""
	if u.Opaque = ""; !escaped(u, path) {
		u.Opaque = path
	}
}

// escaped sets the path of u and says whether it comes out as it was put in.
func escaped(u *url.URL, path string) bool {
	p, err := url.PathUnescape(path)
	if err != nil {
		return false
	}
	u.Path, u.RawPath = p, path
	return u.EscapedPath() == path
}

// sayable says whether a target can be sent as it is: an opaque one must not begin
// with two slashes, or it would name a host.
func sayable(path string) bool {
	return !strings.HasPrefix(path, "//") || escaped(new(url.URL), path)
}
