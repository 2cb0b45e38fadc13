package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"time"

	"github.com/ttftap/ttftap/proxy/doctor"
	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

type doctorCommand struct {
	Upstream    string `help:"Base URL to examine. Default: the one in Codex' config, else OPENAI_BASE_URL, else https://api.openai.com/v1." placeholder:"URL"`
	Via         string `help:"Address of a running ttftap: is it up, and does it forward there?" placeholder:"URL"`
	KeyEnv      string `help:"Variable that holds the key. Default: the env_key in Codex' config, else OPENAI_API_KEY." placeholder:"NAME"`
	Model       string `help:"Model to ask. Default: the one in Codex' config, else one of the upstream's list." placeholder:"NAME"`
	Wire        string `help:"Wire format of your client: responses or chat. Default: what Codex' config says, else responses." enum:"responses,chat," default:""`
	CodexConfig string `help:"Codex' config file. Default: config.toml in CODEX_HOME or ~/.codex." placeholder:"PATH"`
	CAFile      string `name:"ca-file" help:"Certificates, in PEM form, to trust beside the system's." placeholder:"PATH"`
	DB          string `name:"db" help:"File of the log, in which broken answers are looked for. Default: ${db}." placeholder:"PATH"`
	Fix         bool   `help:"Change the lines of Codex' config that must change, and keep it as it was beside it."`
	DryRun      bool   `help:"List the requests that would be made, and make none."`
	JSON        bool   `name:"json" help:"Print the findings as JSON."`
}

// Help is what doctor --help adds.
func (*doctorCommand) Help() string {
	return `Every request is harmless, cheap and listed first: lists of models, two short
streams of at most 64 tokens, an upgrade that is closed at once. The key is read
from the environment and never shown.

Ends with 0 if nothing must change, with 1 if something must.`
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// check finds wrong usage.
func (c *doctorCommand) check() error {
	if c.KeyEnv != "" && !variableName.MatchString(c.KeyEnv) {
		return usagef("--key-env takes the name of a variable, such as OPENAI_API_KEY, never the key itself")
	}
	if c.Fix && c.DryRun {
		return usagef("--fix changes a file and --dry-run does nothing: choose one")
	}
	if c.Via == "" {
		return nil
	}
	return checkAddress("--via", c.Via)
}

// Run examines, says what it found and, if asked to, puts right what it can.
func (c *doctorCommand) Run(out *console) error {
	if err := c.check(); err != nil {
		return err
	}
	setup, err := c.setup(out)
	if err != nil {
		return err
	}
	examined := doctor.New(setup)
	p := &diagnosed{Upstream: examined.Base(), Requests: examined.Requests(), Findings: []doctor.Finding{}}
	if c.DryRun {
		p.Summary = "Nothing was asked."
		return p.write(out.stdout, c.JSON, p.list)
	}
	if !c.JSON {
		p.list(out.stdout)
	}
	if err := examined.Ask(out.stop); err != nil {
		return err
	}
	p.Findings = examined.Findings()
	if c.Fix {
		if err := p.fix(setup.Codex.Config, time.Now()); err != nil {
			return err
		}
	}
	p.conclude()
	if err := p.write(out.stdout, c.JSON, p.tell); err != nil {
		return err
	}
	if p.Change > 0 {
		return errFound
	}
	return nil
}

// setup gathers what is to be examined.
func (c *doctorCommand) setup(out *console) (doctor.Setup, error) {
	s := doctor.Setup{
		Upstream: c.Upstream, KeyEnv: c.KeyEnv, Model: c.Model, Wire: exchange.Dialect(c.Wire), Via: c.Via, Getenv: os.Getenv,
	}
	roots, err := readRoots(c.CAFile)
	if err != nil {
		return s, err
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableCompression: true, Protocols: new(http.Protocols), DisableKeepAlives: true}
	transport.Protocols.SetHTTP1(true)
	transport.TLSClientConfig = &tls.Config{RootCAs: roots}
	s.Transport = transport
	if s.Codex, err = c.codex(out.stop); err != nil {
		return s, err
	}
	s.Aborts, s.NoLog, err = c.aborts(out)
	return s, err
}

// codex looks for Codex and reads its config.
func (c *doctorCommand) codex(ctx context.Context) (doctor.Codex, error) {
	if _, err := os.Stat(c.CodexConfig); c.CodexConfig != "" && err != nil {
		return doctor.Codex{}, usagef("--codex-config: %w", err)
	}
	folder, err := os.Getwd()
	if err != nil {
		return doctor.Codex{}, fmt.Errorf("look for a project's config: %w", err)
	}
	x, err := doctor.ReadCodex(codexHome(), c.CodexConfig, folder)
	if err != nil {
		return x, err
	}
	x.Version = versionOfCodex(ctx, "codex")
	return x, nil
}

// newestAborts is how many broken answers of each kind are looked at.
const newestAborts = 500

// aborts reads the broken answers of the log; without one it says why.
func (c *doctorCommand) aborts(out *console) (found []doctor.Abort, why string, err error) {
	if _, err := os.Stat(orDefault(c.DB)); c.DB == "" && err != nil {
		return nil, "there is no log yet", nil
	}
	log, err := openLog(out, c.DB)
	if err != nil {
		return nil, "", err
	}
	for _, outcome := range []exchange.Outcome{exchange.ClientAbort, exchange.UpstreamCut} {
		f := store.Filter{Outcome: outcome, Limit: newestAborts}
		err = errors.Join(err, log.Each(out.stop, f, func(x *exchange.Exchange) error {
			if x.End != nil {
				found = append(found, abortOf(x))
			}
			return nil
		}))
	}
	return found, "", errors.Join(err, log.Close())
}

// abortOf is what tells a time limit, of an exchange that has ended.
func abortOf(x *exchange.Exchange) doctor.Abort {
	a := doctor.Abort{After: *x.End, ByClient: x.Outcome == exchange.ClientAbort, Client: x.Client}
	for _, sign := range []*time.Duration{x.Headers, x.FirstByte, x.FirstEvent, x.LastToken} {
		if sign != nil && (a.Silence == nil || *x.End-*sign < *a.Silence) {
			a.Silence = new(*x.End - *sign)
		}
	}
	return a
}
