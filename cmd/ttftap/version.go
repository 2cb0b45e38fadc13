package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"
)

// version is set by the build: -ldflags "-X main.version=...".
var version = "dev"

type versionCommand struct {
	Health string `help:"Ask the instance at this address, such as http://localhost:8838, and end with 0 if it is healthy." placeholder:"URL"`
}

// Run prints the version, or asks an instance how it is.
func (c *versionCommand) Run(out *console) error {
	if c.Health != "" {
		return healthy(out.stop, c.Health)
	}
	fmt.Fprintf(out.stdout, "ttftap %s (commit %s, %s)\n", version, commit(), runtime.Version())
	return nil
}

func commit() string {
	if b, ok := debug.ReadBuildInfo(); ok {
		for _, s := range b.Settings {
			if s.Key == "vcs.revision" {
				return s.Value[:min(12, len(s.Value))]
			}
		}
	}
	return "unknown"
}

// healthTimeout is how long an instance may take to say that it is well.
const healthTimeout = 3 * time.Second

func healthy(ctx context.Context, base string) error {
	if err := checkAddress("--health", base); err != nil {
		return err
	}
	if err := answers(ctx, instanceAt(base)); err != nil {
		return fmt.Errorf("no healthy instance: %w", err)
	}
	return nil
}
