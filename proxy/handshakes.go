package proxy

import (
	"cmp"
	"slices"
	"time"
)

// handshakes are the recent TLS handshakes with one host, the oldest first, each
// as the round trip that it stands for. The quickest of several tells, since a
// busy server or a lost packet makes one slow; but of no more than three, or of
// those of a minute, since the route may change.
type handshakes []observed

const (
	fewHandshakes  = 3
	manyHandshakes = 64
	sameRoute      = time.Minute
)

// with is the handshakes after another one.
func (h handshakes) with(trip time.Duration, now time.Time) handshakes {
	h = append(h, observed{trip, now})
	forgotten := 0
	for i, old := range h {
		left, age := len(h)-i, now.Sub(old.at)
		if left > manyHandshakes || age >= recent || left > fewHandshakes && age >= sameRoute {
			forgotten = i + 1
		}
	}
	return slices.Delete(h, 0, forgotten)
}

// quickest is nil of none.
func (h handshakes) quickest() *time.Duration {
	if len(h) == 0 {
		return nil
	}
	best := slices.MinFunc(h, func(a, b observed) int { return cmp.Compare(a.lasted, b.lasted) })
	return &best.lasted
}
