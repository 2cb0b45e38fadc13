package audit

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestACleanPairIsAlwaysClean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		at := w.base
		for range rapid.IntRange(fewPairs, 40).Draw(t, "n") {
			at = at.Add(time.Duration(rapid.IntRange(0, 20_000).Draw(t, "gap")) * time.Millisecond)
			a := w.attempt(at)
			w.add(a)
			w.bill(w.row(a))
			if rapid.IntRange(0, 9).Draw(t, "twin") == 0 {
				w.twin(a)
			}
		}
		r := w.compare()
		if r.Verdict != Clean {
			t.Fatalf("%s: %s\n%s", r.Verdict, r.Say.En, w.describe(r))
		}
	})
}

// twin adds an attempt that looks the same, a moment later.
func (w *world) twin(a Attempt) {
	b := a
	w.drawn++
	b.ID = fmt.Sprintf("x%04d", w.drawn)
	later := time.Duration(rapid.IntRange(0, 900).Draw(w.t, "later")) * time.Millisecond
	b.Start, b.End = a.Start.Add(later), a.End.Add(later)
	if w.withIDs {
		b.IDs[2] = "request-" + b.ID
	}
	w.add(b)
	w.bill(w.row(b))
}

func TestEveryFaultIsClassedRightlyOrDeclaredUnclear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		at := w.base
		for range rapid.IntRange(12, 40).Draw(t, "n") {
			at = at.Add(time.Duration(rapid.IntRange(0, 40_000).Draw(t, "gap")) * time.Millisecond)
			if rapid.IntRange(0, 3).Draw(t, "fault here") == 0 {
				rapid.SampledFrom(faults).Draw(t, "fault")(w, w.attempt(at))
				continue
			}
			a := w.attempt(at)
			w.add(a, Matched)
			w.bill(w.row(a), Matched)
		}
		r := w.compare()
		w.check(r)
	})
}

// faults are what may be wrong between a log and a console. Each plants itself
// and notes what is right to say of it.
var faults = []func(*world, Attempt){
	(*world).dropped, (*world).unseen, (*world).miscounted, (*world).refused, (*world).gaveUp,
	(*world).cancelled, (*world).uncounted, (*world).retriedThere, (*world).retriedHere, (*world).twins, (*world).refunded,
}

func (w *world) fault(a Attempt) { w.faulty[a.ID] = true }

func (w *world) dropped(a Attempt) {
	w.fault(a)
	w.add(a, OnlyLocal)
}

// unseen is of a size of its own: beside a row that was dropped, one of its size
// could not be told from a miscounted one by anybody.
func (w *world) unseen(a Attempt) {
	r := w.row(a)
	r.Input = new(*r.Input + 200_003)
	w.badLines[len(w.file.Records)+2] = true
	w.bill(r, OnlyConsole)
}

func (w *world) miscounted(a Attempt) {
	w.fault(a)
	w.add(a, TokensDiffer)
	r := w.row(a)
	r.Output = new(*r.Output + rapid.Int64Range(1, 9).Draw(w.t, "more"))
	w.bill(r, TokensDiffer)
}

func bare(a Attempt, o exchange.Outcome) Attempt {
	a.Outcome, a.Counts = o, Counts{}
	return a
}

func (w *world) refused(a Attempt) {
	b := bare(a, exchange.UpstreamError)
	b.Status = new(int64(429))
	w.add(b, FailedNotBilled)
	if rapid.Bool().Draw(w.t, "row of the failure") {
		r := w.row(a)
		r.Counts, r.Failed = Counts{Input: new(int64(0)), Output: new(int64(0))}, true
		w.bill(r, FailedNotBilled)
	}
}

// gaveUp is what upstream finished later, and billed.
func (w *world) gaveUp(a Attempt) {
	b := bare(a, exchange.UpstreamCut)
	b.End = a.Start.Add(a.End.Sub(a.Start) / 2)
	b.Total = new(b.End.Sub(b.Start))
	w.fault(b)
	w.add(b, FailedBilled)
	r := w.row(a)
	r.Total = a.Total
	w.bill(r, FailedBilled)
}

func (w *world) cancelled(a Attempt) {
	b := bare(a, exchange.ClientAbort)
	b.TTFT = new(time.Millisecond)
	w.fault(b)
	w.add(b, AbortedBilled)
	w.bill(w.row(a), AbortedBilled)
}

func (w *world) uncounted(a Attempt) {
	b := bare(a, exchange.OK)
	w.add(b, UsageMissing)
	w.bill(w.row(a), UsageMissing)
}

func (w *world) retriedThere(a Attempt) {
	if !w.withIDs {
		w.add(a, Matched)
		w.bill(w.row(a), Matched)
		return
	}
	w.add(a, GatewayRetry)
	r := w.row(a)
	r.Counts, r.Failed = Counts{Input: new(int64(0)), Output: new(int64(0))}, true
	w.bill(r, GatewayRetry)
	w.bill(w.row(a), GatewayRetry)
}

// retriedHere is an attempt that was given up and billed, and the one after it.
func (w *world) retriedHere(a Attempt) {
	a.Retry = "group-" + a.ID
	w.gaveUp(a)
	b := w.attempt(a.End.Add(3 * time.Second))
	b.Retry = a.Retry
	w.fault(b)
	w.add(b, RetryDuplicate, Matched)
	w.bill(w.row(b), RetryDuplicate, Matched)
}

func (w *world) twins(a Attempt) {
	w.add(a, Matched)
	w.bill(w.row(a), Matched)
	w.twin(a)
	last := w.attempts[len(w.attempts)-1].ID
	w.truth[last], w.lines[len(w.file.Records)+1] = []Class{Matched}, []Class{Matched}
}

func (w *world) refunded(a Attempt) {
	if !w.withIDs {
		w.dropped(a)
		return
	}
	w.add(a, OutOfScope)
	r := w.row(a)
	r.Money = &Money{Nano: 5_000_000, Currency: "USD", Kind: Billed}
	w.bill(r, OutOfScope)
	r.Refund = true
	w.bill(r, OutOfScope)
}

// check holds each finding against the truth: no row may be said to be what it is
// not. What cannot be told apart is a difference only where something is wrong in it.
func (w *world) check(r *Result) {
	if r.Verdict == CannotCompare {
		for _, row := range r.Rows {
			if row.Differs {
				w.t.Fatalf("nothing can be compared, but %s is accused", row.Class)
			}
		}
		return
	}
	seen := make(map[string]int)
	for _, row := range r.Rows {
		wrong := row.Class == Ambiguous && row.Differs
		for _, id := range row.Exchanges {
			seen[id]++
			wrong = wrong && !w.faulty[id] && !w.isSoft(id)
			w.right(r, row, "exchange "+id, w.truth[id])
		}
		for _, l := range row.Lines {
			seen[fmt.Sprint(l.Line)]++
			wrong = wrong && !w.badLines[l.Line]
			w.right(r, row, fmt.Sprintf("line %d", l.Line), w.lines[l.Line])
		}
		if wrong {
			w.t.Fatalf("a group without a fault is a difference: %v\n%s", row, w.describe(r))
		}
	}
	for _, a := range w.attempts {
		if seen[a.ID] != 1 {
			w.t.Fatalf("exchange %s is in %d rows\n%s", a.ID, seen[a.ID], w.describe(r))
		}
	}
	for _, rec := range w.file.Records {
		if n := seen[fmt.Sprint(rec.Line)]; n != 1 {
			w.t.Fatalf("line %d is in %d rows\n%s", rec.Line, n, w.describe(r))
		}
	}
}

// isSoft says whether the log has no counts of it, so that nothing shows it equal.
func (w *world) isSoft(id string) bool {
	for _, a := range w.attempts {
		if a.ID == id {
			return a.isBare()
		}
	}
	return false
}

func (w *world) right(r *Result, row Row, what string, right []Class) {
	if slices.Contains(right, row.Class) || row.Class == Ambiguous && !w.withIDs {
		return
	}
	w.t.Fatalf("%s is %s, but is %v: %v\n%s", what, row.Class, right, row.Reasons, w.describe(r))
}

// describe is all of it, for a failure.
func (w *world) describe(r *Result) string {
	s := fmt.Sprintf("clock %v zone %d habit %d at %q ids %v; found %+v %+v %+v %+v\n", w.clock, w.zone, w.habit, w.at, w.withIDs, r.Clock, r.Zone, r.Conventions, r.Notes)
	for _, a := range w.attempts {
		s += fmt.Sprintf("  %s %s..%s %s in=%s out=%s %s\n", a.ID, a.Start.Format("15:04:05.000"), a.End.Format("15:04:05.000"), a.Models[0], written(a.Input, ""), written(a.Output, ""), a.Outcome)
	}
	for _, c := range w.file.Records {
		s += fmt.Sprintf("  line %d %s %s in=%s out=%s %v\n", c.Line, c.From.Format("15:04:05.000"), c.Model, written(c.Input, ""), written(c.Output, ""), c.IDs)
	}
	for _, row := range r.Rows {
		s += fmt.Sprintf("  %s %v %v differs=%v %v\n", row.Class, row.Exchanges, row.Lines, row.Differs, row.Reasons)
	}
	return s
}
