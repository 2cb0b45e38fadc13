package store

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestTheWALStaysShortBesideBusyReadersAndShrinksAfterThem(t *testing.T) {
	s := openTemp(t)
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 2 { // so that one is reading at nearly any time
		readers.Go(func() {
			for ctx.Err() == nil {
				s.List(ctx, Filter{Limit: 10})
			}
		})
	}
	longest := int64(0)
	for n := range 1500 { // a row a transaction: 56 MiB, if the file never began anew
		save(t, s, typical(n))
		longest = max(longest, s.walSize())
	}
	stop()
	readers.Wait()
	t.Logf("the write-ahead file was %d MiB at its longest", longest>>20)
	if longest > 40<<20 {
		t.Errorf("the write-ahead file grew to %d MiB", longest>>20)
	}
	trimmed(t, s)
}

// trimmed trims the write-ahead file as often as a busy machine may need.
func trimmed(t *testing.T, s *Store) {
	t.Helper()
	for range 50 {
		if s.trim(); s.walSize() <= walLimit {
			return
		}
	}
	t.Errorf("the write-ahead file is still %d MiB long", s.walSize()>>20)
}

func TestATrimCutsALongWAL(t *testing.T) {
	s := openTemp(t)
	pragma(t, s, "PRAGMA wal_autocheckpoint = 0")
	s.trimming = true // by hand
	for n := 0; s.walSize() <= walLimit; n += 1000 {
		save(t, s, typicals(n, 1000)...)
	}
	trimmed(t, s)
}

func TestASlowExportDoesNotKeepTheWAL(t *testing.T) {
	s := openTemp(t)
	save(t, s, typicals(0, 10)...)
	var busy, frames, moved int
	err := s.Each(t.Context(), Filter{}, func(x *exchange.Exchange) error {
		row := typical(1000)
		save(t, s, row)
		return s.conns().writer.QueryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
	})
	if err != nil || busy != 0 || s.walSize() != 0 {
		t.Errorf("while a row is being exported, the write-ahead file cannot be emptied: busy %d, %v", busy, err)
	}
}

func TestRecordingGoesOnInANewFileAfterTheOldOneIsDeletedOrMoved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be moved there")
	}
	kept := filepath.Join(t.TempDir(), "kept.db")
	for name, remove := range map[string]func(path string) error{
		"deleted":          os.Remove,
		"deleted with all": func(path string) error { return os.RemoveAll(filepath.Dir(path)) },
		"moved":            func(path string) error { return os.Rename(path, kept) },
	} {
		t.Run(name, func(t *testing.T) {
			s := openAt(t, filepath.Join(t.TempDir(), "folder", "log.db"))
			save(t, s, typical(1))
			if err := remove(s.Path()); err != nil {
				t.Fatal(err)
			}
			save(t, s, typical(2))
			save(t, s, typical(3))
			if got, want := ids(t, s, Filter{Order: "asc"}), typical(2).ID+" "+typical(3).ID; got != want {
				t.Errorf("the new log has %q, want %q", got, want)
			}
			s.Close()
			if got := ids(t, openAt(t, s.Path()), Filter{}); got == "" {
				t.Error("the new log is not at its path")
			}
		})
	}
	if got := ids(t, openAt(t, kept), Filter{Order: "asc"}); got != typical(1).ID+" "+typical(2).ID {
		t.Errorf("the log that was moved away has %q", got)
	}
}

func TestOpenExchangesStayOpenWhenTheFileIsMadeAnew(t *testing.T) {
	s := openTemp(t)
	if err := os.Remove(s.Path()); err != nil {
		t.Skip(err)
	}
	save(t, s, bare("01", exchange.Open))
	save(t, s, typical(2))
	if got := ids(t, s, Filter{Outcome: exchange.Open}); got != "01" {
		t.Errorf("open are %q", got)
	}
}

func TestATrimAfterCloseDoesNothing(t *testing.T) {
	s := openTemp(t)
	save(t, s, typical(1))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s.trim()
	if err := s.Save(t.Context(), typicals(0, 1)); err == nil {
		t.Error("a closed store saves")
	}
	if _, err := os.Stat(s.Path() + "-wal"); err == nil {
		t.Error("the write-ahead file is left after a clean end")
	}
}
