package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"github.com/ttftap/ttftap/proxy"
	"github.com/ttftap/ttftap/proxy/simulator"
)

type demoCommand struct {
	settings
	retention
	// Not the variable of serve: the user's own log must not fill with simulated rows.
	DB string `name:"db" env:"TTFTAP_DEMO_DB" help:"File of the log. Default: one that is deleted at the end." placeholder:"PATH"`
}

// Help is what demo --help adds.
func (demoCommand) Help() string {
	return `The upstream is a simulated model server on this machine. It reads prompts,
queues, thinks and generates at set rates, so that each kind of slowness is there
to be seen. Send it requests of your own meanwhile: any key will do.`
}

// Run serves in front of a simulated model and sends traffic until told to stop.
func (c *demoCommand) Run(out *console) error {
	db, remove, err := c.database()
	if err != nil {
		return err
	}
	defer remove()
	upstream, closeModel, err := simulatedUpstream()
	if err != nil {
		return err
	}
	defer closeModel()
	i, err := start(out.stop, plan{
		settings: c.settings, upstreams: []proxy.Upstream{upstream}, keeps: c.keeps(), db: db, lines: out.stderr, log: out.log,
	})
	if err != nil {
		return err
	}
	i.greet(out.stdout, upstream)
	ctx, cancel := context.WithCancel(out.stop)
	defer cancel()
	go func() {
		sent := sendTraffic(ctx, i.base)
		fmt.Fprintf(out.stdout, "%d requests sent. Look at them: %s/-/   (end with Ctrl-C)\nOr, in another terminal: ttftap explain --db %s\n", sent, i.base, db)
	}()
	return i.wait(out.stop)
}

// database is the log's place: a temporary one unless it is named.
func (c *demoCommand) database() (path string, remove func(), err error) {
	if c.DB != "" {
		return c.DB, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "ttftap-demo-")
	if err != nil {
		return "", nil, fmt.Errorf("demo: %w", err)
	}
	return filepath.Join(dir, "ttftap.db"), func() { os.RemoveAll(dir) }, nil
}

// simulatedUpstream starts a simulated model server.
func simulatedUpstream() (proxy.Upstream, func(), error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return proxy.Upstream{}, nil, fmt.Errorf("simulated model: %w", err)
	}
	server := &http.Server{Handler: simulator.New(simulator.Config{}), ReadHeaderTimeout: headerTimeout}
	go server.Serve(l)
	u, err := proxy.ParseUpstream("http://" + l.Addr().String() + "/v1")
	return u, func() { server.Close() }, err
}
