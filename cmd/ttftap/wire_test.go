package main

import (
	"bufio"
	"compress/gzip"
	"encoding/base64"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// model answers every request with a short stream, and says over which protocol it
// was asked.
func model(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Asked", strings.TrimSpace(r.Proto+" "+r.Host+" "+r.Header.Get("Proxy-Authorization")))
	io.WriteString(w, textEvent+lastEvent)
}

// private is a model behind a certificate of its own authority, which is in a file.
func private(t *testing.T) (s *httptest.Server, authority string) {
	s = httptest.NewUnstartedServer(http.HandlerFunc(model))
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes fail on purpose
	s.StartTLS()
	t.Cleanup(s.Close)
	authority = filepath.Join(t.TempDir(), "authority.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(authority, block, 0o600); err != nil {
		t.Fatal(err)
	}
	return s, authority
}

// answer posts a request and returns what came of it.
func (c *child) answer(t *testing.T) (status int, asked, body string) {
	t.Helper()
	res := c.post(t)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header.Get("X-Asked"), string(b)
}

func TestUpstreamWithAPrivateAuthorityIsTrustedIfItIsTold(t *testing.T) {
	s, authority := private(t)
	c := startChild(t, s.URL+"/v1", filepath.Join(t.TempDir(), "x.db"), "TTFTAP_CA_FILE="+authority)
	if status, asked, body := c.answer(t); status != 200 || !strings.HasPrefix(asked, "HTTP/2.0 ") || body != textEvent+lastEvent {
		t.Errorf("status %d, over %s, %q", status, asked, body)
	}
	stranger := startChild(t, s.URL+"/v1", filepath.Join(t.TempDir(), "x.db"))
	if status, _, body := stranger.answer(t); status != 502 || !strings.Contains(body, "tls") || !strings.Contains(body, "certificate") {
		t.Errorf("without it: status %d, %s", status, body)
	}
}

func TestIPv6OnBothSides(t *testing.T) {
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skipf("SKIPPED: there is no IPv6: %v", err)
	}
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(model)}}
	s.Start()
	t.Cleanup(s.Close)
	for _, listen := range []string{"[::1]:0", "localhost:0"} {
		c := startChildOn(t, listen, s.URL+"/v1", filepath.Join(t.TempDir(), "x.db"))
		_, port, _ := net.SplitHostPort(strings.TrimPrefix(c.base, "http://"))
		c.base = "http://[::1]:" + port
		if status, asked, body := c.answer(t); status != 200 || asked != "HTTP/1.1 "+l.Addr().String() || body != textEvent+lastEvent {
			t.Errorf("%s: status %d, asked %q, %q", listen, status, asked, body)
		}
	}
}

// outbound is a proxy as HTTP_PROXY and HTTPS_PROXY name one: all that it is asked
// for it takes to the same server.
type outbound struct {
	net.Listener
	to string

	mu    sync.Mutex
	heads []string // first line and credential of what it was asked
}

func newOutbound(t *testing.T, to string) *outbound {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	o := &outbound{Listener: l, to: to}
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			go o.serve(c)
		}
	}()
	return o
}

func (o *outbound) serve(c net.Conn) {
	defer c.Close()
	far, err := net.Dial("tcp", o.to)
	if err != nil {
		return
	}
	defer far.Close()
	r := bufio.NewReader(c)
	q, err := http.ReadRequest(r)
	if err != nil {
		return
	}
	o.mu.Lock()
	o.heads = append(o.heads, q.Method+" "+q.RequestURI+" "+q.Header.Get("Proxy-Authorization"))
	o.mu.Unlock()
	if q.Method == http.MethodConnect {
		io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n")
	} else {
		q.Header.Del("Proxy-Authorization")
		q.Header.Set("Connection", "close")
		q.Write(far)
	}
	go func() { io.Copy(far, r); far.Close() }()
	io.Copy(c, far)
}

func (o *outbound) asked() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.heads
}

// behind is the environment of a program that may only leave through a proxy.
func behind(address string, more ...string) []string {
	env := []string{"http_proxy=", "https_proxy=", "no_proxy=", "NO_PROXY="}
	return append(append(env, "HTTP_PROXY="+address, "HTTPS_PROXY="+address), more...)
}

func TestOutboundProxyTunnelsToAnHTTPSUpstream(t *testing.T) {
	s, authority := private(t)
	o := newOutbound(t, s.Listener.Addr().String())
	c := startChild(t, "https://example.com/v1", filepath.Join(t.TempDir(), "x.db"),
		behind("http://user:swordfish@"+o.Addr().String(), "TTFTAP_CA_FILE="+authority)...)
	status, asked, body := c.answer(t)
	if status != 200 || asked != "HTTP/2.0 example.com" || body != textEvent+lastEvent {
		t.Errorf("status %d, asked %q, %q", status, asked, body)
	}
	want := "CONNECT example.com:443 Basic " + base64.StdEncoding.EncodeToString([]byte("user:swordfish"))
	if got := o.asked(); len(got) != 1 || got[0] != want {
		t.Errorf("the proxy was asked %q", got)
	}
	if lines := c.Stderr.(*lockedBuffer).String(); strings.Contains(lines, "swordfish") {
		t.Errorf("the proxy's password is logged: %s", lines)
	}
}

func TestOutboundProxyTakesRequestsToAnHTTPUpstream(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(model))
	t.Cleanup(s.Close)
	o := newOutbound(t, s.Listener.Addr().String())
	c := startChild(t, "http://model.invalid/v1", filepath.Join(t.TempDir(), "x.db"), behind("http://"+o.Addr().String())...)
	if status, asked, body := c.answer(t); status != 200 || asked != "HTTP/1.1 model.invalid" || body != textEvent+lastEvent {
		t.Errorf("status %d, asked %q, %q", status, asked, body)
	}
	if got := o.asked(); len(got) != 1 || got[0] != "POST http://model.invalid/v1/chat/completions " {
		t.Errorf("the proxy was asked %q", got)
	}
}

func TestHostThatIsNamedInNoProxyIsReachedDirectly(t *testing.T) {
	o := newOutbound(t, "127.0.0.1:9")
	c := startChild(t, "http://model.invalid/v1", filepath.Join(t.TempDir(), "x.db"), behind("http://"+o.Addr().String(), "NO_PROXY=.invalid")...)
	if status, _, body := c.answer(t); status != 502 || !strings.Contains(body, "dns") {
		t.Errorf("status %d, %s", status, body)
	}
	if got := o.asked(); len(got) > 0 {
		t.Errorf("the proxy was asked %q", got)
	}
}

func TestOutboundProxyThatRefusesIsSaidToBeTheCause(t *testing.T) {
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusProxyAuthRequired)
	}))
	t.Cleanup(refusing.Close)
	c := startChild(t, "https://example.com/v1", filepath.Join(t.TempDir(), "x.db"), behind(refusing.URL)...)
	if status, _, body := c.answer(t); status != 502 || !strings.Contains(body, "Proxy Authentication Required") || !strings.Contains(body, "outbound proxy") {
		t.Errorf("status %d, %s", status, body)
	}
}

// An environment that sends the program's own calls back to it must not go round.
func TestOutboundProxyThatIsTtftapItselfIsSaidToBeALoop(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	for _, upstream := range []string{"https://model.invalid/v1", "http://model.invalid/v1"} {
		c := startChildOn(t, address, upstream, filepath.Join(t.TempDir(), "x.db"), behind("http://"+address)...)
		c.base = "http://" + address
		start := time.Now()
		status, _, body := c.answer(t)
		if status < 500 || !strings.Contains(strings.ToLower(body), "loop") || !strings.Contains(body, "HTTPS_PROXY") || time.Since(start) > soon {
			t.Errorf("%s: status %d, %s, after %v", upstream, status, body, time.Since(start))
		}
		c.Process.Kill()
		c.Wait()
	}
}

func TestCurlGetsTheSameWithEachOfItsProtocols(t *testing.T) {
	curl := needs(t, findIn("curl"), "curl")
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") || r.Header.Get("Upgrade") != "" {
			model(w, r)
			return
		}
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		io.WriteString(z, textEvent+lastEvent)
		z.Close()
	}))
	t.Cleanup(upstream.Close)
	r := startProgram(t, "serve", "--upstream", upstream.URL+"/v1")
	for n, flags := range [][]string{nil, {"--http2"}, {"--http2-prior-knowledge"}, {"--compressed"}, {"--compressed", "--http2-prior-knowledge"}, {"--http1.0"}, {"-H", "Expect: 100-continue"}} {
		args := append([]string{"-sS", "-N", "--fail", "--max-time", "20", "--noproxy", "*", "-w", "%{http_code}", r.base + "/v1/chat/completions",
			"-H", "Content-Type: application/json", "-d", `{"model":"m","stream":true}`}, flags...)
		start := time.Now()
		out, err := exec.Command(curl, args...).CombinedOutput()
		if err != nil || string(out) != textEvent+lastEvent+"200" {
			t.Errorf("curl %v: %v: %q", flags, err, out)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("curl %v took %v", flags, took)
		}
		if row := r.rows(n + 1)[n]; row["outcome"] != "ok" || row["output_tokens"] != "5" || !strings.HasPrefix(row["client"], "curl/") {
			t.Errorf("curl %v: row %v", flags, row)
		}
	}
}
