package audit

import (
	"slices"
	"time"
)

// here is an attempt made ready to be matched. Its times are nanoseconds of UTC.
type here struct {
	*Attempt
	start, end int64
	loose      bool   // the upstream may have ended later than was seen
	label      int32  // of its models
	habit      habit  // of the console, for its model
	wantIn     *int64 // the input that the console would state for it
	wantOut    *int64
	state      progress
	row        int  // of the result, from 1; 0: none yet
	billed     bool // the console bills it, as far as is known
}

// there is a console's row made ready. lo and hi are the interval of its instant
// on the log's clock.
type there struct {
	*Record
	file   int
	at     Reference
	lo, hi int64 // 0, 0: it tells no time
	label  int32
	state  progress
}

// progress is how far a row has come.
type progress uint8

const (
	open    progress = iota
	paired           // in a group of its own
	crowded          // in a group whose rows cannot be told apart
	aside            // compared with nothing
)

// looseEnd is how much later than was seen here an upstream may end a request.
const looseEnd = 5 * time.Minute

// readyHere makes the attempts ready, in the order of their start.
func readyHere(attempts []Attempt, n *names) []here {
	rows := make([]here, len(attempts))
	for i := range attempts {
		a := &attempts[i]
		h := here{Attempt: a, start: a.Start.UnixNano(), label: n.label(a.Models)}
		h.end = a.End.UnixNano()
		if a.End.IsZero() {
			h.end = h.start
		}
		h.loose = a.End.IsZero() || a.left() || a.failed()
		rows[i] = h
	}
	slices.SortStableFunc(rows, func(a, b here) int {
		return int(min(1, max(-1, a.start-b.start)))
	})
	return rows
}

// readyThere makes the rows of requests ready, and hands out the rest.
func readyThere(files []File, n *names) (requests, buckets, entries []there) {
	for f := range files {
		for i := range files[f].Records {
			r := &files[f].Records[i]
			t := there{Record: r, file: f, at: r.At, label: n.label(r.models())}
			if !r.From.IsZero() {
				t.lo, t.hi = r.From.UnixNano(), max(r.From.UnixNano()+1, r.To.UnixNano())
			}
			switch r.Kind {
			case Request:
				requests = append(requests, t)
			case Bucket:
				buckets = append(buckets, t)
			default:
				entries = append(entries, t)
			}
		}
	}
	return requests, buckets, entries
}

// models are all names that the row has for its model.
func (r *Record) models() []string {
	return named(append([]string{r.Model}, r.ModelAlso...)...)
}

// billed says whether the row states that something was paid or counted.
func (r *Record) billed() bool {
	for _, n := range []*int64{r.Input, r.Output} {
		if n != nil && *n > 0 {
			return true
		}
	}
	return r.Money != nil && r.Money.Nano > 0 && !r.Refund
}

// countless says whether the row states no count that could tell it from others.
func (r *Record) countless() bool { return r.Input == nil && r.Output == nil }

// timed says whether the row tells a time.
func (t *there) timed() bool { return t.hi != 0 }
