package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
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
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(base, "/")+"/-/healthz", nil)
	if err != nil {
		return usagef("--health: %w", err)
	}
	res, err := (&http.Client{Transport: &http.Transport{}}).Do(r) // never through a proxy
	if err != nil {
		return fmt.Errorf("no healthy instance: %w", err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<10))
	if err != nil {
		return fmt.Errorf("no healthy instance at %s: %w", base, err)
	}
	if res.StatusCode != http.StatusOK || !strings.HasPrefix(string(body), "ok") {
		return fmt.Errorf("no healthy instance at %s: it answered %s", base, res.Status)
	}
	return nil
}
