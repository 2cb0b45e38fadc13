package proxy

import (
	"hash/maphash"
	"sync"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

const (
	retryWithin = 5 * time.Minute // a repeated request later than this is no retry
	maxFailed   = 4096            // failed attempts that are remembered
)

// retries remembers the attempts that failed lately: the same body from the same
// session, or else the same key, is then the next attempt at it. Retries are
// exchanges of their own, since they are billed so.
type retries struct {
	seed maphash.Seed

	mu     sync.Mutex
	failed map[sameRequest]attempt
}

// sameRequest is who asked and a hash of what, by a key of this process.
type sameRequest struct {
	who  string
	body uint64
}

type attempt struct {
	group  string
	number int64
	at     time.Time
}

// mark makes the mark by which a repeated request is known, of what it asks for in
// two parts.
func (p *Proxy) mark(x *exchange.Exchange, head, tail []byte) *sameRequest {
	who := x.SessionID
	if who == "" {
		who = x.KeyID
	}
	var h maphash.Hash
	h.SetSeed(p.retries.seed)
	_, _ = h.Write(head)
	_, _ = h.Write(tail)
	return &sameRequest{who: who, body: h.Sum64()}
}

// find makes x the next attempt where an earlier one failed.
func (r *retries) find(x *exchange.Exchange, m *sameRequest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last, ok := r.failed[*m]; ok && x.StartedAt.Sub(last.at) < retryWithin {
		x.RetryGroup, x.Attempt = last.group, new(last.number+1)
	}
}

// ended remembers a failed attempt and forgets one that succeeded.
func (r *retries) ended(x *exchange.Exchange, m *sameRequest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch x.Outcome {
	case exchange.OK, exchange.Incomplete, exchange.Refused:
		delete(r.failed, *m)
		return
	}
	if x.RetryGroup == "" {
		x.RetryGroup, x.Attempt = x.ID, new(int64(1))
	}
	if r.failed == nil || len(r.failed) >= maxFailed {
		r.failed = make(map[sameRequest]attempt)
	}
	r.failed[*m] = attempt{x.RetryGroup, *x.Attempt, time.Now()}
}
