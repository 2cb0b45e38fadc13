package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"
)

// moved says whether the file at the path is not the one that is open: somebody
// deleted it, moved it away, or put another in its place. SQLite would go on
// writing into a file without a name.
func (s *Store) moved() bool {
	file, err := os.Stat(s.path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return !os.SameFile(file, s.conns().file)
}

// reopen turns to the file that is at the path now, or makes it.
func (s *Store) reopen(ctx context.Context) error {
	old := s.conns()
	// A file that lives on under another name shall have all its rows; if it does
	// not, there is nothing to lose, so errors do not matter.
	_, _ = old.writer.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	_ = old.close()
	if _, err := os.Stat(s.path); errors.Is(err, fs.ErrNotExist) {
		os.Remove(s.path + "-wal")
		os.Remove(s.path + "-shm")
	}
	if _, err := place(s.path); err != nil {
		return err
	}
	c, err := connect(ctx, s.path)
	if err != nil {
		return err
	}
	s.current.Store(&c)
	return nil
}

const (
	trimAfter = time.Second
	trimWait  = 40 * time.Millisecond // that a trim waits for readers, and recording for it
)

// trimLater has the write-ahead file looked at a second from now. SQLite reuses
// it from the start whenever no reader is in it; where readers always are, or
// where nothing is written any more, it would stay as long as it ever was.
func (s *Store) trimLater() {
	if !s.trimming {
		s.trimming = true
		time.AfterFunc(trimAfter, s.trim)
	}
}

func (s *Store) trim() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trimming = false
	if s.closed || !s.walTooLong() {
		return
	}
	// The first copies what it can and waits for nobody, the second cuts the file
	// if the readers leave it in time. Errors are of no account: it is tried again,
	// and recording reports its own.
	_, _ = s.conns().writer.Exec("PRAGMA wal_checkpoint(PASSIVE)")
	ctx, cancel := context.WithTimeout(context.Background(), trimWait)
	defer cancel()
	_, _ = s.conns().writer.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	if s.walTooLong() {
		s.trimLater()
	}
}

func (s *Store) walTooLong() bool {
	wal, err := os.Stat(s.path + "-wal")
	return err == nil && wal.Size() > walLimit
}
