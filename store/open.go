package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver
)

const readers = 8 // connections that read at a time

// Open opens the log at path to record into it, and makes it first if there is
// none. An older log is upgraded; one of a newer version, one that another
// process records into, and a file that is no log are refused and left as they
// are. What a process that was stopped left open becomes interrupted.
func Open(ctx context.Context, path string) (*Store, error) {
	s, err := openWriter(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("open log %q: %w", path, explain(err))
	}
	return s, nil
}

func openWriter(ctx context.Context, path string) (*Store, error) {
	path, err := place(path)
	if err != nil {
		return nil, err
	}
	if err := looksRight(ctx, path); err != nil {
		return nil, err // nothing is left beside a file that is not ours
	}
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return nil, err
	}
	c, err := connect(ctx, path)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	s := newStore(path, lock, c)
	if err := s.interrupt(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// looksRight says why what is at path now cannot be recorded into. That there is
// nothing yet is no reason.
func looksRight(ctx context.Context, path string) error {
	file, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case file.IsDir():
		return errors.New("it is a folder: name a file in it, such as " + filepath.Join(path, "ttftap.db"))
	}
	return inspect(ctx, path, checkUpgradable)
}

// OpenReader opens the log at path to read it, beside a process that records
// into it or without one. It changes nothing there.
func OpenReader(ctx context.Context, path string) (*Store, error) {
	s, err := openReader(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("open log %q: %w", path, explain(err))
	}
	return s, nil
}

func openReader(ctx context.Context, path string) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	if err := inspect(ctx, path, checkReadable); err != nil {
		return nil, err
	}
	reader, err := openPool(path)
	if err != nil {
		return nil, err
	}
	return newStore(path, nil, connections{reader: reader}), nil
}

// OpenBeside opens the log at path to delete from it and to give its space back,
// beside a process that records into it or without one. Like OpenReader it takes
// only a log of this very version.
func OpenBeside(ctx context.Context, path string) (*Store, error) {
	s, err := OpenReader(ctx, path)
	if err == nil {
		s.beside = true
	}
	return s, err
}

// A connections value is what a store has to one file; it gets another one after
// its file was deleted and made anew.
type connections struct {
	reader *sql.DB
	writer *sql.DB     // nil in a reader
	pen    *pen        // writes exchanges; nil in a reader
	file   os.FileInfo // the file they have open
}

// connect opens the file to write. It looks before it writes: only an empty file
// or a log that this version knows is touched.
func connect(ctx context.Context, path string) (c connections, err error) {
	if err := makeFile(path); err != nil {
		return c, err
	}
	if err := inspect(ctx, path, checkUpgradable); err != nil {
		return c, err
	}
	if err := tightenAll(path); err != nil {
		return c, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	if c.writer, err = sql.Open("sqlite", writerDSN(path)); err != nil {
		return c, err
	}
	c.writer.SetMaxOpenConns(2) // one for what takes long
	if err = upgrade(ctx, c.writer); err != nil {
		return c, err
	}
	if c.pen, err = newPen(ctx, writerDSN(path)); err != nil {
		return c, err
	}
	if c.reader, err = openPool(path); err != nil {
		return c, err
	}
	c.file, err = os.Stat(path)
	return c, err
}

func openPool(path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", readerDSN(path))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(readers)
	db.SetMaxIdleConns(readers)
	db.SetConnMaxIdleTime(time.Minute)
	return db, nil
}

// inspect has the file looked at through a connection of its own.
func inspect(ctx context.Context, path string, check func(context.Context, *sql.DB) error) error {
	db, err := sql.Open("sqlite", readerDSN(path))
	if err != nil {
		return err
	}
	return errors.Join(check(ctx, db), db.Close())
}

// close closes what is open, the writer last, which empties the write-ahead file.
func (c connections) close() error {
	var errs []error
	if c.reader != nil {
		errs = append(errs, c.reader.Close())
	}
	if c.pen != nil {
		errs = append(errs, c.pen.close())
	}
	if c.writer != nil {
		errs = append(errs, c.writer.Close())
	}
	return errors.Join(errs...)
}

// Both kinds of connection wait 5 s for another's lock. A transaction of the
// writer takes the lock as it begins: one that took it later could fail at once. Of
// the rows of an agent, which have a kilobyte and more, few fit a page of 4 KiB, and
// what is left of it is lost; a log that is there keeps the size that it has. The
// driver sets the journal's mode last, and the others in the order of their letters:
// the quote puts the size of the pages first, since auto_vacuum begins the file.
func writerDSN(path string) string {
	return dsn(path, "_txlock=immediate", "_pragma=busy_timeout(5000)", "_journal_mode=WAL",
		"_pragma=%22page_size%22(8192)", "_pragma=auto_vacuum(incremental)",
		"_pragma=synchronous(NORMAL)", "_pragma=wal_autocheckpoint(4000)",
		fmt.Sprintf("_pragma=journal_size_limit(%d)", walLimit))
}

func upkeepDSN(path string) string {
	return dsn(path, "mode=rw", "_txlock=immediate", "_pragma=busy_timeout(5000)", "_pragma=synchronous(NORMAL)", "_pragma=wal_autocheckpoint(0)")
}

func readerDSN(path string) string {
	return dsn(path, "mode=ro", "_pragma=busy_timeout(5000)", "_pragma=query_only(1)", "_pragma=temp_store(MEMORY)")
}

func dsn(path string, options ...string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") { // C:/...
		path = "/" + path
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: strings.Join(append(options, "_error_rc=1"), "&")}
	return u.String()
}
