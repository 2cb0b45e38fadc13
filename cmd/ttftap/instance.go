package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy"
	"github.com/ttftap/ttftap/store"
	"github.com/ttftap/ttftap/web"
)

// headerTimeout ends a client that never finishes its request head. Nothing
// else has a limit.
const headerTimeout = time.Minute

// settings are the flags that every instance has.
type settings struct {
	Listen    string   `help:"Address to listen on. The name localhost binds 127.0.0.1 and ::1; port 0 picks a free one. Default: ${default}." default:"localhost:8838" placeholder:"HOST:PORT"`
	AllowHost []string `help:"Another host name by which the page may be asked for. Repeatable." sep:"none" placeholder:"NAME"`
	WebSocket string   `name:"websocket" help:"What to do with a WebSocket of the Responses API: observe it, or refuse it, upon which the client goes on over HTTP." enum:"observe,refuse" default:"observe"`
	UIToken   string   `name:"ui-token" help:"Token that the page asks for. Made and printed when listening beyond this machine." placeholder:"TOKEN"`
}

// instance is a running proxy with its page and its log. It is started in one
// function and stopped, in the reverse order, in another.
type instance struct {
	base      string // address for humans
	token     string
	made      bool // the token was made here, so it has to be told
	listeners []net.Listener
	store     *store.Store
	recorder  *store.Recorder
	lines     *lines
	proxy     *proxy.Proxy
	server    *http.Server
	abandon   func()     // ends what is still under way
	unretain  func()     // stops deleting what need not be kept
	failed    chan error // a listener that broke
	log       *slog.Logger
}

// plan is what an instance is made of.
type plan struct {
	settings
	upstreams []proxy.Upstream
	db        string
	keeps     store.Retention
	roots     *x509.CertPool // nil: the system's
	lines     io.Writer      // takes a line an exchange
	log       *slog.Logger

	injectUsage bool // ask for usage in the client's stead
}

// start opens the log, then the listeners, then serves. What it opened before an
// error it closes again.
func start(ctx context.Context, p plan) (_ *instance, err error) {
	i := &instance{token: p.UIToken, failed: make(chan error, 2), log: p.log}
	defer func() {
		if err != nil {
			i.close()
		}
	}()
	if i.listeners, err = listen(p.Listen); err != nil {
		return nil, err
	}
	i.base = baseURL(p.Listen, i.listeners)
	for _, u := range p.upstreams {
		if isSelf(u.URL, i.listeners) {
			return nil, usagef("upstream %s is ttftap itself: give the base URL of the model's API with --upstream", u.URL)
		}
	}
	if !isLoopback(i.listeners) && i.token == "" {
		i.token, i.made = rand.Text(), true
	}
	if i.store, err = store.Open(ctx, p.db); err != nil {
		return nil, err
	}
	i.recorder = store.NewRecorder(i.store, p.log)
	i.unretain = retain(i.store, p.keeps, p.log)
	i.lines = newLines(p.lines)
	if err = i.assemble(ctx, p); err != nil {
		return nil, err
	}
	for _, l := range i.listeners {
		go func() { i.failed <- i.server.Serve(&patient{Listener: l, log: p.log}) }()
	}
	return i, nil
}

func (i *instance) assemble(ctx context.Context, p plan) error {
	secret, err := i.store.Secret(ctx)
	if err != nil {
		return err
	}
	if err := i.judgeInterrupted(ctx); err != nil {
		return err
	}
	book := i.recallModels(ctx)
	i.proxy, err = proxy.New(proxy.Config{
		Upstreams: p.upstreams,
		Secret:    secret,
		Record:    i.recorder.Record,
		Prefixes:  i.recallPrompts(ctx),
		Book:      book,
		Ended:     i.lines.write,

		InjectUsage:     p.injectUsage,
		RefuseWebSocket: p.WebSocket == "refuse",
		Transport: func(t *http.Transport) {
			if p.roots != nil {
				t.TLSClientConfig = &tls.Config{RootCAs: p.roots}
			}
		},
		Log: p.log,
	})
	if err != nil {
		return err
	}
	serving, leave := context.WithCancel(context.Background())
	i.serveOn(web.New(web.Config{
		Store: i.store, State: i.recorder.State, Listen: i.base, Upstreams: named(p.upstreams),
		Follow: i.recorder.Follow, UnderWay: i.proxy.UnderWay, Models: book.Baselines,
		Keeps: p.keeps, Token: i.token, AllowHosts: p.AllowHost, Version: version, Log: p.log, Serving: serving,
	}))
	i.server.RegisterOnShutdown(leave)          // a live page must not keep the server from stopping,
	i.server.RegisterOnShutdown(i.proxy.HangUp) // nor must a socket over which nothing is said
	return nil
}

// serveOn makes the server of the page and the proxy.
func (i *instance) serveOn(page http.Handler) {
	base, abandon := context.WithCancelCause(context.Background())
	i.abandon = func() { abandon(proxy.ErrStopped) }
	i.server = &http.Server{
		Handler:                      split(page, i.proxy),
		ReadHeaderTimeout:            headerTimeout,
		DisableGeneralOptionsHandler: true,
		BaseContext:                  func(net.Listener) context.Context { return base },
		ErrorLog:                     log.New(serverLog{i.log}, "", 0),
		Protocols:                    new(http.Protocols),
	}
	i.server.Protocols.SetHTTP1(true)
	i.server.Protocols.SetUnencryptedHTTP2(true)
}

// split sends what is below /-/ to the page and all else to the proxy, as it
// came: nothing may clean its path or wrap its writer.
func split(page, proxied http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.EscapedPath(), "/-/"):
			page.ServeHTTP(w, r)
		case r.Method == http.MethodGet && r.RequestURI == "/" && strings.Contains(r.Header.Get("Accept"), "text/html"):
			http.Redirect(w, r, "/-/", http.StatusFound)
		default:
			proxied.ServeHTTP(w, r)
		}
	})
}

func named(upstreams []proxy.Upstream) []web.Upstream {
	var list []web.Upstream
	for _, u := range upstreams {
		list = append(list, web.Upstream{Name: u.Name, URL: u.URL.String()})
	}
	return list
}

// wait serves until it is told to stop or a listener breaks, then stops: it lets
// streams end unless the second signal comes, and writes what was recorded.
func (i *instance) wait(stop stopping) error {
	select {
	case <-stop.Done():
	case err := <-i.failed:
		return errors.Join(fmt.Errorf("listener: %w", err), i.close())
	}
	if n := i.proxy.Flying(); n > 0 {
		i.log.Info("stopping; streams under way may end, a second signal ends them", "streams", n)
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_ = i.server.Shutdown(stop.now)
		i.proxy.Wait()
	}()
	select {
	case <-drained:
	case <-stop.now.Done():
	}
	return i.close()
}

// flushTimeout is how long the last rows may take to be written.
const flushTimeout = 10 * time.Second

// close stops in the reverse order of the start: server, recorder, store.
func (i *instance) close() error {
	var errs []error
	if i.abandon != nil {
		i.abandon()
	}
	if i.server != nil {
		_ = i.server.Close()
	}
	for _, l := range i.listeners {
		_ = l.Close() // closed already where the server had it
	}
	if i.proxy != nil {
		i.proxy.Wait()
		i.proxy.Close()
	}
	if i.lines != nil {
		i.lines.close()
	}
	if i.unretain != nil {
		i.unretain()
	}
	if i.recorder != nil {
		ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
		defer cancel()
		errs = append(errs, i.recorder.Close(ctx))
	}
	if i.store != nil {
		errs = append(errs, i.store.Close())
	}
	return errors.Join(errs...)
}

// readRoots adds the certificates of a file to the system's.
func readRoots(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, usagef("--ca-file: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, usagef("--ca-file %s: no certificate in PEM form in it", path)
	}
	return pool, nil
}
