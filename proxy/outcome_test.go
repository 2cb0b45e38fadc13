package proxy_test

import (
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/ttftap/ttftap/proxy"
	"github.com/ttftap/ttftap/proxy/exchange"
)

func number(n *int64) int64 {
	if n == nil {
		return -1
	}
	return *n
}

func TestOutcomes(t *testing.T) {
	const failedEvent = `data: {"error":{"message":"engine died","code":500}}` + "\n\n"
	for _, c := range []struct {
		name     string
		upstream http.HandlerFunc
		want     exchange.Outcome
		in, out  int64
		broken   bool // whether the client must see a broken answer
	}{
		{"whole stream", script(eventStream, step{0, chatRole + chatText + chatFinish + chatUsage + chatDone}), exchange.OK, 12, 5, false},
		{"no final blank line", script(eventStream, step{0, strings.TrimRight(chatText+chatFinish+chatUsage, "\n")}), exchange.OK, 12, 5, false},
		{"no terminal event", script(eventStream, step{0, chatRole + chatText}), exchange.UpstreamCut, -1, -1, false},
		{"connection cut", func(w http.ResponseWriter, r *http.Request) {
			script(eventStream, step{0, chatRole + chatText})(w, r)
			panic(http.ErrAbortHandler)
		}, exchange.UpstreamCut, -1, -1, true},
		{"error in a 200", script(eventStream, step{0, failedEvent + chatDone}), exchange.ErrorEvent, -1, -1, false},
		{"error after text", script(eventStream, step{0, chatText}, step{0, failedEvent}), exchange.ErrorEvent, -1, -1, false},
		{"cut by a limit", script(eventStream, step{0, chatText + strings.Replace(chatFinish, "stop", "length", 1) + chatUsage + chatDone}), exchange.Incomplete, 12, 5, false},
		{"JSON for a stream", script("application/json", step{0, `{"id":"c1","choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":5,"total_tokens":17}}`}), exchange.OK, 12, 5, false},
		{"web page", script("text/html", step{0, "<html>log in</html>"}), exchange.ErrorEvent, -1, -1, false},
		{"rate limit", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "3")
			http.Error(w, `{"error":{"message":"slow down","type":"rate_limit_error","code":"rate_limit_exceeded"}}`, http.StatusTooManyRequests)
		}, exchange.UpstreamError, -1, -1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := onSockets(t, "/v1", c.upstream)
			res := w.post("/v1/chat/completions", chatAsked)
			_, err := io.ReadAll(res.Body)
			if (err != nil) != c.broken {
				t.Errorf("the client's read ended with %v", err)
			}
			x := w.row()
			if x.Outcome != c.want || number(x.PromptTokens) != c.in || number(x.OutputTokens) != c.out {
				t.Errorf("outcome %s (%s), tokens %d in, %d out", x.Outcome, x.Error, number(x.PromptTokens), number(x.OutputTokens))
			}
			if x.Bound == "" || x.Cause == "" || x.Reason == "" {
				t.Errorf("verdict %q, cause %q, reason %q", x.Bound, x.Cause, x.Reason)
			}
		})
	}
}

func TestBrokenEventsAreCountedAndSkipped(t *testing.T) {
	bad := "data: {\"choices\":[{\"delta\":\n\ndata: null\n\ndata: [1]\n\ndata: {\"choices\":\"x\",\"usage\":[]}\n\n"
	answer := chatRole + chatText + bad + chatText + chatFinish + chatUsage + chatDone
	w := onSockets(t, "/v1", script(eventStream, step{0, answer}))
	got, x := w.exchange("/v1/chat/completions", chatAsked)
	if got != answer || number(x.UnreadEvents) != 4 || number(x.OutputTokens) != 5 || x.Outcome != exchange.OK {
		t.Errorf("%d unread, %d out, outcome %s, bytes equal: %v", number(x.UnreadEvents), number(x.OutputTokens), x.Outcome, got == answer)
	}
}

func TestCompressedAnswersPassAsTheyAreAndAreRead(t *testing.T) {
	type flusher interface {
		io.WriteCloser
		Flush() error
	}
	for coding, pack := range map[string]func(io.Writer) flusher{
		"gzip": func(w io.Writer) flusher { return gzip.NewWriter(w) },
		"br":   func(w io.Writer) flusher { return brotli.NewWriter(w) },
		"zstd": func(w io.Writer) flusher { z, _ := zstd.NewWriter(w); return z },
	} {
		t.Run(coding, func(t *testing.T) {
			var sent strings.Builder
			upstream := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Accept-Encoding") != coding {
					t.Errorf("Accept-Encoding %q", r.Header.Get("Accept-Encoding"))
				}
				io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", eventStream)
				w.Header().Set("Content-Encoding", coding)
				z := pack(io.MultiWriter(w, &sent))
				for _, s := range []step{{time.Second, chatRole}, {time.Second, chatText}, {time.Second, chatText}, {0, chatFinish + chatUsage + chatDone}} {
					time.Sleep(s.after)
					io.WriteString(z, s.write)
					z.Flush()
					w.(http.Flusher).Flush()
				}
				z.Close()
			})
			inBubble(t, upstream, func(t *testing.T, w *world) {
				got, x := w.exchange("/v1/chat/completions", chatAsked, "Accept-Encoding", coding)
				if got != sent.String() {
					t.Error("the compressed bytes were altered")
				}
				if ms(x.FirstToken) != 2000 || ms(x.LastToken) != 3000 || number(x.OutputTokens) != 5 || x.Outcome != exchange.OK {
					t.Errorf("first token %v, last %v, %d out, outcome %s, note %q", ms(x.FirstToken), ms(x.LastToken), number(x.OutputTokens), x.Outcome, x.Note)
				}
			})
		})
	}
}

func TestTruncatedGzipIsForwardedAndNoted(t *testing.T) {
	var packed strings.Builder
	z := gzip.NewWriter(&packed)
	io.WriteString(z, chatText)
	z.Flush()
	io.WriteString(z, chatFinish)
	z.Close()
	cut := packed.String()[:packed.Len()-12]
	upstream := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", eventStream)
		w.Header().Set("Content-Encoding", "gzip")
		io.WriteString(w, cut)
	})
	w := onSockets(t, "/v1", upstream)
	got, x := w.exchange("/v1/chat/completions", chatAsked, "Accept-Encoding", "gzip")
	if got != cut || !strings.Contains(x.Note, "gzip") || x.FirstToken == nil {
		t.Errorf("note %q, first token %v", x.Note, x.FirstToken)
	}
}

func TestUnreachableUpstreamNamesHostAndStep(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for upstream, want := range map[string][]string{
		"http://" + closed.Addr().String() + "/v1": {"connect", closed.Addr().String()},
		"http://no-such-host.invalid/v1":           {"dns", "no-such-host.invalid"},
	} {
		w := onSockets(t, "", http.NotFoundHandler(), func(c *proxy.Config) {
			u, err := proxy.ParseUpstream(upstream)
			if err != nil {
				t.Fatal(err)
			}
			c.Upstreams[0] = u
		})
		res := w.post("/v1/responses", "{}")
		body, _ := io.ReadAll(res.Body)
		x := w.row()
		if res.StatusCode != 502 || x.Outcome != exchange.Unreachable || x.Status != nil || !strings.HasPrefix(string(body), `{"error":{`) {
			t.Errorf("%s: %d %s, outcome %s", upstream, res.StatusCode, body, x.Outcome)
		}
		for _, word := range want {
			if !strings.Contains(string(body), word) || !strings.Contains(x.Error, word) {
				t.Errorf("%s: %q is missing in %s / %s", upstream, word, body, x.Error)
			}
		}
	}
}

// An address that was put together wrongly stays wrong, as it is without us.
func TestAPathThatTheUpstreamDoesNotKnowIsToldWithItsCure(t *testing.T) {
	w := onSockets(t, "/api", http.NotFoundHandler())
	got, x := w.exchange("/v1/responses", "{}")
	if got != "404 page not found\n" || number(x.Status) != 404 || x.Outcome != exchange.UpstreamError {
		t.Errorf("%q, status %d, outcome %s", got, number(x.Status), x.Outcome)
	}
	if !strings.Contains(x.Reason, "/v1 too many or too few") {
		t.Errorf("reason %q", x.Reason)
	}
}

func TestClientThatLeavesBeforeTheHeadIsNoGatewayError(t *testing.T) {
	upstream := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	inBubble(t, upstream, func(t *testing.T, w *world) {
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		r, _ := http.NewRequestWithContext(ctx, "POST", w.url+"/v1/responses", strings.NewReader(`{"model":"m"}`))
		if _, err := w.client.Do(r); err == nil {
			t.Fatal("there was an answer")
		}
		x := w.row()
		if x.Outcome != exchange.ClientAbort || x.Status != nil || ms(x.End) != 1000 || x.ModelRequested != "m" {
			t.Errorf("outcome %s, status %v, end %v, model %q", x.Outcome, x.Status, ms(x.End), x.ModelRequested)
		}
	})
}

func TestOtherUpgradesAreTunnelled(t *testing.T) {
	upstream := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		io.WriteString(rw, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		rw.Flush()
		line, _ := rw.ReadString('\n')
		io.WriteString(rw, "echo "+line)
		rw.Flush()
	})
	w := onSockets(t, "/v1", upstream)
	answer, c := w.raw("GET /v1/realtime HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	res, err := http.ReadResponse(answer, nil)
	if err != nil || res.StatusCode != 101 {
		t.Fatal(res, err)
	}
	io.WriteString(c, "hello\n")
	if line, _ := answer.ReadString('\n'); line != "echo hello\n" {
		t.Errorf("got %q", line)
	}
	c.Close()
	if x := w.row(); *x.Status != 101 || x.Transport != "websocket" || x.Outcome != exchange.OK {
		t.Errorf("status %d, transport %s, outcome %s", *x.Status, x.Transport, x.Outcome)
	}
}

func TestUpgradeToAnythingElseIsServedOverHTTP1(t *testing.T) {
	upstream, got := witness(nil)
	w := onSockets(t, "/v1", upstream)
	answer, _ := w.raw("POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\nContent-Length: 2\r\n\r\n{}")
	line, _ := answer.ReadString('\n')
	if s := <-got; !strings.Contains(line, " 200 ") || s.header.Get("Upgrade") != "" || s.body != "{}" {
		t.Errorf("%q, upstream got %v", line, s.header)
	}
}

// A pooled connection that the upstream has closed must not become a 502.
func TestStaleConnectionIsReplacedBeforeAnythingIsSent(t *testing.T) {
	var served, broken atomic.Int64
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	upstream := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served.Add(1)
		body, _ := io.ReadAll(r.Body)
		w.Write(body)
	}), IdleTimeout: 2 * time.Millisecond}
	go upstream.Serve(listener)
	defer upstream.Close()
	w := onSockets(t, "", http.NotFoundHandler(), func(c *proxy.Config) {
		u, err := proxy.ParseUpstream("http://" + listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		c.Upstreams[0] = u
	})
	const requests = 600
	body := strings.Repeat("x", 20<<10)
	for i := range requests {
		res := w.post("/v1/embeddings", body)
		got, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != 200 || string(got) != body {
			broken.Add(1)
		}
		w.row()
		pause := time.Duration(1500+i*2) * time.Microsecond // around the moment at which the upstream hangs up
		if i == 0 {
			pause = 50 * time.Millisecond // once it has been seen to do so
		}
		<-time.After(pause)
	}
	if broken.Load() > 0 || served.Load() != requests {
		t.Errorf("%d of %d broken, %d served", broken.Load(), requests, served.Load())
	}
}

func TestOwnRequestThatComesBackIsALoop(t *testing.T) {
	w := onSockets(t, "", http.NotFoundHandler())
	loop, err := proxy.ParseUpstream(w.url)
	if err != nil {
		t.Fatal(err)
	}
	w.proxy.Redirect(loop)
	res := w.post("/v1/responses", "{}")
	body, _ := io.ReadAll(res.Body)
	if res.StatusCode != 508 || !strings.Contains(string(body), "loop") {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	outcomes := map[exchange.Outcome]bool{w.row().Outcome: true, w.row().Outcome: true}
	if !outcomes[exchange.Refused] || !outcomes[exchange.UpstreamError] {
		t.Errorf("outcomes %v", outcomes)
	}
}

func TestRowIsStoredBeforeTheFirstByte(t *testing.T) {
	stored := make(chan struct{})
	w := onSockets(t, "/v1", script(eventStream, step{0, chatText + chatFinish + chatDone}))
	w.rows.mu.Lock()
	w.rows.wait = func() { <-stored }
	w.rows.mu.Unlock()
	answered := make(chan error, 1)
	go func() {
		res, err := w.client.Post(w.url+"/v1/chat/completions", "application/json", strings.NewReader(chatAsked))
		if err == nil {
			res.Body.Close()
		}
		answered <- err
	}()
	select {
	case <-answered:
		t.Fatal("the client had an answer before the row was stored")
	case <-time.After(50 * time.Millisecond):
	}
	close(stored)
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
}

func TestNothingSecretIsKept(t *testing.T) {
	const canary = "sk-TESTKEY-9f3"
	w := onSockets(t, "/v1", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(401)
		io.WriteString(w, `{"error":{"message":"Incorrect API key provided: `+canary+`. You said \"my secret prompt\" and 'another'","type":"invalid_request_error","code":"invalid_api_key"}}`)
	}))
	_, x := w.exchange("/v1/chat/completions?key="+canary+"&api-version=2025-01-01&"+canary, chatAsked,
		"Authorization", "Bearer "+canary, "Cookie", "s="+canary, "X-Api-Key", canary)
	all := strings.Join([]string{x.Error, x.Path, x.KeyID, x.Note, x.Reason, x.Client, x.UsageRaw}, "\n")
	for _, secret := range []string{canary, "secret prompt", "another"} {
		if strings.Contains(all, secret) {
			t.Errorf("%q is kept: %s", secret, all)
		}
	}
	if x.Path != "/v1/chat/completions?key=…&api-version=2025-01-01&…" || !strings.Contains(x.Error, "invalid_api_key") || len(x.KeyID) != 12 {
		t.Errorf("path %q, error %q, key %q", x.Path, x.Error, x.KeyID)
	}
}
