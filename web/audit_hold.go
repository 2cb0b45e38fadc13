package web

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/ttftap/ttftap/store/audit"
)

const (
	auditsHeld = 4         // results that are held at a time
	auditLife  = time.Hour // and for how long
)

// audits holds what was found lately, in memory alone, so that it can be filtered
// without the file. One comparison is made at a time.
type audits struct {
	turn chan struct{}

	mu   sync.Mutex
	held []*heldAudit // the oldest first
}

// heldAudit is one result. It is not changed but for kept.
type heldAudit struct {
	id       string
	result   *audit.Result
	at       time.Time
	upstream string // that was chosen; "" for all
	kept     bool   // its rows are in the log; guarded by audits.mu
}

func newAudits() *audits { return &audits{turn: make(chan struct{}, 1)} }

// begin waits for the turn to compare.
func (a *audits) begin(ctx context.Context) error {
	select {
	case a.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (a *audits) end() { <-a.turn }

// hold keeps a result for a while, under an id that nobody guesses.
func (a *audits) hold(h *heldAudit) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	h.id = rand.Text()
	if len(a.held) == auditsHeld {
		a.held = a.held[1:]
	}
	a.held = append(a.held, h)
	return h.id
}

var errNoSuchAudit = errors.New("no such audit")

// find gives a result that is still held.
func (a *audits) find(id string, now time.Time) (*heldAudit, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, h := range a.held {
		if h.id == id && now.Sub(h.at) < auditLife {
			return h, nil
		}
	}
	return nil, errNoSuchAudit
}

// keep notes that the rows of a result are in the log.
func (a *audits) keep(h *heldAudit) {
	a.mu.Lock()
	defer a.mu.Unlock()
	h.kept = true
}

func (a *audits) isKept(h *heldAudit) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return h.kept
}
