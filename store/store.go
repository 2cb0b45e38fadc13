// Package store keeps exchanges in SQLite: it records them, lists them by filter
// and exports them. It neither makes nor judges one, and serves no page.
package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// Store is one log. It is safe for concurrent use.
type Store struct {
	path    string
	lock    *os.File // held while this process records; nil in a reader
	current atomic.Pointer[connections]
	renewed atomic.Int64
	renewal atomic.Pointer[Renewal] // the last one; nil for none

	mu       sync.Mutex // one writer at a time
	closed   bool
	adrift   bool   // the file has no connections: they could not be made anew
	aside    string // a damaged file, put aside, for which there is no new one yet; "" for none
	secret   []byte // nil until it was asked for
	trimming bool   // a trim is due
	cutAt    int64  // what the last cut left of the write-ahead file
}

func newStore(path string, lock *os.File, c connections) *Store {
	s := &Store{path: path, lock: lock}
	s.current.Store(&c)
	return s
}

func (s *Store) conns() *connections { return s.current.Load() }

// Renewed counts how often the log was begun anew while it was open, since its
// file had been taken away or was damaged.
func (s *Store) Renewed() int64 { return s.renewed.Load() }

// Path is the file of the log.
func (s *Store) Path() string { return s.path }

// Close closes the log. What was saved is then in its one file.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.conns().close()
	if s.lock != nil {
		err = errors.Join(err, s.lock.Close())
	}
	return wrap(err, "close log")
}

// Secret returns the 32 random bytes of this install, with which credentials are
// hashed. They are made once, by a store that records.
func (s *Store) Secret(ctx context.Context) ([]byte, error) {
	if c := s.conns(); c.writer != nil {
		secret := make([]byte, 32)
		rand.Read(secret)
		if err := c.keepSecret(ctx, secret); err != nil {
			return nil, fmt.Errorf("make the secret of this install: %w", err)
		}
	}
	var secret []byte
	err := s.conns().reader.QueryRowContext(ctx, "SELECT value FROM setting WHERE name = 'secret'").Scan(&secret)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secret = secret
	return secret, wrap(err, "read the secret of this install")
}

// keepSecret puts a secret into a log that has none.
func (c *connections) keepSecret(ctx context.Context, secret []byte) error {
	_, err := c.writer.ExecContext(ctx,
		"INSERT INTO setting (name, value) VALUES ('secret', ?) ON CONFLICT DO NOTHING", secret)
	return err
}

// interrupt ends what an earlier process left open: nobody will any more.
func (s *Store) interrupt(ctx context.Context) error {
	_, err := s.conns().writer.ExecContext(ctx, `
		UPDATE exchange SET
			outcome = 'interrupted',
			error   = 'the proxy was stopped before the exchange had ended'
		WHERE outcome = 'open'`)
	return err
}

// Save inserts the rows, or updates those whose id is there, all or none.
func (s *Store) Save(ctx context.Context, rows []*exchange.Exchange) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.conns().writer == nil {
		return errors.New("save exchanges: the log is not open for recording")
	}
	err := s.commit(ctx, rows)
	switch {
	case s.moved():
		// What went into a file that nobody will find goes into a new one as well.
		err = s.renew(ctx, rows)
	case s.adrift, IsDamaged(err):
		err = s.mend(ctx, rows)
	}
	s.trimLater()
	return wrap(err, "save exchanges")
}

func (s *Store) commit(ctx context.Context, rows []*exchange.Exchange) error {
	c := s.conns()
	tx, err := c.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := insert(ctx, tx.StmtContext(ctx, c.upsert), rows); err != nil {
		return err
	}
	if err := insertPrompts(ctx, tx.StmtContext(ctx, c.prompt), rows); err != nil {
		return err
	}
	return tx.Commit()
}

func insert(ctx context.Context, upsert *sql.Stmt, rows []*exchange.Exchange) error {
	var x exchange.Exchange
	cols := storedColumns(&x)
	args := make([]any, len(cols))
	for _, row := range rows {
		x = *row
		for i, c := range cols {
			args[i] = c.value()
		}
		if _, err := upsert.ExecContext(ctx, args...); err != nil {
			return fmt.Errorf("exchange %q: %w", row.ID, err)
		}
	}
	return nil
}

func wrap(err error, doing string) error {
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}
