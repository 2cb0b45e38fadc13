package proxy_test

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/ttftap/ttftap/proxy"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// seen is a request as the upstream got it.
type seen struct {
	method, target, host string
	header               http.Header
	body                 string
	length               int64
}

// witness answers 200 with answer and hands out what it got.
func witness(answer http.HandlerFunc) (http.Handler, <-chan seen) {
	got := make(chan seen, 64)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- seen{r.Method, r.RequestURI, r.Host, r.Header.Clone(), string(body), r.ContentLength}
		if answer != nil {
			r.Body = io.NopCloser(bytes.NewReader(body))
			answer(w, r)
		}
	}), got
}

func TestTargetArrivesAsItWasWritten(t *testing.T) {
	targets := []string{
		"/v1/files?after=a;b&limit=2&x=%25zz&empty=&flag",
		"/v1/files?after=a;b&x=%zz",
		"//v1/responses",
		"/v1//chat/completions",
		"/v1/a/../b",
		"/v1/a%2Fb/%7Euser",
		"/v1/x?",
		"/v1/<x>|{y}",
		"/v1/models/%E4%B8%AD",
		"/v1/a+b:c@d",
	}
	upstream, got := witness(nil)
	w := onSockets(t, "", upstream)
	for _, target := range targets {
		for _, method := range []string{"POST", "PROPFIND"} {
			t.Run(method+" "+target, func(t *testing.T) {
				answer, _ := w.raw(method + " " + target + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nbody")
				if line, _ := answer.ReadString('\n'); !strings.Contains(line, " 200 ") {
					t.Fatalf("answer %q", line)
				}
				s := <-got
				if s.target != target || s.method != method || s.body != "body" {
					t.Errorf("upstream saw %s %s with body %q", s.method, s.target, s.body)
				}
				w.row()
			})
		}
	}
}

func TestTargetThatCannotBeParsedGets400(t *testing.T) {
	w := onSockets(t, "", http.NotFoundHandler())
	answer, _ := w.raw("GET /v1/%zz HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if line, _ := answer.ReadString('\n'); !strings.Contains(line, " 400 ") {
		t.Errorf("answer %q", line)
	}
}

func TestJoinOfBaseAndTarget(t *testing.T) {
	for _, c := range []struct{ base, target, want string }{
		{"https://u", "/v1/responses", "/v1/responses"},
		{"https://u", "/responses", "/responses"},
		{"https://u/", "/v1/responses", "/v1/responses"},
		{"https://u/", "/responses", "/responses"},
		{"https://u/v1", "/v1/responses", "/v1/responses"},
		{"https://u/v1", "/responses", "/v1/responses"},
		{"https://u/v1/", "/v1/responses", "/v1/responses"},
		{"https://u/v1/", "/responses", "/v1/responses"},
		{"https://u/api/plan/v3", "/v1/responses", "/api/plan/v3/responses"},
		{"https://u/api/plan/v3", "/responses", "/api/plan/v3/responses"},
		{"https://u/api", "/v1/responses", "/api/v1/responses"},
		{"https://u/backend-api/codex", "/v1/responses", "/backend-api/codex/responses"},
		{"https://u/v1", "/v1", "/v1"},
		{"https://u/v1", "/v1/", "/v1/"},
		{"https://u/v1", "//v1/responses", "/v1//v1/responses"},
		{"https://u/v1", "/v1beta/models", "/v1/v1beta/models"},
	} {
		u, err := proxy.ParseUpstream(c.base)
		if err != nil {
			t.Fatal(err)
		}
		if got := proxy.Join(u, c.target); got != c.want {
			t.Errorf("%s + %s = %s, want %s", c.base, c.target, got, c.want)
		}
	}
}

func TestUpstreamThatCannotWorkIsRefusedWithTheCure(t *testing.T) {
	for in, want := range map[string]string{
		"api.openai.com/v1":             "http:// or https://",
		"https://":                      "no host",
		"https://u/v1?ref=abc":          "query",
		"https://u/v1#top":              "fragment",
		"https://key@u/v1":              "credential",
		"https://u//v1":                 "slash",
		"https://u/v1/chat/completions": `end it in "/v1"`,
		"Bad Name=https://u/v1":         "lower-case",
		"https://u/v1/responses/":       `end it in "/v1"`,
	} {
		if _, err := proxy.ParseUpstream(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", in, err, want)
		}
	}
}

func TestHeadersArriveUnchangedAndNoneIsAdded(t *testing.T) {
	upstream, got := witness(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["Date"], h["Content-Type"] = nil, nil
		h.Set("Connection", "X-Back")
		h.Set("X-Back", "1")
		h.Add("Set-Cookie", "a=1")
		h.Add("Set-Cookie", "b=2")
		h.Set("Content-Length", "1000")
		w.Write(bytes.Repeat([]byte("x"), 1000))
	})
	w := onSockets(t, "", upstream)
	answer, _ := w.raw("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost:8838\r\nAuthorization: Bearer k\r\n" +
		"OpenAI-Beta: x\r\nx-stainless-lang: js\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\n" +
		"Proxy-Connection: keep-alive\r\nProxy-Authorization: Basic cDpw\r\nX-Forwarded-For: 9.9.9.9\r\nForwarded: for=9.9.9.9\r\nX-Many: a\r\nX-Many: b\r\nContent-Length: 2\r\n\r\n{}")
	res, err := http.ReadResponse(answer, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(res.Body)
	s := <-got
	want := http.Header{
		"Authorization": {"Bearer k"}, "Openai-Beta": {"x"}, "X-Stainless-Lang": {"js"}, "X-Forwarded-For": {"9.9.9.9"},
		"Forwarded": {"for=9.9.9.9"}, "X-Many": {"a", "b"}, "Content-Length": {"2"},
	}
	if diff := cmp.Diff(want, s.header); diff != "" {
		t.Errorf("request headers: %s", diff)
	}
	back := http.Header{"Set-Cookie": {"a=1", "b=2"}, "Content-Length": {"1000"}}
	if diff := cmp.Diff(back, res.Header); diff != "" {
		t.Errorf("answer headers: %s", diff)
	}
	if len(body) != 1000 || res.ContentLength != 1000 {
		t.Errorf("%d bytes, Content-Length %d", len(body), res.ContentLength)
	}
	if strings.Contains(s.host, "8838") {
		t.Errorf("the upstream got the client's Host, %s", s.host)
	}
}

func TestRequestBodyArrivesByteForByte(t *testing.T) {
	odd := "{ \"model\" : \"m\",\"model\":\"m2\", \"x\":1e400,\"t\":\"\\u00e9 é\" }\n"
	big := make([]byte, 3<<20)
	rand.Read(big)
	var packed bytes.Buffer
	z, _ := zstd.NewWriter(&packed)
	io.WriteString(z, `{"model":"m1","stream":true,"input":"x"}`)
	z.Close()
	var brewed bytes.Buffer
	b := brotli.NewWriter(&brewed)
	io.WriteString(b, `{"model":"m1","stream":true,"input":"x"}`)
	b.Close()
	var zipped bytes.Buffer
	g := gzip.NewWriter(&zipped)
	io.WriteString(g, `{"model":"m1","stream":true,"input":"x"}`)
	g.Close()
	for _, c := range []struct{ name, body, coding, model string }{
		{"odd JSON", odd, "", "m2"},
		{"no JSON", "not json at all", "", ""},
		{"random bytes", string(big), "", ""},
		{"zstd", packed.String(), "zstd", "m1"},
		{"gzip", zipped.String(), "gzip", "m1"},
		{"brotli", brewed.String(), "br", "m1"},
		{"unknown coding", "abc", "foo", ""},
		{"corrupt zstd", "\x28\xb5\x2f\xfdgarbage", "zstd", ""},
		{"empty", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			upstream, got := witness(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "taken") })
			w := onSockets(t, "/v1", upstream)
			headers := []string{"X-A", "1"}
			if c.coding != "" {
				headers = append(headers, "Content-Encoding", c.coding)
			}
			answer, x := w.exchange("/v1/responses", c.body, headers...)
			if answer != "taken" || number(x.Status) != 200 {
				t.Errorf("the client got %q, the row has %d", answer, number(x.Status))
			}
			s := <-got
			if sha256.Sum256([]byte(s.body)) != sha256.Sum256([]byte(c.body)) || s.length != int64(len(c.body)) || s.header.Get("Content-Encoding") != c.coding {
				t.Errorf("upstream got %d bytes, Content-Length %d, coding %q", len(s.body), s.length, s.header.Get("Content-Encoding"))
			}
			if x.ModelRequested != c.model || *x.RequestBytes != int64(len(c.body)) {
				t.Errorf("model %q, %d bytes", x.ModelRequested, *x.RequestBytes)
			}
		})
	}
}

func TestRedirectGoesToTheClient(t *testing.T) {
	for status, location := range map[int]string{307: "/v1/responses/", 301: "https://elsewhere.invalid/v1/responses", 308: "//elsewhere.invalid/x", 303: "?y=1"} {
		upstream, got := witness(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", location)
			w.WriteHeader(status)
			io.WriteString(w, "moved")
		})
		w := onSockets(t, "/v1", upstream)
		res := w.post("/v1/responses", `{}`)
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if x := w.row(); res.StatusCode != status || res.Header.Get("Location") != location || string(body) != "moved" || number(x.Status) != int64(status) || len(got) != 1 {
			t.Errorf("status %d, Location %q, %q, row %d, %d requests", res.StatusCode, res.Header.Get("Location"), body, number(x.Status), len(got))
		}
	}
}

// An upstream that answers before it has read the request must not have its
// stream cut: the server would close the request body under the transport.
func TestEarlyAnswerCutsNoStream(t *testing.T) {
	answer := chatRole + strings.Repeat(chatText, 20) + chatFinish + chatUsage + chatDone
	upstream := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", eventStream)
		for piece := range strings.SplitAfterSeq(answer, "\n\n") {
			io.WriteString(w, piece)
			w.(http.Flusher).Flush()
		}
	})
	w := onSockets(t, "/v1", upstream)
	const streams, workers = 1500, 32
	body := `{"model":"m","stream":true,"messages":"` + strings.Repeat("x", 8<<10) + `"}`
	work := make(chan int)
	var cut sync.Map
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := range work {
				res, err := w.client.Post(w.url+"/v1/chat/completions", "application/json", strings.NewReader(body))
				if err != nil {
					cut.Store(i, err)
					continue
				}
				got, err := io.ReadAll(res.Body)
				res.Body.Close()
				if err != nil || string(got) != answer {
					cut.Store(i, fmt.Errorf("%d of %d bytes: %v", len(got), len(answer), err))
				}
			}
		})
	}
	for i := range streams {
		work <- i
	}
	close(work)
	group.Wait()
	n := 0
	cut.Range(func(_, v any) bool { n++; t.Log(v); return n < 5 })
	if n > 0 {
		t.Errorf("streams were cut")
	}
	for range streams {
		if x := w.row(); x.Outcome != exchange.OK {
			t.Fatalf("outcome %s: %s", x.Outcome, x.Error)
		}
	}
}

func TestTrailersAndHeadAndOptionsPass(t *testing.T) {
	upstream, got := witness(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case "HEAD":
			w.Header().Set("Content-Length", "77")
		case "OPTIONS":
			w.Header().Set("Access-Control-Allow-Origin", "https://a.example")
			w.WriteHeader(204)
		default:
			w.Header().Set("Trailer", "X-Sum")
			io.WriteString(w, "body")
			w.Header().Set("X-Sum", "42")
		}
	})
	w := onSockets(t, "/v1", upstream)
	for _, method := range []string{"GET", "HEAD", "OPTIONS"} {
		r, _ := http.NewRequest(method, w.url+"/v1/chat/completions", nil)
		r.Header.Set("Origin", "https://a.example")
		res, err := w.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
		switch s := <-got; {
		case s.method != method:
			t.Errorf("%s arrived as %s", method, s.method)
		case method == "HEAD" && res.ContentLength != 77:
			t.Errorf("HEAD: Content-Length %d", res.ContentLength)
		case method == "OPTIONS" && (res.StatusCode != 204 || len(res.Header.Values("Access-Control-Allow-Origin")) != 1):
			t.Errorf("OPTIONS: %d %v", res.StatusCode, res.Header)
		case method == "GET" && res.Trailer.Get("X-Sum") != "42":
			t.Errorf("trailer %v", res.Trailer)
		}
		if x := w.row(); x.Outcome != exchange.OK || x.Dialect != exchange.Other || x.UsageSource != "" {
			t.Errorf("%s: outcome %s, told as a call of a model: %s", method, x.Outcome, x.Dialect)
		}
	}
}

func TestNamedUpstreams(t *testing.T) {
	upstream, got := witness(nil)
	w := onSockets(t, "/v1", upstream, func(c *proxy.Config) {
		other := *c.Upstreams[0].URL
		other.Path = "/other/v2"
		c.Upstreams = append(c.Upstreams, proxy.Upstream{Name: "local", URL: (*url.URL)(&other)})
	})
	for target, want := range map[string]string{
		"/to/local/v1/responses": "/other/v2/responses",
		"/to/local/responses":    "/other/v2/responses",
		"/to/default/responses":  "/v1/responses",
		"/responses":             "/v1/responses",
	} {
		w.post(target, "{}").Body.Close()
		if s := <-got; s.target != want {
			t.Errorf("%s went to %s, want %s", target, s.target, want)
		}
		w.row()
	}
	res := w.post("/to/nowhere/v1/responses", "{}")
	body, _ := io.ReadAll(res.Body)
	if x := w.row(); res.StatusCode != 404 || !strings.Contains(string(body), "default, local") || x.Outcome != exchange.Refused || x.Status != nil {
		t.Errorf("%d %s, outcome %s", res.StatusCode, body, x.Outcome)
	}
}
