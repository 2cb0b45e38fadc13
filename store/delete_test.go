package store

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// filled has n exchanges with prompts, a day apart, the last one now.
func filled(n int) []*exchange.Exchange {
	var rows []*exchange.Exchange
	for i := range n {
		x := typical(i)
		x.StartedAt = time.Now().Add(time.Duration(i-n+1) * 24 * time.Hour).Round(0).UTC()
		x.Prompt = []exchange.Boundary{{Part: exchange.ModelPart, Bytes: 5}}
		rows = append(rows, x)
	}
	return rows
}

// openedBeside is another process' view of a log.
func openedBeside(t testing.TB, s *Store) *Store {
	t.Helper()
	other, err := OpenBeside(t.Context(), s.Path())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	return other
}

// idsOf are those of the whole log, the oldest first.
func idsOf(t testing.TB, s *Store) string {
	t.Helper()
	return ids(t, s, Filter{Order: "asc", IncludeOpen: true})
}

func tally(t testing.TB, s *Store, what string) (n int) {
	t.Helper()
	if err := s.conns().reader.QueryRow("SELECT count(*) FROM " + what).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestWhatAFilterHasIsDeletedWithItsPromptsAndNothingElse(t *testing.T) {
	s := openTemp(t)
	rows := filled(1300)
	rows[700].Outcome = exchange.Open
	save(t, s, rows...)
	var told []int64
	f := Filter{To: When{Time: rows[1200].StartedAt}}
	n, err := openedBeside(t, s).Delete(t.Context(), f, func(n int64) { told = append(told, n) })
	if err != nil || n != 1199 {
		t.Fatalf("%d were deleted, want 1199 (%v)", n, err)
	}
	if !slices.IsSorted(told) || told[len(told)-1] != n {
		t.Errorf("it was told of %v", told)
	}
	want := rows[700].ID
	for _, x := range rows[1200:] {
		want += " " + x.ID
	}
	if got := idsOf(t, s); got != want {
		t.Errorf("there are\n%s, want\n%s", got, want)
	}
	if prompts := tally(t, s, "prompt JOIN exchange USING (id)"); prompts < 100 || prompts != tally(t, s, "prompt") {
		t.Errorf("%d prompts are left, of which %d have an exchange", tally(t, s, "prompt"), prompts)
	}
}

func TestALimitDeletesTheFirstInTheOrderAskedFor(t *testing.T) {
	for query, want := range map[string]string{
		"limit=2":                          "a b",
		"limit=2&order=asc":                "c d",
		"limit=1&sort=total_ms":            "a c d",
		"limit=1&sort=total_ms&order=asc":  "a b d",
		"limit=9&sort=total_ms&outcome=ok": "b",
		"sort=total_ms&order=asc":          "",
	} {
		s := openTemp(t)
		for i, id := range []string{"a", "b", "c", "d"} {
			x := bare(id, exchange.OK)
			x.StartedAt = x.StartedAt.Add(time.Duration(i) * time.Second)
			x.End = new(time.Duration([]int{5, 9, 1, 7}[i]) * time.Second)
			if id == "b" {
				x.Outcome = exchange.ClientAbort
			}
			save(t, s, x)
		}
		if _, err := s.Delete(t.Context(), parse(t, query), nil); err != nil {
			t.Fatal(err)
		}
		if got := idsOf(t, s); got != want {
			t.Errorf("%q leaves %q, want %q", query, got, want)
		}
	}
}

func TestAnExperimentGoesWithTheLastOfItsExchangesUnlessItRuns(t *testing.T) {
	s := openTemp(t)
	now := time.Now()
	for _, e := range []Experiment{
		{ID: "gone", StartedAt: now, EndedAt: &now}, {ID: "killed", StartedAt: now.Add(-48 * time.Hour)},
		{ID: "running", StartedAt: now}, {ID: "part", StartedAt: now, EndedAt: &now}, {ID: "empty", StartedAt: now, EndedAt: &now},
	} {
		e.Plan = []byte("{}")
		if err := s.SaveExperiment(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		if e.ID == "empty" {
			continue
		}
		for i, model := range []string{"goes", "goes", "stays"} {
			x := bare(fmt.Sprint(e.ID, i), exchange.OK)
			if x.Experiment, x.ModelServed = e.ID, model; e.ID == "part" || model == "goes" {
				save(t, s, x)
			}
		}
	}
	if n, err := s.Delete(t.Context(), Filter{Model: "goes"}, nil); n != 8 || err != nil {
		t.Fatalf("%d were deleted, want 8 (%v)", n, err)
	}
	kept, err := s.Experiments(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range kept {
		got = append(got, e.ID)
	}
	if diff := cmp.Diff([]string{"running", "part", "empty"}, got); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
}

func TestAReaderDeletesNothing(t *testing.T) {
	s := openTemp(t)
	save(t, s, filled(1)...)
	reader, err := OpenReader(t.Context(), s.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if n, err := reader.Delete(t.Context(), Filter{}, nil); n != 0 || err == nil || tally(t, s, "exchange") != 1 {
		t.Errorf("a reader deleted %d (%v)", n, err)
	}
}
