package meter

import (
	"slices"
	"time"

	"github.com/ttftap/ttftap/proxy/dialect"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// step is one event at an instant, in milliseconds.
type step struct {
	ms float64
	dialect.Event
}

// script is a stream as the meter is told of it.
type script []step

func ms(f float64) time.Duration { return time.Duration(f * float64(time.Millisecond)) }

func (s script) at(ms float64, e dialect.Event) script { return append(slices.Clip(s), step{ms, e}) }

// run adds n events, the first at from, the last at to.
func (s script) run(n int, from, to float64, e dialect.Event) script {
	s = slices.Clip(s)
	for i := range n {
		s = append(s, step{from + (to-from)*float64(i)/float64(max(1, n-1)), e})
	}
	return s
}

func out(kind dialect.Kind, index, bytes int) dialect.Event {
	e := dialect.Event{Kind: kind, Index: index, AnswerBytes: bytes}
	if kind&dialect.Thought != 0 {
		e.AnswerBytes, e.ThoughtBytes = 0, bytes
	}
	return e
}

var (
	nothing  = dialect.Event{}
	terminal = dialect.Event{Terminal: true}
	unread   = dialect.Event{Unread: true}
	word     = out(dialect.Text, 0, 4)
	thought  = out(dialect.Reasoning, 0, 4)
	summary  = out(dialect.Summary, 0, 40)
	argument = out(dialect.Tool, 1, 4)
)

func opens(i dialect.Item, index int) dialect.Event { return dialect.Event{Opens: i, Index: index} }
func closes(i dialect.Item, index int) dialect.Event {
	return dialect.Event{Closes: i, Index: index}
}

// usage is prompt, cached, output, reasoning, total; -1 for none.
func usage(counts ...int64) *dialect.Answer {
	a := &dialect.Answer{}
	u := &a.Usage
	for i, to := range []**int64{&u.Prompt, &u.Cached, &u.Output, &u.Reasoning, &u.Total} {
		if i < len(counts) && counts[i] >= 0 {
			*to = new(counts[i])
		}
	}
	u.Raw = "{}"
	return a
}

// measure plays a script on an exchange of a streamed chat, over a connection
// that was there before.
func (s script) measure(a *dialect.Answer, with ...func(*exchange.Exchange)) *exchange.Exchange {
	m := New()
	for _, st := range s {
		m.Event(ms(st.ms), st.Event)
	}
	x := streamed()
	if len(s) > 0 {
		x.End = new(ms(s[len(s)-1].ms))
	}
	for _, set := range with {
		set(x)
	}
	m.Finish(x, a)
	return x
}

func streamed() *exchange.Exchange {
	x := &exchange.Exchange{Dialect: exchange.Chat, Streamed: new(true), Status: new(int64(200)), Outcome: exchange.OK}
	x.GotConn, x.Sent, x.Headers, x.FirstByte = new(ms(0)), new(ms(0)), new(ms(1)), new(ms(2))
	return x
}
