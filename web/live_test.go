package web

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

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
		turns(int(lostAfter / bulletinEach))
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
		if len(names(events)) != rowsMost+2 || events[0].ID != "x-000" || events[0].HTML != "" || events[2].ID != "x-001" || events[2].HTML == "" {
			s.Errorf("%d events: %v", len(events), names(events)[:3])
		}
		if events[1].Kind != "gap" || !strings.Contains(events[1].HTML, "more than could be shown") {
			s.Errorf("no gap: %+v", events[1])
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
