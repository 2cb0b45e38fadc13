package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// openRows is a log with these rows, open to be written to.
func openRows(t *testing.T, rows []*exchange.Exchange) *store.Store {
	t.Helper()
	s := must(store.Open(t.Context(), filepath.Join(t.TempDir(), "log.db")))
	t.Cleanup(func() { s.Close() })
	if err := s.Save(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	return s
}

func replayed(t *testing.T, s *store.Store, f store.Filter) *rejudged {
	t.Helper()
	r := &replay{log: s, save: true, progress: newProgress(new(bytes.Buffer))}
	return must(r.run(t.Context(), f))
}

func TestAnExchangeIsJudgedByWhatHadEndedBeforeIt(t *testing.T) {
	early := worked(30, 60, 0) // begins first and ends last, so that all the others are known
	early.ID, early.StartedAt = "early", noon.Add(-time.Minute)
	later(early, time.Hour)
	early.Derive()
	log := openRows(t, append(working()[:25], early))
	replayed(t, log, store.Filter{})
	for id, known := range map[string]int64{"row-000": 0, "row-001": 1, "row-024": 24, "early": 25} {
		got := must(log.Exchange(t.Context(), id)).UsualRows
		if known == 0 && got != nil || known > 0 && (got == nil || *got > known || 11**got < 10*(known-1)) {
			t.Errorf("%s was judged by %v exchanges, %d had ended", id, got, known)
		}
	}
}

func TestOnlyWhatIsChosenIsJudgedAnew(t *testing.T) {
	rows := working()
	for i, x := range rows {
		if i%2 == 0 {
			x.Client = "chosen/1.0"
		}
	}
	log := openRows(t, rows)
	got := replayed(t, log, store.Filter{Client: "chosen"})
	if got.Judged != 15 || got.Changed != 15 {
		t.Errorf("%+v", got)
	}
	for _, x := range rows {
		judged := must(log.Exchange(t.Context(), x.ID)).Bound != ""
		if judged != (x.Client != "") {
			t.Errorf("%s of %q: judged %v", x.ID, x.Client, judged)
		}
	}
}

func TestMoreThanABatchIsJudgedOnce(t *testing.T) {
	var rows []*exchange.Exchange
	for i := range 2*saveBatch + 7 {
		x := worked(0, int64(50+i), 0)
		x.ID, x.StartedAt = fmt.Sprintf("row-%05d", i), noon.Add(time.Duration(i/3)*time.Second) // three at a time, and 2 s each
		rows = append(rows, x)
	}
	log := openRows(t, rows)
	first, again := replayed(t, log, store.Filter{}), replayed(t, log, store.Filter{})
	n := int64(len(rows))
	if first.Judged != n || first.Changed != n {
		t.Errorf("first %+v", first)
	}
	if diff := cmp.Diff(&rejudged{Judged: n, Changes: []change{}}, again); diff != "" {
		t.Errorf("the same facts got another verdict:\n%s", diff)
	}
	if open := must(log.Count(t.Context(), store.Filter{Bound: exchange.Unknown})); open != 0 {
		t.Errorf("%d unknown", open)
	}
}

func TestFactsAreLeftAsTheyWere(t *testing.T) {
	log := openRows(t, working())
	before := must(log.Exchange(t.Context(), "row-024"))
	replayed(t, log, store.Filter{})
	after := must(log.Exchange(t.Context(), "row-024"))
	if diff := cmp.Diff(before.Instants, after.Instants); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before.Tokens, after.Tokens); diff != "" {
		t.Error(diff)
	}
}

func TestARateThatWasTakenIsGivenBackOnceItIsUsual(t *testing.T) {
	quick := func(x *exchange.Exchange) {
		x.TPOT, x.TokensPerSec, x.RateLastOverFirst = new(2*time.Millisecond), new(500.), new(0.97)
	}
	rows := append(working()[:25], worked(25, 60, 0, quick))
	log := openRows(t, rows)
	replayed(t, log, store.Filter{})
	taken := must(log.Exchange(t.Context(), "row-025"))
	if taken.Delivery != exchange.Pseudo || taken.TokensPerSec != nil || taken.Cause != "buffered" {
		t.Fatalf("%s at %v: %s", taken.Delivery, taken.TokensPerSec, taken.Cause)
	}
	for _, x := range rows[:25] {
		quick(x)
	}
	if err := log.Save(t.Context(), rows[:25]); err != nil {
		t.Fatal(err)
	}
	replayed(t, log, store.Filter{})
	given := must(log.Exchange(t.Context(), "row-025"))
	if diff := cmp.Diff(rows[25].Figures, given.Figures, cmp.FilterPath(judged, cmp.Ignore())); diff != "" || given.Seen != (exchange.Seen{}) {
		t.Errorf("%+v (-seen +given back):\n%s", given.Seen, diff)
	}
}

// judged are the figures that a verdict rests on, and no facts.
func judged(p cmp.Path) bool {
	name := p.Last().String()
	return name == ".Queue" || name == ".Prefill" || name == ".PrefillTokensPerSec" || name == ".Excess" || name == ".ModelIdle"
}

func TestHowLongAModelWasIdleOutlivesTheRowsBefore(t *testing.T) {
	x := working()[7]
	x.ModelIdle = new(58 * time.Second)
	log := openRows(t, []*exchange.Exchange{x})
	replayed(t, log, store.Filter{})
	if got := must(log.Exchange(t.Context(), x.ID)).ModelIdle; got == nil || *got != 58*time.Second {
		t.Errorf("idle for %v", got)
	}
}

func TestALogThatIsRecordedIntoIsNotRejudged(t *testing.T) {
	log := openRows(t, working())
	var stdout, stderr bytes.Buffer
	stop := stopping{context.Background(), context.Background()}
	if code := run(stop, []string{"rejudge", "--db", log.Path()}, &stdout, &stderr); code != exitFailed {
		t.Errorf("exit %d", code)
	}
	if !strings.Contains(stderr.String(), "another ttftap records into it") {
		t.Errorf("%s", &stderr)
	}
	if code := run(stop, []string{"rejudge", "--dry-run", "--db", log.Path()}, &stdout, &stderr); code != exitDone {
		t.Errorf("dry run: exit %d, %s", code, &stderr)
	}
}

func TestProgressIsToldNowAndThen(t *testing.T) {
	var b bytes.Buffer
	p := newProgress(&b)
	p.of = 3000
	p.step()
	p.next = time.Time{}
	p.step()
	p.step()
	if got := b.String(); got != "2 of 3,000\n" {
		t.Errorf("%q", got)
	}
}
