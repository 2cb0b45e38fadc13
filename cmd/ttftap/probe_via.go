package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/probe"
)

const (
	usualInstance = "http://localhost:8838"
	newInstance   = "new" // in place of an address
)

// reached is a ttftap to go through, and how to be done with it.
type reached struct {
	*probe.Instance
	started bool
	close   func() error
}

// reach finds the ttftap to go through, or starts one, with further upstreams.
func (t *through) reach(out *console, extra ...string) (*reached, error) {
	i := instanceAt(t.Via)
	i.Token = t.UIToken
	named := t.Via != "" && t.Via != newInstance
	if err := checkAddress("--via", t.Via); named && err != nil {
		return nil, err
	}
	switch {
	case named && len(extra) > 0:
		return nil, usagef("--direct is an upstream of a ttftap that is started: leave --via out, or name one of its upstreams with --to")
	case named:
		if err := answers(out.stop, i); err != nil {
			return nil, fmt.Errorf("no ttftap answers at --via %s: %w", t.Via, err)
		}
	case t.Via == "" && len(extra) == 0:
		if i.Base = usualInstance; answers(out.stop, i) != nil {
			return t.start(out, i, nil)
		}
		if len(t.Upstream) > 0 {
			out.log.Info("a ttftap is running, and its upstream counts, not --upstream; --via new starts another", "via", usualInstance)
		}
	default:
		return t.start(out, i, extra)
	}
	return &reached{Instance: i, close: func() error { return nil }}, nil
}

// instanceAt is the ttftap at an address. It is asked through no proxy, and over as
// many connections as there may be requests at once: connecting anew would be
// measured.
func instanceAt(address string) *probe.Instance {
	transport := &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}
	return &probe.Instance{Client: &http.Client{Transport: transport}, Base: strings.TrimSuffix(address, "/")}
}

// noKey says that a variable has no key. What looks like none may be the key itself.
func noKey(name string) error {
	if !upperCase.MatchString(name) {
		return usagef("a flag for the key takes the name of a variable, such as OPENAI_API_KEY, never the key itself")
	}
	return usagef("the environment has no %s, which is to hold the key", name)
}

var upperCase = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

// checkAddress says whether a flag has the address of a ttftap, and nothing that
// would have to be kept secret when the address is told.
func checkAddress(flag, address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || strings.ContainsAny(address, "?#@") {
		return usagef("%s takes the address of a running ttftap, such as %s", flag, usualInstance)
	}
	return nil
}

func answers(ctx context.Context, i *probe.Instance) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	return i.Healthy(ctx)
}

// start starts a ttftap on a free port.
func (t *through) start(out *console, i *probe.Instance, extra []string) (*reached, error) {
	upstreams, err := parseUpstreams(append(t.Upstream, extra...))
	if err != nil {
		return nil, usageError{err}
	}
	roots, err := readRoots(t.CAFile)
	if err != nil {
		return nil, err
	}
	own, err := start(out.stop, plan{
		settings:  settings{Listen: "localhost:0", WebSocket: "refuse", UIToken: t.UIToken},
		upstreams: upstreams, db: orDefault(t.DB), roots: roots, lines: io.Discard, log: out.log,
	})
	if err != nil {
		return nil, err
	}
	i.Base = own.base
	return &reached{Instance: i, started: true, close: own.close}, nil
}

// keys are the credentials of the first upstream and the second.
func (a *terms) keys(upstreams []string, second string) (map[string]string, error) {
	keys := map[string]string{upstreams[0]: os.Getenv("OPENAI_API_KEY")}
	for i, name := range []string{a.KeyEnv, second} {
		if name == "" {
			continue
		}
		key, there := os.LookupEnv(name)
		if !there || key == "" {
			return nil, noKey(name)
		}
		if i < len(upstreams) {
			keys[upstreams[i]] = key
		}
	}
	return keys, nil
}

// readBody reads the conversation of a file.
func readBody(path string) (*probe.Body, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, usagef("--body: %w", err)
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, probe.BodyMost+1))
	if err != nil {
		return nil, usagef("--body: %w", err)
	}
	body, err := probe.ReadBody(raw)
	if err != nil {
		return nil, usagef("--body %s: %w", path, err)
	}
	return body, nil
}

// choose settles which models are asked, in which wire format.
func (a *terms) choose(ctx context.Context, i *probe.Instance, key string) (models []string, wire string, err error) {
	models, wire = a.Model, a.Wire
	if len(models) > 0 && wire != "auto" {
		return models, wire, nil
	}
	asked := ""
	if len(models) > 0 {
		asked = models[0]
	}
	used, usedWire, err := i.Used(ctx, probe.Default, asked)
	if err != nil {
		return nil, "", err
	}
	if wire == "auto" {
		wire = usedWire
	}
	if len(models) == 0 && used != "" {
		models = []string{used}
	}
	if len(models) > 0 {
		return models, wire, nil
	}
	listed, err := a.listed(ctx, i, key)
	if err == nil && len(listed) == 1 {
		return listed, wire, nil
	}
	return nil, "", errors.Join(unchosen(listed, "which model? Name it with --model ID"), err)
}

const listTimeout = 30 * time.Second

func (a *terms) listed(ctx context.Context, i *probe.Instance, key string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	return i.Models(ctx, probe.Default, key)
}

const listedMost = 30

// unchosen is wrong usage that a list of models may end.
func unchosen(models []string, question string) error {
	if len(models) == 0 {
		return usagef("%s", question)
	}
	more := ""
	if n := len(models) - listedMost; n > 0 {
		models, more = models[:listedMost], fmt.Sprintf(" and %d more", n)
	}
	return usagef("%s: %s%s", question, printable(strings.Join(models, ", ")), more)
}
