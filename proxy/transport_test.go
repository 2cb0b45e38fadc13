package proxy_test

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// idleUpstream is how long an upstream over TLS keeps an idle connection.
const idleUpstream = 50 * time.Millisecond

// overTLS is a world whose upstream is https://HOST, answered by a server here.
func overTLS(t *testing.T, host string, http2 bool, upstream http.Handler, adjust ...func(*proxy.Config)) *world {
	t.Helper()
	server := httptest.NewUnstartedServer(upstream)
	server.EnableHTTP2 = http2
	server.Config.MaxHeaderBytes = 64 << 10
	server.Config.IdleTimeout = idleUpstream
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes fail on purpose
	server.StartTLS()
	t.Cleanup(server.Close)
	return onSockets(t, "", http.NotFoundHandler(), append(adjust, func(c *proxy.Config) {
		u, err := proxy.ParseUpstream("https://" + host + "/v1")
		if err != nil {
			t.Fatal(err)
		}
		c.Upstreams[0] = u
		c.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
		}
		c.Transport = func(tr *http.Transport) {
			tr.TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
		}
	})...)
}

func TestUpstreamSeesItsOwnHostAndName(t *testing.T) {
	for _, host := range []string{"example.com", "example.com:8443"} {
		for _, http2 := range []bool{false, true} {
			got := make(chan *http.Request, 1)
			w := overTLS(t, host, http2, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got <- r
				script(eventStream, step{0, chatText + chatFinish + chatUsage + chatDone})(w, r)
			}))
			_, x := w.exchange("/v1/chat/completions", chatAsked)
			r := <-got
			name, _, _ := strings.Cut(host, ":")
			if r.Host != host || r.TLS.ServerName != name || (r.ProtoMajor == 2) != http2 {
				t.Errorf("host %q, name %q, %s", r.Host, r.TLS.ServerName, r.Proto)
			}
			if x.TLS == nil || x.Connect == nil || *x.ConnReused || x.Outcome != exchange.OK || number(x.OutputTokens) != 5 {
				t.Errorf("tls %v, connect %v, reused %v, outcome %s", x.TLS, x.Connect, *x.ConnReused, x.Outcome)
			}
			if _, x = w.exchange("/v1/chat/completions", chatAsked); x.TLS != nil || x.Connect != nil || !*x.ConnReused {
				t.Errorf("second: tls %v, connect %v, reused %v", x.TLS, x.Connect, *x.ConnReused)
			}
			<-got
		}
	}
}

func TestFailedHandshakeIsSaidToBeOne(t *testing.T) {
	w := overTLS(t, "example.org.invalid", false, http.NotFoundHandler())
	res := w.post("/v1/responses", "{}")
	body, _ := io.ReadAll(res.Body)
	x := w.row()
	if res.StatusCode != 502 || x.Outcome != exchange.Unreachable || !strings.HasPrefix(x.Error, "tls:") || !strings.Contains(string(body), "tls_failed") {
		t.Errorf("%d %s, outcome %s, error %q", res.StatusCode, body, x.Outcome, x.Error)
	}
}

func TestClientMaySpeakHTTP2WithoutTLS(t *testing.T) {
	w := onSockets(t, "/v1", script(eventStream, step{0, chatText + chatFinish + chatUsage + chatDone}))
	w.client = overHTTP2(t)
	res := w.post("/v1/chat/completions", chatAsked)
	got, err := io.ReadAll(res.Body)
	if x := w.row(); err != nil || res.ProtoMajor != 2 || x.Outcome != exchange.OK || !strings.HasSuffix(string(got), chatDone) {
		t.Errorf("%s, %v, outcome %s", res.Proto, err, x.Outcome)
	}
}
