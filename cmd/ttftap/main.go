// Command ttftap is an instrumenting reverse proxy for OpenAI-compatible APIs:
// it passes everything on, byte for byte, and tells of each request where its
// time went.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// The HTTP transport prints what a server sends without being asked, and that
	// may be part of an answer.
	log.SetOutput(io.Discard)
	// The first signal asks for an orderly end, the second for one at once.
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	// A reader that went away is an error of a write. Were the signal ignored, a
	// command that is started here would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	now, end := context.WithCancel(context.Background())
	orderly, stop := context.WithCancel(now)
	go func() {
		<-signals
		stop()
		<-signals
		end()
	}()
	os.Exit(run(stopping{orderly, now}, os.Args[1:], os.Stdout, os.Stderr))
}

// stopping is how a command is told to end: in order when the first context is
// done, at once when the second is.
type stopping struct {
	context.Context
	now context.Context
}
