package meter

import (
	"time"

	"github.com/ttftap/ttftap/proxy/dialect"
)

// maxReads bounds the arrivals that are kept.
const maxReads = 1 << 15

// read is the output that one read brought.
type read struct {
	at            time.Duration
	bytes, answer int64  // generated, and of these not reasoning
	events        uint32 // with output
	answers       uint32 // of these not reasoning alone
	first, last   place
}

// place is where a piece of output belongs: gaps are weighed by it.
type place struct {
	index int32
	kind  dialect.Kind
}

// reads are the arrivals of output, in order.
type reads []read

func (rs *reads) add(at time.Duration, e dialect.Event) {
	here := place{int32(e.Index), e.Kind}
	if n := len(*rs); n == 0 || (*rs)[n-1].at != at {
		if n == maxReads {
			*rs = rs.halved()
		}
		*rs = append(*rs, read{at: at, first: here})
	}
	r := &(*rs)[len(*rs)-1]
	r.last = here
	r.bytes += int64(e.ThoughtBytes + e.AnswerBytes)
	r.answer += int64(e.AnswerBytes)
	r.events++
	if e.Kind&^dialect.Thought != 0 {
		r.answers++
	}
}

// halved puts every two neighbours into one, in place. The first read stays as
// it is, since the rate looks at it alone.
func (rs reads) halved() reads {
	half := rs[:1]
	for i := 1; i < len(rs); i += 2 {
		r := rs[i]
		if i+1 < len(rs) {
			next := rs[i+1]
			r.last = next.last
			r.bytes += next.bytes
			r.answer += next.answer
			r.events += next.events
			r.answers += next.answers
		}
		half = append(half, r)
	}
	return half
}

// withoutReasoning are the reads that brought some of the answer, less what
// they brought of reasoning.
func (rs reads) withoutReasoning() reads {
	var out reads
	for _, r := range rs {
		if r.answers > 0 {
			r.bytes, r.events = r.answer, r.answers
			out = append(out, r)
		}
	}
	return out
}
