package web

import (
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// kind names a phase: its word in the catalogue (phase.KIND) and its colour in
// the style sheet (f-KIND).
type kind string

const (
	network   kind = "network"
	floor     kind = "floor"     // the fixed start of gateway and model
	queue     kind = "queue"     // waiting for a slot
	prefill   kind = "prefill"   //
	wait      kind = "wait"      // queue and prefill, as far as they cannot be told apart
	hidden    kind = "hidden"    // decode of reasoning that was not shown
	unseen    kind = "unseen"    // decode of an output that came whole
	reasoning kind = "reasoning" // decode of reasoning that was shown
	decode    kind = "decode"
	tool      kind = "tool"     // a hosted tool was running
	tail      kind = "tail"     // after the last token
	underway  kind = "underway" // not known yet
)

// The kinds of a turn's time that are no one exchange's phase.
const (
	yours   kind = "yours"   // none of its exchanges was under way: the client was at work, or a tool of its own
	several kind = "several" // some were, in different phases
	lost    kind = "lost"    // one ended unseen
)

// phase is a stretch of an exchange's time. The phases of one exchange follow
// each other without a gap, in a fixed order.
type phase struct {
	Kind   kind
	Start  time.Duration
	Length time.Duration
}

// timeline is phases laid end to end.
type timeline struct {
	phases []phase
	at     time.Duration // end of the last one
	total  time.Duration // none goes beyond it
}

// until lays a phase up to an instant.
func (t *timeline) until(k kind, instant time.Duration) {
	instant = min(instant, t.total)
	if instant > t.at {
		t.phases = append(t.phases, phase{k, t.at, instant - t.at})
		t.at = instant
	}
}

// lay lays a phase of some length.
func (t *timeline) lay(k kind, length time.Duration) { t.until(k, t.at+length) }

// phases divides the time of an exchange that took so long. Lengths are those of
// diagnosis.Weigh, in its order: a hosted tool, for instance, is drawn in one
// piece where it ran in several.
func phases(x *exchange.Exchange, total time.Duration) []phase {
	t := timeline{total: total}
	if x.End == nil {
		t.layOpen(x)
		return t.phases
	}
	p := diagnosis.Weigh(x)
	t.layWait(x, p.Wait)
	t.lay(tool, p.HostedBefore)
	t.lay(hidden, p.Hidden)
	t.lay(unseen, p.Unseen)
	t.lay(reasoning, p.Shown)
	t.lay(decode, p.Decode-p.Hidden-p.Unseen-p.Shown)
	t.lay(tool, p.HostedAfter)
	t.until(tail, total)
	return t.phases
}

// layWait lays the parts of the wait. What is left of it beside them is the
// fixed start, or what cannot be told apart.
func (t *timeline) layWait(x *exchange.Exchange, waited time.Duration) {
	t.lay(network, min(or0(x.Network), waited))
	left := waited - t.at
	filled := min(or0(x.Prefill), left)
	queued := min(or0(x.Queue), left-filled)
	rest := wait
	if x.Prefill != nil && x.Queue != nil {
		rest = floor
	}
	t.lay(rest, left-filled-queued)
	t.lay(queue, queued)
	t.lay(prefill, filled)
}

// took is how long an exchange took, or has taken so far; ok is false where it
// ended unseen.
func took(x *exchange.Exchange, now time.Time) (d time.Duration, ok bool) {
	switch {
	case x.End != nil:
		return *x.End, true
	case x.Outcome == exchange.Open:
		return max(now.Sub(x.StartedAt), 0), true
	}
	return 0, false
}

// or0 is the length of a phase that may not have been.
func or0(d *time.Duration) time.Duration {
	if d == nil {
		return 0
	}
	return *d
}
