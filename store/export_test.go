package store

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// exported is the CSV of s as a reader sees it: its bytes, and its cells by name.
func exported(t *testing.T, s *Store, f Filter) (string, []map[string]string) {
	t.Helper()
	var out bytes.Buffer
	if err := s.WriteCSV(t.Context(), &out, f, false); err != nil {
		t.Fatal(err)
	}
	table, err := csv.NewReader(bytes.NewReader(out.Bytes())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, cells := range table[1:] {
		row := map[string]string{}
		for i, name := range table[0] {
			row[name] = cells[i]
		}
		rows = append(rows, row)
	}
	return out.String(), rows
}

func TestTheCSVBeginsWithItsHeaderAndEndsLinesInLF(t *testing.T) {
	s := openTemp(t)
	if text, _ := exported(t, s, Filter{}); text != csvHeader+"\n" {
		t.Errorf("an empty log is %q", text)
	}
	save(t, s, bare("01", exchange.OK))
	want := csvHeader + "\n01,2026-09-06T06:00:00.000Z" + strings.Repeat(",", 17) + "ok" + strings.Repeat(",", strings.Count(csvHeader, ",")-18) + "\n"
	if text, _ := exported(t, s, Filter{}); text != want {
		t.Errorf("got %q, want %q", text, want)
	}
}

func TestSpreadsheetFormulasAreNeutralAndNumbersStayNumbers(t *testing.T) {
	for model, want := range map[string]string{
		"=1+1": "'=1+1", "+cmd": "'+cmd", "-2+3": "'-2+3", "@SUM(A1)": "'@SUM(A1)", "\tx": "'\tx", "\rx": "'\rx",
		"a=1": "a=1", `say "hi", you`: `say "hi", you`, "two\nlines": "two\nlines", "'quoted": "'quoted",
	} {
		s := openTemp(t)
		x := bare("01", exchange.OK)
		excess, rate := -1500*time.Microsecond, -1.5
		x.ModelRequested, x.Excess, x.TokensPerSec = model, &excess, &rate
		save(t, s, x)
		_, rows := exported(t, s, Filter{})
		for name, want := range map[string]string{"model_requested": want, "excess_ms": "-1.500", "tokens_per_sec": "-1.5", "tpot_ms": ""} {
			if got := rows[0][name]; got != want {
				t.Errorf("model %q: %s is %q, want %q", model, name, got, want)
			}
		}
	}
}

func TestTextKeepsItsCharactersAndTheMarkIsASwitch(t *testing.T) {
	s := openTemp(t)
	x := bare("01", exchange.OK)
	x.ModelServed, x.Client = "通义", "broken \xff"
	save(t, s, x)
	text, rows := exported(t, s, Filter{})
	if rows[0]["model_served"] != "通义" || rows[0]["client"] != "broken \uFFFD" || rows[0]["id"] != "01" {
		t.Errorf("got %v", rows[0])
	}
	var marked bytes.Buffer
	if err := s.WriteCSV(t.Context(), &marked, Filter{}, true); err != nil {
		t.Fatal(err)
	}
	if marked.String() != "\xEF\xBB\xBF"+text {
		t.Error("with the mark, more than the mark differs")
	}
}

func TestTimesAreUTCWhateverTheZone(t *testing.T) {
	s := openTemp(t)
	zone := time.FixedZone("New York", -4*3600)
	total := 1500 * time.Millisecond
	for id, at := range map[string]time.Time{
		"1": time.Date(2026, 9, 6, 19, 30, 0, 0, zone), "2": time.Date(2026, 9, 6, 20, 30, 0, 999_999, zone), "3": time.Date(2026, 9, 6, 23, 30, 0, 0, zone),
	} {
		x := bare(id, exchange.OK)
		x.StartedAt, x.End = at, &total
		save(t, s, x)
	}
	var got []string
	_, rows := exported(t, s, Filter{Order: "asc"})
	for _, row := range rows {
		got = append(got, row["started_at"], row["ended_at"])
	}
	want := []string{
		"2026-09-06T23:30:00.000Z", "2026-09-06T23:30:01.500Z", "2026-09-07T00:30:00.000Z", "2026-09-07T00:30:01.500Z",
		"2026-09-07T03:30:00.000Z", "2026-09-07T03:30:01.500Z",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Providers count by days of UTC, whatever the clocks here show.
func TestADayOfUTCHasWhatBeganInIt(t *testing.T) {
	s := openTemp(t)
	zone := time.FixedZone("New York", -4*3600)
	for i, minute := range []int{19*60 + 30, 20*60 + 30, 23*60 + 30} {
		x := bare(string(rune('1'+i)), exchange.OK)
		x.StartedAt = time.Date(2026, 9, 6, 0, minute, 0, 0, zone)
		save(t, s, x)
	}
	day := time.Date(2026, 9, 6, 0, 0, 0, 0, time.UTC)
	for n, want := range []int64{1, 2, 0} {
		from := day.AddDate(0, 0, n)
		got, err := s.Count(t.Context(), Filter{From: When{Time: from}, To: When{Time: from.AddDate(0, 0, 1)}})
		if got != want || err != nil {
			t.Errorf("%s has %d rows, want %d (%v)", from.Format(time.DateOnly), got, want, err)
		}
	}
}

func TestAnyCSVIsReadBackCellByCell(t *testing.T) {
	s := openTemp(t)
	rapid.Check(t, func(r *rapid.T) {
		x := anyExchange("01").Draw(r, "exchange")
		wipe(t, s)
		save(t, s, x)
		_, rows := exported(t, s, Filter{IncludeOpen: true})
		if len(rows) != 1 {
			r.Fatalf("%d rows", len(rows))
		}
		for _, c := range csvColumns(x) {
			want := strings.ReplaceAll(string(c.append(nil)), "\r\n", "\n") // as every CSV reader in Go does
			if got := rows[0][c.name]; got != want && got != "'"+want {
				r.Errorf("%s is %q, want %q", c.name, got, want)
			}
		}
	})
}

func TestJSONLinesAreTheExchangesOneALine(t *testing.T) {
	s := openTemp(t)
	rows := typicals(0, 3)
	rows[1].Error = "line one\nline two"
	save(t, s, rows...)
	var out bytes.Buffer
	if err := s.WriteJSONL(t.Context(), &out, Filter{Order: "asc"}); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(&out)
	for _, x := range rows {
		want, err := MarshalExchange(x)
		if err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() || !json.Valid(want) || lines.Text() != string(want) {
			t.Errorf("got %s, want %s", lines.Text(), want)
		}
	}
	if lines.Scan() {
		t.Errorf("one more line: %s", lines.Text())
	}
}

func TestAnExportTellsOfAWriterThatFails(t *testing.T) {
	s := openTemp(t)
	save(t, s, typicals(0, 200)...)
	for name, export := range map[string]func(w failing) error{
		"csv":   func(w failing) error { return s.WriteCSV(t.Context(), w, Filter{}, false) },
		"jsonl": func(w failing) error { return s.WriteJSONL(t.Context(), w, Filter{}) },
	} {
		if err := export(failing{}); !errors.Is(err, errGone) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

var errGone = errors.New("the client is gone")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errGone }
