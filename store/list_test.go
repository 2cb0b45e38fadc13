package store

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestRowsOfOneSecondSortAndRangeExactly(t *testing.T) {
	s := openTemp(t)
	six := time.Date(2026, 9, 6, 6, 0, 0, 0, time.UTC)
	for id, offset := range map[string]time.Duration{
		"c": 0, "a": 500 * time.Millisecond, "b": 500*time.Millisecond + 10, "d": time.Second, "e": -1,
	} {
		x := bare(id, exchange.OK)
		x.StartedAt = six.Add(offset)
		save(t, s, x)
	}
	f := Filter{From: When{Time: six}, To: When{Time: six.Add(time.Second)}}
	if got := ids(t, s, f); got != "b a c" {
		t.Errorf("newest first: %s, want b a c", got)
	}
	f.Order = "asc"
	if got := ids(t, s, f); got != "c a b" {
		t.Errorf("oldest first: %s, want c a b", got)
	}
}

// ids are the ids of f, in order.
func ids(t testing.TB, s *Store, f Filter) string {
	t.Helper()
	var all []string
	err := s.Each(t.Context(), f, func(x *exchange.Exchange) error { all = append(all, x.ID); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

// telling are six exchanges, a to f, a second apart; each has what others lack.
func telling() []*exchange.Exchange {
	rows := map[string]*exchange.Exchange{}
	var all []*exchange.Exchange
	for i, id := range []string{"a", "b", "c", "d", "e", "f"} {
		rows[id] = bare(id, exchange.OK)
		rows[id].StartedAt = rows[id].StartedAt.Add(time.Duration(i) * time.Second)
		all = append(all, rows[id])
	}
	seconds := func(n time.Duration) *time.Duration { d := n * time.Second; return &d }
	excess, prompt := -5*time.Millisecond, int64(500)
	rows["a"].Outcome = exchange.Open
	rows["b"].ModelRequested, rows["b"].ModelServed, rows["b"].SessionID, rows["b"].TurnID = "asked", "served", "s1", "t1"
	rows["b"].FirstToken = seconds(1)
	rows["c"].ModelRequested, rows["c"].SessionID, rows["c"].Upstream, rows["c"].FirstToken = "asked", "s1", "lab", seconds(2)
	rows["d"].Bound, rows["d"].Cause, rows["d"].FirstToken = exchange.PrefillBound, "queue", seconds(3)
	rows["d"].Excess, rows["d"].PromptTokens = &excess, &prompt
	rows["e"].Outcome, rows["e"].Error, rows["e"].ResponseID = exchange.ClientAbort, "connection reset by peer", "resp_99"
	rows["f"].Client, rows["f"].KeyID, rows["f"].Experiment = "codex_cli_rs/1", "k1", "x1"
	rows["f"].Error, rows["f"].FirstToken = "100% of nothing", seconds(1)
	return all
}

func TestEachFilterFindsItsRows(t *testing.T) {
	s := openTemp(t)
	save(t, s, telling()...)
	for query, want := range map[string]string{
		"":                              "f e d c b",
		"upstream=lab":                  "c",
		"model=served":                  "b", // the one that served,
		"model=asked":                   "c", // else the one asked for
		"bound=prefill":                 "d",
		"cause=queue":                   "d",
		"outcome=client_abort":          "e",
		"outcome=open":                  "a",
		"session=s1":                    "c b",
		"turn=t1":                       "b",
		"client=CODEX_":                 "f",
		"client=codex%25":               "", // a percent sign is no wildcard
		"key=k1":                        "f",
		"experiment=x1":                 "f",
		"min_first_token_ms=2000":       "d c",
		"min_prompt_tokens=500":         "d",
		"min_excess_ms=-5":              "d",
		"q=resp_9":                      "e",
		"q=reset":                       "e", // within an error
		"q=100%25":                      "f",
		"q=e":                           "e",
		"q=%25":                         "f",
		"sort=first_token_ms":           "d c f b e",
		"sort=first_token_ms&order=asc": "b f c d e",
		"limit=2":                       "f e",
		"from=2026-09-06T06:00:02Z&to=2026-09-06T06:00:04Z": "d c",
	} {
		f := parse(t, query)
		if got := ids(t, s, f); got != want {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
		if got := fitting(f); query != "limit=2" && got != inOrder(want) {
			t.Errorf("%q fits %q, want %q", query, got, want)
		}
		f.Limit = 0
		if n, err := s.Count(t.Context(), f); err != nil || query != "limit=2" && n != int64(len(strings.Fields(want))) {
			t.Errorf("%q counts %d, want %q (%v)", query, n, want, err)
		}
	}
	if got := ids(t, s, Filter{IncludeOpen: true}); got != "f e d c b a" {
		t.Errorf("with the open ones: %s", got)
	}
}

// fitting are the ids of the telling rows that a filter fits, sorted.
func fitting(f Filter) string {
	fits, found := f.Misfit(), []string{}
	for _, x := range telling() {
		s := SubjectOf(x)
		if n, _ := fits(&s); n == 0 {
			found = append(found, s.ID)
		}
	}
	return inOrder(strings.Join(found, " "))
}

// inOrder sorts words.
func inOrder(words string) string {
	return strings.Join(slices.Sorted(strings.FieldsSeq(words)), " ")
}

func parse(t testing.TB, query string) Filter {
	t.Helper()
	q, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	f, problems := ParseFilter(q, noon)
	if problems != nil {
		t.Fatal(problems)
	}
	return f
}

func TestPagesTogetherAreTheSortedList(t *testing.T) {
	s := openTemp(t)
	rapid.Check(t, func(r *rapid.T) {
		rows := anyLog().Draw(r, "log")
		wipe(t, s)
		save(t, s, rows...)
		f := Filter{
			Sort:            rapid.SampledFrom([]string{"", "time", "first_token_ms", "prompt_tokens"}).Draw(r, "sort"),
			Order:           rapid.SampledFrom([]string{"", "asc", "desc"}).Draw(r, "order"),
			IncludeOpen:     rapid.Bool().Draw(r, "open"),
			MinPromptTokens: rapid.Ptr(rapid.Float64Range(0, 3), true).Draw(r, "least"),
		}
		want := strings.Join(sorted(rows, f), " ")
		if got := ids(t, s, f); got != want {
			r.Fatalf("each: %s, want %s", got, want)
		}
		if n, err := s.Count(t.Context(), f); err != nil || int(n) != len(strings.Fields(want)) {
			r.Fatalf("count: %d, want %s (%v)", n, want, err)
		}
		f.Limit = rapid.IntRange(1, 7).Draw(r, "limit")
		if got := strings.Join(paged(t, s, f), " "); got != want {
			r.Fatalf("pages: %s, want %s", got, want)
		}
	})
}

// paged is the list that one gets by turning page after page.
func paged(t *testing.T, s *Store, f Filter) (all []string) {
	t.Helper()
	for {
		page, err := s.List(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range page.Exchanges {
			all = append(all, x.ID)
		}
		if page.Next == "" {
			return all
		}
		if len(page.Exchanges) != f.Limit {
			t.Fatalf("a page of %d, want %d, and there are more", len(page.Exchanges), f.Limit)
		}
		var problems []Problem
		q := f.Query()
		q.Set("cursor", page.Next)
		includeOpen := f.IncludeOpen
		if f, problems = ParseFilter(q, noon); problems != nil {
			t.Fatal(problems)
		}
		f.IncludeOpen = includeOpen
	}
}

func TestAPageHas100RowsAnd1000AtMost(t *testing.T) {
	s := openTemp(t)
	save(t, s, typicals(0, 1200)...)
	for limit, want := range map[int]int{0: 100, 7: 7, 5000: 1000} {
		page, err := s.List(t.Context(), Filter{Limit: limit})
		if err != nil || len(page.Exchanges) != want || page.Next == "" {
			t.Errorf("limit %d: %d rows, next %q (%v)", limit, len(page.Exchanges), page.Next, err)
		}
	}
	for limit, want := range map[int]int{0: 1200, 777: 777, 5000: 1200} { // in more than one step
		for _, sort := range []string{"time", "total_ms"} {
			if got := len(strings.Fields(ids(t, s, Filter{Limit: limit, Sort: sort}))); got != want {
				t.Errorf("each by %s, limit %d: %d rows, want %d", sort, limit, got, want)
			}
		}
	}
}

func TestEachStopsAtTheFirstError(t *testing.T) {
	s := openTemp(t)
	save(t, s, typicals(0, 3)...)
	enough := errors.New("enough")
	for _, sort := range []string{"time", "total_ms"} {
		calls := 0
		err := s.Each(t.Context(), Filter{Sort: sort}, func(*exchange.Exchange) error { calls++; return enough })
		if !errors.Is(err, enough) || calls != 1 {
			t.Errorf("by %s: %v after %d calls", sort, err, calls)
		}
	}
}

func TestTheLogIsReadByIndex(t *testing.T) {
	s := openTemp(t)
	second, err := Filter{}.cursor(int64(1), "01")
	if err != nil {
		t.Fatal(err)
	}
	for query, index := range map[string]string{
		"":                     "exchange_time",
		"cursor=" + second:     "exchange_time (started_at<?)",
		"from=-2h&to=-1h":      "exchange_time (started_at>? AND started_at<?)",
		"model=m":              "exchange_model (<expr>=?)",
		"model=m&from=-2h":     "exchange_model (<expr>=? AND started_at>?)",
		"session=s":            "exchange_session (session_id=?)",
		"turn=t&order=asc":     "exchange_turn (turn_id=?)",
		"bound=prefill":        "exchange_bound (bound=?)",
		"outcome=client_abort": "exchange_outcome (outcome=?)",
	} {
		if got := plan(t, s, parse(t, query)); !strings.Contains(got, index) || strings.Contains(got, "TEMP B-TREE FOR ORDER BY") {
			t.Errorf("%q is read so: %s, want by %s", query, got, index)
		}
	}
}

// plan is how SQLite means to read f.
func plan(t *testing.T, s *Store, f Filter) string {
	t.Helper()
	statement, args := f.statement(selectAll+" FROM "+f.table(), 10)
	rows, err := s.conns().reader.Query("EXPLAIN QUERY PLAN "+statement, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var steps []string
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	return strings.Join(steps, "; ")
}

func TestTheNewestAreReadInTheColumnsAskedFor(t *testing.T) {
	s := openTemp(t)
	save(t, s, telling()...)
	var got []string
	err := s.Newest(t.Context(), parse(t, "model=asked"), Part{[]string{"id", "upstream"}, 5}, func(x *exchange.Exchange) {
		got = append(got, x.ID+x.Upstream+x.SessionID)
	})
	if err != nil || strings.Join(got, " ") != "clab" {
		t.Errorf("%v, want c with its upstream alone (%v)", got, err)
	}
	got = nil
	err = s.Newest(t.Context(), Filter{}, Part{[]string{"id"}, 2}, func(x *exchange.Exchange) { got = append(got, x.ID) })
	if err != nil || strings.Join(got, " ") != "f e" {
		t.Errorf("%v, want the two newest (%v)", got, err)
	}
}

// anyLog draws a few exchanges with many equal values.
func anyLog() *rapid.Generator[[]*exchange.Exchange] {
	return rapid.Custom(func(t *rapid.T) []*exchange.Exchange {
		rows := make([]*exchange.Exchange, rapid.IntRange(0, 25).Draw(t, "rows"))
		for i := range rows {
			x := bare(fmt.Sprintf("%02d", i), rapid.SampledFrom([]exchange.Outcome{exchange.OK, exchange.Open}).Draw(t, "outcome"))
			x.StartedAt = x.StartedAt.Add(time.Duration(rapid.IntRange(0, 5).Draw(t, "at")) * 333)
			if n := rapid.IntRange(-1, 3).Draw(t, "first token"); n >= 0 {
				d := time.Duration(n) * time.Microsecond * 1001
				x.FirstToken = &d
			}
			if n := rapid.Int64Range(-1, 3).Draw(t, "prompt"); n >= 0 {
				x.PromptTokens = &n
			}
			rows[i] = x
		}
		return rows
	})
}

// sorted is what f has of rows, by the simplest means.
func sorted(rows []*exchange.Exchange, f Filter) []string {
	rows = slices.DeleteFunc(slices.Clone(rows), func(x *exchange.Exchange) bool {
		return x.Outcome == exchange.Open && !f.IncludeOpen ||
			f.MinPromptTokens != nil && (x.PromptTokens == nil || float64(*x.PromptTokens) < *f.MinPromptTokens)
	})
	key := func(x *exchange.Exchange) float64 { // unknown last
		switch {
		case f.Sort == "first_token_ms" && x.FirstToken != nil:
			return float64(*x.FirstToken)
		case f.Sort == "prompt_tokens" && x.PromptTokens != nil:
			return float64(*x.PromptTokens)
		case f.Sort == "time" || f.Sort == "":
			return float64(x.StartedAt.Sub(noon))
		case f.Order == "asc":
			return math.Inf(1)
		default:
			return math.Inf(-1)
		}
	}
	slices.SortFunc(rows, func(a, b *exchange.Exchange) int {
		order := cmp.Or(cmp.Compare(key(a), key(b)), cmp.Compare(a.ID, b.ID))
		if f.Order != "asc" {
			return -order
		}
		return order
	})
	var ids []string
	for _, x := range rows {
		ids = append(ids, x.ID)
	}
	return ids
}

func TestACountEndsWhereItIsToldTo(t *testing.T) {
	s := openTemp(t)
	rows := typicals(0, 10)
	rows[3].Outcome, rows[9].Outcome = exchange.Open, exchange.Open
	save(t, s, rows...)
	for _, c := range []struct {
		f       Filter
		most, n int64
		more    bool
	}{
		{Filter{}, 7, 7, true}, {Filter{}, 8, 8, false}, {Filter{}, 100, 8, false}, {Filter{IncludeOpen: true}, 9, 9, true},
		{Filter{IncludeOpen: true}, 10, 10, false}, {Filter{Outcome: exchange.Open}, 1, 1, true}, {Filter{Outcome: exchange.OK}, 8, 8, false},
	} {
		if n, more, err := s.CountTo(t.Context(), c.f, c.most); n != c.n || more != c.more || err != nil {
			t.Errorf("%+v up to %d: %d, more %v (%v), want %d, %v", c.f.Query(), c.most, n, more, err, c.n, c.more)
		}
	}
}
