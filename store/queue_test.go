package store

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// A queued value is a queue and a clock.
type queued struct {
	queue
	now time.Time
}

func newQueued() *queued {
	return &queued{queue: newQueue(1 << 20), now: time.Date(2026, 9, 6, 6, 0, 0, 0, time.UTC)}
}

// record puts rows of one outcome in.
func (q *queued) record(outcome exchange.Outcome, ids ...string) {
	for _, id := range ids {
		q.put(bare(id, outcome))
	}
}

// commit takes what is due and commits it.
func (q *queued) commit() string {
	batch, _ := q.take(q.now, false)
	q.committed(batch)
	var ids []string
	for _, e := range batch {
		ids = append(ids, e.x.ID)
	}
	return strings.Join(ids, " ")
}

func (q *queued) want(t *testing.T, when, want string) {
	t.Helper()
	if got := q.commit(); got != want {
		t.Errorf("%s: %q is committed, want %q", when, got, want)
	}
}

func TestARecordIsCommittedAtOnceUnlessAnotherJustWas(t *testing.T) {
	q := newQueued()
	q.record(exchange.Open, "a")
	q.want(t, "after a silence", "a")
	q.record(exchange.Open, "b")
	q.want(t, "a moment later", "")
	q.record(exchange.Open, "c")
	q.now = q.now.Add(urgentEach)
	q.want(t, "a while later", "b c")
}

func TestARecordThatIsWaitedForIsCommittedAtOnce(t *testing.T) {
	q := newQueued()
	q.record(exchange.Open, "a")
	q.commit()
	q.record(exchange.Open, "b")
	if q.commit(); !q.hurry("b") {
		t.Error("the writer would sleep on")
	}
	q.want(t, "while it is waited for", "b")
	q.record(exchange.Open, "c")
	q.want(t, "when nobody waits any more", "")
}

func TestTheEndOfWhatTheLogHasTheBeginningOfCanWait(t *testing.T) {
	q := newQueued()
	q.record(exchange.Open, "a", "b", "c")
	q.commit()
	q.record(exchange.OK, "a")
	q.want(t, "after a silence", "a")
	q.record(exchange.OK, "b")
	q.now = q.now.Add(2 * urgentEach)
	q.want(t, "a while later", "")
	q.record(exchange.Open, "d")
	q.hurry("d")
	q.want(t, "beside one that begins", "d")
	q.record(exchange.Open, "e")
	q.now = q.now.Add(calmEach)
	q.record(exchange.OK, "c")
	q.want(t, "a long while later, with what begins", "b c e")
}

func TestAnExchangeThatEndsBeforeItsBeginningIsInTheLogIsWrittenOnce(t *testing.T) {
	q := newQueued()
	q.record(exchange.Open, "a")
	q.record(exchange.OK, "a")
	batch, _ := q.take(q.now, false)
	if len(batch) != 1 || batch[0].x.Outcome != exchange.OK {
		t.Errorf("%d records, want the last one", len(batch))
	}
}

func TestATransactionHasABoundInBytes(t *testing.T) {
	q := newQueued()
	q.most = 1 << 40
	x := bare("a", exchange.Open)
	x.Prompt = make([]exchange.Boundary, batchBytes/64)
	for i := range 20 {
		x.ID = fmt.Sprint(i)
		q.put(x)
	}
	if batch, _ := q.take(q.now, true); len(batch) == 0 || int64(len(batch)-1)*weight(x) > batchBytes {
		t.Errorf("%d records of %d bytes", len(batch), weight(x))
	}
}

// Whatever comes and goes, each record is taken once, the newest of each id, and
// the queue knows how much it holds and when it has to be asked again.
func TestAQueueLosesNothingAndForgetsNoAlarm(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		q, waiting := newQueued(), map[string]exchange.Outcome{}
		q.take(q.now, false)
		rt.Repeat(map[string]func(*rapid.T){
			"record": func(rt *rapid.T) {
				id := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(rt, "id")
				outcome := rapid.SampledFrom([]exchange.Outcome{exchange.Open, exchange.OK}).Draw(rt, "outcome")
				e, _ := q.put(bare(id, outcome))
				q.advance(e, q.now)
				waiting[id] = outcome
			},
			"hurry": func(rt *rapid.T) { q.hurry(rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(rt, "id")) },
			"time":  func(rt *rapid.T) { q.now = q.now.Add(rapid.Custom(someTime).Draw(rt, "passes")) },
			"take": func(rt *rapid.T) {
				batch, pause := q.take(q.now, rapid.Bool().Draw(rt, "all"))
				q.committed(batch)
				for _, e := range batch {
					if waiting[e.x.ID] != e.x.Outcome {
						rt.Fatalf("%s is taken as %q, the last was %q", e.x.ID, e.x.Outcome, waiting[e.x.ID])
					}
					delete(waiting, e.x.ID)
				}
				if len(batch) == 0 && len(waiting) > 0 && (pause <= 0 || pause > calmEach) {
					rt.Fatalf("%d wait, and are asked for in %v", len(waiting), pause)
				}
			},
		})
		for len(waiting) > 0 {
			batch, _ := q.take(q.now, true)
			if len(batch) == 0 {
				rt.Fatalf("lost: %v", waiting)
			}
			for _, e := range batch {
				delete(waiting, e.x.ID)
			}
		}
		if q.bytes != 0 {
			rt.Fatalf("an empty queue has %d bytes", q.bytes)
		}
	})
}

func someTime(t *rapid.T) time.Duration {
	return time.Duration(rapid.IntRange(0, 30).Draw(t, "ms")) * time.Millisecond
}
