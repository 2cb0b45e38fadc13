package proxy_test

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ttftap/ttftap/proxy"
	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/proxy/simulator"
)

// place is a client, the proxy, a network and a simulated model, in a bubble.
type place struct {
	site
	t       *testing.T
	px      *proxy.Proxy
	client  *http.Client // of the proxy
	direct  *http.Client // of the model itself, whom the proxy does not see
	network simulator.Network

	holders sync.WaitGroup

	mu     sync.Mutex
	rows   map[string]row // by the client's name
	truths map[string]simulator.Truth
	asked  int
}

// row is what the proxy made of an exchange.
type row struct {
	exchange.Exchange
	network simulator.Network // at the time
}

// visit runs a test in a place of its own.
func visit(t *testing.T, s site, run func(p *place)) {
	synctest.Test(t, func(t *testing.T) {
		p := &place{site: s, t: t, network: s.network, rows: map[string]row{}, truths: map[string]simulator.Truth{}}
		up, front := newPipes("upstream"), newPipes("proxy")
		model := simulator.New(simulator.Config{Profiles: []simulator.Profile{s.profile}, Seed: s.seed, Done: p.done})
		p.px = p.proxy(up)
		servers := []*http.Server{p.serve(p.secured(up), model), p.serve(front, p.px)}
		through := &http.Transport{DialContext: front.dial, DisableCompression: true, IdleConnTimeout: time.Second}
		past := &http.Transport{DialContext: up.dial, TLSClientConfig: trusting.Clone(), IdleConnTimeout: time.Second}
		p.client, p.direct = &http.Client{Transport: through}, &http.Client{Transport: past}
		run(p)
		through.CloseIdleConnections()
		past.CloseIdleConnections()
		p.px.Close()
		for _, s := range servers {
			s.Close()
		}
		time.Sleep(time.Minute) // the ends of connections are still on their way
	})
}

// proxy makes the proxy whose way to the model is the network of the time.
func (p *place) proxy(up *pipes) *proxy.Proxy {
	u, err := proxy.ParseUpstream(p.scheme() + "://upstream.test/v1")
	if err != nil {
		p.t.Fatal(err)
	}
	px, err := proxy.New(proxy.Config{
		Upstreams: []proxy.Upstream{u},
		Secret:    []byte("a secret of this install"),
		Record:    p.record,
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			return p.now().Dial(up.dial)(ctx, network, address)
		},
		Transport: func(t *http.Transport) { t.TLSClientConfig = trusting.Clone() },
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return px
}

func (p *place) scheme() string {
	if p.tls {
		return "https"
	}
	return "http"
}

func (p *place) secured(l net.Listener) net.Listener {
	if !p.tls {
		return l
	}
	return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{certificate()}})
}

func (p *place) serve(l net.Listener, h http.Handler) *http.Server {
	s := &http.Server{Handler: h, ErrorLog: log.New(io.Discard, "", 0)}
	go s.Serve(l)
	return s
}

// trusting trusts the model's certificate.
var trusting = &tls.Config{InsecureSkipVerify: true}

// certificate is valid in the year 2000, in which bubbles begin.
var certificate = sync.OnceValue(func() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
})

func (p *place) now() simulator.Network {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.network
}

func (p *place) done(truth simulator.Truth) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.truths[truth.RequestID] = truth
}

// record keeps an exchange that has ended.
func (p *place) record(x *exchange.Exchange) func() {
	if x.Outcome != exchange.Open {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.rows[x.Client] = row{Exchange: *x, network: p.network}
	}
	return func() {}
}

// send sends a request after its pause, beside whatever holds the slots, and
// tells under which name it is recorded.
func (p *place) send(a ask) string {
	p.t.Helper()
	time.Sleep(a.pause)
	p.take(cmp.Or(a.network, &p.site.network))
	p.hold(a)
	name := p.name()
	p.post(p.client, "http://proxy.test", name, a)
	p.holders.Wait()
	p.px.Wait()
	synctest.Wait()
	return name
}

// take makes connections take another way from now on, when those that are idle
// have been closed, and how quick the way was is remembered no longer.
func (p *place) take(way *simulator.Network) {
	if p.now() == *way {
		return
	}
	time.Sleep(11 * time.Minute)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.network = *way
}

// score puts the truth beside what was recorded under a name.
func (p *place) score(a ask, name string) scored {
	p.mu.Lock()
	defer p.mu.Unlock()
	r, known := p.rows[name]
	if !known {
		p.t.Fatalf("%s was not recorded", name)
	}
	s := scored{site: &p.site, ask: a, row: r}
	if truth, known := p.truths[r.RequestID]; known {
		s.truth = &truth
	}
	return s
}

func (p *place) name() string {
	p.asked++
	return fmt.Sprintf("proof/%d", p.asked)
}

// wake has the model loaded by somebody whom the proxy does not see.
func (p *place) wake() {
	p.post(p.direct, p.scheme()+"://upstream.test", "", ask{}.holder())
}

// hold takes slots for a while: all of them, or as many as there are others.
func (p *place) hold(a ask) {
	for range a.others {
		other, name := a.holder(), p.name()
		if a.seen {
			p.holders.Go(func() { p.post(p.client, "http://proxy.test", name, other) })
			time.Sleep(time.Millisecond) // they come one after the other
		} else {
			p.holders.Go(func() { p.post(p.direct, p.scheme()+"://upstream.test", name, other) })
			synctest.Wait()
		}
	}
}

// post sends a request, reads the answer to its end, if it is not left before,
// and knows nothing better.
func (p *place) post(client *http.Client, base, name string, a ask) {
	ctx := context.Background()
	if a.leave > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, a.leave)
		defer cancel()
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+paths[a.api], strings.NewReader(a.body()))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", name)
	r.Header.Set(simulator.OverrideHeader, knobs(a.how))
	if a.session != "" {
		r.Header.Set("Session-Id", a.session)
	}
	res, err := client.Do(r)
	if err != nil {
		return
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
}

var paths = map[exchange.Dialect]string{
	exchange.Chat:        "/v1/chat/completions",
	exchange.Responses:   "/v1/responses",
	exchange.Messages:    "/v1/messages",
	exchange.Completions: "/v1/completions",
}
