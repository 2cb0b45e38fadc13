package store

import (
	"time"
	"unsafe"

	"github.com/ttftap/ttftap/proxy/exchange"
)

const (
	batchMost  = 100     // rows a transaction: a full one takes well under the patience
	batchBytes = 1 << 20 // of those rows, but for the last

	// Where nothing came of late, a record is committed at once. Under load those
	// of a while go together, since a transaction costs as much as some rows: those
	// that a stream will wait for in a short while, unless it waits already, and
	// those of which the log has the beginning, in a longer one.
	urgentEach = 2 * time.Millisecond
	calmEach   = 25 * time.Millisecond

	never = 1 << 62 // longer than anything lasts
)

// A queue holds the records that wait for their commit, in two lanes. It is none
// of its business to lock.
type queue struct {
	urgent, calm lane
	waiting      map[string]*entry   // by id: what is in the lanes, each id once
	aloft        map[string]struct{} // ids under way of which the log has the beginning
	bytes, most  int64               // in the lanes; beyond most the oldest are surplus
	hurried      bool                // somebody waits for an urgent one
	next         time.Time           // when take is called again by itself; zero while a batch is being written
}

// A lane is served some time after it was served last.
type lane struct {
	entries []*entry // in the order in which they came
	each    time.Duration
	served  time.Time
}

// An entry is a record in the queue. Later records of the same id replace x.
type entry struct {
	x         exchange.Exchange
	committed chan struct{}
	bytes     int64
	lane      *lane
}

func newQueue(most int64) queue {
	return queue{
		urgent:  lane{each: urgentEach},
		calm:    lane{each: calmEach},
		waiting: map[string]*entry{},
		aloft:   map[string]struct{}{},
		most:    most,
	}
}

// put puts a copy of x in the place of the one that waits with its id, or at the
// end of a lane.
func (q *queue) put(x *exchange.Exchange) (e *entry, added bool) {
	e = q.waiting[x.ID]
	if e == nil {
		e, added = &entry{committed: make(chan struct{}), lane: &q.urgent}, true
		if _, begun := q.aloft[x.ID]; begun {
			e.lane = &q.calm
		}
		e.lane.entries = append(e.lane.entries, e)
		q.waiting[x.ID] = e
	}
	q.bytes -= e.bytes
	e.x, e.bytes = *x, weight(x)
	q.bytes += e.bytes
	return e, added
}

func (q *queue) has(id string) bool { return q.waiting[id] != nil }

// weight is about what x takes in memory.
func weight(x *exchange.Exchange) int64 {
	const numbers = 60 * 8 // that it points at
	n := int(unsafe.Sizeof(*x)) + numbers + len(x.Prompt)*int(unsafe.Sizeof(exchange.Boundary{})) +
		len(x.Path) + len(x.Error) + len(x.Note) + len(x.Reason) + len(x.UsageRaw)
	if c := x.Cadence; c != nil {
		n += 16 * (len(c.Steps) + len(c.Gaps))
	}
	return int64(n)
}

// surplus takes out the oldest entries for which there is no room.
func (q *queue) surplus() (out []*entry) {
	for q.bytes > q.most {
		from := &q.urgent
		if len(from.entries) == 0 {
			from = &q.calm
		}
		out = append(out, q.pop(from))
	}
	return out
}

// advance says whether take must be called earlier than it would be, for e.
func (q *queue) advance(e *entry, now time.Time) bool {
	due := now.Add(e.lane.due(now))
	if !due.Before(q.next) {
		return false
	}
	q.next = due
	return true
}

// hurry does without delay for the urgent entries, if the one with this id is one
// of them, and says whether take must be called for that.
func (q *queue) hurry(id string) bool {
	if e := q.waiting[id]; q.hurried || e == nil || e.lane != &q.urgent {
		return false
	}
	q.hurried = true
	return !q.next.IsZero()
}

// take takes the entries that are due, or all, out of the queue, as many as one
// transaction may have. Nothing changes them any more: what comes with one of
// their ids is a new entry. If there are none, it says for how long.
func (q *queue) take(now time.Time, all bool) (batch []*entry, pause time.Duration) {
	urgent, calm := q.urgent.due(now), q.calm.due(now)
	q.next = now.Add(min(urgent, calm))
	if all || calm <= 0 { // with these the urgent ones may as well go, but not in their place
		batch = q.serve(&q.calm, nil, batchMost/2, now)
	}
	if len(batch) > 0 || all || q.hurried || urgent <= 0 {
		batch = q.serve(&q.urgent, batch, batchMost, now)
		q.hurried = q.hurried && len(q.urgent.entries) > 0
	}
	if len(batch) > 0 {
		q.next = time.Time{}
	}
	return batch, min(urgent, calm)
}

// serve moves entries of a lane to a batch until that has so many.
func (q *queue) serve(from *lane, batch []*entry, most int, now time.Time) []*entry {
	bytes := int64(0)
	for _, e := range batch {
		bytes += e.bytes
	}
	for len(from.entries) > 0 && len(batch) < most && bytes < batchBytes {
		e := q.pop(from)
		batch, bytes = append(batch, e), bytes+e.bytes
	}
	if len(from.entries) == 0 { // otherwise it goes on at once
		from.served = now
	}
	return batch
}

// due is how long the lane may wait, not at all if it is full.
func (l *lane) due(now time.Time) time.Duration {
	switch {
	case len(l.entries) == 0:
		return never
	case len(l.entries) >= batchMost:
		return 0
	}
	return max(0, l.each-now.Sub(l.served))
}

func (q *queue) pop(from *lane) *entry {
	e := from.entries[0]
	from.entries[0] = nil
	from.entries = from.entries[1:]
	delete(q.waiting, e.x.ID)
	q.bytes -= e.bytes
	return e
}

// committed notes what the log now has the beginning of.
func (q *queue) committed(batch []*entry) {
	for _, e := range batch {
		if e.x.Outcome == exchange.Open {
			q.aloft[e.x.ID] = struct{}{}
		} else {
			delete(q.aloft, e.x.ID)
		}
	}
}
