package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// place makes the folder of path and returns the path by which every process
// knows the file: absolute, links resolved.
func place(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("its folder cannot be made: %w; choose another file by --db", err)
	}
	resolved, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	return resolved, err
}

// makeFile makes the file if there is none, for its owner alone. SQLite gives its
// two companions the rights that the file has when they are made. A file that is
// there is not opened: closing it would drop the locks that SQLite may have on it.
func makeFile(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// tightenAll takes the rights of others away from a log and its companions.
func tightenAll(path string) error {
	return errors.Join(tighten(path), tighten(path+"-wal"), tighten(path+"-shm"))
}

func tighten(name string) error {
	file, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || file.Mode().Perm()&0o077 == 0 {
		return err
	}
	return os.Chmod(name, file.Mode().Perm()&^0o077)
}

// ErrLocked is why a log cannot be opened to record into it while another process
// does that.
var ErrLocked = errors.New("another ttftap records into it: stop that one first, or choose another file by --db")

// lockFile takes the lock that one recording process holds, or fails at once.
// The system lets go of it when the process ends, however that happens; the
// empty file stays, since removing it would let two processes lock two files.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	held, err := tryLock(f)
	if err != nil {
		err = fmt.Errorf("lock %q: %w", path, err)
	} else if held {
		err = ErrLocked
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
