package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// How long a step of upkeep keeps others from writing, and lets them then. One who
// finds SQLite's lock taken looks again after 1, 2, 5, 10 ms and so on: it never
// meets two steps, so it waits for some 20 ms at most.
const (
	holdMost  = 6 * time.Millisecond
	restLeast = 14 * time.Millisecond
)

// upkeep writes to a log beside what records into it, be that this process or
// another, in steps of a few milliseconds.
type upkeep struct {
	store *Store
	db    *sql.DB       // one connection, which copies from the write-ahead file only when told to
	held  time.Duration // how long the last step took; 0 before it
}

func (s *Store) openUpkeep() (*upkeep, error) {
	if !s.beside && s.conns().writer == nil {
		return nil, errors.New("the log is open to be read alone")
	}
	db, err := sql.Open("sqlite", upkeepDSN(s.path))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return &upkeep{store: s, db: db}, nil
}

func (u *upkeep) close() error { return u.db.Close() }

// step has fn write something, commits it, and lets others write. fn has to stop
// when enough says so.
func (u *upkeep) step(ctx context.Context, fn func(tx *sql.Tx, enough func() bool) error) error {
	if err := u.rest(ctx); err != nil {
		return err
	}
	if err := u.transact(ctx, fn); err != nil {
		return err
	}
	return u.settle(ctx)
}

// transact has the recorder of this process wait by its mutex, which it gets as
// soon as it is free, and not by SQLite's lock, for which it would look now and
// then.
func (u *upkeep) transact(ctx context.Context, fn func(tx *sql.Tx, enough func() bool) error) error {
	u.store.mu.Lock()
	defer u.store.mu.Unlock()
	if u.store.closed {
		return errClosed
	}
	tx, err := u.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	begun := time.Now()
	defer func() { u.held = time.Since(begun) }()
	if err := fn(tx, func() bool { return time.Since(begun) > holdMost }); err != nil {
		return err
	}
	return tx.Commit()
}

var errClosed = errors.New("the log is closed")

// rest lets others write for longer than they were kept from it.
func (u *upkeep) rest(ctx context.Context) error {
	if u.held == 0 {
		return ctx.Err()
	}
	select {
	case <-time.After(max(restLeast, 2*u.held)):
	case <-ctx.Done():
	}
	return ctx.Err()
}

// settle copies what was written into the log, for which nobody waits. Otherwise
// the recorder would do it, in the middle of a commit, once enough has come together.
func (u *upkeep) settle(ctx context.Context) error {
	_, err := u.db.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
	return err
}
