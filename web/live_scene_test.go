package web

import (
	"bytes"
	"context"
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// scene is a page over a log that is being recorded, in a bubble of fake time.
type scene struct {
	*testing.T
	page   http.Handler
	config Config
	begun  time.Time

	follow    []func([]*exchange.Exchange)
	followers []*follower

	mu       sync.Mutex
	underWay []*exchange.Exchange
	polls    int // how often it was asked what is under way
}

// inScene runs test at noon. The rows are there already; what set changes is
// changed before.
func inScene(t *testing.T, rows []*exchange.Exchange, test func(s *scene), set ...func(*Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &scene{T: t, begun: time.Now(), config: newConfig(t, rows...)}
		s.config.Now = func() time.Time { return noon.Add(time.Since(s.begun)) }
		s.config.Follow = func(fn func([]*exchange.Exchange)) { s.follow = append(s.follow, fn) }
		s.config.UnderWay = func() []*exchange.Exchange {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.polls++
			return s.underWay
		}
		for _, change := range set {
			change(&s.config)
		}
		s.page = New(s.config)
		test(s)
		for _, f := range s.followers {
			f.leave()
			<-f.ended
		}
		turns(1)
	})
}

// record commits rows as the recorder does.
func (s *scene) record(rows ...*exchange.Exchange) {
	s.Helper()
	if err := s.config.Store.Save(context.Background(), rows); err != nil {
		s.Fatal(err)
	}
	for _, follow := range s.follow {
		follow(rows)
	}
}

// goOn says what is under way from now on.
func (s *scene) goOn(xs ...*exchange.Exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.underWay = xs
}

func (s *scene) polled() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.polls
}

// now is an exchange that began so long ago.
func (s *scene) now(id string, ago time.Duration, fill func(*exchange.Exchange)) *exchange.Exchange {
	return seeded(id, ago-time.Since(s.begun), fill)
}

// runs is one under way that begins now.
func (s *scene) runs(id string) *exchange.Exchange {
	return s.now(id, 0, func(x *exchange.Exchange) {
		begun(x)
		x.Outcome, x.GotConn, x.Sent = exchange.Open, span(20), span(31)
	})
}

// liveAt is where a view is followed.
func (s *scene) liveAt(target string) string {
	s.Helper()
	body := get(s.T, s.page, target).Body.String()
	m := regexp.MustCompile(`data-live="(/-/live[^"]*)"`).FindStringSubmatch(body)
	if m == nil {
		s.Fatalf("%s is not live", target)
	}
	return html.UnescapeString(m[1])
}

// follower is a browser that follows a view, as far as it reads at all.
type follower struct {
	http.ResponseWriter // the head goes to a recorder
	leave               context.CancelFunc
	ended               chan struct{}
	head                *httptest.ResponseRecorder

	mu    sync.Mutex
	text  bytes.Buffer
	stuck chan struct{} // writing to it waits until this is closed; nil: it reads
}

func (s *scene) followAt(target string, headers ...string) *follower {
	s.Helper()
	f := s.newFollower()
	f.start(s, target, headers...)
	synctest.Wait()
	return f
}

func (s *scene) newFollower() *follower {
	head := httptest.NewRecorder()
	return &follower{ResponseWriter: head, head: head, ended: make(chan struct{})}
}

func (f *follower) start(s *scene, target string, headers ...string) {
	ctx, cancel := context.WithCancel(s.Context())
	f.leave = cancel
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	r.Host = "localhost"
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	go func() {
		defer close(f.ended)
		s.page.ServeHTTP(f, r)
	}()
	s.followers = append(s.followers, f)
}

func (f *follower) Write(p []byte) (int, error) {
	if f.stuck != nil {
		<-f.stuck
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.text.Write(p)
}

func (f *follower) Flush() {}

// said is all that was written to it since it was last asked.
func (f *follower) said() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.text.Reset()
	return f.text.String()
}

// heard is an event as a browser understands it.
type heard struct{ Kind, ID, HTML string }

// hears are the events since it was last asked, and the position they lead to.
func (f *follower) hears() (events []heard, position string) {
	for message := range strings.SplitSeq(f.said(), "\n\n") {
		var e heard
		for line := range strings.SplitSeq(message, "\n") {
			name, value, _ := strings.Cut(line, ": ")
			switch name {
			case "event":
				e.Kind = value
			case "id":
				position = value
			case "data":
				var t told
				if err := json.Unmarshal([]byte(value), &t); err != nil {
					panic(err)
				}
				e.ID, e.HTML = t.ID, t.HTML
			}
		}
		if e.Kind != "" {
			events = append(events, e)
		}
	}
	return events, position
}

// names are the kinds and ids of events, the summaries left out.
func names(events []heard) (all []string) {
	for _, e := range events {
		if e.Kind != "summary" {
			all = append(all, strings.TrimSpace(e.Kind+" "+e.ID))
		}
	}
	return all
}

func expect(t *testing.T, f *follower, want ...string) (events []heard) {
	t.Helper()
	events, _ = f.hears()
	if diff := cmp.Diff(want, names(events)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	return events
}

// turns lets so many turns pass.
func turns(n int) {
	time.Sleep(time.Duration(n) * bulletinEach)
	synctest.Wait()
}
