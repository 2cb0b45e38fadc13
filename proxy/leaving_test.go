package proxy_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// A cut answer must not look whole, whatever either side speaks.
func TestAnAnswerThatWasCutIsCutForTheClientToo(t *testing.T) {
	const sent = chatRole + chatText
	cut := func(head string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if head != "" {
				w.Header().Set("Content-Length", head)
			}
			script(eventStream, step{0, sent})(w, r)
			panic(http.ErrAbortHandler)
		}
	}
	whole := strconv.Itoa(len(sent) + len(chatDone))
	for name, w := range map[string]*world{
		"chunked":                 onSockets(t, "/v1", cut("")),
		"of a length":             onSockets(t, "/v1", cut(whole)),
		"over HTTP/2":             overTLS(t, "example.com", true, cut("")),
		"of a length over HTTP/2": overTLS(t, "example.com", true, cut(whole)),
	} {
		for _, client := range []*http.Client{w.client, overHTTP2(t)} {
			w.client = client
			res := w.post(chatPath, chatAsked)
			got, err := io.ReadAll(res.Body)
			res.Body.Close()
			if err == nil || string(got) != sent {
				t.Errorf("%s to %s: the client got %q and %v", name, res.Proto, got, err)
			}
			if x := w.row(); number(x.Status) != 200 || x.Outcome != exchange.UpstreamCut || countsOf(x) != untold || x.FirstToken == nil {
				t.Errorf("%s to %s: status %d, outcome %s, %+v", name, res.Proto, number(x.Status), x.Outcome, countsOf(x))
			}
		}
	}
}

// To HTTP/1.0, which is what some reverse proxies speak, an answer ends with its
// connection: only a reset tells a cut from an end.
func TestAnAnswerThatWasCutIsNoEndToHTTP10(t *testing.T) {
	for name, cut := range map[string]bool{"cut": true, "ended in order": false} {
		w := onSockets(t, "/v1", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			script(eventStream, step{0, chatRole + chatText})(w, r)
			if cut {
				panic(http.ErrAbortHandler)
			}
		}))
		answer, _ := w.raw("POST /v1/chat/completions HTTP/1.0\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
		readHead(answer)
		if got, err := io.ReadAll(answer); (err != nil) != cut || string(got) != chatRole+chatText {
			t.Errorf("%s: the client got %q and %v", name, got, err)
		}
		if x := w.row(); x.Outcome != exchange.UpstreamCut {
			t.Errorf("%s: outcome %s", name, x.Outcome)
		}
	}
}

// Whoever presses stop must not pay for what nobody reads.
func TestTheUpstreamIsLeftAtOnceWhenTheClientLeaves(t *testing.T) {
	for name, answers := range map[string]bool{"within a stream": true, "before an answer": false} {
		reached, left := make(chan struct{}), make(chan time.Time, 1)
		w := onSockets(t, "/v1", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			if answers {
				w.Header().Set("Content-Type", eventStream)
				io.WriteString(w, chatText)
				w.(http.Flusher).Flush()
			}
			close(reached)
			select {
			case <-r.Context().Done():
			case <-time.After(soon):
			}
			left <- time.Now()
		}))
		ctx, leave := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, "POST", w.url+chatPath, strings.NewReader(chatAsked))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			if res, err := w.client.Do(r); err == nil {
				io.Copy(io.Discard, res.Body)
			}
		}()
		<-reached
		from := time.Now()
		leave()
		if took := (<-left).Sub(from); took > 500*time.Millisecond {
			t.Errorf("%s: the upstream was left after %v", name, took)
		}
		w.proxy.Wait()
		if x := w.row(); x.Outcome != exchange.ClientAbort || countsOf(x) != untold || len(w.rows.ended) > 0 {
			t.Errorf("%s: outcome %s, %+v, %d rows more", name, x.Outcome, countsOf(x), len(w.rows.ended))
		}
	}
}

func TestAClientThatLeavesIsNoTroubleOfOurs(t *testing.T) {
	var log bytes.Buffer
	hanging := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	inBubble(t, hanging, func(t *testing.T, w *world) {
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		r, err := http.NewRequestWithContext(ctx, "POST", w.url+chatPath, strings.NewReader(chatAsked))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.client.Do(r); err == nil {
			t.Fatal("there was an answer")
		}
		if x := w.row(); x.Outcome != exchange.ClientAbort || x.Status != nil {
			t.Errorf("outcome %s, status %v", x.Outcome, x.Status)
		}
	}, func(c *proxy.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	if log.Len() > 0 {
		t.Errorf("logged: %s", log.String())
	}
}
