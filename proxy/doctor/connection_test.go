package doctor_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/doctor"
)

// body is what was sent, left to be read again.
type body map[string]any

func bodyOf(r *http.Request) body {
	text, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(strings.NewReader(string(text)))
	var b body
	_ = json.Unmarshal(text, &b)
	return b
}

func (b body) has(field string) bool {
	_, there := b[field]
	return there
}

func TestANameWithoutAnAddressIsSaidToHaveNone(t *testing.T) {
	nobody, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody.Close() // nothing answers at its port
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", nobody.LocalAddr().String())
	}}
	p := healthy("https://api.gateway.example/v1")
	p.Transport = &http.Transport{DialContext: (&net.Dialer{Resolver: resolver}).DialContext}
	p.finds(t, "connection", doctor.Change, "failed at looking the name up", "no address for api.gateway.example")
}

func TestAPortWhereNothingListensIsNamed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	healthy("http://"+l.Addr().String()+"/v1").finds(t, "connection", doctor.Change, "failed at connecting", "nothing listens there")
}

func TestAnUpstreamThatSaysNothingIsNotWaitedForForEver(t *testing.T) {
	p := healthy(serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})) + "/v1")
	p.Timeout = 50 * time.Millisecond
	p.finds(t, "connection", doctor.Change, "failed at waiting for the answer", "nothing came for 50.0 ms")
}

func TestAnAuthorityThatIsNotTrustedIsToldWithTheWayToTrustIt(t *testing.T) {
	s := httptest.NewUnstartedServer(model())
	s.Config.ErrorLog = quiet()
	s.StartTLS()
	t.Cleanup(s.Close)
	healthy(s.URL+"/v1").finds(t, "connection", doctor.Change, "failed at the TLS handshake", "not trusted here", "--ca-file", "SSL_CERT_FILE")
}

// quiet takes what a server has to say of failed handshakes.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// secured serves with a certificate of its own and trusts it.
func secured(t *testing.T, names []string, until time.Time) (origin string, transport *http.Transport) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	plain := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: until.Add(-48 * time.Hour), NotAfter: until,
		DNSNames: names, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	if names != nil {
		plain.IPAddresses = nil
	}
	der, err := x509.CreateCertificate(rand.Reader, plain, plain, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(model())
	s.Config.ErrorLog = quiet()
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: private}}}
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(signed)
	return s.URL, &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}
}

func TestATrustedAuthorityIsEnough(t *testing.T) {
	origin, transport := secured(t, nil, time.Now().Add(time.Hour))
	p := healthy(origin + "/v1")
	p.Transport = transport
	p.finds(t, "connection", doctor.OK, "answered after")
}

func TestACertificateOfAnotherHostIsSaidToBe(t *testing.T) {
	origin, transport := secured(t, []string{"elsewhere.example"}, time.Now().Add(time.Hour))
	p := healthy(origin + "/v1")
	p.Transport = transport
	p.finds(t, "connection", doctor.Change, "for another host")
}

func TestACertificateThatHasExpiredIsSaidToHave(t *testing.T) {
	origin, transport := secured(t, nil, time.Now().Add(-time.Hour))
	p := healthy(origin + "/v1")
	p.Transport = transport
	p.finds(t, "connection", doctor.Change, "has expired", "clock")
}

func TestTLSSpokenToAPlainServerIsSeen(t *testing.T) {
	origin := serve(t, model())
	healthy(strings.Replace(origin, "http:", "https:", 1)+"/v1").finds(t, "connection", doctor.Change, "plain HTTP", "--upstream "+origin+"/v1")
}

// answeringInBytes listens and says something, whatever it hears.
func answeringInBytes(t *testing.T, said string) (base string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			io.WriteString(c, said)
			c.Read(make([]byte, 1<<10))
			c.Close()
		}
	}()
	return "https://" + l.Addr().String() + "/v1"
}

func TestAServerOfSomethingElseIsSeen(t *testing.T) {
	healthy(answeringInBytes(t, "SSH-2.0-OpenSSH\r\n")).finds(t, "connection", doctor.Change, "failed at the TLS handshake", "speaks no TLS")
}

func TestAServerThatEndsTheHandshakeIsSaidTo(t *testing.T) {
	const unrecognizedName = "\x15\x03\x03\x00\x02\x02\x70" // an alert, fatal
	healthy(answeringInBytes(t, unrecognizedName)).finds(t, "connection", doctor.Change, "the server ended the handshake", "check the host name")
}

func TestAServerThatHangsUpIsSaidTo(t *testing.T) {
	healthy(strings.Replace(answeringInBytes(t, ""), "https:", "http:", 1)).finds(t, "connection", doctor.Change, "failed at waiting for the answer: EOF")
}

func TestPlainHTTPSpokenToATLSServerIsSeen(t *testing.T) {
	s := httptest.NewUnstartedServer(model())
	s.Config.ErrorLog = quiet()
	s.StartTLS()
	t.Cleanup(s.Close)
	plain := strings.Replace(s.URL, "https:", "http:", 1)
	healthy(plain+"/v1").finds(t, "connection", doctor.Change, "speaks TLS", "--upstream "+s.URL+"/v1")
}

func TestASystemProxyThatSwallowsLoopbackIsSeen(t *testing.T) {
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY"} {
		p := healthy(serve(t, model()) + "/v1")
		p.env[name], p.env["NO_PROXY"] = "http://proxy.example:3128", "intranet.example"
		p.finds(t, "system proxy", doctor.Change, name+" is set", "export NO_PROXY=intranet.example,localhost,127.0.0.1,::1")
	}
}

func TestASystemProxyThatLeavesLoopbackOutIsFine(t *testing.T) {
	for _, except := range []string{"localhost,127.0.0.1", "*", "127.0.0.0/8"} {
		p := healthy(serve(t, model()) + "/v1")
		p.env["HTTP_PROXY"], p.env["no_proxy"] = "http://proxy.example:3128", except
		p.finds(t, "system proxy", doctor.OK, "leaves this machine out")
	}
}

func TestASystemProxyThatRefusesIsSaidToBeTheCause(t *testing.T) {
	proxy := serve(t, says(403, "text/plain", "no"))
	p := healthy("https://gateway.example/v1")
	p.Transport = &http.Transport{Proxy: func(*http.Request) (*url.URL, error) { return url.Parse(proxy) }}
	p.finds(t, "connection", doctor.Change, "failed at asking the system's proxy", "NO_PROXY")
}

func TestAClockThatIsOffIsToldWithTheDirection(t *testing.T) {
	at := func(off time.Duration) http.Handler {
		h := model()
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Date", time.Now().Add(off).UTC().Format(http.TimeFormat))
			h.ServeHTTP(w, r)
		})
	}
	healthy(serve(t, at(5*time.Minute))+"/v1").finds(t, "clock", doctor.Change, "behind the upstream's", "timedatectl set-ntp true")
	healthy(serve(t, at(-5*time.Minute))+"/v1").finds(t, "clock", doctor.Change, "ahead of the upstream's")
	healthy(serve(t, at(0))+"/v1").finds(t, "clock", doctor.OK)
}

// ttftap is one that forwards to a handler.
func ttftap(h http.Handler) http.Handler {
	return except(h, says(200, "text/plain; charset=utf-8", "ok\n"), "/-/healthz")
}

func TestARunningTtftapIsSaidToForwardThere(t *testing.T) {
	h := model()
	for _, path := range []string{"", "/", "/v1/"} {
		p := healthy(serve(t, h) + "/v1")
		p.Via = serve(t, ttftap(h)) + path
		p.finds(t, "ttftap", doctor.OK, "up and forwards there")
	}
}

func TestATtftapThatIsDownIsSaidToBe(t *testing.T) {
	p := healthy(serve(t, model()) + "/v1")
	p.Via = "http://127.0.0.1:1"
	p.finds(t, "ttftap", doctor.Change, "nothing answers at", "ttftap serve --upstream "+p.Upstream)
}

func TestATtftapThatForwardsElsewhereIsSaidTo(t *testing.T) {
	p := healthy(serve(t, model()) + "/v1")
	p.Via = serve(t, ttftap(fails(404, "not_found")))
	p.finds(t, "ttftap", doctor.Change, "forwards elsewhere", "200 there, 404 through it")
}

func TestAnotherServerIsNotTakenForTtftap(t *testing.T) {
	p := healthy(serve(t, model()) + "/v1")
	p.Via = serve(t, page)
	p.finds(t, "ttftap", doctor.Change, "is no ttftap")
}
