package probe_test

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ttftap/ttftap/proxy"
	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/proxy/probe"
	"github.com/ttftap/ttftap/proxy/simulator"
	"github.com/ttftap/ttftap/store"
)

// lab is a runner, an instance and simulated models, in a bubble. The instance has
// a real proxy; its log is kept in memory.
type lab struct {
	t      *testing.T
	runner *probe.Runner

	mu     sync.Mutex
	rows   []*exchange.Exchange // those that have ended, the oldest first
	truths []simulator.Truth
	begun  map[string]experiment.Run
	bodies []string // of the requests that came to the models
	clock  []time.Time
}

// scene is what a lab is made of. The zero value has the simulator's own models,
// near by.
type scene struct {
	profiles []simulator.Profile
	seed     uint64
	network  simulator.Network
	relay    *simulator.Network              // the way that the default upstream takes besides; nil: none, and no second upstream
	before   func(http.Handler) http.Handler // stands before the models
	blind    bool                            // the log tells nothing
	tls      bool                            // the way to the models is encrypted: its round trip can be known
}

// enter runs a test in a lab of its own.
func (s scene) enter(t *testing.T, test func(l *lab)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &lab{t: t, begun: make(map[string]experiment.Run)}
		up, front := newPipes("models"), newPipes("instance")
		var models http.Handler = simulator.New(simulator.Config{Profiles: s.profiles, Seed: s.seed, Done: l.done})
		if s.before != nil {
			models = s.before(models)
		}
		px := l.proxy(s, up)
		servers := []*http.Server{serveOn(s.secured(up), l.seen(models)), serveOn(front, l.instance(px, s.blind))}
		transport := &http.Transport{DialContext: front.dial, DisableCompression: true, IdleConnTimeout: time.Second}
		l.runner = &probe.Runner{
			Instance: &probe.Instance{Client: &http.Client{Transport: transport}, Base: "http://instance.test"},
			Version:  "1.0", Pause: 500 * time.Millisecond, Patience: time.Minute, Timeout: 10 * time.Minute, Budget: 10_000_000,
		}
		defer func() {
			transport.CloseIdleConnections()
			px.Wait()
			px.Close()
			for _, server := range servers {
				server.Close()
			}
			time.Sleep(time.Minute) // the ends of connections are still on their way
		}()
		test(l)
	})
}

func (l *lab) proxy(s scene, up *pipes) *proxy.Proxy {
	c := proxy.Config{
		Secret: []byte("a secret of this install"), Record: l.record,
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			way := s.network
			if strings.HasPrefix(address, "relay.") {
				way = *s.relay
			}
			return way.Dial(up.dial)(ctx, network, address)
		},
		Transport: func(t *http.Transport) { t.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} },
	}
	scheme := "http"
	if s.tls {
		scheme = "https"
	}
	first := scheme + "://models.test/v1"
	if s.relay != nil {
		first = scheme + "://relay.test/v1"
		c.Upstreams = append(c.Upstreams, must(proxy.ParseUpstream("straight="+scheme+"://models.test/v1")))
	}
	c.Upstreams = append([]proxy.Upstream{must(proxy.ParseUpstream(first))}, c.Upstreams...)
	return must(proxy.New(c))
}

func (s scene) secured(l net.Listener) net.Listener {
	if !s.tls {
		return l
	}
	return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{certificate()}})
}

// certificate is valid in the year 2000, in which bubbles begin.
var certificate = sync.OnceValue(func() tls.Certificate {
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)}
	return tls.Certificate{Certificate: [][]byte{must(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))}, PrivateKey: key}
})

func (l *lab) done(truth simulator.Truth) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.truths = append(l.truths, truth)
}

func (l *lab) record(x *exchange.Exchange) func() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x.Outcome != exchange.Open {
		kept := *x
		l.rows = append(l.rows, &kept)
	}
	return func() {}
}

// seen notes what comes to the models.
func (l *lab) seen(models http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		l.mu.Lock()
		l.bodies, l.clock = append(l.bodies, string(body)), append(l.clock, time.Now())
		l.mu.Unlock()
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		models.ServeHTTP(w, r)
	})
}

// instance is the proxy with as much of the API as a runner asks for.
func (l *lab) instance(px http.Handler, blind bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /-/healthz", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok\n") })
	mux.HandleFunc("GET /-/api/requests", func(w http.ResponseWriter, r *http.Request) {
		found := []json.RawMessage{}
		for _, x := range slices.Backward(l.of(r.URL.Query())) {
			found = append(found, must(store.MarshalExchange(x)))
		}
		if blind {
			found = nil
		}
		json.NewEncoder(w).Encode(map[string]any{"requests": found})
	})
	mux.HandleFunc("POST /-/api/experiments", func(w http.ResponseWriter, r *http.Request) {
		var e struct {
			ID   string
			Plan experiment.Plan
		}
		l.note(w, json.NewDecoder(r.Body).Decode(&e), experiment.Run{ID: e.ID, StartedAt: time.Now(), Plan: e.Plan})
	})
	mux.HandleFunc("POST /-/api/experiments/{id}/end", func(w http.ResponseWriter, r *http.Request) {
		run := l.begun[r.PathValue("id")]
		err := json.NewDecoder(r.Body).Decode(&run)
		run.EndedAt = new(time.Now())
		l.note(w, err, run)
	})
	mux.Handle("/", px)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/-/") {
			mux.ServeHTTP(w, r)
		} else {
			px.ServeHTTP(w, r)
		}
	})
}

func (l *lab) note(w http.ResponseWriter, err error, run experiment.Run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil || run.ID == "" {
		http.Error(w, `{"error":{"message":"no experiment"}}`, http.StatusBadRequest)
		return
	}
	l.begun[run.ID] = run
	io.WriteString(w, "{}")
}

// of are the rows that a query asks for.
func (l *lab) of(q url.Values) (rows []*exchange.Exchange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range l.rows {
		if q.Get("experiment") == "" || x.Experiment == q.Get("experiment") {
			rows = append(rows, x)
		}
	}
	return rows
}

// run checks the trials and runs them.
func (l *lab) run(ctx context.Context, trials ...*probe.Trial) (outcomes []*probe.Outcome, err error) {
	if _, err := l.runner.Check(ctx, trials); err != nil {
		return nil, err
	}
	for _, trial := range trials {
		o, err := l.runner.Run(ctx, trial)
		if err != nil {
			return outcomes, err
		}
		outcomes = append(outcomes, o)
		if o.Stopped != nil {
			return outcomes, o.Stopped
		}
	}
	return outcomes, nil
}

// report is what an experiment has found.
func (l *lab) report(id string) *experiment.Report {
	return experiment.Find(l.begun[id], l.of(url.Values{"experiment": {id}}))
}

// setup is for small experiments with the first of the simulator's models.
func setup() probe.Setup {
	return probe.Setup{
		Models: []string{"sim-large"}, Upstreams: []string{probe.Default}, Sizes: []int64{100, 1000, 3000}, Size: 2000,
		Rounds: 2, Count: 4, Levels: []int{1, 2, 4}, Seed: 7, Command: "ttftap probe",
	}
}

func trial(t testing.TB, s probe.Setup, kind experiment.Kind) *probe.Trial {
	t.Helper()
	made, err := s.Trial(kind)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// spent is what the models have read and written.
func (l *lab) spent() (tokens int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, truth := range l.truths {
		if truth.Status == http.StatusOK {
			tokens += int64(truth.PromptTokens + truth.OutputTokens)
		}
	}
	return tokens
}

// refuse answers the requests that pick picks with a status.
func refuse(status int, pick func(n int) bool, headers ...string) func(http.Handler) http.Handler {
	var mu sync.Mutex
	n := -1
	return func(models http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			n++
			picked := pick(n)
			mu.Unlock()
			if !picked {
				models.ServeHTTP(w, r)
				return
			}
			for i := 0; i+1 < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			io.WriteString(w, `{"error":{"message":"not now","code":"`+strings.ToLower(cmp.Or(http.StatusText(status), "odd"))+`"}}`)
		})
	}
}
