package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy"
	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/proxy/websocket"
)

// Events of one response, %[1]s being its id.
const (
	wsCreated   = `{"type":"response.created","response":{"id":"%[1]s","model":"m-1","status":"in_progress"}}`
	wsOpened    = `{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"msg"}}`
	wsText      = `{"type":"response.output_text.delta","output_index":0,"delta":"some words"}`
	wsCompleted = `{"type":"response.completed","response":{"id":"%[1]s","model":"m-1","status":"completed","usage":{"input_tokens":900,"input_tokens_details":{"cached_tokens":512},"output_tokens":40,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":940}}}`
)

func events(id string, events ...string) []string {
	var all []string
	for _, e := range events {
		all = append(all, strings.ReplaceAll(e, "%[1]s", id))
	}
	return all
}

// create asks for a response, with more keys.
func create(more string) string {
	return `{"type":"response.create","model":"asked-model","stream":true,` + more + `"input":[{"type":"message","role":"user","content":"hello"}]}`
}

func turnOf(id, kind string) string {
	return fmt.Sprintf(`"client_metadata":{"x-codex-turn-metadata":"{\"turn_id\":\"%s\",\"request_kind\":\"%s\"}"},`, id, kind)
}

func TestEachResponseCreateIsAnExchangeOfItsOwn(t *testing.T) {
	upstream := talking(func(c *talker) {
		for _, id := range []string{"r1", "r2"} {
			if _, err := c.hear(); err != nil {
				return
			}
			time.Sleep(300 * time.Millisecond)
			c.tell(events(id, wsCreated)...)
			time.Sleep(700 * time.Millisecond)
			c.tell(wsOpened, wsText)
			time.Sleep(2 * time.Second)
			c.tell(events(id, wsText, wsCompleted)...)
		}
		c.hear()
	})
	inBubble(t, upstream, func(t *testing.T, w *world) {
		c := w.socket(t, "Session-Id", "s1")
		time.Sleep(time.Minute) // which nobody waits for
		for i, id := range []string{"r1", "r2"} {
			c.tell(create(turnOf("turn-"+id, "turn")))
			if i == 1 {
				c.hearUntil("some words")
				synctest.Wait()
				under := w.proxy.UnderWay()
				if len(under) != 1 || ms(under[0].FirstToken) != 1000 || under[0].ModelRequested != "asked-model" || under[0].Transport != "websocket" {
					t.Errorf("under way: %+v", under)
				}
			}
			if _, err := c.hearUntil("completed"); err != nil {
				t.Fatal(err)
			}
			x := w.row()
			got := fmt.Sprint(ms(x.Received), ms(x.GotConn), ms(x.Headers), ms(x.FirstByte), ms(x.FirstEvent), ms(x.GenerationStarted), ms(x.FirstToken), ms(x.LastToken), ms(x.Terminal), ms(x.End))
			if want := "0 0 -1 300 300 1000 1000 3000 3000 3000"; got != want {
				t.Errorf("instants %s, want %s", got, want)
			}
			if number(x.Status) != 101 || x.Transport != "websocket" || x.Outcome != exchange.OK || x.Bound == "" || !*x.Streamed || !*x.ConnReused {
				t.Errorf("status %d over %s, outcome %s, bound %s", number(x.Status), x.Transport, x.Outcome, x.Bound)
			}
			if number(x.PromptTokens) != 900 || number(x.CachedTokens) != 512 || number(x.OutputTokens) != 40 || number(x.Concurrency) != 1 {
				t.Errorf("%d in, %d cached, %d out, %d at once", number(x.PromptTokens), number(x.CachedTokens), number(x.OutputTokens), number(x.Concurrency))
			}
			names := []string{x.ModelRequested, x.ModelServed, x.ResponseID, x.TurnID, x.RequestKind, x.SessionID, x.Client, x.RequestID, x.Path, x.Method, string(x.Dialect)}
			if diff := cmp.Diff([]string{"asked-model", "m-1", id, "turn-" + id, "turn", "s1", "codex_exec/0.171.0", "req_socket", "/v1/responses", "GET", "responses"}, names); diff != "" {
				t.Error(diff)
			}
			if want := []float64{-1, 0}[i]; ms(x.IdleBefore) != want {
				t.Errorf("idle for %v before", ms(x.IdleBefore))
			}
		}
		if n := w.proxy.Flying(); n != 0 {
			t.Errorf("%d are under way over an idle socket", n)
		}
		c.Close()
	})
}

func TestAPrewarmIsTold(t *testing.T) {
	w := onSockets(t, "/v1", answeringEach(events("warm-%d", wsCreated, `{"type":"response.completed","response":{"id":"%[1]s","output":[],"usage":{"input_tokens":700,"output_tokens":0,"total_tokens":700}}}`)...))
	c := w.socket(t)
	c.tell(create(`"generate":false,` + turnOf("", "turn")))
	x := w.row()
	if x.RequestKind != "prewarm" || x.Outcome != exchange.OK || number(x.OutputTokens) != 0 || x.FirstToken != nil || !strings.Contains(x.Reason, "prewarm") {
		t.Errorf("%q, %s, %d out, %s", x.RequestKind, x.Outcome, number(x.OutputTokens), x.Reason)
	}
}

// The row of a response is stored before the first of its frames goes on, and
// only that waits.
func TestTheRowOfAResponseIsStoredBeforeItsFirstFrame(t *testing.T) {
	inBubble(t, answeringEach(events("r%d", wsCreated, wsText, wsCompleted)...), func(t *testing.T, w *world) {
		stored := make(chan struct{})
		w.rows.mu.Lock()
		w.rows.wait = func() { <-stored }
		w.rows.mu.Unlock()
		c := w.socket(t) // the upgrade waits for nothing
		defer c.Close()
		heard := make(chan error, 1)
		go func() {
			_, err := c.hear()
			heard <- err
		}()
		c.tell(create(""))
		synctest.Wait()
		if len(heard) > 0 {
			t.Error("the client heard of a response that was not stored")
		}
		if n := len(w.rows.begun); n != 1 {
			t.Errorf("%d rows were begun", n)
		}
		close(stored)
		if err := <-heard; err != nil {
			t.Error(err)
		}
	})
}

func TestAnUpgradeIsARowOnlyIfNothingComesOfIt(t *testing.T) {
	w := onSockets(t, "/v1", answeringEach(events("r%d", wsCreated, wsCompleted)...))
	c := w.socket(t)
	c.tell(`{"type":"response.processed","response_id":"r0"}`)
	c.hangUp(1000, "")
	if x := w.row(); number(x.Status) != 101 || x.Outcome != exchange.OK || x.Transport != "websocket" || x.Error != "" || x.Headers == nil {
		t.Errorf("unused: status %d, outcome %s, %s", number(x.Status), x.Outcome, x.Error)
	}
	c = w.socket(t)
	c.tell(create(""))
	c.hearUntil("completed")
	c.Close()
	w.row()
	w.proxy.Wait()
	if n := len(w.rows.ended); n != 0 {
		t.Errorf("a used socket is %d rows more", n)
	}
}

// Codex goes on over HTTP at once upon 426, but not upon what such upstreams say.
func TestAnUpstreamWithoutWebSocketsIsAnswered426(t *testing.T) {
	for status, want := range map[int]int{400: 426, 404: 426, 405: 426, 501: 426, 401: 401, 403: 403, 426: 426, 429: 429, 500: 500} {
		w := onSockets(t, "/v1", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Own", "kept")
			w.WriteHeader(status)
			fmt.Fprint(w, `{"error":{"message":"not here","type":"invalid_request_error","code":"no_such_thing"}}`)
		}))
		_, res := w.upgrade(t, "/v1/responses")
		x := w.row()
		if res.StatusCode != want || number(x.Status) != int64(status) || x.Outcome != exchange.UpstreamError || res.Header.Get("X-Own") != "kept" {
			t.Errorf("%d: the client got %d, the row has %d, %s", status, res.StatusCode, number(x.Status), x.Outcome)
		}
		if softened := strings.Contains(x.Note, "426"); softened != (want != status) || softened && res.Header.Get("Upgrade") == "" {
			t.Errorf("%d: note %q, header %v", status, x.Note, res.Header)
		}
		if !strings.Contains(x.Error, "no_such_thing") {
			t.Errorf("%d: %q", status, x.Error)
		}
	}
}

func TestNoOtherRequestIsAnswered426(t *testing.T) {
	w := onSockets(t, "/v1", http.NotFoundHandler())
	if _, res := w.upgrade(t, "/v1/realtime"); res.StatusCode != 404 {
		t.Errorf("another upgrade was answered %d", res.StatusCode)
	}
	if res := w.post("/v1/responses", "{}"); res.StatusCode != 404 {
		t.Errorf("a request was answered %d", res.StatusCode)
	}
}

// Frames that were compressed could not be read.
func TestTheOfferOfExtensionsIsLeftOutAndSaidToBe(t *testing.T) {
	offered := make(chan []string, 1)
	w := onSockets(t, "/v1", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		offered <- r.Header["Sec-Websocket-Extensions"]
		answeringEach(events("r%d", wsCompleted)...)(w, r)
	}))
	const offer = "permessage-deflate; client_max_window_bits"
	c := w.socket(t, "Sec-WebSocket-Extensions", offer)
	c.tell(create(""))
	if got, x := <-offered, w.row(); len(got) > 0 || !strings.Contains(x.Note, "extensions") {
		t.Errorf("offered %q, note %q", got, x.Note)
	}
	w.upgrade(t, "/v1/realtime", "Sec-WebSocket-Extensions", offer)
	if got := <-offered; len(got) != 1 || got[0] != offer {
		t.Errorf("elsewhere %q was offered", got)
	}
}

func TestWebSocketsAreRefusedWhereThatIsAskedFor(t *testing.T) {
	asked := make(chan struct{}, 1)
	w := onSockets(t, "/v1", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked <- struct{}{} }),
		func(c *proxy.Config) { c.RefuseWebSocket = true })
	_, res := w.upgrade(t, "/v1/responses")
	if x := w.row(); res.StatusCode != 426 || x.Outcome != exchange.Refused || x.Status != nil || len(asked) > 0 {
		t.Errorf("%d, outcome %s, asked upstream: %d", res.StatusCode, x.Outcome, len(asked))
	}
}

// What is compressed all the same passes, and ends the reading.
func TestFramesThatCannotBeReadPassAndAreSaidNotToBeRead(t *testing.T) {
	packed := websocket.Append(nil, websocket.Text, []byte("packed"))
	packed[0] |= 0x40
	w := onSockets(t, "/v1", talking(func(c *talker) {
		c.hear()
		c.Write(packed)
		c.hear()
		c.tell(events("r2", wsCompleted)...)
	}))
	c := w.socket(t)
	c.tell(create(""))
	x := w.row()
	if x.Outcome != exchange.OK || !strings.Contains(x.Note, "compressed") || x.End != nil {
		t.Errorf("outcome %s, note %q, ended after %v, which nobody can know", x.Outcome, x.Note, x.End)
	}
	got := make([]byte, len(packed))
	if _, err := c.from.Read(got); err != nil || string(got) != string(packed) {
		t.Errorf("got %q, %v", got, err)
	}
	c.tell(create(""))
	if _, err := c.hear(); err != nil {
		t.Error(err)
	}
	if n := len(w.rows.ended); n != 0 {
		t.Errorf("%d rows of what is not read", n)
	}
}

// A client that tries a WebSocket first must lose nothing by it.
func TestAWebSocketThatIsRefusedCostsNoTimeAndNoRequest(t *testing.T) {
	upstream := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		script(eventStream, step{0, respCreated + respText + respEnd("completed", "", respUsage)})(w, r)
	})
	for _, refuses := range []bool{false, true} {
		w := onSockets(t, "/v1", upstream, func(c *proxy.Config) { c.RefuseWebSocket = refuses })
		start := time.Now()
		if _, res := w.upgrade(t, respPath); res.StatusCode != 426 {
			t.Errorf("refused here: %v; the attempt was answered %d", refuses, res.StatusCode)
		}
		if took := time.Since(start); took > 500*time.Millisecond {
			t.Errorf("refused here: %v; the attempt took %v", refuses, took)
		}
		if x := w.row(); !diagnosis.FallsBack(&x) || x.FirstToken != nil || !strings.Contains(x.Reason, "supports_websockets = false") {
			t.Errorf("refused here: %v; the attempt is told as outcome %s: %s", refuses, x.Outcome, x.Reason)
		}
		if _, x := w.exchange(respPath, `{"model":"m","stream":true}`); x.Outcome != exchange.OK || diagnosis.FallsBack(&x) || number(x.OutputTokens) != 5 {
			t.Errorf("refused here: %v; then outcome %s, %s", refuses, x.Outcome, x.Error)
		}
	}
}

// What a request with a body may wait for, so that its row has a model, is not
// there to be waited for.
func TestAnUpgradeWaitsForNothing(t *testing.T) {
	for name, upstream := range map[string]http.Handler{"accepted": answeringEach(events("r%d", wsCompleted)...), "refused": http.NotFoundHandler()} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, upstream, func(t *testing.T, w *world) {
				start := time.Now()
				c, res := w.upgrade(t, "/v1/responses")
				if took := time.Since(start); took != 0 {
					t.Errorf("%d after %v", res.StatusCode, took)
				}
				c.Close()
			})
		})
	}
}
