package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
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
	time.Sleep(time.Duration(n) * turnEach)
	synctest.Wait()
}

func TestAnExchangeIsSeenToBeginToGoOnAndToEnd(t *testing.T) {
	inScene(t, telling()[1:], func(s *scene) {
		f := s.followAt(s.liveAt("/-/?scale=10"))
		turns(1)
		expect(s.T, f)

		x := s.runs("new")
		s.goOn(x)
		s.record(x)
		turns(1)
		if e := expect(s.T, f, "started new"); !strings.Contains(e[0].HTML, "no token yet") {
			s.Errorf("begun: %s", e[0].HTML)
		}
		turns(3)
		expect(s.T, f)

		x = new(*x)
		x.Status, x.FirstToken, x.FirstReasoning, x.OutputEvents = new(int64(200)), span(900), span(900), new(int64(3))
		s.goOn(x)
		turns(1)
		if e := expect(s.T, f, "phase new"); !strings.Contains(e[0].HTML, "Reasoning") || !strings.Contains(e[0].HTML, "≥ 3") {
			s.Errorf("reasoning: %s", e[0].HTML)
		}
		x = new(*x)
		x.AnswerStart, x.LastToken, x.OutputEvents = span(1900), span(1900), new(int64(12))
		s.goOn(x)
		turns(1)
		if e := expect(s.T, f, "phase new"); !strings.Contains(e[0].HTML, "Answering") {
			s.Errorf("answering: %s", e[0].HTML)
		}

		s.goOn()
		s.record(s.now("new", 3*time.Second, func(x *exchange.Exchange) { answered(x, 900, 2900, 90) }))
		turns(1)
		e := expect(s.T, f, "finished new")
		if page := get(s.T, s.page, "/-/?scale=10").Body.String(); !strings.Contains(page, e[0].HTML) {
			s.Errorf("the page has another row than the event: %s", e[0].HTML)
		}
	})
}

func TestHowMuchHasComeIsToldNowAndThen(t *testing.T) {
	inScene(t, nil, func(s *scene) {
		x := s.runs("long")
		x.FirstToken, x.AnswerStart = span(1), span(1)
		f := s.followAt("/-/live")
		for n := range int64(26) {
			x = new(*x)
			x.OutputEvents = new(n + 1)
			s.goOn(x)
			turns(1)
		}
		expect(s.T, f, "started long", "phase long", "phase long", "phase long", "phase long", "phase long")
	})
}

func TestOnlyWhatFitsTheFilterIsShown(t *testing.T) {
	inScene(t, nil, func(s *scene) {
		other := func(x *exchange.Exchange) {
			answered(x, 10, 90, 9)
			x.ModelRequested = "other"
			x.Bound = exchange.DecodeBound
		}
		mine := func(x *exchange.Exchange) { answered(x, 10, 90, 9); x.Bound = exchange.DecodeBound }
		all, model, bound := s.followAt("/-/live"), s.followAt("/-/live?model=other"), s.followAt("/-/live?bound=decode")
		s.goOn(s.runs("a"))
		turns(1)
		s.goOn()
		s.record(s.now("a", 0, other), s.now("b", 0, mine), s.runs("c"))
		turns(1)
		expect(s.T, all, "started a", "finished a", "finished b")
		if e := expect(s.T, model, "finished b", "finished a"); e[0].HTML != "" || e[1].HTML == "" {
			s.Errorf("shown: %+v, want no row for b, which does not fit", e)
		}
		expect(s.T, bound, "finished a", "finished b")
	})
}

func TestARowThatDoesNotFitInTheEndGoes(t *testing.T) {
	inScene(t, nil, func(s *scene) {
		x := s.runs("turns-out-other")
		x.ModelRequested = "asked"
		f := s.followAt("/-/live?model=asked")
		s.goOn(x)
		turns(1)
		s.goOn()
		s.record(s.now("turns-out-other", 0, func(x *exchange.Exchange) {
			answered(x, 10, 90, 9)
			x.ModelRequested, x.ModelServed = "asked", "served"
		}))
		turns(1)
		if e := expect(s.T, f, "started turns-out-other", "finished turns-out-other"); e[1].HTML != "" {
			s.Errorf("it is shown: %s", e[1].HTML)
		}
	})
}

func TestAnExchangeWhoseEndIsLostGoes(t *testing.T) {
	inScene(t, nil, func(s *scene) {
		x := s.runs("lost")
		f := s.followAt("/-/live")
		s.goOn(x)
		turns(1)
		s.goOn()
		turns(int(lostAfter / turnEach))
		expect(s.T, f, "started lost")
		turns(1)
		if e := expect(s.T, f, "finished lost"); e[0].HTML != "" {
			s.Errorf("it is shown: %s", e[0].HTML)
		}
	})
}

func TestNoMoreThanSomeAreShownUnderWay(t *testing.T) {
	inScene(t, nil, func(s *scene) {
		var all []*exchange.Exchange
		for i := range runningMost + 5 {
			all = append(all, s.runs(fmt.Sprintf("run-%02d", i)))
		}
		s.goOn(all...)
		f := s.followAt("/-/live")
		turns(1)
		if e, _ := f.hears(); len(names(e)) != runningMost {
			s.Errorf("%d are shown", len(names(e)))
		}
		if n := strings.Count(get(s.T, s.page, "/-/").Body.String(), `class="exchange running"`); n != runningMost {
			s.Errorf("the page shows %d", n)
		}
	})
}

func TestTheSummaryComesAtMostEveryTwoSecondsAndIsThePages(t *testing.T) {
	inScene(t, telling(), func(s *scene) {
		f := s.followAt(s.liveAt("/-/?bound=decode&scale=30"))
		last := ""
		summaries := 0
		for i := range 50 { // 20 s
			s.record(s.now(fmt.Sprintf("next-%d", i), 0, func(x *exchange.Exchange) { answered(x, 100, 400, 9); x.Bound = exchange.DecodeBound }))
			turns(1)
			events, _ := f.hears()
			for _, e := range events {
				if e.Kind == "summary" {
					summaries, last = summaries+1, e.HTML
				}
			}
		}
		if summaries < 8 || summaries > 10 {
			s.Errorf("%d summaries in 20 s", summaries)
		}
		page := get(s.T, s.page, "/-/?bound=decode&scale=30").Body.String()
		for _, part := range strings.Split(last, "data-part=")[1:] {
			if part, _, _ = strings.Cut(part, "</"); !strings.Contains(page, part) {
				s.Errorf("the page lacks %s", part)
			}
		}
		turns(20)
		events, _ := f.hears()
		if len(events) > 1 {
			s.Errorf("nothing happens, and %d events", len(events))
		}
	})
}

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

func TestTooManyAtOnceAreAGap(t *testing.T) {
	inScene(t, nil, func(s *scene) {
		f := s.followAt("/-/live")
		var all []*exchange.Exchange
		for i := range rowsMost + 1 {
			all = append(all, s.now(fmt.Sprintf("x-%03d", i), 0, func(x *exchange.Exchange) { answered(x, 10, 90, 9) }))
		}
		s.record(all...)
		turns(1)
		events, _ := f.hears()
		if len(names(events)) != rowsMost+1 || events[0].Kind != "gap" || events[1].ID != "x-001" || !strings.Contains(events[0].HTML, "more than could be shown") {
			s.Errorf("%d events: %v", len(events), names(events)[:2])
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

func TestPagesThatShowTheSameAreToldByteForByteTheSame(t *testing.T) {
	inScene(t, nil, func(s *scene) {
		at := s.liveAt("/-/")
		a, b := s.followAt(at), s.followAt(strings.Replace(at, "since=", "since=&x=", 1)) // an unknown name: another audience
		c := s.followAt(at)
		turns(1)
		s.record(s.now("new", 0, func(x *exchange.Exchange) { answered(x, 10, 90, 9) }))
		turns(1)
		one, other, same := a.said(), b.said(), c.said()
		if one != same || !strings.Contains(other, "finished") {
			s.Errorf("one: %s\nthe same: %s\nanother: %s", one, same, other)
		}
	})
}

func TestLivePagesSpeakTheLanguageOfTheirPage(t *testing.T) {
	inScene(t, nil, func(s *scene) {
		f := s.followAt(s.liveAt("/-/?lang=zh"))
		x := s.runs("new")
		s.goOn(x)
		turns(1)
		if e := expect(s.T, f, "started new"); !strings.Contains(e[0].HTML, "还没有首 token") {
			s.Errorf("%s", e[0].HTML)
		}
	})
}

func TestTroubleWithRecordingIsToldAtOnce(t *testing.T) {
	var state atomic.Pointer[store.State]
	state.Store(new(store.State))
	inScene(t, nil, func(s *scene) {
		f := s.followAt("/-/live")
		turns(8)
		expect(s.T, f)
		state.Store(&store.State{Error: "the disk is full"})
		turns(1)
		if e := expect(s.T, f, "recorder"); !strings.Contains(e[0].HTML, "The log cannot be written") || !strings.Contains(e[0].HTML, "trouble") {
			s.Errorf("%s", e[0].HTML)
		}
		state.Store(new(store.State))
		turns(2)
		expect(s.T, f, "recorder")
	}, func(c *Config) { c.State = func() store.State { return *state.Load() } })
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
