// Package meter folds the events of one answer, and the instants at which they
// came, into the facts and figures of its exchange. It knows no wire format and
// has no clock: it is told both.
package meter

import (
	"sync"
	"time"

	"github.com/ttftap/ttftap/proxy/dialect"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// Meter measures one answer. It is not safe for concurrent use, but that SoFar
// may be called at any time before Finish.
//
// What it keeps of a stream is bounded: the arrivals of 32,768 reads (of a
// longer stream every two neighbours are kept as one), and 1,024 items open at
// a time.
type Meter struct {
	mu        sync.Mutex        // held by Event and by SoFar
	seen      exchange.Instants // those that events tell
	opened    *time.Duration    // the first item of the output
	now       time.Duration     // of the latest event
	kinds     dialect.Kind      // of all output so far
	events    int64             // with output
	thoughts  int64             // bytes of reasoning and summaries
	answers   int64             // bytes of other output
	unread    int64
	reasoning bool // an item of reasoning was opened
	reads     reads
	items     items
}

// New returns a meter that has seen nothing.
func New() *Meter { return new(Meter) }

// Event takes one message of a stream. At counts from the start of the exchange
// and is the same for all messages that one read brought; it never runs back.
func (m *Meter) Event(at time.Duration, e dialect.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = max(m.now, at)
	first(&m.seen.FirstEvent, m.now)
	if e.Opens != dialect.NoItem {
		first(&m.opened, m.now)
		m.reasoning = m.reasoning || e.Opens == dialect.ReasoningItem
		m.items.start(e.Index, e.Opens, m.now)
	}
	if e.Kind != 0 {
		m.output(&e)
	}
	if e.Closes != dialect.NoItem {
		m.items.end(e.Index, e.Closes, m.now)
	}
	if e.Terminal {
		first(&m.seen.Terminal, m.now)
	}
	if e.Unread {
		m.unread++
	}
}

func (m *Meter) output(e *dialect.Event) {
	m.kinds |= e.Kind
	m.events++
	m.thoughts += int64(e.ThoughtBytes)
	m.answers += int64(e.AnswerBytes)
	first(&m.seen.FirstToken, m.now)
	m.firstOf(dialect.Thought, e, &m.seen.FirstReasoning)
	m.firstOf(dialect.Text|dialect.Refusal, e, &m.seen.FirstText)
	m.firstOf(dialect.Tool, e, &m.seen.FirstTool)
	m.firstOf(^dialect.Thought, e, &m.seen.AnswerStart)
	if m.seen.LastToken == nil {
		m.seen.LastToken = new(m.now)
	}
	*m.seen.LastToken = m.now
	m.reads.add(m.now, e)
	m.items.write(e.Index, m.now)
}

// firstOf notes the first output of some kinds.
func (m *Meter) firstOf(kinds dialect.Kind, e *dialect.Event, instant **time.Duration) {
	if e.Kind&kinds != 0 {
		first(instant, m.now)
	}
}

// first notes an instant unless it has happened before.
func first(instant **time.Duration, at time.Duration) {
	if *instant == nil {
		*instant = new(at)
	}
}

// SoFar puts into x the instants and the count of events that are known by now.
// What follows from them all only Finish tells.
func (m *Meter) SoFar(x *exchange.Exchange) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.instants(x)
	if x.LastToken != nil {
		x.LastToken = new(*x.LastToken) // which moves on
		x.OutputEvents = new(m.events)
	}
}

// Finish puts into x what the answer said and how it came. The caller has set
// what it knows itself: Streamed, the status, the network's instants, Headers,
// FirstByte, End and ClientWait. A nil answer was not read.
func (m *Meter) Finish(x *exchange.Exchange, a *dialect.Answer) {
	if a != nil {
		m.whole(a.Whole)
		name(x, a)
		count(x, &a.Usage)
		addTimings(&x.Server, a.Timings)
		believable(&x.Server, x.End)
	}
	if m.unread > 0 {
		x.UnreadEvents = new(m.unread)
	}
	x.Reasoning = m.reasoningIn(x)
	switch {
	case x.Streamed == nil:
		x.Derive()
	case *x.Streamed:
		m.stamp(x)
		x.Derive()
		m.gauge(x)
	default:
		x.Delivery = exchange.NotStreamed
		x.Derive()
	}
}

// whole takes the output of an answer that was no stream: it has kinds and
// bytes, but no instants.
func (m *Meter) whole(e dialect.Event) {
	m.kinds |= e.Kind
	m.thoughts += int64(e.ThoughtBytes)
	m.answers += int64(e.AnswerBytes)
}

// instants copies those that were seen.
func (m *Meter) instants(x *exchange.Exchange) {
	x.FirstEvent, x.Terminal = m.seen.FirstEvent, m.seen.Terminal
	x.FirstToken, x.LastToken, x.AnswerStart = m.seen.FirstToken, m.seen.LastToken, m.seen.AnswerStart
	x.FirstReasoning, x.FirstText, x.FirstTool = m.seen.FirstReasoning, m.seen.FirstText, m.seen.FirstTool
	if m.opened != nil && (x.Headers == nil || *m.opened > *x.Headers) {
		x.GenerationStarted = m.opened
	}
}

// stamp copies the instants, and splits the time of hosted tools by them.
func (m *Meter) stamp(x *exchange.Exchange) {
	m.instants(x)
	end := m.end(x)
	hosted := m.items.during(dialect.HostedTool, end)
	total := hosted.within(0, end)
	if total == 0 {
		return
	}
	x.HostedTool = &total
	if x.FirstToken != nil {
		x.HostedBeforeFirst = new(hosted.within(0, *x.FirstToken))
	}
	if x.AnswerStart != nil {
		x.HostedBeforeAnswer = new(hosted.within(0, *x.AnswerStart))
	}
}

// end is where open items end at the latest: with the output, so that the time
// of hosted tools lies within it, or with the exchange where none came.
func (m *Meter) end(x *exchange.Exchange) time.Duration {
	switch {
	case m.seen.LastToken != nil:
		return *m.seen.LastToken
	case x.End != nil:
		return *x.End
	}
	return m.now
}

// gauge sets the figures that need the arrivals.
func (m *Meter) gauge(x *exchange.Exchange) {
	if len(m.reads) == 0 {
		return
	}
	x.OutputEvents = new(m.events)
	p := m.pace(x)
	if p.n != nil && *p.n > 0 {
		x.TokensPerEvent = new(float64(*p.n) / float64(p.events))
	}
	p.deliver(x)
	p.rate(x)
	gs := p.gaps()
	if len(gs) == 0 {
		return
	}
	p.stall(x, gs)
	if x.Delivery == exchange.Streamed {
		x.Cadence = p.cadence(gs)
	}
}
