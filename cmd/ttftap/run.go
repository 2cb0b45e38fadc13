package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ttftap/ttftap/store"
)

type runCommand struct {
	Command []string `arg:"" optional:"" passthrough:"partial" name:"cmd" help:"Command to run, and its arguments."`

	Upstream []string `help:"Base URL to forward to, as for serve: one without a name takes all that the command sends. Default: whatever the command would have used." sep:"none" placeholder:"[NAME=]URL"`
	DB       string   `name:"db" help:"File of the log. Default: ${db}, or one beside it while another ttftap records into that." placeholder:"PATH"`
	retention
	CAFile    string `name:"ca-file" help:"Certificates, in PEM form, to trust beside the system's." placeholder:"PATH"`
	WebSocket string `name:"websocket" help:"What to do with a WebSocket of the Responses API: observe it, or refuse it, upon which the client goes on over HTTP." enum:"observe,refuse" default:"observe"`

	InjectUsage bool `help:"Ask for the usage of chat and completions streams whose requests do not say whether they want it, and take it out of the client's stream again."`
	Lines       bool `help:"Write the line of each exchange while the command runs, among what it writes to standard error itself."`
	JSON        bool `name:"json" help:"Print the summary as one line of JSON, the last one on standard error."`
}

// Help is what run --help adds.
func (runCommand) Help() string {
	return `Examples:

  ttftap run -- codex
  ttftap run -- codex exec "Say hello."
  ttftap run -- claude -p "Say hello."
  ttftap run -- python agent.py
  ttftap run --upstream http://127.0.0.1:8080/v1 -- node agent.mjs

The command gets the address of a proxy on a free port as OPENAI_BASE_URL,
OPENAI_API_BASE and ANTHROPIC_BASE_URL, Codex by -c as the base URL of the provider
that it is set to use. From there its requests go where they would have gone: what
these variables said before, what Codex' configuration says, or else the API of
OpenAI or Anthropic. A login to ChatGPT that Codex keeps in the system's keyring is
not seen: add --upstream https://chatgpt.com/backend-api/codex.

Standard input, output and error and the terminal are the command's own. Signals go
on to it. The exit status is that of the command, 128 and the number of the signal
that ended it, 127 if there is no such command, 126 if it cannot be run. The summary
comes on standard error when it has ended.`
}

// Run runs the command behind a proxy of its own and sums up what it sent.
func (c *runCommand) Run(out *console) error {
	if len(c.Command) > 0 && c.Command[0] == "--" { // the parser leaves it there
		c.Command = c.Command[1:]
	}
	if len(c.Command) == 0 {
		return usagef("run: name the command to run: ttftap run -- codex")
	}
	path, err := findCommand(c.Command[0])
	if err != nil {
		return err
	}
	r, err := c.route(path)
	if err != nil {
		return err
	}
	roots, err := readRoots(c.CAFile)
	if err != nil {
		return err
	}
	p := plan{
		settings: settings{Listen: "127.0.0.1:0", WebSocket: c.WebSocket}, upstreams: r.upstreams, roots: roots,
		keeps: c.keeps(), injectUsage: c.InjectUsage, lines: io.Discard,
	}
	return c.behind(out, p, r, path)
}

// findCommand is the file of a command.
func findCommand(name string) (string, error) {
	path, err := exec.LookPath(name)
	switch {
	case err == nil || errors.Is(err, exec.ErrDot):
		return path, nil
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return "", exitStatus{127, fmt.Errorf("run: %s: command not found", name)}
	}
	return "", exitStatus{126, fmt.Errorf("run: %s cannot be run: %w", name, err)}
}

// behind starts the proxy, runs the command, stops the proxy and sums up.
func (c *runCommand) behind(out *console, p plan, r *route, path string) error {
	signals := make(chan os.Signal, 8) // from here on they are the command's
	signal.Notify(signals, passedOn()...)
	defer signal.Stop(signals)

	later := &held{w: out.stderr}
	p.log = out.logTo(later)
	if c.Lines {
		p.lines, p.log = out.stderr, out.log
	}
	ctx, begun := context.WithoutCancel(out.stop), time.Now()
	i, err := c.startOn(ctx, out, &p)
	if err != nil {
		return errors.Join(err, later.release())
	}
	s := &summary{Command: filepath.Base(c.Command[0]), Log: i.store.Path(), usual: p.db == usualDB()}
	fmt.Fprintf(out.stderr, "ttftap: %s through %s to %s; live: %s/-/\n", s.Command, i.base, r, i.base)

	started := time.Now()
	status, cause := runChild(c.child(out, r, path, i.base), signals)
	s.Status, s.Elapsed = status, new(millis(time.Since(started)))
	signal.Stop(signals)
	if err := errors.Join(later.release(), i.waitAfter()); err != nil {
		out.log.Error("the log may lack some of it", "error", err)
	}
	if cause != nil {
		return exitStatus{status, cause}
	}
	s.Lost = i.recorder.State().Lost
	if err := s.tell(ctx, out.stderr, begun, c.JSON); err != nil {
		out.log.Error("no summary", "error", err)
	}
	return exitStatus{code: status}
}

// child is the command as it is run: all that is the terminal's is its own.
func (c *runCommand) child(out *console, r *route, path, base string) *exec.Cmd {
	return &exec.Cmd{
		Path: path, Args: r.arguments(c.Command, base), Env: append(os.Environ(), r.environment(base)...),
		Stdin: os.Stdin, Stdout: out.stdout, Stderr: out.stderr,
	}
}

// logsBeside is how many runs at once can have a log each.
const logsBeside = 100

// startOn starts the proxy on the log that is asked for. Where that is the usual one
// and taken, the first one free beside it stands in.
func (c *runCommand) startOn(ctx context.Context, out *console, p *plan) (*instance, error) {
	usual := usualDB()
	p.db = cmp.Or(c.DB, usual)
	i, err := start(ctx, *p)
	if p.db != usual || !errors.Is(err, store.ErrLocked) {
		return i, err
	}
	ext := filepath.Ext(usual)
	for n := 2; n <= logsBeside && errors.Is(err, store.ErrLocked); n++ {
		p.db = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(usual, ext), n, ext)
		i, err = start(ctx, *p)
	}
	if err == nil {
		fmt.Fprintf(out.stderr, "ttftap: another ttftap records into the usual log: this run's is %s\n", p.db)
	}
	return i, err
}

// usualDB is the log of a command without --db.
func usualDB() string { return cmp.Or(os.Getenv("TTFTAP_DB"), defaultDB()) }

// waitAfter stops the instance of a command that has ended: streams of what it left
// behind may end, unless a signal comes.
func (i *instance) waitAfter() error {
	now, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	ended, end := context.WithCancel(now)
	end()
	return i.wait(stopping{ended, now})
}
