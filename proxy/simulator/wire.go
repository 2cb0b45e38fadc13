package simulator

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// wire is the way of a stream from the model to the client. It does its chores
// while the flight waits: bytes that a hop holds go on when their time has
// come, and a ping breaks a long silence.
type wire struct {
	w      http.ResponseWriter
	how    *Behaviour
	opened bool
	ping   []byte
	spoke  time.Time // last time that something was sent
	held   []byte    // what the hop holds
	due    time.Time // when the hop lets go of it; zero: no time limit
}

// open sends the head. The ping is what breaks a silence.
func (o *wire) open(ping []byte) error {
	o.w.Header().Set("Content-Type", "text/event-stream")
	o.w.Header().Set("Cache-Control", "no-cache")
	o.w.WriteHeader(http.StatusOK)
	o.opened, o.ping, o.spoke = true, ping, time.Now()
	return o.flush()
}

// send passes bytes on, as far as no hop holds them. Before the head is sent,
// and where no stream was asked for, it does nothing.
func (o *wire) send(b []byte) error {
	if !o.opened || len(b) == 0 {
		return nil
	}
	o.spoke = time.Now()
	if len(o.held) == 0 && o.how.HopTime > 0 && !o.how.Pseudo {
		o.due = o.spoke.Add(o.how.HopTime)
	}
	o.held = append(o.held, b...)
	return o.pass(o.ripe())
}

// ripe is how many of the held bytes the hop lets go of.
func (o *wire) ripe() int {
	n := len(o.held)
	switch {
	case o.how.Pseudo:
		return 0
	case o.how.HopBytes > 0:
		return n - n%o.how.HopBytes
	case o.how.HopTime > 0:
		return 0
	}
	return n
}

// release passes on all that is held.
func (o *wire) release() error { return o.pass(len(o.held)) }

func (o *wire) pass(n int) error {
	if n == 0 {
		return nil
	}
	_, err := o.w.Write(o.held[:n])
	if o.held = append(o.held[:0], o.held[n:]...); len(o.held) == 0 {
		o.due = time.Time{}
	}
	return errors.Join(err, o.flush())
}

func (o *wire) flush() error {
	err := http.NewResponseController(o.w).Flush()
	if errors.Is(err, http.ErrNotSupported) {
		return nil // such a writer keeps nothing back
	}
	return err
}

// wait returns at t, never where t is zero, or when ready is closed, doing the
// chores that fall due before. Its error is that of the context, or of a write.
func (o *wire) wait(ctx context.Context, t time.Time, ready <-chan struct{}) error {
	for {
		next, chore := o.next(t)
		var alarm <-chan time.Time
		if !next.IsZero() {
			alarm = time.After(time.Until(next))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ready:
			return nil
		case <-alarm:
		}
		if chore == nil {
			return nil
		}
		if err := chore(); err != nil {
			return err
		}
	}
}

// next is the first instant up to t at which something is to be done, and what;
// nil is the waiting's own end.
func (o *wire) next(t time.Time) (time.Time, func() error) {
	chore := (func() error)(nil)
	consider := func(due time.Time, do func() error) {
		if !due.IsZero() && (t.IsZero() || due.Before(t)) {
			t, chore = due, do
		}
	}
	if o.opened && o.how.Ping > 0 {
		consider(o.spoke.Add(o.how.Ping), func() error { return o.send(o.ping) })
	}
	consider(o.due, o.release)
	return t, chore
}
