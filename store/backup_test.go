package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
)

func TestABackupIsTheLogAsItIsWhileOthersRecord(t *testing.T) {
	s := openTemp(t)
	save(t, s, filled(5000)...) // several steps long
	path := filepath.Join(t.TempDir(), "copy.db")
	var done, of int64
	next := 5000
	err := openedBeside(t, s).Backup(t.Context(), path, func(d, o int64) {
		save(t, s, typical(next)) // a copy that began anew at each change would never end
		next++
		done, of = d, o
	})
	if err != nil {
		t.Fatal(err)
	}
	if file, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && file.Mode() != 0o600 || file.Size() != of || done != of {
		t.Errorf("the copy is %v of %d bytes, of which %d are told of (%v)", file, of, done, err)
	}
	c := openAt(t, path)
	if n := tally(t, c, "exchange"); n != 5000 {
		t.Errorf("the copy has %d exchanges, want those 5000 of when it began", n)
	}
	var verdict string
	if err := c.conns().reader.QueryRow("PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("the copy is damaged: %s (%v)", verdict, err)
	}
	if got, err := c.Exchange(t.Context(), typical(7).ID); err != nil || len(got.Prompt) != 1 {
		t.Errorf("the copy has %v (%v)", got, err)
	}
}

func TestABackupOverwritesNothing(t *testing.T) {
	s := openTemp(t)
	path := filepath.Join(t.TempDir(), "mine")
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{path, s.Path()} {
		if err := s.Backup(t.Context(), to, nil); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v, want %v", to, err, fs.ErrExist)
		}
	}
	if text, err := os.ReadFile(path); string(text) != "precious" {
		t.Errorf("the file is %q now (%v)", text, err)
	}
}

func TestABackupThatIsStoppedLeavesNoFile(t *testing.T) {
	s := openTemp(t)
	save(t, s, filled(5000)...)
	ctx, cancel := context.WithCancel(t.Context())
	var steps atomic.Int32
	dir := t.TempDir()
	err := s.Backup(ctx, filepath.Join(dir, "copy.db"), func(int64, int64) { steps.Add(1); cancel() })
	if !errors.Is(err, context.Canceled) || steps.Load() != 1 {
		t.Errorf("after %d steps: %v", steps.Load(), err)
	}
	if left, err := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("it left %v (%v)", left, err)
	}
}
