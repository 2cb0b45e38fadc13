package audit

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// csvColumns are those of WriteCSV. New ones are added at the end.
var csvColumns = []string{
	"class", "differs", "time", "to", "model", "key", "matched_by", "requests_here", "requests_console",
	"input_tokens_here", "input_tokens_console", "cached_tokens_here", "cached_tokens_console",
	"output_tokens_here", "output_tokens_console", "reasoning_tokens_here", "reasoning_tokens_console",
	"money", "exchanges", "lines", "links", "reason",
}

// WriteCSV writes a row for each finding, its reason in lang, with the address that
// link gives of each exchange: UTF-8, lines that end in LF, times in UTC, nothing
// for nil. A text that a spreadsheet would take for a formula gets an apostrophe
// before it.
func (r *Result) WriteCSV(w io.Writer, lang string, link func(id string) string) error {
	table := csv.NewWriter(w)
	err := table.Write(csvColumns)
	for i := 0; i < len(r.Rows) && err == nil; i++ {
		err = table.Write(r.cells(&r.Rows[i], lang, link))
	}
	table.Flush()
	if err == nil {
		err = table.Error()
	}
	if err != nil {
		return fmt.Errorf("write findings: %w", err)
	}
	return nil
}

func (r *Result) cells(row *Row, lang string, link func(id string) string) []string {
	var links, lines, reasons []string
	for _, id := range row.Exchanges {
		links = append(links, link(id))
	}
	for _, p := range row.Lines {
		lines = append(lines, r.Files[p.File].Name+":"+strconv.Itoa(p.Line))
	}
	for _, why := range row.Reasons {
		reasons = append(reasons, why.In(lang))
	}
	cells := []string{
		string(row.Class), strconv.FormatBool(row.Differs), moment(row.Time), moment(row.To), guarded(row.Model), guarded(row.Key), row.By,
	}
	asked := []string{"", ""}
	if q := row.Requests; q != nil {
		asked = []string{number(&q.Here), number(q.There)}
	}
	cells = append(cells, asked...)
	for _, n := range [][2]*int64{
		{row.Here.Input, row.There.Input}, {row.Here.Cached, row.There.Cached},
		{row.Here.Output, row.There.Output}, {row.Here.Reasoning, row.There.Reasoning},
	} {
		cells = append(cells, number(n[0]), number(n[1]))
	}
	return append(cells, guarded(Sums(row.Money)), strings.Join(row.Exchanges, " "), guarded(strings.Join(lines, " ")),
		strings.Join(links, " "), guarded(strings.Join(reasons, " ")))
}

// placesMost is how many rows of a file one finding names.
const placesMost = 20

// Where says in which rows of which files a finding stands: "a.csv: 3, 4".
func (r *Result) Where(row *Row) string {
	var b strings.Builder
	last := -1
	for i, p := range row.Lines[:min(len(row.Lines), placesMost)] {
		switch {
		case p.File != last && i > 0:
			b.WriteString("; " + r.Files[p.File].Name + ": ")
		case p.File != last:
			b.WriteString(r.Files[p.File].Name + ": ")
		default:
			b.WriteString(", ")
		}
		last = p.File
		b.WriteString(strconv.Itoa(p.Line))
	}
	if len(row.Lines) > placesMost {
		b.WriteString(", …")
	}
	return b.String()
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

func number(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

// guarded is a text that no spreadsheet takes for a formula.
func guarded(s string) string {
	if s != "" && strings.IndexByte("=+-@\t\r", s[0]) >= 0 {
		return "'" + s
	}
	return s
}
