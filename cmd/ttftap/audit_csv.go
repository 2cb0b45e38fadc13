package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/ttftap/ttftap/store/audit"
)

// findingColumns are those of the CSV. New ones are added at the end.
var findingColumns = []string{
	"class", "differs", "time", "to", "model", "key", "matched_by", "requests_here", "requests_console",
	"input_tokens_here", "input_tokens_console", "cached_tokens_here", "cached_tokens_console",
	"output_tokens_here", "output_tokens_console", "reasoning_tokens_here", "reasoning_tokens_console",
	"money", "exchanges", "lines", "links", "reason",
}

// writeFindings writes a row for each finding: nothing for what is unknown, and
// an apostrophe before a text that a spreadsheet would run.
func writeFindings(w io.Writer, r *audit.Result, lang string, link func(id string) string) error {
	table := csv.NewWriter(w)
	if err := table.Write(findingColumns); err != nil {
		return err
	}
	for i := range r.Rows {
		if err := table.Write(findingCells(r, &r.Rows[i], lang, link)); err != nil {
			return err
		}
	}
	table.Flush()
	return table.Error()
}

func findingCells(r *audit.Result, row *audit.Row, lang string, link func(id string) string) []string {
	var links, lines, reasons []string
	for _, id := range row.Exchanges {
		links = append(links, link(id))
	}
	for _, p := range row.Lines {
		lines = append(lines, fmt.Sprintf("%s:%d", r.Files[p.File].Name, p.Line))
	}
	for _, why := range row.Reasons {
		reasons = append(reasons, why.In(lang))
	}
	asked := []string{"", ""}
	if q := row.Requests; q != nil {
		asked = []string{cellOf(&q.Here), cellOf(q.There)}
	}
	money := ""
	if len(row.Money) > 0 {
		money = amounts(row.Money)
	}
	return []string{
		string(row.Class), strconv.FormatBool(row.Differs), instant(row.Time), instant(row.To), guarded(row.Model), guarded(row.Key), row.By, asked[0], asked[1],
		cellOf(row.Here.Input), cellOf(row.There.Input), cellOf(row.Here.Cached), cellOf(row.There.Cached),
		cellOf(row.Here.Output), cellOf(row.There.Output), cellOf(row.Here.Reasoning), cellOf(row.There.Reasoning),
		money, strings.Join(row.Exchanges, " "), guarded(strings.Join(lines, " ")), strings.Join(links, " "), guarded(strings.Join(reasons, " ")),
	}
}

func cellOf(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

// guarded is a text that no spreadsheet takes for a formula.
func guarded(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}
