package main

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ttftap/ttftap/proxy"
)

const canary = "sk-TESTKEY-9f3"

// told sends a request with a credential in each place where one may be.
func (r *running) told(path string, more http.Header) {
	q := must(http.NewRequest("POST", r.base+path, strings.NewReader(`{"model":"m","stream":true}`)))
	q.Header = http.Header{
		"Authorization": {"Bearer " + canary}, "X-Api-Key": {canary}, "Cookie": {"s=" + canary}, "Proxy-Authorization": {"Basic " + canary},
		"Api-Key": {canary}, "X-Goog-Api-Key": {canary},
	}
	for k, v := range more {
		q.Header[k] = v
	}
	res := must(local.RoundTrip(q))
	io.Copy(io.Discard, res.Body)
	res.Body.Close()
}

func TestNoCredentialIsKeptLoggedOrShown(t *testing.T) {
	seen := make(chan http.Header, 16)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Header.Clone()
		if strings.HasPrefix(r.URL.Path, "/no") {
			http.Error(w, `{"error":{"message":"Incorrect API key provided: `+canary+`","code":"invalid_api_key"}}`, http.StatusUnauthorized)
			return
		}
		model(w, r)
	}))
	t.Cleanup(upstream.Close)
	r := startProgram(t, "--log-level", "debug", "serve", "--upstream", upstream.URL, "--upstream", "gone=http://127.0.0.1:9/v1", "--upstream", "broken=http://no-such-host.invalid/v1")
	r.told("/v1/chat/completions", nil)
	for _, name := range []string{"Authorization", "X-Api-Key", "Cookie"} {
		if got := (<-seen).Get(name); !strings.Contains(got, canary) {
			t.Errorf("the upstream got %s %q", name, got)
		}
		r.told("/v1/chat/completions?key="+canary, nil)
	}
	r.told("/no/v1/responses", nil)
	r.told("/to/gone/responses?api_key="+canary, nil)
	r.told("/to/broken/chat/completions", nil)
	r.told("/to/"+"nowhere/chat/completions", nil)
	r.told("/v1/responses", http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="}})
	kept := map[string]string{}
	for _, row := range r.rows(9) {
		_, kept["page of "+row["path"]] = r.get("/-/requests/" + row["id"])
	}
	for _, path := range []string{"/-/", "/-/export.csv", "/-/export.jsonl", "/-/api/requests", "/-/connect", "/-/healthz"} {
		_, kept[path] = r.get(path)
	}
	for _, suffix := range []string{"", "-wal"} {
		kept["log file"+suffix] = string(must(os.ReadFile(r.db + suffix)))
	}
	r.stop()
	r.exit()
	kept["log file at the end"], kept["output"] = string(must(os.ReadFile(r.db))), r.stderr.String()
	for where, text := range kept {
		if strings.Contains(text, canary) || strings.Contains(text, "TESTKEY") {
			t.Errorf("a credential is in the %s", where)
		}
	}
	if !strings.Contains(kept["log file-wal"]+kept["log file at the end"], "invalid_api_key") {
		t.Error("the log cannot be read by this test")
	}
}

// own is an address of this machine by which others reach it, "" without one.
func own(t *testing.T) string {
	for _, a := range must(net.InterfaceAddrs()) {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	return ""
}

func startOn(t *testing.T, listen string) *instance {
	t.Helper()
	i, err := start(t.Context(), plan{
		settings: settings{Listen: listen}, upstreams: []proxy.Upstream{must(proxy.ParseUpstream("http://127.0.0.1:9/v1"))},
		db: filepath.Join(t.TempDir(), "x.db"), lines: io.Discard, log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { i.close() })
	return i
}

func TestOtherMachinesReachNothingUnlessThatIsAskedFor(t *testing.T) {
	i := startOn(t, "localhost:0")
	for _, l := range i.listeners {
		if a := l.Addr().(*net.TCPAddr); !a.IP.IsLoopback() {
			t.Errorf("it listens on %s", a)
		}
	}
	if host := own(t); host != "" {
		_, port, _ := net.SplitHostPort(strings.TrimPrefix(i.base, "http://"))
		if c, err := net.Dial("tcp", net.JoinHostPort(host, port)); err == nil {
			c.Close()
			t.Errorf("it is reached by %s", host)
		}
	}
	var greeting bytes.Buffer
	i.greet(&greeting, proxy.Upstream{URL: must(proxy.ParseUpstream("http://127.0.0.1:9/v1")).URL})
	if strings.Contains(greeting.String(), "WARNING") || i.token != "" {
		t.Errorf("token %q, and it says: %s", i.token, greeting.String())
	}
}

func TestAPageThatOthersReachIsLockedAndSaidToBeReached(t *testing.T) {
	i := startOn(t, "0.0.0.0:0")
	var greeting bytes.Buffer
	i.greet(&greeting, must(proxy.ParseUpstream("http://127.0.0.1:9/v1")))
	if !strings.Contains(greeting.String(), "WARNING: other machines can reach") || i.token == "" || !strings.Contains(greeting.String(), i.token) {
		t.Errorf("it says: %s", greeting.String())
	}
	_, port, _ := net.SplitHostPort(i.listeners[0].Addr().String())
	for _, path := range []string{"/-/", "/-/export.csv", "/-/api/requests", "/-/live"} {
		res := must(local.RoundTrip(must(http.NewRequest("GET", "http://127.0.0.1:"+port+path, nil))))
		res.Body.Close()
		if res.StatusCode != http.StatusUnauthorized || res.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s without the token: %d, %v", path, res.StatusCode, res.Header)
		}
	}
}
