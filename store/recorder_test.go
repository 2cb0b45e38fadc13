package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func newRecorder(s *Store) *Recorder { return NewRecorder(s, slog.New(slog.DiscardHandler)) }

// closed closes r, which must lose nothing.
func closed(t testing.TB, r *Recorder) {
	t.Helper()
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// lockOut has another connection hold the log's write lock until unlock.
func lockOut(t testing.TB, s *Store) (unlock func()) {
	t.Helper()
	db, err := sql.Open("sqlite", writerDSN(s.Path()))
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.Begin() // immediate
	if err != nil {
		t.Fatal(err)
	}
	unlock = sync.OnceFunc(func() { tx.Rollback(); db.Close() })
	t.Cleanup(unlock)
	return unlock
}

func TestAWaitEndsWithTheRowInTheLog(t *testing.T) {
	s := openTemp(t)
	r := newRecorder(s)
	for n := range 20 {
		x, late := typical(n), r.State().Late
		r.Record(x)()
		if _, err := s.Exchange(t.Context(), x.ID); err != nil && r.State().Late == late {
			t.Fatal(err)
		}
	}
	closed(t, r)
	if state := r.State(); state.Committed != 20 || state.Late == 20 {
		t.Errorf("state %+v", state)
	}
}

func TestARecordIsACopy(t *testing.T) {
	s := openTemp(t)
	r := newRecorder(s)
	unlock := lockOut(t, s)
	x := typical(1)
	r.Record(x)
	x.Outcome, x.FirstToken = exchange.UpstreamCut, nil
	unlock()
	closed(t, r)
	got, err := s.Exchange(t.Context(), x.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(typical(1), got); diff != "" {
		t.Errorf("recorded (-), kept (+):\n%s", diff)
	}
}

func TestALockedLogHoldsNoStreamAndLosesNoRow(t *testing.T) {
	const streams = 200
	s := openTemp(t)
	r := newRecorder(s)
	unlock := lockOut(t, s)
	begin := time.Now()
	var waits sync.WaitGroup
	for n := range streams / 2 { // at once
		waits.Go(r.Record(typical(n)))
	}
	waits.Wait()
	for n := streams / 2; n < streams; n++ { // and one after the other: 5 s, if each were held up
		r.Record(typical(n))()
	}
	if took := time.Since(begin); took > time.Second {
		t.Errorf("the streams were held up for %v in all", took)
	}
	if state := r.State(); state.Late != streams || state.Queued != streams {
		t.Errorf("while it is locked: %+v", state)
	}
	unlock()
	closed(t, r)
	if n, err := s.Count(t.Context(), Filter{}); n != streams || err != nil {
		t.Errorf("%d rows, want %d (%v)", n, streams, err)
	}
}

func TestWaitsAreKeptAgainAfterACommit(t *testing.T) {
	s := openTemp(t)
	r := newRecorder(s)
	unlock := lockOut(t, s)
	r.Record(typical(1))()
	unlock()
	wait := r.Record(typical(2))
	for r.State().Committed < 2 { // ends with the commit, which nothing delays now
		wait()
	}
	if r.isSlow() {
		t.Error("the store is still held to be slow")
	}
	closed(t, r)
}

func (r *Recorder) isSlow() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.slow
}

func TestTheNewestRecordOfAnIDIsTheOneThatIsKept(t *testing.T) {
	s := openTemp(t)
	r := newRecorder(s)
	unlock := lockOut(t, s)
	r.Record(bare("00", exchange.OK))() // keeps the writer
	for _, outcome := range []exchange.Outcome{exchange.Open, exchange.Open, exchange.OK} {
		r.Record(bare("01", outcome))
		r.Record(bare("02", exchange.Open))
	}
	if queued := r.State().Queued; queued != 3 {
		t.Errorf("%d records are queued, want 3: each id once", queued)
	}
	unlock()
	closed(t, r)
	for id, want := range map[string]exchange.Outcome{"00": exchange.OK, "01": exchange.OK, "02": exchange.Open} {
		if x, err := s.Exchange(t.Context(), id); err != nil || x.Outcome != want {
			t.Errorf("%s is %v, want %s (%v)", id, x, want, err)
		}
	}
}

// troubles break the log and mend it again.
var troubles = map[string]struct{ breaks, mends string }{
	"full":      {"PRAGMA max_page_count = 1", "PRAGMA max_page_count = 1000000"}, // 1: as many as there are
	"read-only": {"PRAGMA query_only = 1", "PRAGMA query_only = 0"},
}

func TestRecordingResumesByItselfAfterTrouble(t *testing.T) {
	for name, trouble := range troubles {
		t.Run(name, func(t *testing.T) {
			s := openTemp(t)
			var log bytes.Buffer
			r := NewRecorder(s, slog.New(slog.NewTextHandler(&log, nil)))
			pragma(t, s, trouble.breaks)
			const rows = 200
			for n := range rows {
				r.Record(typical(n))()
			}
			state := r.State()
			if state.Error == "" || state.Since.IsZero() || state.Late == 0 || state.Queued == 0 {
				t.Errorf("in trouble: %+v", state)
			}
			pragma(t, s, trouble.mends)
			closed(t, r)
			if got, want := r.State(), (State{Committed: rows, Late: state.Late}); got != want {
				t.Errorf("afterwards: %+v, want %+v", got, want)
			}
			if n, err := s.Count(t.Context(), Filter{}); n != rows || err != nil {
				t.Errorf("%d rows, want %d (%v)", n, rows, err)
			}
			if lines := strings.Count(log.String(), "\n"); lines != 2 {
				t.Errorf("want a line for the beginning and one for the end:\n%s", &log)
			}
		})
	}
}

// pragma sets one for the connection that records.
func pragma(t testing.TB, s *Store, text string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	pragma, err := s.conns().pen.prepare(t.Context(), text, nil, nil)
	if err == nil {
		err = pragma.run(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestARecordThatSQLiteRefusesIsLostAlone(t *testing.T) {
	s := openTemp(t)
	r := newRecorder(s)
	unlock := lockOut(t, s)
	for n := range 50 {
		r.Record(typical(n))
	}
	r.Record(bare("no outcome", ""))
	for n := 50; n < 100; n++ {
		r.Record(typical(n))
	}
	unlock()
	closed(t, r)
	if got, want := r.State(), (State{Committed: 100, Lost: 1}); got != want {
		t.Errorf("state %+v, want %+v", got, want)
	}
}

func TestBeyondItsBoundTheQueueLosesTheOldest(t *testing.T) {
	s := openTemp(t)
	r := newRecorder(s)
	r.queue.most = 10 * weight(typical(0))
	unlock := lockOut(t, s)
	r.Record(typical(0))() // is in the writer's hands, and safe
	for n := 1; n < 25; n++ {
		r.Record(typical(n))
	}
	if state := r.State(); state.Queued != 1+10 || state.Lost != 14 {
		t.Errorf("state %+v, want 10 queued beside the first, 14 lost", state)
	}
	unlock()
	closed(t, r)
	want := []string{typical(0).ID}
	for n := 15; n < 25; n++ {
		want = append(want, typical(n).ID)
	}
	if got := ids(t, s, Filter{Order: "asc"}); got != strings.Join(want, " ") {
		t.Errorf("kept %s, want %s", got, want)
	}
}

func TestCloseWritesEverythingThatIsQueued(t *testing.T) {
	s := openTemp(t)
	r := newRecorder(s)
	unlock := lockOut(t, s)
	for n := range 3 * batchMost {
		r.Record(typical(n))
	}
	time.AfterFunc(50*time.Millisecond, unlock)
	closed(t, r)
	if n, err := s.Count(t.Context(), Filter{}); n != 3*batchMost || err != nil {
		t.Errorf("%d rows, want %d (%v)", n, 3*batchMost, err)
	}
	var check string
	if err := s.conns().reader.QueryRow("PRAGMA integrity_check").Scan(&check); check != "ok" {
		t.Errorf("integrity: %s (%v)", check, err)
	}
	r.Record(typical(9999))()
	if state := r.State(); state.Lost != 1 {
		t.Errorf("a record after the end: %+v", state)
	}
}

func TestCloseSaysHowMuchItCouldNotWriteInTime(t *testing.T) {
	s := openTemp(t)
	r := newRecorder(s)
	lockOut(t, s)
	for n := range 7 {
		r.Record(typical(n))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := r.Close(ctx)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "7 records") {
		t.Errorf("got %v", err)
	}
	if got, want := r.State(), (State{Lost: 7}); got != want {
		t.Errorf("state %+v, want %+v", got, want)
	}
}

// Whatever comes in which order, while the log breaks and mends: at the end it
// has the last record of each id.
func TestTheLogIsTheLastRecordOfEachID(t *testing.T) {
	s := openTemp(t)
	rapid.Check(t, func(rt *rapid.T) {
		wipe(t, s)
		r := newRecorder(s)
		want := map[string]string{}
		rt.Repeat(map[string]func(*rapid.T){
			"record": func(rt *rapid.T) {
				x := bare(fmt.Sprint(rapid.IntRange(0, 5).Draw(rt, "id")), exchange.OK)
				x.Error = rapid.StringN(1, 5, -1).Draw(rt, "version")
				want[x.ID] = x.Error
				wait := r.Record(x)
				if rapid.Bool().Draw(rt, "wait") {
					wait()
				}
			},
			"break": func(*rapid.T) { pragma(t, s, "PRAGMA query_only = 1") },
			"mend":  func(*rapid.T) { pragma(t, s, "PRAGMA query_only = 0") },
		})
		pragma(t, s, "PRAGMA query_only = 0")
		closed(t, r)
		got := map[string]string{}
		if err := s.Each(t.Context(), Filter{}, func(x *exchange.Exchange) error { got[x.ID] = x.Error; return nil }); err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("recorded (-), kept (+):\n%s", diff)
		}
		if state := r.State(); state.Queued != 0 || state.Lost != 0 {
			rt.Fatalf("state %+v", state)
		}
	})
}

// An exchange under way is a row of its own table until it has ended.
func TestAnExchangeIsInTheLogOnceWhereverItStands(t *testing.T) {
	s := openTemp(t)
	x := asking(1)
	for _, x := range []*exchange.Exchange{opening(x), x} {
		save(t, s, x)
		got, err := s.Exchange(t.Context(), x.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(x, got); diff != "" {
			t.Errorf("saved (-), read (+):\n%s", diff)
		}
		if n, err := s.Count(t.Context(), Filter{IncludeOpen: true}); n != 1 || err != nil {
			t.Errorf("%s: it is counted %d times (%v)", x.Outcome, n, err)
		}
		if got := ids(t, s, Filter{IncludeOpen: true}); got != x.ID {
			t.Errorf("%s: listed are %q", x.Outcome, got)
		}
	}
}

func TestAnInterruptedExchangeKeepsItsPrompt(t *testing.T) {
	s := openTemp(t)
	x := opening(asking(1))
	save(t, s, x)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openAt(t, s.Path())
	wantInterrupted(t, s, x.ID)
	if got, err := s.Exchange(t.Context(), x.ID); err != nil || !cmp.Equal(x.Prompt, got.Prompt) {
		t.Errorf("its prompt is %v (%v)", got.Prompt, err)
	}
	if got := ids(t, s, Filter{Outcome: exchange.Open}); got != "" {
		t.Errorf("still under way: %s", got)
	}
}
