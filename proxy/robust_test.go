package proxy_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// soon is far longer than anything here takes, and ends what would hang.
const soon = 5 * time.Second

// at points the default upstream at a listener.
func at(t *testing.T, l net.Listener) func(*proxy.Config) {
	return func(c *proxy.Config) {
		u, err := proxy.ParseUpstream("http://" + l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		c.Upstreams[0] = u
	}
}

// byHand is an upstream whose connections are served by a function.
func byHand(t *testing.T, serve func(net.Conn, *bufio.Reader)) net.Listener {
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
			go func() {
				defer c.Close()
				serve(c, bufio.NewReader(c))
			}()
		}
	}()
	return l
}

// readHead reads a head up to its blank line.
func readHead(r *bufio.Reader) {
	for line := "x"; strings.TrimSpace(line) != ""; {
		var err error
		if line, err = r.ReadString('\n'); err != nil {
			return
		}
	}
}

func TestAnswerIsNotHeldByAnUnfinishedUpload(t *testing.T) {
	up := byHand(t, func(c net.Conn, r *bufio.Reader) {
		readHead(r)
		io.WriteString(c, "HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno")
	})
	w := onSockets(t, "", http.NotFoundHandler(), at(t, up))
	answer, c := w.raw("POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{\"model\":\"m1\",")
	c.SetReadDeadline(time.Now().Add(soon))
	if line, err := answer.ReadString('\n'); !strings.Contains(line, " 401 ") {
		t.Errorf("%q, %v", line, err)
	}
	c.Close()
	if x := w.row(); x.ModelRequested != "m1" || x.Outcome != exchange.UpstreamError {
		t.Errorf("model %q of half a body, outcome %s", x.ModelRequested, x.Outcome)
	}
}

func TestClientThatIsGoneGetsNoMadeUpAnswer(t *testing.T) {
	up := byHand(t, func(_ net.Conn, r *bufio.Reader) { io.Copy(io.Discard, r) })
	w := onSockets(t, "", http.NotFoundHandler(), at(t, up))
	answer, c := w.raw("POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
	c.(*net.TCPConn).CloseWrite()
	c.SetReadDeadline(time.Now().Add(soon))
	if got, _ := io.ReadAll(answer); len(got) > 0 {
		t.Errorf("it got %q", got)
	}
}

func TestTunnelPassesAHalfCloseOn(t *testing.T) {
	up := byHand(t, func(c net.Conn, r *bufio.Reader) {
		readHead(r)
		io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		all, err := io.ReadAll(r)
		fmt.Fprintf(c, "got %q %v", all, err)
	})
	w := onSockets(t, "", http.NotFoundHandler(), at(t, up))
	answer, c := w.raw("GET /v1/realtime HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	readHead(answer)
	io.WriteString(c, "question")
	c.(*net.TCPConn).CloseWrite()
	c.SetReadDeadline(time.Now().Add(soon))
	if got, err := io.ReadAll(answer); !strings.Contains(string(got), "question") {
		t.Errorf("%q, %v", got, err)
	}
}

// Over HTTP/2 a request may fail before it was written on a connection that is
// well and stays in the pool: it must not be tried again and again.
func TestRequestThatCannotBeSentEndsInAnAnswer(t *testing.T) {
	w := overTLS(t, "example.com", true, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "{}") }))
	w.exchange("/v1/embeddings", "{}")
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "POST", w.url+"/v1/embeddings", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Big", strings.Repeat("x", 200<<10)) // within our limit, not its
	res, err := w.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode < 400 {
		t.Errorf("status %d", res.StatusCode)
	}
}

func TestPanicAtTheEndHurtsNobody(t *testing.T) {
	w := onSockets(t, "/v1", script(eventStream, step{0, chatText + chatFinish + chatUsage + chatDone}), func(c *proxy.Config) {
		c.Ended = func(*exchange.Exchange) { panic("observer") }
	})
	got, x := w.exchange("/v1/chat/completions", chatAsked)
	if !strings.HasSuffix(got, chatDone) || x.Outcome != exchange.OK {
		t.Errorf("outcome %s, answer %q", x.Outcome, got)
	}
}

func TestUploadCountsUpToTheAnswerAtMost(t *testing.T) {
	answered := make(chan struct{})
	upstream := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).EnableFullDuplex()
		w.Header().Set("Content-Type", eventStream)
		io.WriteString(w, chatText)
		w.(http.Flusher).Flush()
		close(answered)
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, chatFinish+chatUsage+chatDone)
	})
	w := onSockets(t, "/v1", upstream)
	pr, pw := io.Pipe()
	go func() {
		io.WriteString(pw, `{"model":"m","stream":true,`)
		<-answered
		time.AfterFunc(300*time.Millisecond, func() {
			io.WriteString(pw, `"messages":[]}`)
			pw.Close()
		})
	}()
	res, err := w.client.Post(w.url+"/v1/chat/completions", "application/json", pr)
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, res.Body)
	res.Body.Close()
	x := w.row()
	if x.Sent == nil || *x.Sent > *x.Headers || *x.Network > *x.FirstToken {
		t.Errorf("sent at %v ms, headers at %v, network %v", ms(x.Sent), ms(x.Headers), ms(x.Network))
	}
}

func TestLongCredentialsAreToldApart(t *testing.T) {
	w := onSockets(t, "/v1", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	alike := strings.Repeat("eyJhbGciOi", 40)
	ids := make(map[string]bool)
	for _, value := range []string{"Bearer " + alike + "a", "Bearer " + alike + "b", "bearer " + alike + "a"} {
		_, x := w.exchange("/v1/responses", "{}", "Authorization", value)
		ids[x.KeyID] = true
	}
	if len(ids) != 2 {
		t.Errorf("%d key ids for two credentials", len(ids))
	}
}

func TestErrorsKeepNoSecretAndNoQuote(t *testing.T) {
	const canary = "swordfishcanary"
	for name, c := range map[string]struct{ path, message, header, value string }{
		"the other key header":   {"/v1/responses", "no such key: " + canary, "X-Api-Key", canary},
		"a key in the query":     {"/v1/responses?key=" + canary, "no such key: " + canary, "X-A", "1"},
		"a cookie":               {"/v1/responses", "session " + canary + " has expired", "Cookie", "s=" + canary},
		"basic":                  {"/v1/responses", "unknown login " + canary, "Authorization", "Basic dXNlcjpzd29yZGZpc2hjYW5hcnk="},
		"scheme in small":        {"/v1/responses", "unknown " + canary, "Authorization", "bearer " + canary},
		"a long token":           {"/v1/responses", "bad " + strings.Repeat(canary, 20), "Authorization", "Bearer " + strings.Repeat(canary, 20)},
		"a semicolon":            {"/v1/responses?limit=2;key=" + canary, "", "X-A", "1"},
		"a second question mark": {"/v1/responses?api-version=1?key=" + canary, "", "X-A", "1"},
		"quotes in quotes":       {"/v1/responses", `Invalid: "please write "` + canary + `" now".`, "X-A", "1"},
		"an apostrophe":          {"/v1/responses", `Invalid: 'it's ` + canary + `'`, "X-A", "1"},
		"typographic quotes":     {"/v1/responses", `Invalid: ‘` + canary + `’ or „` + canary + `“`, "X-A", "1"},
		"a fence":                {"/v1/responses", "Invalid: ```x `" + canary + "` y```", "X-A", "1"},
		"a quote left open":      {"/v1/responses", `Invalid: "` + canary, "X-A", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			w := onSockets(t, "", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintf(w, `{"error":{"type":"invalid_request_error","message":%s}}`, quotedJSON(c.message))
			}))
			_, x := w.exchange(c.path, "{}", c.header, c.value)
			if kept := x.Error + x.Path + x.Note + x.Reason; strings.Contains(kept, "canary") || !strings.HasPrefix(x.Error, "invalid_request_error") {
				t.Errorf("error %q, path %q", x.Error, x.Path)
			}
		})
	}
}

func quotedJSON(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// A head that Go cannot parse is quoted in its error; it may be output.
func TestBrokenHeadIsNotKept(t *testing.T) {
	up := byHand(t, func(c net.Conn, r *bufio.Reader) {
		readHead(r)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nMY-CANARY output without a colon\r\n\r\n")
	})
	w := onSockets(t, "", http.NotFoundHandler(), at(t, up))
	if _, x := w.exchange("/v1/responses", "{}"); strings.Contains(x.Error, "CANARY") || x.Outcome != exchange.UpstreamCut {
		t.Errorf("outcome %s, error %q", x.Outcome, x.Error)
	}
}

func TestStaleTLSConnectionIsReplacedBeforeAnythingIsSent(t *testing.T) {
	w := overTLS(t, "example.com", false, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Write(body)
	}))
	body := strings.Repeat("x", 20<<10)
	for i := range 100 {
		got, x := w.exchange("/v1/embeddings", body)
		if got != body {
			t.Fatalf("request %d: outcome %s, %s", i, x.Outcome, x.Error)
		}
		pause := idleUpstream - time.Millisecond + time.Duration(i*20)*time.Microsecond
		if i == 0 {
			pause = 4 * idleUpstream // once it has been seen to hang up
		}
		<-time.After(pause)
	}
}
