package web

import (
	"bytes"
	"context"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

const (
	refreshEach = 2 * time.Second  // what changes all the time is told so often at most
	summaryCost = 40               // and all summaries together take one in so many parts of the time
	lostAfter   = 10 * time.Second // without a word of one under way it is taken for lost
	rowsMost    = 100              // ended exchanges that are told of in one bulletin
)

// audience is what all pages with the same filter, language, columns and scale
// are told: it is made once for all of them. But for its listeners it belongs to
// the hub's goroutine.
type audience struct {
	site      *site
	page      page
	ctx       context.Context
	asked     url.Values // the query, whose times move on
	misfit    store.Misfit
	sheet     sheet
	listeners []*listener // guarded by the hub's mutex

	running  map[string]*showing
	recorder recorder
	stale    bool      // something was recorded since the last summary
	due      time.Time // when the next summary may be
	out      bytes.Buffer
}

// showing is what listeners know of an exchange under way.
type showing struct {
	item
	stage  stage
	events int64
	told   time.Time
	seen   time.Time // when it was last heard of
}

// newAudience follows what a query asks for; its bars end at the axis.
func (s *site) newAudience(ctx context.Context, l language, asked url.Values, axis time.Duration) *audience {
	f, q, _ := s.parse(asked)
	f.IncludeOpen = true
	a := &audience{site: s, ctx: ctx, page: page{Language: l, templates: s.pages[l]()}, asked: asked, misfit: f.Misfit(),
		running: map[string]*showing{}, recorder: s.recorder(l), stale: true, due: s.Now().Add(refreshEach)}
	a.sheet = sheetOf(l, q, s.Now(), &overview{})
	a.sheet.scale = newScale(axis)
	return a
}

func (a *audience) fits(i item) bool {
	n, _ := a.misfit(&i.subject)
	return n == 0
}

// tell makes what there is to say in a bulletin; nothing if that is nothing.
func (a *audience) tell(t bulletin) []byte {
	a.out.Reset()
	a.sheet.now = t.now
	ended := a.end(t)
	for _, i := range t.underWay {
		if !ended[i.x.ID] {
			a.goOn(i)
		}
	}
	a.forget()
	if len(t.news) > 0 {
		a.stale = true
		a.tellPosition(t.position)
	}
	if !*t.summed {
		*t.summed = a.summarise(len(t.audiences))
	}
	a.tellRecorder()
	return bytes.Clone(a.out.Bytes())
}

// end tells of those that have ended.
func (a *audience) end(t bulletin) (ended map[string]bool) {
	ended = map[string]bool{}
	a.finish(t.news, t.left)
	for _, i := range t.news {
		if i.x.Outcome == exchange.Open {
			continue
		}
		ended[i.x.ID] = true
		delete(a.running, i.x.ID)
	}
	return ended
}

// finish tells of those that have ended, and shows those that fit: the newest if
// they are very many, with a gap before them, which there may be anyway. Where the
// others are shown as under way, their rows go.
func (a *audience) finish(news []item, gap bool) {
	var fitting []item
	for _, i := range news {
		switch {
		case i.x.Outcome == exchange.Open:
		case a.fits(i):
			fitting = append(fitting, i)
		default:
			a.tellRow("finished", i.x.ID, nil)
		}
	}
	if over := len(fitting) - rowsMost; over > 0 {
		for _, i := range fitting[:over] {
			a.tellRow("finished", i.x.ID, nil)
		}
		fitting, gap = fitting[over:], true
	}
	if gap {
		a.tellGap()
	}
	for _, i := range fitting {
		a.tellRow("finished", i.x.ID, new(a.sheet.row(i.x)))
	}
}

// goOn tells of one under way if it is new, or has come further.
func (a *audience) goOn(i item) {
	s := a.running[i.x.ID]
	kind := "phase"
	switch {
	case s == nil && (len(a.running) >= runningMost || !a.fits(i)):
		return
	case s == nil:
		kind, s = "started", new(showing)
		a.running[i.x.ID] = s
	}
	now := a.sheet.now
	stage, events := stageOf(i.x), eventsSoFar(i.x)
	s.item, s.seen = i, now
	if stage != s.stage || events != s.events && now.Sub(s.told) >= refreshEach {
		s.stage, s.events, s.told = stage, events, now
		a.tellRow(kind, i.x.ID, new(a.sheet.row(i.x)))
	}
}

// eventsSoFar is how many pieces of output have come so far.
func eventsSoFar(x *exchange.Exchange) int64 {
	if x.OutputEvents == nil {
		return 0
	}
	return *x.OutputEvents
}

// forget gives up those under way that nobody knows of any more: their end could
// not be recorded.
func (a *audience) forget() {
	for id, s := range a.running {
		if a.sheet.now.Sub(s.seen) > lostAfter {
			delete(a.running, id)
			a.tellRow("finished", id, nil)
		}
	}
}

// repeat tells of those that ended while a listener was away, and of all that are
// under way.
func (a *audience) repeat(missed []item, position string) []byte {
	a.out.Reset()
	a.finish(missed, false)
	for _, id := range slices.Sorted(maps.Keys(a.running)) {
		a.tellRow("started", id, new(a.sheet.row(a.running[id].x)))
	}
	if a.recorder.Trouble { // of which the page may not know yet
		a.write("recorder", told{HTML: a.draw("recorder", a.recorder)})
	}
	a.tellPosition(position)
	return bytes.Clone(a.out.Bytes())
}

// summarise tells what all exchanges come to, if that is due, and says whether it
// was. A long log takes its time, and so has less often a new summary, as have
// many audiences.
func (a *audience) summarise(audiences int) bool {
	if !a.stale || a.sheet.now.Before(a.due) {
		return false
	}
	begun := time.Now()
	f, q, _ := a.site.parse(a.asked)
	o, err := a.site.overview(a.ctx, f)
	if err == nil {
		a.stale = false
		scale := a.sheet.scale
		a.sheet = sheetOf(a.sheet.l, q, a.sheet.now, o)
		a.sheet.scale = scale
		a.tellParts(parts{o.summary(a.sheet.l, q), newFilters(a.sheet.l, q, o)})
	}
	a.due = a.sheet.now.Add(max(refreshEach, time.Duration(summaryCost*audiences)*time.Since(begun)))
	return true
}
