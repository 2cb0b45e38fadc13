package store

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
)

var fuzzNow = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// What is read of a filter is written so that it is read as the same, and SQLite
// takes it.
func FuzzFilter(f *testing.F) {
	for _, query := range []string{
		"from=-2h&to=2026-11-30&bound=decode&sort=total_ms&order=asc&limit=3", "q=%25_%5C%27&client=A&min_excess_ms=1e3",
		"cursor=eyJjIjoic3RhcnRlZF9hdCIsImQiOnRydWUsInYiOjEsImkiOiIwMSJ9", "model=a&model=b&x=1&outcome=open",
	} {
		f.Add(query)
	}
	s := openTemp(f)
	if err := s.Save(f.Context(), []*exchange.Exchange{bare("01", exchange.OK)}); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, query string) {
		values, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		filter, _ := ParseFilter(values, fuzzNow)
		again, problems := ParseFilter(filter.Query(), fuzzNow)
		if diff := cmp.Diff(filter, again); diff != "" || len(problems) > 0 {
			t.Errorf("%v (-read +read again):\n%s", problems, diff)
		}
		found, err := s.List(t.Context(), filter)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := s.Count(t.Context(), filter); err != nil || int64(len(found.Exchanges)) > n {
			t.Errorf("%d of %d rows, %v", len(found.Exchanges), n, err)
		}
		fits := filter.Misfit()
		x := SubjectOf(bare("01", exchange.OK))
		if n, _ := fits(&x); filter.Cursor == "" && (n == 0) != (len(found.Exchanges) == 1) {
			t.Errorf("in hand it fits: %t, in SQLite %t", n == 0, len(found.Exchanges) == 1)
		}
	})
}

// A time of a filter is read as the same again, and is never after what it counts
// back from.
func FuzzWhen(f *testing.F) {
	for _, s := range []string{"-2h", "-30d", "-1d12h", "2026-11-30T16:41:00Z", "2026-11-30T16:41", "2026-11-30", "-16383d16384h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		w, err := parseWhen(s, fuzzNow)
		if err != nil {
			return
		}
		if strings.HasPrefix(s, "-") && w.After(fuzzNow) {
			t.Errorf("%q is %s", s, w.Time)
		}
		if again, err := parseWhen(w.text(), fuzzNow); err != nil || !again.Equal(w.Time) {
			t.Errorf("%q is %s and then %s, %v", s, w.Time, again.Time, err)
		}
		if ns := time.Unix(0, w.UnixNano()); !ns.Equal(w.Time) {
			t.Errorf("%q: the log cannot hold %s", s, w.Time)
		}
	})
}

// A text comes out of the CSV and the JSON as it went in, but for what would be a
// formula.
func FuzzExport(f *testing.F) {
	for _, text := range []string{"=1+1", "a \"b\",\r\nc", "\xff", "'=", "-", "\ufeff", "\u2028<>&"} {
		f.Add(text, int64(-1500), 1.5)
	}
	f.Fuzz(func(t *testing.T, text string, us int64, rate float64) {
		x := bare("01", exchange.OK)
		x.ModelRequested, x.Error, x.Excess, x.TokensPerSec = text, "e"+text, new(time.Duration(us%1e12)*time.Microsecond), &rate
		for _, c := range columns(x) { // as the log has it
			if err := c.set(sqlValue(c.value())); c.sqlType() != "" && err != nil {
				t.Fatal(err)
			}
		}
		var row csvRow
		row.cols = csvColumns(&row.x)
		var out bytes.Buffer
		w := csv.NewWriter(&out)
		if err := w.Write(row.cells(x)); err != nil {
			t.Fatal(err)
		}
		w.Flush()
		cells, err := csv.NewReader(&out).Read()
		if err != nil || len(cells) != len(csvNames) {
			t.Fatalf("%d cells, %v", len(cells), err)
		}
		got := map[string]string{}
		for i, name := range csvNames {
			got[name] = cells[i]
		}
		want := strings.ReplaceAll(x.ModelRequested, "\r\n", "\n") // which is how Go's reader takes it
		if guarded, ok := strings.CutPrefix(got["model_requested"], "'"); got["model_requested"] != want && !(ok && guarded == want && isFormula(want[0])) {
			t.Errorf("%q has become %q", text, got["model_requested"])
		}
		if cell := got["model_requested"]; cell != "" && isFormula(cell[0]) {
			t.Errorf("%q is a formula", cell)
		}
		if strings.ContainsAny(got["excess_ms"]+got["tokens_per_sec"], "'eEIN") {
			t.Errorf("numbers are %q and %q", got["excess_ms"], got["tokens_per_sec"])
		}
		line, err := MarshalExchange(x)
		var back map[string]any
		if err != nil || json.Unmarshal(line, &back) != nil || bytes.ContainsAny(line, "\n\r") {
			t.Fatalf("%s, %v", line, err)
		}
		if s, _ := back["model_requested"].(string); s != x.ModelRequested {
			t.Errorf("%q is %q in JSON", x.ModelRequested, s)
		}
	})
}

// sqlValue is a value as SQLite gives it back.
func sqlValue(v any) any {
	if b, ok := v.(bool); ok {
		return map[bool]int64{true: 1}[b]
	}
	return v
}
