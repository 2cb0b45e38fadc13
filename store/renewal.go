package store

import (
	"context"
	"fmt"
	"os"
	"time"

	sqlitelib "modernc.org/sqlite/lib"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// Renewal tells of a log that was begun anew while it was open.
type Renewal struct {
	At    time.Time // the last time; zero if it never was
	Aside string    // where the damaged file was put; "" if the file had been taken away
}

// Renewal returns when the log was last begun anew, and why.
func (s *Store) Renewal() Renewal {
	if r := s.renewal.Load(); r != nil {
		return *r
	}
	return Renewal{}
}

// IsDamaged says whether an error means that the file of the log is damaged.
func IsDamaged(err error) bool {
	return hasCode(err, sqlitelib.SQLITE_CORRUPT, sqlitelib.SQLITE_NOTADB)
}

// asideEvery is how often a damaged log is put aside at most: where the disk itself
// is to blame, the next file would soon be damaged as well.
const asideEvery = time.Minute

// mend gets rows into a log whose file is damaged: over fresh connections, since
// what is damaged may be what the old ones remember, or else into a new file, for
// which the damaged one is put aside. The mutex is held.
func (s *Store) mend(ctx context.Context, rows []*exchange.Exchange) error {
	err := s.again(ctx, rows)
	if !IsDamaged(err) || time.Since(s.Renewal().At) < asideEvery {
		return err
	}
	_ = s.conns().close() // it is as it is
	aside := s.path + ".damaged-" + time.Now().UTC().Format("20060102T150405Z")
	if err := putAside(s.path, aside); err != nil {
		return err
	}
	s.aside = aside
	return s.renew(ctx, rows)
}

// again commits rows over fresh connections.
func (s *Store) again(ctx context.Context, rows []*exchange.Exchange) error {
	if err := s.reconnect(ctx); err != nil {
		return err
	}
	return s.conns().pen.write(ctx, rows)
}

// renew commits rows to another file than before, and notes that.
func (s *Store) renew(ctx context.Context, rows []*exchange.Exchange) error {
	if err := s.reconnect(ctx); err != nil {
		return err
	}
	s.renewed.Add(1)
	s.renewal.Store(&Renewal{time.Now(), s.aside})
	s.aside = ""
	return s.conns().pen.write(ctx, rows)
}

// putAside renames a log together with what was written ahead of it, so that all
// that is left of it can be recovered.
func putAside(path, aside string) error {
	if err := os.Rename(path, aside); err != nil {
		return fmt.Errorf("put the damaged log aside: %w", err)
	}
	_ = os.Rename(path+"-wal", aside+"-wal")
	_ = os.Remove(path + "-shm") // is made anew from the former
	return nil
}

// tellRenewal logs, once, that the log was begun anew.
func (r *Recorder) tellRenewal() {
	now := r.store.Renewal()
	if now == r.renewal {
		return
	}
	r.renewal = now
	if now.Aside == "" {
		r.log.Warn("the log was begun anew: its file had been taken away", "file", r.store.Path())
		return
	}
	r.log.Warn("the log was begun anew: its file is damaged, and was put aside", "file", r.store.Path(), "damaged", now.Aside)
}
