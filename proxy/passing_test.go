package proxy_test

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// A 103 reaches the client before the answer, and is not the answer's head.
func TestInformationalHeadsPassAndAreNotTheHead(t *testing.T) {
	upstream := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		for _, link := range []string{"</a.css>", "</b.css>"} {
			time.Sleep(time.Second)
			w.Header().Set("Link", link)
			w.WriteHeader(http.StatusEarlyHints)
		}
		w.Header().Del("Link")
		script(eventStream, step{time.Second, chatText + chatFinish + chatUsage + chatDone})(w, r)
	})
	inBubble(t, upstream, func(t *testing.T, w *world) {
		start := time.Now()
		var got []string
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
			got = append(got, fmt.Sprint(time.Since(start), " ", code, " ", h))
			return nil
		}})
		r, err := http.NewRequestWithContext(ctx, "POST", w.url+"/v1/chat/completions", strings.NewReader(chatAsked))
		if err != nil {
			t.Fatal(err)
		}
		res, err := w.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
		if diff := cmp.Diff([]string{"1s 103 map[Link:[</a.css>]]", "2s 103 map[Link:[</b.css>]]"}, got); diff != "" || res.Header.Get("Link") != "" {
			t.Errorf("informational heads: %s, Link %q", diff, res.Header.Get("Link"))
		}
		if x := w.row(); ms(x.Headers) != 3000 || *x.Status != 200 || x.Outcome != exchange.OK {
			t.Errorf("head after %v ms, status %d", ms(x.Headers), *x.Status)
		}
	})
}

// A client that waits for leave to send its body gets it, once.
func TestClientThatExpectsAContinueGetsOne(t *testing.T) {
	upstream, got := witness(nil)
	w := onSockets(t, "/v1", upstream)
	answer, c := w.raw("POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
	c.SetReadDeadline(time.Now().Add(soon))
	if line, err := answer.ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 100 ") {
		t.Fatalf("%q, %v", line, err)
	}
	readHead(answer)
	io.WriteString(c, "body")
	if line, err := answer.ReadString('\n'); !strings.HasPrefix(line, "HTTP/1.1 200 ") {
		t.Errorf("then %q, %v", line, err)
	}
	if s := <-got; s.body != "body" || s.header.Get("Expect") != "100-continue" {
		t.Errorf("the upstream got %q, %v", s.body, s.header)
	}
}

func TestClientThatExpectsAContinueIsRefusedAtOnce(t *testing.T) {
	up := byHand(t, func(c net.Conn, r *bufio.Reader) {
		readHead(r)
		io.WriteString(c, "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\n\r\nno")
	})
	w := onSockets(t, "", http.NotFoundHandler(), at(t, up))
	answer, c := w.raw("POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
	c.SetReadDeadline(time.Now().Add(soon))
	for line := ""; !strings.Contains(line, " 417 "); {
		var err error
		if line, err = answer.ReadString('\n'); err != nil {
			t.Fatalf("%q, %v", line, err)
		}
	}
}

// Trailers pass both ways, whatever either side speaks.
func TestTrailersPassBothWays(t *testing.T) {
	upstream := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Trailer", "X-Back")
		io.WriteString(w, "{}")
		w.(http.Flusher).Flush()
		w.Header().Set("X-Back", "echo "+r.Trailer.Get("X-Forth"))
		w.Header().Set(http.TrailerPrefix+"X-Late", "1")
	})
	worlds := map[string]*world{
		"HTTP/1 to HTTP/1": onSockets(t, "/v1", upstream), "HTTP/2 to HTTP/1": onSockets(t, "/v1", upstream),
		"HTTP/1 to HTTP/2": overTLS(t, "example.com", true, upstream), "HTTP/2 to HTTP/2": overTLS(t, "example.com", true, upstream),
	}
	for name, w := range worlds {
		if strings.HasPrefix(name, "HTTP/2") {
			w.client = overHTTP2(t)
		}
		r, err := http.NewRequest("POST", w.url+"/v1/embeddings", io.MultiReader(strings.NewReader("{}"))) // of unknown length
		if err != nil {
			t.Fatal(err)
		}
		r.Trailer = http.Header{"X-Forth": {"42"}}
		res, err := w.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
		if diff := cmp.Diff(http.Header{"X-Back": {"echo 42"}, "X-Late": {"1"}}, res.Trailer); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		w.row()
	}
}

// Calls that are no text pass as they are, and are told by their sizes.
func TestAudioAndImagesPassAsTheyAre(t *testing.T) {
	sound := make([]byte, 1<<20)
	rand.Read(sound)
	for _, c := range []struct{ path, field, file, answer string }{
		{"/v1/audio/transcriptions", "file", "speech.mp3", `{"text":"Hello"}`},
		{"/v1/images/edits", "image[]", "picture.png", string(sound)},
	} {
		var form bytes.Buffer
		m := multipart.NewWriter(&form)
		m.WriteField("model", "m")
		part, _ := m.CreateFormFile(c.field, c.file)
		part.Write(sound)
		m.Close()
		upstream, got := witness(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "audio/mpeg")
			io.WriteString(w, c.answer)
		})
		w := onSockets(t, "/v1", upstream)
		answer, x := w.exchange(c.path, form.String(), "Content-Type", m.FormDataContentType())
		s := <-got
		if answer != c.answer || s.body != form.String() || s.header.Get("Content-Type") != m.FormDataContentType() || s.length != int64(form.Len()) {
			t.Errorf("%s: %d bytes of %d arrived, %d of %d came back", c.path, len(s.body), form.Len(), len(answer), len(c.answer))
		}
		if x.Dialect != exchange.Other || *x.RequestBytes != int64(form.Len()) || *x.ResponseBytes != int64(len(c.answer)) || x.Outcome != exchange.OK || x.Note != "" {
			t.Errorf("%s: %s, %d bytes, outcome %s, note %q", c.path, x.Dialect, *x.RequestBytes, x.Outcome, x.Note)
		}
	}
}

// An upstream that sends no more after its answer would leave the next request on
// that connection without one.
func TestConnectionThatTheUpstreamHalfClosedIsNotUsedAgain(t *testing.T) {
	up := byHand(t, func(c net.Conn, r *bufio.Reader) {
		readHead(r)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
		c.(*net.TCPConn).CloseWrite()
		io.Copy(io.Discard, r)
	})
	w := onSockets(t, "", http.NotFoundHandler(), at(t, up))
	for range 50 {
		res := w.post("/v1/embeddings", "")
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
		if x := w.row(); x.Outcome != exchange.OK {
			t.Fatalf("outcome %s, %s", x.Outcome, x.Error)
		}
	}
}

// The upstream alone decides what a browser may do.
func TestPreflightOfABrowserIsTheUpstreamsToAnswer(t *testing.T) {
	allowed := http.Header{
		"Access-Control-Allow-Origin": {"https://app.example"}, "Access-Control-Allow-Methods": {"POST, GET"}, "Vary": {"Origin", "Access-Control-Request-Headers"},
		"Access-Control-Allow-Headers": {"authorization, x-stainless-os"}, "Access-Control-Max-Age": {"600"}, "Access-Control-Expose-Headers": {"x-request-id"},
	}
	for _, allows := range []bool{true, false} {
		upstream, got := witness(func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Date"] = nil
			if allows {
				for k, v := range allowed {
					w.Header()[k] = v
				}
			}
			w.WriteHeader(http.StatusNoContent)
		})
		w := onSockets(t, "/v1", upstream)
		answer, _ := w.raw("OPTIONS /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nOrigin: https://app.example\r\n" +
			"Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization,x-stainless-os\r\nAccess-Control-Request-Private-Network: true\r\n\r\n")
		res, err := http.ReadResponse(answer, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := http.Header{}
		if allows {
			want = allowed
		}
		if diff := cmp.Diff(want, res.Header); diff != "" || res.StatusCode != http.StatusNoContent {
			t.Errorf("status %d, headers: %s", res.StatusCode, diff)
		}
		asked := http.Header{"Origin": {"https://app.example"}, "Access-Control-Request-Method": {"POST"},
			"Access-Control-Request-Headers": {"authorization,x-stainless-os"}, "Access-Control-Request-Private-Network": {"true"}}
		if s := <-got; s.method != "OPTIONS" || cmp.Diff(asked, s.header) != "" {
			t.Errorf("the upstream got %s %v", s.method, s.header)
		}
	}
}

// A head of a mebibyte passes, and so does one of very many fields.
func TestLargeHeadsPass(t *testing.T) {
	many := http.Header{}
	for i := range 5000 {
		name := fmt.Sprintf("X-Field-%d", i/2)
		many[name] = append(many[name], fmt.Sprint(i))
	}
	large := http.Header{"X-Large": {strings.Repeat("x", 1<<20)}}
	for _, client := range []string{"HTTP/1", "HTTP/2"} {
		for name, h := range map[string]http.Header{"large": large, "many": many} {
			upstream, got := witness(func(w http.ResponseWriter, r *http.Request) {
				for k, v := range h {
					w.Header()[k] = v
				}
			})
			w := onSockets(t, "/v1", upstream)
			if client == "HTTP/2" {
				w.client = overHTTP2(t)
			}
			r, err := http.NewRequest("GET", w.url+"/v1/models", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header = h.Clone()
			res, err := w.client.Do(r)
			if err != nil {
				t.Fatalf("%s, %s: %v", client, name, err)
			}
			res.Body.Close()
			if res.StatusCode != 200 {
				t.Fatalf("%s, %s: status %d", client, name, res.StatusCode)
			}
			s := <-got
			for k, v := range h {
				if cmp.Diff(v, s.header[k]) != "" || cmp.Diff(v, res.Header[k]) != "" {
					t.Fatalf("%s, %s: %s has changed", client, name, k)
				}
			}
			w.row()
		}
	}
}

// What no server of this kind takes is refused before it is read.
func TestHeadBeyondTheLimitGets431(t *testing.T) {
	w := onSockets(t, "", http.NotFoundHandler())
	answer, c := w.raw("")
	go fmt.Fprintf(c, "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX-Large: %s\r\n\r\n", strings.Repeat("x", 2<<20))
	c.SetReadDeadline(time.Now().Add(soon))
	if line, err := answer.ReadString('\n'); !strings.Contains(line, " 431 ") {
		t.Errorf("%q, %v", line, err)
	}
}
