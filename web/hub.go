package web

import (
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

const (
	bulletinEach = 400 * time.Millisecond // how often listeners are told what is new
	newsMost     = 1000                   // records that are kept for those who were away
	listenMost   = 64                     // listeners at a time
	backlogMost  = 32                     // bulletins that a listener may be behind
)

// hub tells those who follow the log what happens in it. What is recorded is kept
// for a while, so that who was away can be told what was missed. One goroutine
// does all the telling, for as long as anybody listens, and waits for nobody: who
// does not keep up is dropped. Who records does no more than to add to the news.
type hub struct {
	underWay func() []*exchange.Exchange // nil where nobody knows
	now      func() time.Time
	log      *slog.Logger

	mu        sync.Mutex
	run       string               // names this run of the program: a position in another means nothing
	news      []*exchange.Exchange // as recorded, open ones too; the newest last
	end       int64                // how many there have been
	audiences map[string]*audience
	listeners int
	awake     bool // the goroutine is there
}

func newHub(c Config) *hub {
	return &hub{underWay: c.UnderWay, now: c.Now, log: c.Log, run: ulid.Make().String(), audiences: map[string]*audience{}}
}

// listener is one page that follows the log.
type listener struct {
	audience string
	at       int64       // what it knows of; -1 for nothing that could be added to
	told     bool        // it has been told what it had missed
	out      chan []byte // closed when it is dropped
}

// follow takes what the recorder has committed.
func (h *hub) follow(batch []*exchange.Exchange) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, x := range batch {
		kept := new(*x)
		kept.Prompt = nil // which is long, and not shown in a row
		h.news = append(h.news, kept)
	}
	h.end += int64(len(batch))
	if len(h.news) > 2*newsMost {
		h.news = slices.Clone(h.news[len(h.news)-newsMost:])
	}
}

// position is how far the news have come, as listeners tell it when they return.
func (h *hub) position() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.positionAt(h.end)
}

func (h *hub) positionAt(n int64) string { return h.run + "-" + strconv.FormatInt(n, 10) }

// find reads a position: the present one for "", -1 for one from which the news
// are no longer kept. The mutex is held.
func (h *hub) find(position string) int64 {
	if position == "" {
		return h.end
	}
	run, number, _ := strings.Cut(position, "-")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || run != h.run || n > h.end || n < h.end-int64(len(h.news)) {
		return -1
	}
	return n
}

// since are the news from a position on, as far as they are kept. The mutex is
// held.
func (h *hub) since(n int64) []*exchange.Exchange {
	return h.news[max(0, len(h.news)-int(h.end-n)):]
}

// join adds a listener to the audience of a name, the given one if it is the first
// there; nil if there are too many.
func (h *hub) join(name, position string, fresh *audience) *listener {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.listeners >= listenMost {
		return nil
	}
	a := h.audiences[name]
	if a == nil {
		a = fresh
		h.audiences[name] = a
	}
	l := &listener{audience: name, at: h.find(position), out: make(chan []byte, backlogMost)}
	a.listeners = append(a.listeners, l)
	h.listeners++
	if !h.awake {
		h.awake = true
		go h.listenTo(h.end)
	}
	return l
}

// leave takes a listener out, unless it has been dropped.
func (h *hub) leave(l *listener) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remove(l)
}

// remove takes a listener out, and its audience with the last one. The mutex is
// held.
func (h *hub) remove(l *listener) {
	a := h.audiences[l.audience]
	if a == nil {
		return
	}
	i := slices.Index(a.listeners, l)
	if i < 0 {
		return
	}
	a.listeners = slices.Delete(a.listeners, i, i+1)
	h.listeners--
	if len(a.listeners) == 0 {
		delete(h.audiences, l.audience)
	}
}

// bulletin is what there is to tell at a time.
type bulletin struct {
	now       time.Time
	from, end int64  // positions
	news      []item // between them
	left      bool   // there were more than are kept
	underWay  []item
	position  string // the end
	summed    *bool  // an audience has had its summary: one a bulletin is enough, while the others wait
	audiences []*audience
}

// item is an exchange with what a filter asks of it.
type item struct {
	x       *exchange.Exchange
	subject store.Subject
}

func itemsOf(xs []*exchange.Exchange) []item {
	items := make([]item, len(xs))
	for i, x := range xs {
		items[i] = item{x, store.SubjectOf(x)}
	}
	return items
}

// listenTo tells what is new from a position on, bulletin by bulletin, until nobody
// listens.
func (h *hub) listenTo(from int64) {
	tick := time.NewTicker(bulletinEach)
	defer tick.Stop()
	for range tick.C {
		t := h.bulletin(from)
		if t.audiences == nil {
			return
		}
		for _, a := range t.audiences {
			h.tell(a, t)
		}
		from = t.end
	}
}

// bulletin takes what is new since a position. Those under way are asked for first:
// one that ends in between is then among the news, too.
func (h *hub) bulletin(from int64) bulletin {
	t := bulletin{now: h.now(), from: from, summed: new(bool)}
	if h.underWay != nil {
		t.underWay = itemsOf(h.underWay())
	}
	t.news = itemsOf(h.begin(&t))
	return t
}

// begin takes the news of a bulletin and those who are to be told. The recorder waits
// for the lock, so nothing is made of them here.
func (h *hub) begin(t *bulletin) (news []*exchange.Exchange) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t.end, t.position = h.end, h.positionAt(h.end)
	news = slices.Clone(h.since(t.from))
	t.left = t.end-t.from > int64(len(news))
	for _, a := range h.audiences {
		t.audiences = append(t.audiences, a)
	}
	h.awake = t.audiences != nil
	return news
}

// tell hands out what an audience is told, and to those who are new in it first
// what they missed. Should that fail, the program must go on: it has more to do
// than to be looked at.
func (h *hub) tell(a *audience, t bulletin) {
	defer func() {
		if p := recover(); p != nil {
			h.log.Error("the live page failed", "panic", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
		}
	}()
	h.mu.Lock()
	listeners := slices.Clone(a.listeners)
	h.mu.Unlock()
	missed := map[*listener][]byte{}
	for _, l := range listeners {
		if !l.told {
			l.told = true
			missed[l] = h.missed(a, l, t.from)
		}
	}
	told := a.tell(t)
	for _, l := range listeners {
		all := told
		if m := missed[l]; m != nil {
			all = slices.Concat(m, told)
		}
		if len(all) > 0 && !l.take(all) {
			h.drop(l)
		}
	}
}

// missed is what a listener has to be told of the news up to a position.
func (h *hub) missed(a *audience, l *listener, until int64) []byte {
	news, ok := h.between(l.at, until)
	if !ok {
		return resetEvent
	}
	return a.repeat(itemsOf(news), h.positionAt(until))
}

// between are the news from one position to another; ok is false where they are
// no longer kept.
func (h *hub) between(from, to int64) (news []*exchange.Exchange, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if from < 0 || h.end-from > int64(len(h.news)) {
		return nil, false
	}
	if from < to {
		news = slices.Clone(h.since(from)[:to-from])
	}
	return news, true
}

// take queues what is to be written to a listener, and never waits.
func (l *listener) take(told []byte) bool {
	select {
	case l.out <- told:
		return true
	default:
		return false
	}
}

// drop gives up a listener that does not keep up.
func (h *hub) drop(l *listener) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remove(l)
	close(l.out)
}
