// Package proxy passes requests on to an upstream, byte for byte, and tells of
// each what was seen of it. It stores nothing itself: an
// exchange goes to the Record function as soon as it begins and again, with its
// verdict, when it has ended.
//
// It adds no header, no time limit, no redirect and no retry of its own; the
// exceptions are a pooled connection that turns out to be dead before any byte of
// the request was written to it, and InjectUsage.
package proxy

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// Config is what a Proxy is made of.
type Config struct {
	// Upstreams are the places to forward to; the one named DefaultUpstream is
	// required.
	Upstreams []Upstream
	// Secret keys the hash by which credentials are told apart.
	Secret []byte
	// Record takes an exchange, first open, then ended, and returns a function
	// that waits, briefly, until it is stored. It must not keep x. Required.
	Record func(x *exchange.Exchange) (wait func())
	// Prefixes remembers the prompts that upstreams have read. Nil stands for one
	// that remembers none yet.
	Prefixes *diagnosis.Prefixes
	// Book knows what is usual for each model. Nil stands for one that knows
	// nothing yet.
	Book *diagnosis.Book
	// Ended, if set, is told of each ended exchange after it was recorded.
	Ended func(x *exchange.Exchange)
	// InjectUsage has the upstream asked for the usage of chat and completions
	// streams whose requests do not say whether they want it. It is taken out of
	// the client's stream again.
	InjectUsage bool
	// RefuseWebSocket has a WebSocket of the Responses API answered with 426, upon
	// which the client goes on over HTTP. Otherwise it is observed.
	RefuseWebSocket bool
	// Dial makes connections; nil stands for a net.Dialer without time-out.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Transport adjusts the transport to the upstreams before its first use,
	// for a private CA or another idle time. Nil leaves it as it is.
	Transport func(*http.Transport)
	// Log takes what an operator should know; nil discards it.
	Log *slog.Logger
}

// idleTime is how long an unused upstream connection is kept. Servers close
// theirs after 5 s and more, so that ours is the side which closes first.
const idleTime = 4 * time.Second

// ErrStopped is the cause of a request's context where the proxy itself ends the
// exchange, not the client.
var ErrStopped = errors.New("the proxy was stopped")

// Proxy is an http.Handler that forwards everything it is given.
type Proxy struct {
	config    Config
	upstreams map[string]*Upstream
	dialer    *dialer
	transport *http.Transport
	silent    *log.Logger // what it would take stands in the row, and may quote an answer
	buffers   buffers
	bodies    bodies
	digester  *digester
	macs      sync.Pool // of hash.Hash, by which credentials are told apart
	retries   retries
	inflating chan struct{} // a token for each request body that may be decoded at a time
	unasked   sync.Map      // the upstreams that are not asked for usage: why
	crowd     crowd
	aloft     aloft
	sockets   sockets
	flights   sync.WaitGroup
}

// New makes a Proxy. The error names what is missing.
func New(c Config) (*Proxy, error) {
	p := &Proxy{config: c, upstreams: make(map[string]*Upstream)}
	if p.config.Log == nil {
		p.config.Log = slog.New(slog.DiscardHandler)
	}
	if p.config.Prefixes == nil {
		p.config.Prefixes = new(diagnosis.Prefixes)
	}
	if p.config.Book == nil {
		p.config.Book = new(diagnosis.Book)
	}
	for _, u := range c.Upstreams {
		if _, twice := p.upstreams[u.Name]; twice {
			return nil, fmt.Errorf("upstream %q is given twice", u.Name)
		}
		p.upstreams[u.Name] = &u
	}
	if _, ok := p.upstreams[DefaultUpstream]; !ok {
		return nil, errors.New("there is no default upstream: give one without a name")
	}
	var err error
	if p.digester, err = newDigester(c.Secret); err != nil {
		return nil, fmt.Errorf("make the keys by which prompts are hashed: %w", err)
	}
	p.inflating, p.retries.seed = make(chan struct{}, maxInflating), maphash.MakeSeed()
	p.silent = log.New(io.Discard, "", 0)
	dial := c.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	p.dialer = &dialer{dial: dial}
	p.transport = newTransport(p.dialer)
	if c.Transport != nil {
		c.Transport(p.transport)
	}
	return p, nil
}

// newTransport neither compresses, nor waits, nor limits: what the client and
// the upstream agree on is theirs.
func newTransport(d *dialer) *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment, // never for loopback
		DialContext:         d.DialContext,
		DisableCompression:  true,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 1 << 16, // the default of 2 churns TLS
		IdleConnTimeout:     idleTime,
		WriteBufferSize:     2 << 10, // a stream holds it to its end; what a body has more goes past it

		OnProxyConnectResponse: tunnelRefused,
	}
}

// tunnelRefused says what an outbound proxy answered where it makes no tunnel. The
// host that was asked for has no part in it.
func tunnelRefused(_ context.Context, via *url.URL, _ *http.Request, res *http.Response) error {
	switch res.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusLoopDetected:
		return fmt.Errorf("a loop: HTTPS_PROXY (%s) leads back to ttftap", via.Host)
	}
	return fmt.Errorf("the outbound proxy (HTTPS_PROXY, %s) answered %s", via.Host, res.Status)
}

// Close drops the idle connections to the upstreams.
func (p *Proxy) Close() { p.transport.CloseIdleConnections() }

// Wait returns when every exchange has ended. None may begin meanwhile.
func (p *Proxy) Wait() { p.flights.Wait() }

// Flying is the number of exchanges under way.
func (p *Proxy) Flying() int64 { return p.aloft.count() }

// UnderWay returns what is known by now of each exchange under way, in the order
// in which they began: copies, without their prompts and unjudged.
func (p *Proxy) UnderWay() []*exchange.Exchange { return p.aloft.soFar() }

// ServeHTTP forwards a request and its answer. A stream holds the stack that it
// takes to write the head of the answer from here: few bytes more would double it.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.flights.Add(1)
	f := p.begin(r)
	defer f.handled(w, r)
	if no := f.refusal(r); no != nil {
		f.refuse(w, no)
		return
	}
	// Without this the server reads the rest of the request body before the
	// first byte of the answer, and closes it under the request going out: an
	// upstream that answers early would have its stream cut.
	_ = http.NewResponseController(w).EnableFullDuplex()
	f.reverse(r).ServeHTTP(f.newWriter(w, r), r)
}

// route finds the upstream of a request target and the target for it. An
// upstream that is asked for by an unknown name is nil.
func (p *Proxy) route(path string) (*Upstream, string) {
	name := DefaultUpstream
	if after, ok := strings.CutPrefix(path, "/to/"); ok {
		var found bool
		if name, path, found = strings.Cut(after, "/"); found {
			path = "/" + path
		}
	}
	return p.upstreams[name], path
}
