package doctor_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/doctor"
	"github.com/ttftap/ttftap/proxy/simulator"
)

const key = "sk-only-for-tests-1234567890"

// patient is what is examined, and the environment around it.
type patient struct {
	doctor.Setup
	env map[string]string
}

// healthy is a set-up in which nothing is wrong, but for what the upstream does.
func healthy(base string) *patient {
	return &patient{
		Setup: doctor.Setup{Upstream: base, Model: "sim-light"},
		env:   map[string]string{"OPENAI_API_KEY": key},
	}
}

// listed lets only those requests pass that were listed before.
type listed struct {
	t       *testing.T
	allowed map[string]bool
	http.RoundTripper
}

func (l listed) RoundTrip(r *http.Request) (*http.Response, error) {
	bare, _, _ := strings.Cut(r.URL.String(), "?") // a query is told of apart
	if q := r.Method + " " + bare; !l.allowed[q] {
		l.t.Errorf("%s was not listed", q)
	}
	return l.RoundTripper.RoundTrip(r)
}

// examine runs the whole examination. What holds of each is tested with each.
func (p *patient) examine(t *testing.T) map[string]doctor.Finding {
	t.Helper()
	gate := listed{t, map[string]bool{}, p.Transport}
	if gate.RoundTripper == nil {
		gate.RoundTripper = &http.Transport{DisableKeepAlives: true, DisableCompression: true}
	}
	p.Transport, p.Getenv = gate, func(name string) string { return p.env[name] }
	c := doctor.New(p.Setup)
	for _, r := range c.Requests() {
		gate.allowed[r.Method+" "+r.URL] = true
	}
	if err := c.Ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	found := map[string]doctor.Finding{}
	for _, f := range c.Findings() {
		text := f.Words + strings.Join(f.Advice, "\n")
		if strings.Contains(text, key) || strings.Contains(text, key[:len(key)-2]) {
			t.Errorf("%s shows the key: %s", f.Check, text)
		}
		if f.State == doctor.Change && len(f.Advice) == 0 {
			t.Errorf("%s has no cure: %s", f.Check, f.Words)
		}
		found[f.Check] = f
	}
	return found
}

// finds examines and expects of one check a state and words, in what it says or
// advises.
func (p *patient) finds(t *testing.T, check string, state doctor.State, words ...string) doctor.Finding {
	t.Helper()
	f, there := p.examine(t)[check]
	if !there {
		t.Fatalf("%s says nothing", check)
	}
	text := f.Words + "\n" + strings.Join(f.Advice, "\n")
	if f.State != state {
		t.Errorf("%s is %s, not %s: %s", check, f.State, state, text)
	}
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s does not say %q: %s", check, w, text)
		}
	}
	return f
}

// serve puts a handler on a free port.
func serve(t *testing.T, h http.Handler) (origin string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// model is a simulated model that behaves as told, and otherwise answers briefly.
func model(adjust ...func(*simulator.Profile)) http.Handler {
	p := simulator.Profile{Name: "sim-light", Behaviour: simulator.Behaviour{
		Floor: time.Millisecond, TPOT: time.Millisecond, Output: 6,
	}}
	for _, a := range adjust {
		a(&p)
	}
	return simulator.New(simulator.Config{Profiles: []simulator.Profile{p}})
}

// atPace has a model answer at length, at the pace of a real one.
func atPace(p *simulator.Profile) { p.TPOT, p.Output = 4*time.Millisecond, 64 }

// except answers some paths in another way.
func except(h http.Handler, answer http.HandlerFunc, ends ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, end := range ends {
			if strings.HasSuffix(r.URL.Path, end) {
				io.Copy(io.Discard, r.Body)
				answer(w, r)
				return
			}
		}
		h.ServeHTTP(w, r)
	})
}

// leadingTo connects to one server, whatever name it is asked for.
func leadingTo(base string) *http.Transport {
	u, err := url.Parse(base)
	if err != nil {
		panic(err)
	}
	return &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, u.Host)
	}}
}

func says(status int, media, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", media)
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func fails(status int, code string, header ...string) http.HandlerFunc {
	return says(status, "application/json", `{"error":{"type":"`+code+`","code":"`+code+`","message":"no: `+key+`"}}`, header...)
}

// page is a console's.
var page = says(200, "text/html; charset=utf-8", "<!DOCTYPE html><html><body>Sign in</body></html>")

// write puts a file into a folder of its own.
func write(t *testing.T, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// withCodex gives the patient a config of Codex, and nothing else that names an
// upstream. The word BASE in it stands for one.
func (p *patient) withCodex(t *testing.T, version, config string) *patient {
	t.Helper()
	path := write(t, "config.toml", strings.ReplaceAll(config, "BASE", p.Upstream))
	x, err := doctor.ReadCodex(filepath.Dir(path), "", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	x.Version = version
	p.Upstream, p.Model, p.Codex = "", "", x
	return p
}

const goodConfig = `model = "sim-light"
model_provider = "own"

[model_providers.own]
name = "own"
base_url = "BASE"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
`

const today = "codex-cli 0.171.0"

func TestAHealthySetUpIsGivenACleanBill(t *testing.T) {
	p := healthy(serve(t, model(atPace))+"/v1").withCodex(t, today, goodConfig)
	for check, f := range p.examine(t) {
		if f.State != doctor.OK {
			t.Errorf("%s: %s: %s %q", check, f.State, f.Words, f.Advice)
		}
	}
}

func TestNothingIsAskedBeforeItIsListed(t *testing.T) {
	asked := 0
	base := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ })) + "/v1"
	p := healthy(base)
	p.Getenv = func(string) string { return "" }
	if got := len(doctor.New(p.Setup).Requests()); got < 4 || asked > 0 {
		t.Errorf("%d requests were listed and %d made", got, asked)
	}
}

func TestRequestsAreCheap(t *testing.T) {
	var bodies []string
	h := model()
	base := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(b))
		r.Body = io.NopCloser(strings.NewReader(string(b)))
		h.ServeHTTP(w, r)
	})) + "/v1"
	healthy(base).examine(t)
	tokens := 0
	for _, b := range bodies {
		if b != "" && !strings.Contains(b, `tokens":64`) {
			t.Errorf("no limit in %s", b)
		}
		tokens += len(b) / 4
	}
	if tokens > 200 || len(bodies) > 8 {
		t.Errorf("%d requests of about %d tokens", len(bodies), tokens)
	}
}
