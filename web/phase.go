package web

import (
	"time"

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
	tool      kind = "tool" // a hosted tool was running
	tail      kind = "tail" // after the last token
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

// lay lays a phase of some length, but not beyond the limit.
func (t *timeline) lay(k kind, length, limit time.Duration) {
	t.until(k, min(t.at+length, limit))
}

// phases divides the time of an exchange that took so long. Lengths are the
// figures', their order is the usual one: a hosted tool, for instance, is drawn
// in one piece where it ran in several.
func phases(x *exchange.Exchange, total time.Duration) []phase {
	t := timeline{total: total}
	s, ok := spansOf(x)
	if !ok {
		t.lay(network, or0(x.Network), total)
		t.until(wait, total)
		return t.phases
	}
	t.layWait(x, s)
	t.lay(reasoning, s.thought, s.last)
	t.lay(decode, s.last-t.at-s.toolsAfter, s.last)
	t.until(tool, s.last)
	t.until(tail, total)
	return t.phases
}

// layWait lays all that came before the answer.
func (t *timeline) layWait(x *exchange.Exchange, s spans) {
	t.lay(network, or0(x.Network), s.begin)
	waited := s.begin - t.at - s.tools - s.hidden - s.unseen
	p := min(or0(x.Prefill), waited)
	q := min(or0(x.Queue), waited-p)
	rest := wait
	if x.Prefill != nil && x.Queue != nil {
		rest = floor
	}
	t.lay(rest, waited-p-q, s.begin)
	t.lay(queue, q, s.begin)
	t.lay(prefill, p, s.begin)
	t.lay(tool, s.tools, s.begin)
	t.lay(hidden, s.hidden, s.begin)
	t.until(unseen, s.begin)
}

// spans are the instants between which an exchange waited and decoded, and what
// lies within.
type spans struct {
	begin, last    time.Duration // the first and the last output that came as it was made
	hidden, unseen time.Duration // decode before the beginning
	thought        time.Duration // decode of visible reasoning after it
	tools          time.Duration // hosted tools before the beginning
	toolsAfter     time.Duration
}

// spansOf finds the spans; ok is false where there was no output to tell by.
func spansOf(x *exchange.Exchange) (s spans, ok bool) {
	switch {
	case x.Delivery == exchange.NotStreamed:
		return wholeSpans(x)
	case x.FirstToken == nil || x.LastToken == nil:
		return spans{}, false
	case x.HidesReasoning():
		s = hidingSpans(x)
	default:
		s = spans{begin: *x.FirstToken, last: *x.LastToken, tools: or0(x.HostedBeforeFirst)}
		s.thought = thought(x)
	}
	s.unseen = or0(x.UnseenDecode)
	s.toolsAfter = max(or0(x.HostedTool)-s.tools, 0)
	return s, true
}

// hidingSpans are the spans of an answer that hides its reasoning: it begins
// with its first visible token. What came before, a summary for instance, shows
// how long the model was decoding at the least.
func hidingSpans(x *exchange.Exchange) spans {
	s := spans{begin: *x.LastToken, last: *x.LastToken, tools: or0(x.HostedTool)}
	if x.AnswerStart != nil {
		s.begin, s.tools = *x.AnswerStart, or0(x.HostedBeforeAnswer)
	}
	seen := s.begin - *x.FirstToken - (s.tools - or0(x.HostedBeforeFirst))
	s.hidden = max(or0(x.HiddenDecode), seen)
	return s
}

// thought is how long reasoning came that could be seen.
func thought(x *exchange.Exchange) time.Duration {
	switch {
	case x.FirstReasoning == nil:
		return 0
	case x.AnswerStart == nil:
		return *x.LastToken - *x.FirstToken
	}
	return *x.AnswerStart - *x.FirstToken
}

// wholeSpans are the spans of an answer that came as one body: only the server
// can tell its decode from its wait.
func wholeSpans(x *exchange.Exchange) (spans, bool) {
	if x.ServerDecode == nil || x.End == nil {
		return spans{}, false
	}
	decoded := min(*x.ServerDecode, *x.End)
	h := min(or0(x.HiddenDecode), decoded)
	return spans{begin: *x.End - decoded + h, last: *x.End, hidden: h}, true
}

// share is the part that the bound's phase has in wait and decode together; ok
// is false for a bound that is no one phase's.
func share(x *exchange.Exchange) (part float64, ok bool) {
	s, known := spansOf(x)
	waited := max(s.begin-s.hidden-s.unseen-s.tools, 0)
	decoded := max(s.last-waited-s.tools-s.toolsAfter, 0)
	sum := float64(waited + decoded)
	switch {
	case x.Bound == exchange.Stalled && x.StallTime != nil && x.End != nil && *x.End > 0:
		return x.StallTime.Seconds() / x.End.Seconds(), true
	case !known || sum == 0:
		return 0, false
	case x.Bound == exchange.PrefillBound || x.Bound == exchange.WaitBound:
		return float64(waited) / sum, true
	case x.Bound == exchange.DecodeBound:
		return float64(decoded) / sum, true
	}
	return 0, false
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
