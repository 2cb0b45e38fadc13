package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// moved says whether the file at the path is not the one that is open: somebody
// deleted it, moved it away, or put another in its place. SQLite would go on
// writing into a file without a name.
func (s *Store) moved() bool {
	file, err := os.Stat(s.path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	}
	return !os.SameFile(file, s.conns().file)
}

// reconnect turns to the file that is at the path now, or makes it. Where it
// cannot, the next commit tries again.
func (s *Store) reconnect(ctx context.Context) error {
	old := s.conns()
	s.adrift = true
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
	if s.secret != nil { // the keys' hashes stay the same
		if err := c.keepSecret(ctx, s.secret); err != nil {
			return err
		}
	}
	s.adrift = false
	return nil
}

const (
	walLimit  = 8 << 20  // bytes that the write-ahead file is cut back to
	walStep   = 24 << 20 // bytes by which it may grow before it is cut at once
	walPages  = 1000     // pages in it that are worth moving to the log
	trimAfter = time.Second
	trimWait  = 40 * time.Millisecond // that a cut waits for readers, and recording for it
)

// trimLater has the write-ahead file looked at a second from now, if it is not
// far too long already. A commit does not empty it by the way until it is, since
// those who wait for a row would wait for the disk. SQLite begins it anew when all
// that is in it has been moved and no reader is in it; where one always is, it
// would grow for ever, and where nothing is written any more, it would stay as long
// as it ever was. The mutex is held.
func (s *Store) trimLater() {
	if s.walSize() >= s.cutAt+walStep {
		s.cutWAL()
	}
	if !s.trimming {
		s.trimming = true
		time.AfterFunc(trimAfter, s.trim)
	}
}

func (s *Store) trim() {
	s.trims.Lock()
	defer s.trims.Unlock()
	s.moveWAL()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trimming = false
	if s.closed || s.walSize() <= walLimit {
		return
	}
	if s.saving { // a cut would take long, and soon be made up for
		s.saving = false
		s.moveAll()
	} else {
		s.cutWAL()
	}
	if s.walSize() > walLimit {
		s.trimLater()
	}
}

// moveWAL moves what is in the write-ahead file to the log, if it is much, while
// recording goes on. Errors are of no account.
func (s *Store) moveWAL() {
	var busy, pages, moved int64
	err := s.conns().writer.QueryRow("PRAGMA wal_checkpoint(NOOP)").Scan(&busy, &pages, &moved)
	if err == nil && pages-moved >= walPages {
		s.moveAll()
	}
}

// moveAll moves what no reader needs where it is, and waits for nobody. If that is
// all, and recording waits meanwhile, SQLite begins the file anew.
func (s *Store) moveAll() {
	_, _ = s.conns().writer.Exec("PRAGMA wal_checkpoint(PASSIVE)")
}

// cutWAL empties the write-ahead file: first it copies what it can and waits for
// nobody, then it cuts the file if the readers leave it in time. Errors are of no
// account: it is tried again, and recording reports its own.
func (s *Store) cutWAL() {
	s.moveAll()
	ctx, cancel := context.WithTimeout(context.Background(), trimWait)
	defer cancel()
	_, _ = s.conns().writer.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	s.cutAt = s.walSize()
}

func (s *Store) walSize() int64 {
	wal, err := os.Stat(s.path + "-wal")
	if err != nil {
		return 0
	}
	return wal.Size()
}
