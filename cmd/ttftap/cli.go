package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/alecthomas/kong"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

const about = `ttftap shows where the time of each model request goes.

Point a client's base URL at http://localhost:8838, work, and open
http://localhost:8838/-/ in a browser. Every flag can also be set in the
environment, as TTFTAP_ and its name: TTFTAP_UPSTREAM, TTFTAP_DB.`

// commands is the command line.
type commands struct {
	LogLevel string `help:"Least level of log lines on standard error: debug, info, warn or error." enum:"debug,info,warn,error" default:"info"`

	Serve   serveCommand   `cmd:"" help:"Run the proxy, the page and the log."`
	Demo    demoCommand    `cmd:"" help:"Run the same in front of a simulated model, with telling traffic. Needs no key and no network."`
	Doctor  doctorCommand  `cmd:"" help:"Check base URL, key, model, wire format, streaming and Codex' config, and say what to change."`
	Run     runCommand     `cmd:"" help:"Run a command with the proxy between it and its model, and say in the end where the time went."`
	Explain explainCommand `cmd:"" help:"Say of one exchange why it took that long."`
	Probe   probeCommand   `cmd:"" help:"Send experiments and say where a slow first token comes from."`
	Report  reportCommand  `cmd:"" help:"Say what the log tells, as Markdown."`
	Audit   auditCommand   `cmd:"" help:"Compare what a console exports with the log: what was billed, and what was not seen."`
	Export  exportCommand  `cmd:"" help:"Write the log as CSV or JSON lines."`
	Rejudge rejudgeCommand `cmd:"" help:"Give the verdicts anew, from the facts that the log holds."`
	Log     logCommand     `cmd:"" help:"Copy the log, delete from it, or say what it holds and takes up."`
	Mcp     mcpCommand     `cmd:"" help:"Give an agent the log as tools, over standard input and output."`
	Version versionCommand `cmd:"" help:"Print the version, or ask a running instance whether it is healthy."`
}

// console is where a command reads its end from and writes to.
type console struct {
	stop           stopping
	stdout, stderr io.Writer
	level          slog.Level
	log            *slog.Logger // to stderr
}

// logTo is a log of the same level that goes elsewhere.
func (c *console) logTo(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: c.level}))
}

// usageError is wrong usage: it ends the program with 2.
type usageError struct{ error }

// errFound ends the program with 1 where a command has said already what it
// found.
var errFound = errors.New("something was found")

// Unwrap gives the error that it is made of.
func (e usageError) Unwrap() error { return e.error }

// exitStatus ends the program with the status of a command that it ran.
type exitStatus struct {
	code  int
	cause error // why it could not be run; nil if it was
}

func (e exitStatus) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.cause.Error()
}

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run parses the command line, runs the command and returns the exit code.
func run(stop stopping, args []string, stdout, stderr io.Writer) int {
	var c commands
	helped := false
	parser, err := kong.New(&c,
		kong.Name("ttftap"), kong.Description(about), kong.DefaultEnvars("TTFTAP"),
		kong.Writers(stdout, stderr), kong.Exit(func(int) { helped = true }),
		kong.Vars{"db": defaultDB()}, kong.UsageOnError(), kong.ConfigureHelp(kong.HelpOptions{WrapUpperBound: 100}))
	if err != nil {
		fmt.Fprintln(stderr, "ttftap:", err)
		return exitFailed
	}
	ctx, err := parser.Parse(args)
	if helped {
		return exitDone
	}
	if err != nil {
		fmt.Fprintf(stderr, "ttftap: %v\nTry: ttftap --help\n", err)
		return exitUsage
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		panic(err) // the parser lets only levels pass
	}
	out := console{stop: stop, stdout: stdout, stderr: stderr, level: level}
	out.log = out.logTo(stderr)
	return exitCode(ctx.Run(&out), stop, stderr)
}

// exitCode tells what went wrong, if anything did, and is the program's exit code.
func exitCode(err error, stop stopping, stderr io.Writer) int {
	var usage usageError
	var status exitStatus
	switch {
	case errors.As(err, &status):
		if status.cause != nil {
			fmt.Fprintln(stderr, "ttftap:", err)
		}
		return status.code
	case err == nil || errors.Is(err, context.Canceled) && stop.Err() != nil:
		return exitDone
	case errors.As(err, &usage):
		complain(stderr, err)
		return exitUsage
	case errors.Is(err, errFound):
		return exitFailed
	}
	complain(stderr, err)
	return exitFailed
}

// complain writes an error. It may quote what others have said.
func complain(w io.Writer, err error) {
	lines := strings.Split(err.Error(), "\n")
	for i, line := range lines {
		lines[i] = printable(line)
	}
	fmt.Fprintln(w, "ttftap:", strings.Join(lines, "\n"))
}
