package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ttftap/ttftap/proxy"
)

const (
	anthropicName = "anthropic"
	anthropicURL  = "https://api.anthropic.com"
)

// route is where the requests of a command go, and what it is to be told so that
// they pass the proxy.
type route struct {
	upstreams []proxy.Upstream // the default one first
	codex     *codexRoute      // nil where the command is not Codex
}

// route finds out where the command's requests would have gone by themselves, unless
// the flags say where they go.
func (c *runCommand) route(path string) (*route, error) {
	given, err := givenUpstreams(c.Upstream)
	if err != nil {
		return nil, usageError{err}
	}
	r := &route{upstreams: given}
	if isCodex(c.Command[0]) {
		if r.codex, err = routeOfCodex(path, c.Command[1:]); err != nil {
			return nil, err
		}
	}
	if r.names(proxy.DefaultUpstream) {
		return r, nil
	}
	if err := r.add(0, proxy.DefaultUpstream, r.usual()); err != nil {
		return nil, err
	}
	if r.names(anthropicName) {
		return r, nil
	}
	return r, r.add(len(r.upstreams), anthropicName, setting{"ANTHROPIC_BASE_URL", cmp.Or(os.Getenv("ANTHROPIC_BASE_URL"), anthropicURL)})
}

// setting is a base URL and what says it.
type setting struct{ from, url string }

// usual is where a command sends what is for OpenAI.
func (r *route) usual() setting {
	if r.codex != nil {
		return r.codex.upstream
	}
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"} {
		if url := os.Getenv(name); url != "" {
			return setting{name, url}
		}
	}
	return setting{"", openAI}
}

func (r *route) names(upstream string) bool {
	return slices.ContainsFunc(r.upstreams, func(u proxy.Upstream) bool { return u.Name == upstream })
}

func (r *route) add(at int, name string, s setting) error {
	u, err := proxy.ParseUpstream(name + "=" + s.url)
	if err != nil {
		return usagef("run: %s: %w", s.from, err)
	}
	r.upstreams = slices.Insert(r.upstreams, at, u)
	return nil
}

// String is where the requests go, in a few words.
func (r *route) String() string {
	words := r.upstreams[0].URL.String()
	for _, u := range r.upstreams[1:] {
		words += fmt.Sprintf(", /to/%s to %s", u.Name, u.URL)
	}
	return words
}

// arguments are those of the command, its name first.
func (r *route) arguments(command []string, base string) []string {
	if r.codex == nil {
		return command
	}
	return append(command[:1:1], r.codex.arguments(command[1:], base)...)
}

// environment is what the command finds in its environment beside what was there.
func (r *route) environment(base string) []string {
	anthropic := base
	if r.names(anthropicName) {
		anthropic += "/to/" + anthropicName
	}
	added := []string{"OPENAI_BASE_URL=" + base, "OPENAI_API_BASE=" + base, "ANTHROPIC_BASE_URL=" + anthropic}
	if r.codex != nil && r.codex.local {
		added = append(added, "CODEX_OSS_BASE_URL="+base+"/v1")
	}
	return append(added, aroundOutboundProxy()...)
}

// loopback is this machine, by its names.
const loopback = "localhost,127.0.0.1,::1"

// aroundOutboundProxy keeps an outbound proxy, where there is one, from taking what
// is for this machine.
func aroundOutboundProxy() []string {
	set := func(name string) bool { return os.Getenv(name) != "" }
	if !slices.ContainsFunc([]string{"HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"}, set) {
		return nil
	}
	list := cmp.Or(os.Getenv("no_proxy"), os.Getenv("NO_PROXY"))
	if list != "*" {
		list = strings.TrimPrefix(list+","+loopback, ",")
	}
	return []string{"NO_PROXY=" + list, "no_proxy=" + list}
}

// isCodex says whether a command is the command line of Codex.
func isCodex(name string) bool {
	base := strings.ToLower(filepath.Base(name))
	return strings.TrimSuffix(base, filepath.Ext(base)) == "codex" && slices.Contains([]string{"", ".exe", ".cmd", ".js"}, filepath.Ext(base))
}
