package store

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// retained has the log keep what it is to keep, once.
func retained(t *testing.T, s *Store, r Retention) {
	t.Helper()
	cut, err := s.cut(t.Context(), r, time.Now())
	if err == nil {
		err = s.deleteBefore(t.Context(), cut, slog.New(slog.DiscardHandler))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestALogKeepsWhatItIsToKeepAndAllThatRuns(t *testing.T) {
	day := 24 * time.Hour
	for _, c := range []struct {
		keep Retention
		want int // of 10 exchanges, a day apart up to now, the last ones; besides one that runs
	}{
		{Retention{}, 10}, {Retention{Keep: 100 * day}, 10}, {Retention{Keep: 3*day - time.Hour}, 3}, {Retention{Keep: time.Hour}, 1},
		{Retention{MaxRows: 11}, 10}, {Retention{MaxRows: 4}, 4}, {Retention{MaxRows: 1}, 1},
		{Retention{Keep: 5*day - time.Hour, MaxRows: 3}, 3}, {Retention{Keep: 2*day - time.Hour, MaxRows: 3}, 2},
	} {
		s := openTemp(t)
		rows := filled(10)
		running := bare("running", exchange.Open)
		running.StartedAt = time.Now().Add(-50 * day)
		save(t, s, append(slices.Clone(rows), running)...)
		retained(t, s, c.keep)
		want := "running"
		for _, x := range rows[10-c.want:] {
			want += " " + x.ID
		}
		if got := idsOf(t, s); got != want {
			t.Errorf("%+v keeps %s, want %s", c.keep, got, want)
		}
	}
}

func TestALogWithGapsInItsNumbersIsCounted(t *testing.T) {
	s := openTemp(t)
	rows := filled(10)
	save(t, s, rows...)
	for _, x := range rows[2:6] {
		if _, err := s.Delete(t.Context(), Filter{Search: x.ID}, nil); err != nil {
			t.Fatal(err)
		}
	}
	retained(t, s, Retention{MaxRows: 6})
	if n := tally(t, s, "exchange"); n != 6 {
		t.Errorf("%d are kept, want all 6", n)
	}
}

func TestALogThatIsMostlyFreeShrinks(t *testing.T) {
	s := openTemp(t)
	save(t, s, filled(1500)...)
	retained(t, s, Retention{MaxRows: 1400})
	little := sizeOf(t, s).Free
	retained(t, s, Retention{MaxRows: 200})
	if z := sizeOf(t, s); little == 0 || z.Free > z.File/4 {
		t.Errorf("%d of %d bytes are free, %d of those that were no quarter", z.Free, z.File, little)
	}
}

func TestFailuresOfRetentionAreToldOnce(t *testing.T) {
	s := openTemp(t)
	save(t, s, filled(3)...)
	s.mu.Lock()
	s.closed = true // the steps fail from now on
	s.mu.Unlock()
	defer func() { s.closed = false }()
	var said bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	told := make(chan struct{})
	log := slog.New(slog.NewTextHandler(writerFunc(func(p []byte) (int, error) { defer close(told); return said.Write(p) }), nil))
	done.Go(func() { s.Retain(ctx, Retention{MaxRows: 1}, log) })
	<-told
	cancel()
	done.Wait()
	if n := strings.Count(said.String(), "cannot be deleted"); n != 1 {
		t.Errorf("it said\n%s", said.String())
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestWhoRecordsWaitsShortlyForUpkeep has a recorder of another process and upkeep
// meet as often as they can. What either waits is told by BenchmarkBesideUpkeep;
// here the machine may be busy.
func TestWhoRecordsWaitsShortlyForUpkeep(t *testing.T) {
	s := openTemp(t)
	const rows = 2500
	save(t, s, filled(rows)...)
	ctx, cancel := context.WithCancel(t.Context())
	var upkeep sync.WaitGroup
	upkeep.Go(func() {
		defer cancel()
		other := openedBeside(t, s)
		steps := 0
		n, err := other.Delete(t.Context(), Filter{Client: "codex"}, func(int64) { steps++ })
		if err == nil {
			err = other.Shrink(t.Context(), 0, nil)
		}
		if err != nil || n < rows || steps < 8 {
			t.Errorf("%d were deleted in %d steps (%v)", n, steps, err)
		}
	})
	var waited []time.Duration
	for n := rows; ctx.Err() == nil; n++ {
		begun := time.Now()
		x := bare(fmt.Sprint("new", n), exchange.OK)
		x.StartedAt = begun
		save(t, s, x)
		waited = append(waited, time.Since(begun))
	}
	upkeep.Wait()
	slices.Sort(waited)
	longest := waited[len(waited)-1]
	t.Logf("%d rows were recorded meanwhile, the slowest in %s, half of them in %s", len(waited), longest, waited[len(waited)/2])
	if longest > time.Second {
		t.Errorf("a row waited for %s", longest)
	}
	if got := tally(t, s, "exchange"); got != len(waited) {
		t.Errorf("there are %d rows, want the %d new ones", got, len(waited))
	}
}
