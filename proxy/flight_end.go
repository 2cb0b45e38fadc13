package proxy

import (
	"context"
	"errors"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/dialect"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// ending is what only the handler can tell of the end: its context ends with it.
type ending struct {
	at            *time.Duration
	left, stopped bool // the client had left; the proxy ended the exchange
	unseen        bool // what comes after at is not read, so that nobody knows the end
}

// end takes what the handler alone knows of the end.
func (f *flight) end() {
	if f.ending.at == nil {
		f.endAt(ending{at: f.since(), left: f.client.Err() != nil && !f.hurried, stopped: context.Cause(f.client) == ErrStopped})
	}
}

func (f *flight) endAt(e ending) {
	f.ending, f.judged = e, make(chan struct{})
	if f.socket != nil {
		f.proxy.sockets.leave(f.socket)
		return
	}
	f.proxy.crowd.leave(&f.x, f.start.Add(*e.at), f.judged)
}

// land finishes the exchange beside what goes on.
func (f *flight) land() {
	go func() {
		defer f.proxy.flights.Done()
		f.finish()
	}()
}

// finish ends the exchange, after the handler: the client must not wait for what
// is made of its answer. Whatever happens, the row is recorded.
func (f *flight) finish() {
	defer f.proxy.aloft.leave(f)
	defer close(f.judged)
	if f.socket.carried() {
		return // the rows are those of what it carried
	}
	x := &f.x
	if note := guarded(f.proxy.config.Log, f.conclude); note != "" {
		f.close()
		f.addNote(note)
		f.secrets.leaveOut(x)
		if x.Outcome == exchange.Open {
			x.Outcome = exchange.Interrupted
		}
	}
	f.proxy.config.Record(x)
	if ended := f.proxy.config.Ended; ended != nil {
		guarded(f.proxy.config.Log, func() string { ended(x); return "" })
	}
}

// conclude puts together what was seen, and judges it.
func (f *flight) conclude() string {
	f.tap.finish()
	f.settleBody()
	size := f.upload.bytes()
	f.close()
	x, answer := &f.x, f.tap.answer()
	x.RequestBytes = &size
	if !f.ending.unseen {
		x.End = f.ending.at
	}
	x.Outcome = f.outcome(answer)
	f.carrier.tellEngine(x.TurnID, answer)
	f.tap.measure(x)
	f.question.account(x)
	f.addNote(f.tap.note())
	f.describeError(answer)
	x.UsageRaw = withoutText(x.UsageRaw)
	f.secrets.leaveOut(x)
	if f.mark != nil {
		f.proxy.retries.ended(x, f.mark)
	}
	f.judge(x)
	return ""
}

// judge says what was reused of the prompt and why x took as long as it did, by
// what is usual for its model. Then x itself is a part of that.
func (f *flight) judge(x *exchange.Exchange) {
	c := &f.proxy.config
	f.reuse.Tell(x)
	usual := c.Book.Baseline(x)
	x.CacheOutcome = diagnosis.CacheOutcome(x, usual)
	diagnosis.Judge(x, usual)
	c.Prefixes.Remember(x)
	c.Book.Add(x)
}

// close makes the hooks leave x alone from here on.
func (f *flight) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = true
}

// outcome says how it ended. A terminal event that was seen wins over a client
// that has left since, and that over a broken transport: Codex hangs up within a
// millisecond of the last event.
func (f *flight) outcome(a *dialect.Answer) exchange.Outcome {
	left := errors.Is(f.err, context.Canceled) || f.ending.left
	switch {
	case f.x.Outcome == exchange.Refused:
		return exchange.Refused
	case f.x.Status == nil && f.ending.stopped:
		return exchange.Interrupted
	case f.x.Status == nil && left:
		return exchange.ClientAbort
	case f.x.Status == nil && f.x.GotConn == nil:
		return exchange.Unreachable
	case f.x.Status == nil:
		return exchange.UpstreamCut
	case f.err != nil: // a switch of protocols that nobody asked for
		return exchange.UpstreamCut
	case *f.x.Status >= 400:
		return exchange.UpstreamError
	case a.End == dialect.EndedInError:
		return exchange.ErrorEvent
	case a.End == dialect.CutShort:
		return exchange.Incomplete
	case a.End == dialect.Completed:
		return exchange.OK
	}
	if outcome := f.tap.broken(left); outcome != exchange.ClientAbort || !f.ending.stopped {
		return outcome
	}
	return exchange.Interrupted
}
