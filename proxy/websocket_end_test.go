package proxy_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy"
	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/proxy/websocket"
)

// reset ends a connection as the kernel of a machine does that knows nothing of it.
func reset(c net.Conn) {
	c.(*net.TCPConn).SetLinger(0)
	c.Close()
}

func TestHowAResponseOverASocketEnds(t *testing.T) {
	const failed = `{"type":"response.failed","response":{"id":"r1","status":"failed","error":{"code":"rate_limit_exceeded","message":"slow down"}}}`
	const limit = `{"type":"error","error":{"type":"invalid_request_error","code":"websocket_connection_limit_reached","message":"limit reached (60 minutes)"},"status":400}`
	const cutShort = `{"type":"response.incomplete","response":{"id":"r1","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"usage":{"input_tokens":9,"output_tokens":7,"total_tokens":16}}}`
	begun := events("r1", wsCreated, wsText)
	for name, c := range map[string]struct {
		upstream func(*talker) // after it has begun to answer
		client   func(*talker) // after it has heard the beginning; nil: it waits
		want     exchange.Outcome
		error    string // what the row says of it
		words    string // what is said of it
	}{
		"completed":            {func(c *talker) { c.tell(events("r1", wsCompleted)...); c.hear() }, nil, exchange.OK, "", ""},
		"cut short by a limit": {func(c *talker) { c.tell(cutShort); c.hear() }, nil, exchange.Incomplete, "", ""},
		"an error": {func(c *talker) {
			c.tell(`{"type":"error","status":429,"error":{"type":"usage_limit_reached","message":"The usage limit"},"headers":{"x-a":"b"}}`)
			c.hear()
		}, nil, exchange.ErrorEvent, "429 usage_limit_reached", "limits the rate"},
		"a failure":                   {func(c *talker) { c.tell(failed); c.hear() }, nil, exchange.ErrorEvent, "rate_limit_exceeded", "limits the rate"},
		"after an hour":               {func(c *talker) { c.tell(limit); c.hear() }, nil, exchange.ErrorEvent, "websocket_connection_limit_reached", "60 minutes"},
		"closed with a code":          {func(c *talker) { c.hangUp(1011, "out of \"memory\" for sk-canary-of-the-test"); c.hear() }, nil, exchange.UpstreamCut, "closed by the upstream with 1011, internal error: out of … for …", "ended before the answer did"},
		"closed without one":          {func(c *talker) { c.say(8, ""); c.hear() }, nil, exchange.UpstreamCut, "with 1005, without a code", "ended before"},
		"the upstream hung up":        {func(c *talker) {}, nil, exchange.UpstreamCut, "hung up without closing", "ended before"},
		"the upstream vanished":       {func(c *talker) { reset(c.Conn) }, nil, exchange.UpstreamCut, "broke off", "ended before"},
		"the client hung up":          {func(c *talker) { c.hear() }, func(c *talker) { c.Close() }, exchange.ClientAbort, "", "The client left"},
		"the client vanished":         {func(c *talker) { c.hear() }, func(c *talker) { reset(c.Conn) }, exchange.ClientAbort, "", "The client left"},
		"the client closed":           {func(c *talker) { c.hear() }, func(c *talker) { c.hangUp(1000, "") }, exchange.ClientAbort, "closed by the client with 1000", "The client left"},
		"the client left after it":    {func(c *talker) { c.tell(events("r1", wsCompleted)...); c.hear() }, func(c *talker) { c.hearUntil("completed"); reset(c.Conn) }, exchange.OK, "", ""},
		"a ping and a pong change it": {func(c *talker) { c.say(9, "p"); c.hear(); c.tell(events("r1", wsCompleted)...); c.hear() }, func(c *talker) { c.hear(); c.say(10, "p"); c.hear() }, exchange.OK, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := onSockets(t, "/v1", talking(func(u *talker) {
				u.hear()
				u.tell(begun...)
				c.upstream(u)
			}))
			s := w.socket(t)
			s.tell(create(""))
			if _, err := s.hearUntil("some words"); err != nil {
				t.Fatal(err)
			}
			if c.client != nil {
				c.client(s)
			}
			x := w.row()
			if x.Outcome != c.want || !strings.Contains(x.Error, c.error) || (c.error == "") != (x.Error == "") || !strings.Contains(x.Reason, c.words) {
				t.Errorf("%s (%s), want %s (%s)\n%s", x.Outcome, x.Error, c.want, c.error, x.Reason)
			}
			if x.FirstToken == nil || number(x.Status) != 101 {
				t.Errorf("first token %v, status %d", x.FirstToken, number(x.Status))
			}
		})
	}
}

func TestAnUpgradeThatIsTakenBackIsARowThatSaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		talk  func(*talker)
		want  exchange.Outcome
		words string
	}{
		"with a reason":  {func(c *talker) { c.hangUp(1008, "not for you"); c.hear() }, exchange.UpstreamCut, "1008, policy: not for you"},
		"without a word": {func(c *talker) {}, exchange.UpstreamCut, "hung up without closing"},
		"in peace":       {func(c *talker) { c.hangUp(1001, "") }, exchange.OK, ""},
	} {
		w := onSockets(t, "/v1", talking(c.talk))
		s := w.socket(t)
		s.hear()
		s.Close()
		if x := w.row(); x.Outcome != c.want || !strings.Contains(x.Error, c.words) {
			t.Errorf("%s: %s, %q", name, x.Outcome, x.Error)
		}
	}
}

// silent says whether the other end of a connection has ended it, at once.
func silent(c io.Reader) error {
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, c)
		ended <- err
	}()
	select {
	case <-ended:
		return nil
	case <-time.After(soon):
		return fmt.Errorf("it is still open after %s", soon)
	}
}

func TestTheEndOfEitherSideIsThatOfTheOther(t *testing.T) {
	for name, end := range map[string]func(net.Conn){
		"closed":      func(c net.Conn) { c.Close() },
		"half closed": func(c net.Conn) { c.(*net.TCPConn).CloseWrite() },
		"reset":       reset,
	} {
		t.Run("the client's "+name, func(t *testing.T) {
			over := make(chan error, 1)
			w := onSockets(t, "/v1", talking(func(c *talker) { over <- silent(c.from) }))
			end(w.socket(t).Conn)
			if err := <-over; err != nil {
				t.Error(err)
			}
		})
		t.Run("the upstream's "+name, func(t *testing.T) {
			over := make(chan struct{})
			w := onSockets(t, "/v1", talking(func(c *talker) { end(c.Conn); <-over }))
			if err := silent(w.socket(t).from); err != nil {
				t.Error(err)
			}
			close(over)
		})
	}
}

// What an upstream said before it hung up reaches a client that speaks on.
func TestTheLastWordsOfAnUpstreamAreHeard(t *testing.T) {
	gone := make(chan struct{})
	w := onSockets(t, "/v1", talking(func(c *talker) {
		c.hear()
		c.tell(`{"type":"error","status":503,"error":{"code":"last_words"}}`)
		c.Close()
		close(gone)
	}))
	stored := make(chan struct{})
	w.rows.mu.Lock()
	w.rows.wait = func() { <-stored }
	w.rows.mu.Unlock()
	c := w.socket(t)
	c.tell(create(""))
	<-gone
	for range 5 { // the first upsets the other end, and the others find out
		c.tell(`{"type":"response.processed"}`)
		<-time.After(20 * time.Millisecond)
	}
	close(stored)
	if words, err := c.hearUntil("last_words"); err != nil {
		t.Error(words, err)
	}
	if x := w.row(); x.Outcome != exchange.ErrorEvent {
		t.Errorf("%s: %s", x.Outcome, x.Error)
	}
}

// A tunnel that is not read keeps to the rules of TCP: one side may have said all
// while the other goes on.
func TestAnotherTunnelMayBeHalfClosed(t *testing.T) {
	w := onSockets(t, "/v1", talking(func(c *talker) {
		question, err := io.ReadAll(c.from)
		if err != nil {
			t.Error(err)
		}
		fmt.Fprintf(c, "all of %q", question)
	}))
	c, res := w.upgrade(t, "/v1/realtime")
	io.WriteString(c, "a question")
	c.Conn.(*net.TCPConn).CloseWrite()
	if answer, err := io.ReadAll(c.from); err != nil || string(answer) != `all of "a question"` {
		t.Errorf("%d: %q, %v", res.StatusCode, answer, err)
	}
}

// Some do not wait for the answer to their upgrade.
func TestWhatAClientSaysEarlyIsNotLost(t *testing.T) {
	w := onSockets(t, "/v1", talking(func(c *talker) {
		p := make([]byte, len("too early"))
		io.ReadFull(c.from, p)
		c.Write(p)
	}))
	c, err := w.dial()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, upgradeHead+"\r\ntoo early", "/v1/realtime")
	if got, err := io.ReadAll(c); err != nil || !strings.HasSuffix(string(got), "\r\n\r\ntoo early") {
		t.Errorf("%q, %v", got, err)
	}
}

// stoppable is a world whose server can be told to end everything.
func stoppable(t *testing.T, upstream http.Handler) (w *world, stop func()) {
	w = onSockets(t, "/v1", upstream)
	ctx, abandon := context.WithCancelCause(context.Background())
	front := httptest.NewUnstartedServer(w.proxy)
	front.Config.BaseContext = func(net.Listener) context.Context { return ctx }
	front.Start()
	t.Cleanup(front.Close)
	w.dial = func() (net.Conn, error) { return net.Dial("tcp", front.Listener.Addr().String()) }
	return w, func() { abandon(proxy.ErrStopped) }
}

func TestWhatTheProxyEndsItselfIsInterrupted(t *testing.T) {
	w, stop := stoppable(t, talking(func(c *talker) { c.hear(); c.tell(events("r1", wsCreated, wsText)...); c.hear() }))
	c, idle := w.socket(t), w.socket(t)
	c.tell(create(""))
	c.hearUntil("some words")
	stop()
	for range 2 { // the call, and the upgrade of the other one
		if x := w.row(); x.ResponseID == "r1" && x.Outcome != exchange.Interrupted || x.ResponseID == "" && x.Outcome != exchange.OK {
			t.Errorf("response %q: %s, %s", x.ResponseID, x.Outcome, x.Error)
		}
	}
	for _, s := range []*talker{c, idle} {
		if err := silent(s.from); err != nil {
			t.Error(err)
		}
	}
}

func TestAProxyThatEndsAtOnceDoesNotWaitForAClientThatDoesNotRead(t *testing.T) {
	full := make(chan struct{})
	w, stop := stoppable(t, talking(func(c *talker) {
		c.hear()
		text := strings.Repeat("x", 1<<20)
		for c.SetWriteDeadline(time.Now().Add(300*time.Millisecond)) == nil && c.say(websocket.Text, text) == nil {
		}
		close(full)
		c.hear()
	}))
	c := w.socket(t)
	defer c.Close()
	c.tell(create(""))
	<-full
	stop()
	if x := w.row(); x.Outcome != exchange.Interrupted {
		t.Errorf("%s: %s", x.Outcome, x.Error)
	}
	w.proxy.Wait()
}

// Sockets are open for an hour; a proxy that is to stop waits for answers alone.
func TestAProxyThatStopsHangsUpWhereNothingIsUnderWay(t *testing.T) {
	finish := make(chan struct{})
	w := onSockets(t, "/v1", talking(func(c *talker) {
		c.hear()
		c.tell(events("r1", wsCreated)...)
		<-finish
		c.tell(events("r1", wsText, wsCompleted)...)
		c.hear()
	}))
	idle, busy := w.socket(t), w.socket(t)
	busy.tell(create(""))
	busy.hear()
	w.proxy.HangUp()
	if err := silent(idle.from); err != nil {
		t.Error("idle:", err)
	}
	close(finish)
	if _, err := busy.hearUntil("completed"); err != nil {
		t.Error("the answer under way:", err)
	}
	if err := silent(busy.from); err != nil {
		t.Error("once idle:", err)
	}
	w.proxy.Wait()
	if late := w.socket(t); silent(late.from) != nil {
		t.Error("one that was opened late stays")
	}
	for range 3 {
		if x := w.row(); x.Outcome != exchange.OK {
			t.Errorf("%s: %s", x.Outcome, x.Error)
		}
	}
}
