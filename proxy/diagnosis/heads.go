package diagnosis

import (
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// heads tells when an upstream sends the heads of its answers, by the exchanges
// whose prefill it told of: where the first token follows the head by just that
// time, even if the head came late, the head left when the prefill began.
type heads struct {
	recent []headTiming
}

type headTiming struct {
	head   time.Duration // after the network
	agrees bool          // the first token came a prefill later
}

const (
	maxHeads  = 64
	fewHeads  = 3 // late ones that have to agree
	lateHead  = 50 * time.Millisecond
	agreement = 10 * time.Millisecond // or a twentieth of the prefill
)

// timingOf is nil where an exchange tells nothing of its head.
func timingOf(x *exchange.Exchange) *headTiming {
	if x.ServerPrefill == nil || x.Headers == nil || x.FirstToken == nil || x.HidesReasoning() ||
		x.Delivery != exchange.Streamed {
		return nil
	}
	off := *x.FirstToken - *x.Headers - *x.ServerPrefill
	return &headTiming{
		head:   max(0, *x.Headers-known(x.Network)),
		agrees: off.Abs() <= max(agreement, *x.ServerPrefill/20),
	}
}

func (h *heads) add(t headTiming) {
	h.recent = append(h.recent, t)
	h.recent = h.recent[max(0, len(h.recent)-maxHeads):]
}

// atSlot says whether heads leave with the request that leaves the queue. It
// takes some that came late to tell, and hardly any that disagree: text may be
// held back. Nil tells nothing.
func (h *heads) atSlot() bool {
	if h == nil || len(h.recent) == 0 {
		return false
	}
	soonest := h.recent[0].head
	for _, t := range h.recent {
		soonest = min(soonest, t.head)
	}
	late, against := 0, 0
	for _, t := range h.recent {
		switch {
		case !t.agrees:
			against++
		case t.head > 2*soonest+lateHead:
			late++
		}
	}
	return late >= fewHeads && 10*against <= len(h.recent)
}
