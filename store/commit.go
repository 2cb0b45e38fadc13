package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	sqlitelib "modernc.org/sqlite/lib"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// run commits batch after batch until the recorder is closed and has nothing
// left, or until ctx ends.
func (r *Recorder) run(ctx context.Context) {
	defer close(r.ended)
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	for ctx.Err() == nil {
		batch, pause, last := r.take()
		if len(batch) > 0 {
			r.write(ctx, batch)
			continue
		}
		if last {
			return
		}
		alarm.Reset(pause)
		select {
		case <-r.wake:
		case <-alarm.C:
		case <-ctx.Done():
		}
	}
}

// take returns the next batch, or how long there will be none, or that there will
// never be another.
func (r *Recorder) take() (batch []*entry, pause time.Duration, last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	batch, pause = r.queue.take(time.Now(), r.closing)
	return batch, pause, r.closing && len(batch) == 0
}

// write saves a batch, over and over until it succeeds or ctx ends. If SQLite
// refuses it for what is in it, the halves are tried, down to the one record
// that is to blame: it alone is lost.
func (r *Recorder) write(ctx context.Context, batch []*entry) {
	for pause := retryMin; ctx.Err() == nil; pause = min(2*pause, retryMax) {
		err := r.store.Save(ctx, exchanges(batch))
		half := len(batch) / 2
		switch {
		case err == nil:
			r.succeed(batch)
			return
		case refused(err) && half == 0:
			r.log.Error("a record is lost", "error", err)
			r.refuse(batch)
			return
		case refused(err):
			r.write(ctx, batch[:half])
			r.write(ctx, batch[half:])
			return
		}
		r.fail(ctx, err)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

func exchanges(batch []*entry) []*exchange.Exchange {
	rows := make([]*exchange.Exchange, len(batch))
	for i, e := range batch {
		rows[i] = &e.x
	}
	return rows
}

// refused says whether SQLite would refuse the same rows again.
func refused(err error) bool {
	return hasCode(err, sqlitelib.SQLITE_CONSTRAINT, sqlitelib.SQLITE_MISMATCH, sqlitelib.SQLITE_TOOBIG)
}

func (r *Recorder) succeed(batch []*entry) {
	since, followers := r.settle(batch)
	if !since.IsZero() {
		r.log.Info("recording works again", "failed_for", time.Since(since).Round(time.Millisecond))
	}
	r.tellRenewal()
	for _, follow := range followers {
		r.tell(follow, exchanges(batch))
	}
}

// tell tells a follower of a batch. One that fails must not keep the others from
// being recorded.
func (r *Recorder) tell(follow func([]*exchange.Exchange), batch []*exchange.Exchange) {
	defer func() {
		if failure := recover(); failure != nil {
			r.log.Error("a follower of the log failed", "failure", fmt.Sprintf("%T", failure))
		}
	}()
	follow(batch)
}

// settle lets go of everybody who waits for the batch, and returns since when
// commits had failed before it, and who follows them. These and the log are told
// without the mutex, since they may block.
func (r *Recorder) settle(batch []*entry) (since time.Time, followers []func([]*exchange.Exchange)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range batch {
		close(e.committed)
	}
	r.queue.committed(batch)
	r.state.Queued -= int64(len(batch))
	r.state.Committed += int64(len(batch))
	since = r.state.Since
	r.slow, r.state.Error, r.state.Since = false, "", time.Time{}
	return since, slices.Clone(r.follow)
}

func (r *Recorder) fail(ctx context.Context, err error) {
	if ctx.Err() == nil && r.isNews(err) { // otherwise it failed because it was told to stop
		r.log.Error("recording fails; streams go on, and it is tried again", "error", err)
	}
}

// isNews notes an error, and says whether the commit before had succeeded.
func (r *Recorder) isNews(err error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := r.state.Since.IsZero()
	if first {
		r.state.Since = time.Now()
	}
	r.slow, r.state.Error = true, err.Error()
	return first
}

func (r *Recorder) refuse(batch []*entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lose(batch)
}

// lose gives entries up. The mutex is held.
func (r *Recorder) lose(batch []*entry) {
	r.state.Queued -= int64(len(batch))
	r.state.Lost += int64(len(batch))
}
