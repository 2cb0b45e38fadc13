package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ttftap/ttftap/proxy"
	"github.com/ttftap/ttftap/web"
)

type serveCommand struct {
	settings
	retention
	Upstream []string `help:"Base URL to forward to, exactly as the client would have had it; NAME=URL adds one at /to/NAME/. Repeatable, or several separated by blanks. Default: https://api.openai.com/v1." sep:"none" placeholder:"[NAME=]URL"`
	DB       string   `name:"db" help:"File of the log. Default: ${db}." placeholder:"PATH"`
	CAFile   string   `name:"ca-file" help:"Certificates, in PEM form, to trust beside the system's." placeholder:"PATH"`

	InjectUsage bool `help:"Ask for the usage of chat and completions streams whose requests do not say whether they want it, and take it out of the client's stream again."`
}

const openAI = "https://api.openai.com/v1"

// Help is what serve --help adds.
func (serveCommand) Help() string {
	return `Examples:

  ttftap serve
  ttftap serve --upstream https://gateway.example/v1
  ttftap serve --upstream https://chatgpt.com/backend-api/codex
  ttftap serve --upstream local=http://127.0.0.1:8080/v1

A request to http://localhost:8838/v1/responses goes to the default upstream, one
to http://localhost:8838/to/local/responses to the upstream "local".`
}

// Run serves until it is told to stop.
func (c *serveCommand) Run(out *console) error {
	upstreams, err := parseUpstreams(c.Upstream)
	if err != nil {
		return usageError{err}
	}
	roots, err := readRoots(c.CAFile)
	if err != nil {
		return err
	}
	i, err := start(out.stop, plan{
		settings: c.settings, upstreams: upstreams, keeps: c.keeps(), db: orDefault(c.DB), roots: roots, injectUsage: c.InjectUsage,
		lines: out.stderr, log: out.log,
	})
	if err != nil {
		return err
	}
	i.greet(out.stdout, upstreams[0])
	return i.wait(out.stop)
}

// parseUpstreams reads the flags and puts the default upstream first.
func parseUpstreams(flags []string) ([]proxy.Upstream, error) {
	list, err := givenUpstreams(flags)
	if err != nil {
		return nil, err
	}
	if len(list) > 0 && list[0].Name == proxy.DefaultUpstream {
		return list, nil
	}
	u, err := proxy.ParseUpstream(openAI)
	return slices.Insert(list, 0, u), err
}

// givenUpstreams are those of the flags, the default one first if it is among them.
func givenUpstreams(flags []string) ([]proxy.Upstream, error) {
	var list []proxy.Upstream
	for _, f := range strings.Fields(strings.Join(flags, " ")) {
		u, err := proxy.ParseUpstream(f)
		if err != nil {
			return nil, err
		}
		for _, other := range list {
			if other.Name == u.Name {
				return nil, fmt.Errorf("--upstream: %s and %s are both %q; give one of them a name of its own: --upstream NAME=%s", other.URL, u.URL, u.Name, u.URL)
			}
		}
		at := len(list)
		if u.Name == proxy.DefaultUpstream {
			at = 0
		}
		list = slices.Insert(list, at, u)
	}
	return list, nil
}

// greet tells, once connections are accepted, what to do next.
func (i *instance) greet(w io.Writer, upstream proxy.Upstream) {
	fmt.Fprintf(w, "ttftap listening on %s\n", i.base)
	fmt.Fprintf(w, "request log: %s/-/\n", i.base)
	fmt.Fprintf(w, "upstream:    %s\n", upstream.URL)
	fmt.Fprintf(w, "log file:    %s\n", i.store.Path())
	if i.made {
		fmt.Fprintf(w, "page token:  %s\n", i.token)
	}
	if !isLoopback(i.listeners) {
		fmt.Fprintf(w, "WARNING: other machines can reach this address and use it to reach the upstream.\n")
	}
	fmt.Fprintf(w, "\nFor Codex, in ~/.codex/config.toml:\n\n%s\n", web.CodexBlock(i.base, upstream.URL.String()))
	fmt.Fprintf(w, "Any other client: give it %s as its base URL.\n\n", i.base)
}
