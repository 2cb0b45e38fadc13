package audit

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

var csvHeader = []string{
	"class", "differs", "time", "to", "model", "key", "by", "exchanges", "lines",
	"requests", "console_requests", "input_tokens", "console_input_tokens", "cached_tokens", "console_cached_tokens",
	"cache_write_tokens", "console_cache_write_tokens", "output_tokens", "console_output_tokens",
	"reasoning_tokens", "console_reasoning_tokens", "amount", "currency", "money_kind", "reasons",
}

// WriteCSV writes every row of the result, its reasons in lang: UTF-8, lines that
// end in LF, times in UTC, nothing for nil. A text that a spreadsheet would take
// for a formula gets an apostrophe before it.
func (r *Result) WriteCSV(w io.Writer, lang string) error {
	out := csv.NewWriter(w)
	if err := out.Write(csvHeader); err != nil {
		return fmt.Errorf("write audit: %w", err)
	}
	for i := range r.Rows {
		if err := out.Write(r.cells(&r.Rows[i], lang)); err != nil {
			return fmt.Errorf("write audit: %w", err)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write audit: %w", err)
	}
	return nil
}

func (r *Result) cells(row *Row, lang string) []string {
	cells := []string{
		string(row.Class), strconv.FormatBool(row.Differs), moment(row.Time), moment(row.To), text(row.Model), text(row.Key), row.By,
		strings.Join(row.Exchanges, " "), text(r.Where(row)),
	}
	requests := row.Requests
	if requests == nil {
		requests = &Requests{Here: int64(len(row.Exchanges))}
	}
	cells = append(cells, strconv.FormatInt(requests.Here, 10), number(requests.There))
	for _, n := range countNames {
		cells = append(cells, number(n.of(&row.Here)), number(n.of(&row.There)))
	}
	var amount Amount
	if len(row.Money) > 0 {
		amount = row.Money[0]
	}
	var reasons []string
	for _, w := range row.Reasons {
		reasons = append(reasons, w.In(lang))
	}
	return append(cells, amount.Amount, text(amount.Currency), string(amount.Kind), text(strings.Join(reasons, " ")))
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

// text guards a cell against being taken for a formula.
func text(s string) string {
	if s != "" && strings.IndexByte("=+-@\t\r", s[0]) >= 0 {
		return "'" + s
	}
	return s
}
