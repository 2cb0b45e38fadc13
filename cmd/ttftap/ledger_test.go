package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy"
	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// entry is what must be in the log of one exchange. A count of -1 is unknown.
type entry struct {
	Outcome                           exchange.Outcome
	Transport                         string
	Status, Request, Response, Output int64
}

// ledger drives proxy and log as clients, upstream, disk and operator do, and keeps
// beside them what must be in the log.
type ledger struct {
	t        *testing.T
	db       string
	upstream *played
	url      string
	i        *instance
	client   *http.Client
	must     map[string]entry // by the exchange's name: its session, over a WebSocket its model
	n        int              // exchanges so far
	streams  []*streaming
	sockets  []*conversing
	unlock   func() // nil where nobody else holds the log
}

func newLedger(t *testing.T) *ledger {
	l := &ledger{t: t, upstream: &played{plays: map[string]*play{}}, must: map[string]entry{}}
	folder, err := os.MkdirTemp(t.TempDir(), "ledger")
	if err != nil {
		t.Fatal(err)
	}
	l.db = filepath.Join(folder, "log.db")
	s := httptest.NewUnstartedServer(l.upstream)
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.Start()
	t.Cleanup(s.Close)
	l.url = s.URL
	l.client = &http.Client{Transport: &http.Transport{DisableCompression: true}}
	l.open()
	return l
}

// open starts proxy and log.
func (l *ledger) open() {
	var err error
	if l.i, err = start(context.Background(), plan{
		settings:  settings{Listen: "127.0.0.1:0"},
		upstreams: []proxy.Upstream{must(proxy.ParseUpstream(l.url + "/v1")), must(proxy.ParseUpstream("gone=http://127.0.0.1:9/v1"))},
		db:        l.db, lines: new(lockedBuffer), log: slog.New(slog.DiscardHandler),
	}); err != nil {
		l.t.Fatal(err)
	}
}

// close lets what is under way come to its end, or not, and stops.
func (l *ledger) close(t *rapid.T, atOnce bool) {
	l.release()
	now, end := context.WithCancel(context.Background())
	defer end()
	orderly, stop := context.WithCancel(now)
	defer stop()
	stopped := make(chan error, 1)
	go func() { stopped <- l.i.wait(stopping{orderly, now}) }()
	stop()
	if atOnce {
		end()
		l.allBroken(t)
	} else {
		l.allEnd(t)
	}
	if err := <-stopped; err != nil {
		t.Fatalf("it stops with %v", err)
	}
	l.client.CloseIdleConnections()
}

// lock has somebody else hold the log.
func (l *ledger) lock() { l.unlock = holdLog(l.t, l.db) }

func (l *ledger) release() {
	if l.unlock != nil {
		l.unlock()
		l.unlock = nil
	}
}

// inLog is what is in the log, by name, and how often each exchange is.
func (l *ledger) inLog(t *rapid.T) (found map[string]entry, times map[string]int) {
	found, times = map[string]entry{}, map[string]int{}
	err := l.i.store.Each(context.Background(), store.Filter{IncludeOpen: true}, func(x *exchange.Exchange) error {
		name := x.SessionID
		if x.Transport == "websocket" {
			name = x.ModelRequested
		}
		times[name]++
		found[name] = entry{x.Outcome, x.Transport, known(x.Status), known(x.RequestBytes), known(x.ResponseBytes), known(x.OutputTokens)}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found, times
}

func known(n *int64) int64 {
	if n == nil {
		return -1
	}
	return *n
}

// settle waits until just what is known to be under way is. What has gone by then is
// on its way to the log, whatever happens next.
func (l *ledger) settle(t *rapid.T, others int64) {
	busy := int64(len(l.streams)) + others
	for _, c := range l.sockets {
		if c.call != "" {
			busy++
		}
	}
	for deadline := time.Now().Add(20 * time.Second); l.i.proxy.Flying() != busy; <-time.After(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d exchanges are under way, not %d", l.i.proxy.Flying(), busy)
		}
	}
}

// check compares the log with what must be in it, as soon as it has had the time. An
// exchange under way is there as soon as its client has seen a byte; of it nothing
// but that is sure.
func (l *ledger) check(t *rapid.T) {
	if l.unlock != nil {
		return // nothing can come to be in it
	}
	for deadline := time.Now().Add(20 * time.Second); ; <-time.After(time.Millisecond) {
		found, times := l.inLog(t)
		for name, want := range l.must {
			if want.Outcome == exchange.Open && found[name].Outcome == exchange.Open {
				found[name] = want
			}
		}
		diff := cmp.Diff(l.must, found)
		for name, n := range times {
			if n != 1 {
				diff += fmt.Sprintf("%s is there %d times\n", name, n)
			}
		}
		if diff == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the log (-must +is), of %d exchanges:\n%s", len(l.must), diff)
		}
	}
}

// actions are what can happen, in any order.
func (l *ledger) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"":                   l.check,
		"a stream begins":    l.streamBegins,
		"a stream goes on":   l.streamGoesOn,
		"a stream ends":      l.streamEnds,
		"an answer is whole": l.wholeAnswer,
		"an upload ends":     l.uploadEnds,
		"nobody answers":     l.nobodyAnswers,
		"a socket opens":     l.socketOpens,
		"a call begins":      l.callBegins,
		"a call ends":        l.callEnds,
		"a socket ends":      l.socketEnds,
		"the log is locked or unlocked": func(*rapid.T) {
			if l.unlock != nil {
				l.release()
			} else {
				l.lock()
			}
		},
		"a restart": func(t *rapid.T) {
			if rapid.IntRange(0, 3).Draw(t, "seldom") > 0 {
				t.Skip("not now")
			}
			l.close(t, rapid.Bool().Draw(t, "at once"))
			l.open()
		},
	}
}

// Whatever clients, upstream, disk and operator do, in whatever order: each exchange
// is in the log once, as it was, and nothing else is. TTFTAP_LEDGER says how many
// histories are tried.
func TestTheLogHoldsWhatHappenedAndNothingElse(t *testing.T) {
	checks := flag.Lookup("rapid.checks")
	before := checks.Value.String()
	histories := "6"
	if n := os.Getenv("TTFTAP_LEDGER"); n != "" {
		histories = n
	}
	if err := checks.Value.Set(histories); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { checks.Value.Set(before) })
	rapid.Check(t, func(rt *rapid.T) {
		l := newLedger(t)
		defer func() {
			l.release()
			l.i.close()
		}()
		rt.Repeat(l.actions())
		l.close(rt, rapid.Bool().Draw(rt, "at once"))
		l.open()
		l.check(rt)
	})
}
