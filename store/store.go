// Package store keeps exchanges in SQLite: it records them, lists them by filter
// and exports them. It neither makes nor judges one, and serves no page.
package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// Store is one log. It is safe for concurrent use.
type Store struct {
	path    string
	lock    *os.File // held while this process records; nil in a reader
	beside  bool     // no more than deleting is allowed
	current atomic.Pointer[connections]
	renewed atomic.Int64
	renewal atomic.Pointer[Renewal] // the last one; nil for none

	trims    sync.Mutex // one trim at a time; before mu
	mu       sync.Mutex // one writer at a time
	closed   bool
	adrift   bool   // the file has no connections: they could not be made anew
	aside    string // a damaged file, put aside, for which there is no new one yet; "" for none
	secret   []byte // nil until it was asked for
	saving   bool   // something was saved since the last trim
	trimming bool   // a trim is due
	cutAt    int64  // what the last cut left of the write-ahead file
}

func newStore(path string, lock *os.File, c connections) *Store {
	s := &Store{path: path, lock: lock}
	s.current.Store(&c)
	return s
}

func (s *Store) conns() *connections { return s.current.Load() }

// Path is the file of the log.
func (s *Store) Path() string { return s.path }

// Close closes the log. What was saved is then in its one file.
func (s *Store) Close() error {
	s.trims.Lock()
	defer s.trims.Unlock()
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
	tx, err := s.conns().writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	columns := strings.Join(columnNames, ", ")
	_, err = tx.ExecContext(ctx, `
		UPDATE aloft SET outcome = 'interrupted', error = 'the proxy was stopped before the exchange had ended';
		INSERT OR IGNORE INTO exchange (`+columns+`) SELECT `+columns+` FROM aloft;
		INSERT OR IGNORE INTO prompt (id, boundaries) SELECT id, boundaries FROM aloft WHERE boundaries IS NOT NULL;
		DELETE FROM aloft`)
	if err != nil {
		return err
	}
	return tx.Commit()
}

// Save inserts the rows, or updates those whose id is there, all or none.
func (s *Store) Save(ctx context.Context, rows []*exchange.Exchange) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.conns().writer == nil {
		return errors.New("save exchanges: the log is not open for recording")
	}
	err := s.write(ctx, rows)
	s.saving = true
	s.trimLater()
	return wrap(err, "save exchanges")
}

// write commits rows, by other connections where there are none any more or those
// there are lead to a file that is lost.
func (s *Store) write(ctx context.Context, rows []*exchange.Exchange) (err error) {
	if !s.adrift {
		err = s.conns().pen.write(ctx, rows)
	}
	switch {
	case s.moved():
		// What went into a file that nobody will find goes into a new one as well.
		return s.renew(ctx, rows)
	case s.adrift, IsDamaged(err):
		return s.mend(ctx, rows)
	}
	return err
}

func wrap(err error, doing string) error {
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}
