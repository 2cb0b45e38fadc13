package store

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

const (
	patience  = 40 * time.Millisecond // what a stream waits for its row at most; the proxy may have waited 10 ms for what to put in it
	retryMin  = 10 * time.Millisecond
	retryMax  = time.Second
	queueMost = 32 << 20 // bytes that wait at most
)

// Recorder is the queue between the hot path and the disk: one goroutine commits
// what has come together since its last commit. Nothing that happens to the disk
// reaches the callers of Record; it shows in State.
type Recorder struct {
	store *Store
	log   *slog.Logger
	stop  context.CancelFunc
	wake  chan struct{} // holds a token if there is something to see to
	ended chan struct{} // closed when the goroutine is

	renewal Renewal // that was told last; the goroutine's own

	mu      sync.Mutex
	follow  []func([]*exchange.Exchange)
	queue   queue
	slow    bool // a wait was in vain, or a commit failed, and none has succeeded since
	closing bool
	state   State // its Queued counts those in the writer's hands
}

// State is how recording goes.
type State struct {
	Queued    int64     // records that wait to be committed
	Committed int64     // records that were
	Late      int64     // waits that ended without their record committed
	Lost      int64     // records that never will be
	Error     string    // why the last commit failed; "" if it did not
	Since     time.Time // when commits began to fail; zero if they do not
}

// NewRecorder starts recording into s. It reports trouble to log, once when it
// begins and once when it ends.
func NewRecorder(s *Store, log *slog.Logger) *Recorder {
	ctx, stop := context.WithCancel(context.Background())
	r := &Recorder{
		store: s,
		log:   log,
		stop:  stop,
		wake:  make(chan struct{}, 1),
		ended: make(chan struct{}),
		queue: newQueue(queueMost),
	}
	go r.run(ctx)
	return r
}

// Record queues a copy of x and returns at once; only what x's pointers point at
// must not change afterwards. wait returns when the record is committed, 40 ms
// after it was called, or at once while the store is known to be slow: after one
// wait in vain none waits until a commit has succeeded.
func (r *Recorder) Record(x *exchange.Exchange) (wait func()) {
	id, committed := x.ID, r.enqueue(x)
	return func() {
		if !r.await(id, committed) {
			r.log.Debug("a stream went on before its row", "id", id)
		}
	}
}

func (r *Recorder) enqueue(x *exchange.Exchange) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closing && !r.queue.has(x.ID) {
		r.state.Lost++
		return make(chan struct{})
	}
	e, added := r.queue.put(x)
	if added {
		r.state.Queued++
	}
	r.lose(r.queue.surplus())
	if r.queue.advance(e, time.Now()) {
		r.signal()
	}
	return e.committed
}

func (r *Recorder) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// await waits, and says whether the record is committed.
func (r *Recorder) await(id string, committed <-chan struct{}) bool {
	if !r.mayWait(id, committed) {
		return isClosed(committed)
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-committed:
		return true
	case <-timer.C:
		return !r.miss(committed)
	}
}

// mayWait says whether there is something to wait for, and some use in it. Then
// that is committed without delay.
func (r *Recorder) mayWait(id string, committed <-chan struct{}) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if isClosed(committed) {
		return false
	}
	if r.slow {
		r.state.Late++
		return false
	}
	if r.queue.hurry(id) {
		r.signal()
	}
	return true
}

// miss notes a wait in vain, unless the commit came with the end of patience, and
// says whether it was.
func (r *Recorder) miss(committed <-chan struct{}) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if isClosed(committed) {
		return false
	}
	r.state.Late++
	r.slow = true
	return true
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Follow has fn called with what each commit recorded, from the next one on: an
// exchange comes once when it begins and once when it has ended. fn is called by
// the one who commits, so it must be quick, and leave the exchanges as they are.
func (r *Recorder) Follow(fn func([]*exchange.Exchange)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.follow = append(r.follow, fn)
}

// State returns how recording goes.
func (r *Recorder) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

// Close commits what is queued and stops. When ctx ends before that, the rest is
// lost, and the error says how much and why. Records that come later are lost.
func (r *Recorder) Close(ctx context.Context) error {
	r.mu.Lock()
	r.closing = true
	r.signal()
	r.mu.Unlock()
	select {
	case <-r.ended:
	case <-ctx.Done():
	}
	r.stop()
	<-r.ended
	r.mu.Lock()
	defer r.mu.Unlock()
	left := r.state.Queued
	if left == 0 {
		return nil
	}
	r.state.Queued, r.state.Lost = 0, r.state.Lost+left
	return fmt.Errorf("stop recording: %d records lost: %w: %s", left, ctx.Err(), cmp.Or(r.state.Error, "no commit in time"))
}
