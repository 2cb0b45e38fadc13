package web

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestWhoWasAwayIsToldWhatWasMissed(t *testing.T) {
	inScene(t, nil, func(s *scene) {
		quick := func(x *exchange.Exchange) { answered(x, 10, 90, 9) }
		position := s.liveAt("/-/") // an empty log's
		s.record(s.now("before", 0, quick))
		first := s.followAt(position)
		turns(1)
		expect(s.T, first, "finished before")

		s.record(s.now("a", 0, quick))
		turns(1)
		_, at := first.hears()
		first.leave()
		x := s.runs("runs")
		s.goOn(x)
		s.record(s.now("b", 0, quick), x)
		s.record(s.now("c", 0, quick))
		again := s.followAt(position, "Last-Event-ID", at)
		turns(1)
		expect(s.T, again, "finished b", "finished c", "started runs")
		turns(1)
		s.record(s.now("d", 0, quick))
		turns(1)
		expect(s.T, again, "finished d")
	})
}

func TestWhoWasAwayTooLongIsToldToLoadThePageAnew(t *testing.T) {
	inScene(t, nil, func(s *scene) {
		at := s.liveAt("/-/")
		for i := range 2*newsMost + 1 {
			for _, follow := range s.follow {
				follow([]*exchange.Exchange{s.now(fmt.Sprintf("x-%d", i), 0, begun)})
			}
		}
		for name, target := range map[string]string{
			"too old": at, "of another run": "/-/live?since=01AAAAAAAAAAAAAAAAAAAAAAAA-3", "of the future": regexp.MustCompile(`-\d+&`).ReplaceAllString(at, "-999999&"),
			"nonsense": "/-/live?since=nonsense",
		} {
			f := s.followAt(target)
			turns(1)
			if events, _ := f.hears(); len(events) == 0 || events[0].Kind != "reset" {
				s.Errorf("%s: %v", name, names(events))
			}
		}
	})
}

func TestWhoDoesNotReadIsDroppedAndHoldsUpNobody(t *testing.T) {
	inScene(t, nil, func(s *scene) {
		slow, quick := s.newFollower(), s.followAt("/-/live")
		slow.stuck = make(chan struct{})
		slow.start(s, "/-/live")
		for i := range backlogMost + 5 {
			before := time.Now()
			s.record(s.now(fmt.Sprintf("x-%d", i), 0, func(x *exchange.Exchange) { answered(x, 10, 90, 9) }))
			if took := time.Since(before); took > 0 {
				s.Fatalf("to record took %s", took)
			}
			turns(1)
			expect(s.T, quick, fmt.Sprintf("finished x-%d", i))
		}
		close(slow.stuck)
		<-slow.ended
		events, _ := slow.hears()
		if len(events) == 0 || events[len(events)-1].Kind != "reset" {
			s.Errorf("it was told %v", names(events))
		}
	})
}

func TestThereIsRoomForSoManyLivePages(t *testing.T) {
	inScene(t, nil, func(s *scene) {
		var all []*follower
		for range listenMost {
			all = append(all, s.followAt("/-/live"))
		}
		for lang, want := range map[string]string{"en": "64 pages are followed live already", "zh": "已有 64 个页面"} {
			f := s.followAt("/-/live", "Accept-Language", lang)
			<-f.ended
			if said := f.said(); f.head.Code != http.StatusServiceUnavailable || !strings.Contains(said, want) {
				s.Errorf("status %d: %s", f.head.Code, said)
			}
		}
		all[0].leave()
		<-all[0].ended
		next := s.followAt("/-/live")
		turns(1)
		if next.head.Code != http.StatusOK || next.head.Header().Get("Content-Type") != "text/event-stream" {
			s.Errorf("status %d, %v", next.head.Code, next.head.Header())
		}
	})
}

func TestASignOfLifeComesInTheSilence(t *testing.T) {
	inScene(t, nil, func(s *scene) {
		f := s.followAt("/-/live")
		if got := f.said(); got != "retry: 2000\n\n" {
			s.Errorf("it begins with %q", got)
		}
		time.Sleep(4*beatEach + time.Second)
		if said := f.said(); strings.Count(said, ":\n\n") != 4 {
			s.Errorf("in a minute it says %q", said)
		}
	})
}

func TestLivePagesEndWithTheServer(t *testing.T) {
	serving, stop := context.WithCancel(t.Context())
	inScene(t, nil, func(s *scene) {
		f, before := s.followAt("/-/live"), time.Now()
		stop()
		<-f.ended
		if took := time.Since(before); took > 0 {
			s.Errorf("it took %s", took)
		}
	}, func(c *Config) { c.Serving = serving })
}

func TestNothingIsDoneWhereNobodyLooks(t *testing.T) {
	inScene(t, nil, func(s *scene) {
		f := s.followAt("/-/live")
		turns(3)
		f.leave()
		turns(1)
		polls := s.polled()
		turns(100)
		if n := s.polled() - polls; n != 0 {
			s.Errorf("it was asked %d times what is under way", n)
		}
		again := s.followAt("/-/live")
		turns(3)
		if again.leave(); s.polled() == polls {
			s.Error("it does not wake up")
		}
	})
}

func TestAFailureOfALivePageEndsNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConfig(t)
		logged := c.capturedLog()
		s := &site{Config: c, pages: readPages(readAssets()), recent: newRecent(c.Store)}
		h := newHub(c)
		sound := h.join("sound", "", s.newAudience(t.Context(), english, nil, time.Second))
		unready := s.newAudience(t.Context(), english, nil, time.Second)
		unready.page.templates = nil
		broken := h.join("broken", "", unready)
		h.follow([]*exchange.Exchange{seeded("x", 0, func(x *exchange.Exchange) { answered(x, 10, 90, 9) })})
		turns(1)
		if told := string(<-sound.out); !strings.Contains(told, "event: finished") {
			t.Errorf("the sound page is told %q", told)
		}
		if !strings.Contains(logged(), "the live page failed") {
			t.Errorf("logged: %s", logged())
		}
		h.leave(sound)
		h.leave(broken)
		turns(1)
	})
}

// oneCall is a listener that accepts one connection.
type oneCall struct{ conns chan net.Conn }

func (o oneCall) Accept() (net.Conn, error) {
	if c, ok := <-o.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (o oneCall) Close() error   { return nil }
func (o oneCall) Addr() net.Addr { return &net.IPAddr{} }

// TestWhoIsGoneWithoutAWordIsGivenUp has a browser that asks and then reads
// nothing, over a connection that holds nothing for it.
func TestWhoIsGoneWithoutAWordIsGivenUp(t *testing.T) {
	for name, test := range map[string]struct {
		stops bool // the server stops, too
		after time.Duration
	}{
		"while the server goes on": {false, writeWithin},
		"while it stops":           {true, leaveWithin},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				serving, stop := context.WithCancel(context.Background())
				defer stop()
				c := newConfig(t)
				c.Serving = serving
				near, far := net.Pipe()
				calls := oneCall{make(chan net.Conn, 1)}
				calls.conns <- far
				ended := make(chan struct{})
				page := New(c)
				server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					defer close(ended)
					page.ServeHTTP(w, r)
				})}
				go server.Serve(calls)
				if _, err := io.WriteString(near, "GET /-/live HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				begun := time.Now()
				if test.stops {
					stop()
				}
				<-ended
				if took := time.Since(begun); took != test.after {
					t.Errorf("it is given up after %s, want %s", took, test.after)
				}
				near.Close()
				close(calls.conns)
				server.Close()
				turns(2)
			})
		})
	}
}
