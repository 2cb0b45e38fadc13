package proxy_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/proxy/websocket"
)

// shredded is a message in frames of any length, with control frames between.
func shredded(t *rapid.T, mask *[4]byte, text string) (all []byte) {
	op := websocket.Text
	for rest := text; ; {
		n := rapid.IntRange(0, len(rest)).Draw(t, "frame")
		if rapid.IntRange(0, 2).Draw(t, "last") == 0 {
			n = len(rest)
		}
		one := (&talker{mask: mask}).words(op, rest[:n])
		op, rest = websocket.Continuation, rest[n:]
		if rest == "" {
			return append(all, one...)
		}
		one[0] &^= 0x80
		all = append(all, one...)
		if rapid.Bool().Draw(t, "control") {
			all = append(all, (&talker{mask: mask}).words(websocket.Ping, "between")...)
		}
	}
}

// pieces are bytes cut anywhere.
func pieces(t *rapid.T, all []byte) (cut [][]byte) {
	for len(all) > 0 {
		n := rapid.IntRange(1, len(all)).Draw(t, "piece")
		cut, all = append(cut, all[:n]), all[n:]
	}
	return cut
}

// relay is an upstream that says, piece by piece, what it is given, and tells what
// it heard. It begins when it has heard so many bytes.
type relay struct {
	after int
	says  [][]byte
	heard []byte
	over  chan struct{}
}

func (r *relay) serve(w http.ResponseWriter, _ *http.Request) {
	talking(func(c *talker) {
		defer close(r.over)
		r.heard = make([]byte, r.after)
		io.ReadFull(c.from, r.heard)
		for _, p := range r.says {
			c.Write(p)
		}
		rest, _ := io.ReadAll(c.from)
		r.heard = append(r.heard, rest...)
	})(w, &http.Request{})
}

func TestHoweverFramesAreCutBytesPassAndExchangesAreTheSame(t *testing.T) {
	var now *relay
	w := onSockets(t, "/v1", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { now.serve(w, r) }))
	rapid.Check(t, func(rt *rapid.T) {
		var said, answers []byte
		for i, message := range []string{part("", spoken("one")), `{"type":"response.processed"}`, asked("m2", "")} {
			mask := [4]byte{byte(i), 0, 0x55, 0xff}
			said = append(said, shredded(rt, &mask, message)...)
		}
		for _, event := range slices.Concat(events("r1", wsCreated, wsOpened, wsText, wsCompleted), events("r2", wsCreated, wsText, wsText, wsCompleted)) {
			answers = append(answers, shredded(rt, nil, event)...)
		}
		now = &relay{after: len(said), says: pieces(rt, answers), over: make(chan struct{})}
		c := w.socket(t)
		for _, p := range pieces(rt, said) {
			c.Write(p)
		}
		heard := make([]byte, len(answers))
		if _, err := io.ReadFull(c.from, heard); err != nil || !bytes.Equal(heard, answers) {
			rt.Fatalf("the client heard other bytes than were said: %v", err)
		}
		rows := byResponse(w, 2)
		c.Close()
		if <-now.over; !bytes.Equal(now.heard, said) {
			rt.Fatal("the upstream heard other bytes than were said")
		}
		type facts struct {
			model                          string
			outcome                        exchange.Outcome
			prompt, output, events, unread int64
			request                        int64
		}
		for id, want := range map[string]facts{
			"r1": {"m", exchange.OK, 900, 40, 1, -1, int64(len(part("", spoken("one"))))},
			"r2": {"m2", exchange.OK, 900, 40, 2, -1, int64(len(asked("m2", "")))},
		} {
			x := rows[id]
			got := facts{x.ModelRequested, x.Outcome, number(x.PromptTokens), number(x.OutputTokens), number(x.OutputEvents), number(x.UnreadEvents), number(x.RequestBytes)}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(facts{})); diff != "" {
				rt.Error(id, diff)
			}
			if !(*x.FirstByte <= *x.FirstEvent && *x.FirstEvent <= *x.FirstToken && *x.FirstToken <= *x.LastToken && *x.LastToken <= *x.End && 0 <= *x.FirstByte && *x.Received <= *x.FirstByte) {
				rt.Errorf("%s: instants out of order: %+v", id, x.Instants)
			}
		}
	})
}

// A frame of a gigabyte is not kept, and what comes behind it is read as before.
func TestAVeryLongFramePassesAtFullSpeedAndIsNotKept(t *testing.T) {
	size := int64(1 << 30)
	if testing.Short() {
		size = 64 << 20
	}
	head := binary.BigEndian.AppendUint64([]byte{0x82, 127}, uint64(size))
	w := onSockets(t, "/v1", talking(func(c *talker) {
		c.hear()
		piece := make([]byte, 64<<10)
		c.Write(head)
		for range size / int64(len(piece)) {
			c.Write(piece)
		}
		c.tell(events("r1", wsCreated, wsText, wsCompleted)...)
		c.hear()
	}))
	passes := func(c *talker) time.Duration {
		c.tell(create(""))
		began := time.Now()
		if n, err := io.CopyN(io.Discard, c.from, int64(len(head))+size); err != nil {
			t.Fatal(n, err)
		}
		return time.Since(began)
	}
	unread, _ := w.upgrade(t, "/v1/realtime")
	usual := passes(unread)
	unread.Close()
	w.row()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	took := passes(w.socket(t))
	runtime.ReadMemStats(&after)
	if t.Logf("%s, without being read %s", took, usual); took > 10*usual+time.Second {
		t.Error("that is no full speed")
	}
	x := w.row()
	if grown := int64(after.TotalAlloc - before.TotalAlloc); grown > 4<<20 {
		t.Errorf("%d bytes of memory were taken", grown)
	}
	if x.Outcome != exchange.OK || number(x.OutputTokens) != 40 || !strings.Contains(x.Note, "too long") {
		t.Errorf("outcome %s, %d out, note %q", x.Outcome, number(x.OutputTokens), x.Note)
	}
}

// The last event may hold a picture or two. That it was the last is known all the
// same; its usage is not.
func TestAnAnswerWhoseLastEventIsTooLongToBeReadIsComplete(t *testing.T) {
	picture := strings.Repeat("A", websocket.DefaultLimit)
	w := onSockets(t, "/v1", talking(func(c *talker) {
		c.hear()
		c.tell(wsText, `{"type":"response.completed","response":{"id":"r1","output":[{"type":"image","result":"`+picture+`"}]}}`)
		c.hear()
	}))
	c := w.socket(t)
	c.tell(create(""))
	go io.Copy(io.Discard, c.from)
	if x := w.row(); x.Outcome != exchange.OK || x.OutputTokens != nil || !strings.Contains(x.Note, "too long") {
		t.Errorf("outcome %s, %d out, note %q", x.Outcome, number(x.OutputTokens), x.Note)
	}
}

func TestAVeryLongMessageOfTheClientIsAnExchange(t *testing.T) {
	w := onSockets(t, "/v1", talking(func(c *talker) {
		c.hear()
		c.tell(events("r1", wsCompleted)...)
		c.hear()
	}))
	c := w.socket(t)
	go c.tell(asked("m1", `"instructions":"`+strings.Repeat("x", websocket.DefaultLimit)+`",`))
	if x := w.row(); x.Outcome != exchange.OK || x.ModelRequested != "m1" || x.Note == "" || number(x.RequestBytes) < websocket.DefaultLimit {
		t.Errorf("outcome %s, model %q, %d bytes, note %q", x.Outcome, x.ModelRequested, number(x.RequestBytes), x.Note)
	}
}

func TestAThousandSocketsAtOnce(t *testing.T) {
	const many = 1000
	begin := make(chan struct{})
	w := onSockets(t, "/v1", talking(func(c *talker) {
		if _, err := c.hear(); err != nil {
			return
		}
		<-begin
		c.tell(events(fmt.Sprint("r", rand.Int64()), wsCreated, wsText, wsCompleted)...)
		c.hear()
	}))
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			c := w.socket(t)
			defer c.Close()
			c.tell(asked(fmt.Sprint("m", i), ""))
			if _, err := c.hearUntil("completed"); err != nil {
				t.Error(err)
			}
		})
	}
	deadline := time.Now().Add(4 * soon)
	for w.proxy.Flying() < many && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	if n := w.proxy.Flying(); n != many {
		t.Errorf("%d are under way", n)
	}
	close(begin)
	all.Wait()
	models := make(map[string]bool)
	for range many {
		x := w.row()
		if models[x.ModelRequested] = true; x.Outcome != exchange.OK || number(x.OutputTokens) != 40 {
			t.Errorf("%s: %s %s", x.ModelRequested, x.Outcome, x.Error)
		}
	}
	if len(models) != many {
		t.Errorf("%d of %d were told apart", len(models), many)
	}
	w.proxy.Wait()
}

// What the one direction holds up does not hold up the other.
func TestAClientThatDoesNotReadMaySpeak(t *testing.T) {
	heard := make(chan error, 1)
	w := onSockets(t, "/v1", talking(func(c *talker) {
		c.hear()
		c.tell(events("r1", wsCreated)...)
		go func() {
			for c.tell(wsText+strings.Repeat(" ", 64<<10)) == nil { // until every buffer is full
			}
		}()
		_, err := c.hearUntil("m2")
		heard <- err
	}))
	c := w.socket(t)
	c.Conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	c.tell(asked("m1", ""))
	<-time.After(300 * time.Millisecond)
	c.tell(asked("m2", ""))
	select {
	case err := <-heard:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(soon):
		t.Error("it was not heard")
	}
}
