package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
)

// Backup copies the log as it is at this moment into a new file at path, which its
// owner alone can read. Those who record meanwhile do not wait, and what they
// record is not in it. The file has its name once it is whole; if there is one of
// that name, it stays as it is, and the error wraps fs.ErrExist. told gets the
// bytes that are copied and those that there are; nil is fine.
func (s *Store) Backup(ctx context.Context, path string, told func(done, of int64)) error {
	return wrap(s.backup(ctx, path, told), "back up the log")
}

func (s *Store) backup(ctx context.Context, path string, told func(done, of int64)) (err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "make", Path: path, Err: fs.ErrExist}
	}
	part, err := emptyBeside(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(part)) }()
	if err := s.copyTo(ctx, part, told); err != nil {
		return err
	}
	return publish(part, path)
}

// emptyBeside makes an empty file beside path, for its owner alone.
func emptyBeside(path string) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".part-*")
	if err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

// publish gives a file that is on the disk its name, unless there is one by now.
func publish(part, path string) error {
	f, err := os.OpenFile(part, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Link(part, path)
}

// copyTo copies the pages of the log over an empty file. Within a transaction they
// are those of one moment, whatever is recorded meanwhile.
func (s *Store) copyTo(ctx context.Context, part string, told func(done, of int64)) error {
	p, err := s.pages(ctx)
	if err != nil {
		return err
	}
	conn, err := s.conns().reader.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, begin := range []string{"BEGIN", "SELECT count(*) FROM setting"} {
		if _, err := conn.ExecContext(ctx, begin); err != nil {
			return err
		}
	}
	defer conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
	return conn.Raw(func(c any) error {
		return copyPages(ctx, c, part, func(pages, of int) {
			if told != nil {
				told(int64(pages)*p.size, int64(of)*p.size)
			}
		})
	})
}

// pagesAtOnce is how much is copied between two looks at whether to stop: 4 MiB of
// pages of 8 KiB.
const pagesAtOnce = 512

func copyPages(ctx context.Context, from any, part string, told func(done, of int)) (err error) {
	source, ok := from.(interface {
		NewBackup(dst string) (*sqlite.Backup, error)
	})
	if !ok {
		return fmt.Errorf("the driver cannot copy: it is %T", from)
	}
	// What is at part is of no use until it is whole, so it is written without ado.
	b, err := source.NewBackup(dsn(part, "mode=rw", "_pragma=journal_mode(OFF)", "_pragma=synchronous(OFF)"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Finish()) }()
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if more, err = b.Step(pagesAtOnce); err != nil {
			return err
		}
		told(b.PageCount()-b.Remaining(), b.PageCount())
	}
	return nil
}
