package web

import (
	"strconv"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// stage is how far an exchange under way has come, as far as that is seen.
type stage string

const (
	stageBegun     stage = "begun"     // no more is known of it
	stageWaiting   stage = "waiting"   // for the first token
	stageReasoning stage = "reasoning" // it came, but none of the answer
	stageAnswering stage = "answering"
)

func stageOf(x *exchange.Exchange) stage {
	switch {
	case x.AnswerStart != nil:
		return stageAnswering
	case x.FirstToken != nil:
		return stageReasoning
	case x.GotConn != nil:
		return stageWaiting
	}
	return stageBegun
}

// goOn tells of an exchange under way what is known by now.
func (r *row) goOn(l language, x *exchange.Exchange, now time.Time) {
	so := max(now.Sub(x.StartedAt), 0)
	r.SoFar, r.Total = strconv.FormatInt(so.Milliseconds(), 10), seconds(&so)
	switch st := stageOf(x); st {
	case stageBegun:
		r.Unwritten = l.say("row.underway", x.StartedAt.In(now.Location()).Format(time.TimeOnly))
	case stageWaiting:
		r.Unwritten = l.say("row.waiting")
	default:
		r.Tag.Word = l.say("stage." + string(st))
		r.Output = quantity{Value: "≥ " + figure.Count(x.OutputEvents), Faint: true, Title: l.say("row.pieces", figure.Count(x.OutputEvents))}
	}
}

// layOpen lays what is known by now of one under way: before the first token
// nobody can say what it waits for.
func (t *timeline) layOpen(x *exchange.Exchange) {
	switch stageOf(x) {
	case stageBegun:
		t.until(underway, t.total)
	case stageWaiting:
		t.lay(network, or0(x.Network))
		t.until(wait, t.total)
	case stageReasoning:
		t.layFirst(x)
		t.until(reasoning, t.total)
	case stageAnswering:
		t.layFirst(x)
		t.until(reasoning, *x.AnswerStart)
		t.until(decode, t.total)
	}
}

func (t *timeline) layFirst(x *exchange.Exchange) {
	t.lay(network, min(or0(x.Network), *x.FirstToken))
	t.until(wait, *x.FirstToken)
}

// sinceEpoch is a time in milliseconds, to the microsecond.
func sinceEpoch(t time.Time) string {
	return strconv.FormatFloat(float64(t.UnixMicro())/1e3, 'f', 3, 64)
}
