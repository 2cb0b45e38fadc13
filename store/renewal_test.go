package store

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// overwrite puts junk over all of a file from some byte on.
func overwrite(t *testing.T, path string, from int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	file, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(bytes.Repeat([]byte("junk"), int(file.Size()-from)/4), from); err != nil {
		t.Fatal(err)
	}
}

// damaged is an open log whose file is damaged from some byte on. It is too long
// for its connections to remember all of it.
func damaged(t *testing.T, from int64) *Store {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be moved there")
	}
	path := filepath.Join(t.TempDir(), "log.db")
	s := openAt(t, path)
	save(t, s, typicals(0, 3000)...)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openAt(t, path)
	secret(t, s)
	overwrite(t, path, from)
	return s
}

func TestADamagedLogIsPutAsideAndANewOneBegun(t *testing.T) {
	for name, from := range map[string]int64{"with its head": 0, "but for its head": 4096} {
		t.Run(name, func(t *testing.T) {
			s := damaged(t, from)
			before := heldSecret(t, s)
			save(t, s, bare("01", exchange.Open), typical(3001))
			renewal := s.Renewal()
			if renewal.Aside == "" || renewal.At.IsZero() || s.renewed.Load() != 1 {
				t.Fatalf("the renewal is %+v", renewal)
			}
			if file, err := os.Stat(renewal.Aside); err != nil || file.Size() < 1<<20 {
				t.Errorf("the damaged file is not kept: %v", err)
			}
			if got := ids(t, s, Filter{Order: "asc", IncludeOpen: true}); !strings.Contains(got, "01") || !strings.Contains(got, typical(3001).ID) {
				t.Errorf("the new log has %q", got)
			}
			if !bytes.Equal(secret(t, s), before) {
				t.Error("keys get another hash in the new log")
			}
		})
	}
}

func heldSecret(t *testing.T, s *Store) []byte {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.secret)
}

func TestALogThatIsDamagedAgainAtOnceIsNotPutAsideAgain(t *testing.T) {
	s := damaged(t, 0)
	save(t, s, typicals(3001, 3000)...)
	aside := s.Renewal().Aside
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	renewed := openAt(t, s.Path())
	renewed.renewal.Store(s.renewal.Load())
	overwrite(t, s.Path(), 0)
	if err := renewed.Save(t.Context(), typicals(9000, 1)); !IsDamaged(err) {
		t.Errorf("it says %v", err)
	}
	if got := renewed.Renewal().Aside; got != aside {
		t.Errorf("it was put aside as %s", got)
	}
}

func TestALogThatCannotBeOpenedAgainIsTriedAgain(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be moved there")
	}
	s := openAt(t, filepath.Join(t.TempDir(), "folder", "log.db"))
	save(t, s, typical(1))
	folder := filepath.Dir(s.Path())
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	write(t, folder, nil) // where the folder was there is a file now
	for range 2 {
		if err := s.Save(t.Context(), typicals(2, 1)); err == nil {
			t.Fatal("it was saved somewhere")
		}
	}
	if err := os.Remove(folder); err != nil {
		t.Fatal(err)
	}
	save(t, s, typical(2))
	if got := ids(t, s, Filter{}); got != typical(2).ID {
		t.Errorf("the log has %q", got)
	}
}

func TestANewLogIsToldOnceInWords(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be moved there")
	}
	s := openTemp(t)
	var log bytes.Buffer
	r := NewRecorder(s, slog.New(slog.NewTextHandler(&log, nil)))
	r.Record(typical(1))()
	if err := os.Remove(s.Path()); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		r.Record(typical(n + 2))()
	}
	closed(t, r)
	if said := log.String(); strings.Count(said, "begun anew") != 1 || !strings.Contains(said, "level=WARN") {
		t.Errorf("it says %q", said)
	}
}

func TestALateStreamIsNamed(t *testing.T) {
	s := openTemp(t)
	var log bytes.Buffer
	r := NewRecorder(s, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	unlock := lockOut(t, s)
	r.Record(typical(1))()
	r.Record(typical(2))()
	unlock()
	closed(t, r)
	for _, id := range []string{typical(1).ID, typical(2).ID} {
		if !strings.Contains(log.String(), "before its row\" id="+id) {
			t.Errorf("%s is not named in %s", id, &log)
		}
	}
}
