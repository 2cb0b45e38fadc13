package store

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// WriteCSV writes the exchanges of f as CSV, one row at a time: UTF-8, with a
// byte-order mark if asked for (Excel needs it), lines that end in LF, a header,
// then times in UTC, durations in milliseconds, and nothing for nil. A text that
// a spreadsheet would take for a formula gets an apostrophe before it.
func (s *Store) WriteCSV(ctx context.Context, w io.Writer, f Filter, bom bool) error {
	out := bufio.NewWriterSize(w, exportBuffer)
	if bom {
		out.WriteString("\uFEFF")
	}
	table := csv.NewWriter(out)
	var row csvRow
	row.cols = csvColumns(&row.x)
	if err := table.Write(names(row.cols)); err != nil {
		return fmt.Errorf("export CSV: %w", err)
	}
	err := s.eachPart(ctx, f, csvNames, func(x *exchange.Exchange) error { return table.Write(row.cells(x)) })
	table.Flush()
	return wrap(cmp.Or(err, table.Error(), out.Flush()), "export CSV")
}

const exportBuffer = 64 << 10

// A csvRow makes the cells of one exchange after the other.
type csvRow struct {
	x    exchange.Exchange
	cols []column
	text []byte
	ends []int // of the cells in text
	row  []string
}

// cells are slices of one string, so that a row costs one allocation.
func (r *csvRow) cells(x *exchange.Exchange) []string {
	r.x, r.text, r.ends, r.row = *x, r.text[:0], r.ends[:0], r.row[:0]
	for _, c := range r.cols {
		start := len(r.text)
		r.text = c.append(r.text)
		if c.isText() && start < len(r.text) && isFormula(r.text[start]) {
			r.text = slices.Insert(r.text, start, '\'')
		}
		r.ends = append(r.ends, len(r.text))
	}
	all, start := string(r.text), 0
	for _, end := range r.ends {
		r.row = append(r.row, all[start:end])
		start = end
	}
	return r.row
}

// isFormula says whether spreadsheets take a cell that begins so for a formula.
func isFormula(first byte) bool { return strings.IndexByte("=+-@\t\r", first) >= 0 }

// WriteJSONL writes the exchanges of f as JSON, one object a line.
func (s *Store) WriteJSONL(ctx context.Context, w io.Writer, f Filter) error {
	out := bufio.NewWriterSize(w, exportBuffer)
	err := s.Each(ctx, f, func(x *exchange.Exchange) error {
		line, err := MarshalExchange(x)
		if err != nil {
			return err
		}
		_, err = out.Write(append(line, '\n'))
		return err
	})
	return wrap(cmp.Or(err, out.Flush()), "export JSON lines")
}

// MarshalExchange returns x as a JSON object. Its keys are the CSV's columns in
// their order, then the others that are kept; nil is null.
func MarshalExchange(x *exchange.Exchange) ([]byte, error) {
	b := append(make([]byte, 0, 4096), '{')
	for i, c := range columns(x) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strconv.AppendQuote(b, c.name), ':')
		var err error
		if b, err = appendJSON(b, c); err != nil {
			return nil, fmt.Errorf("exchange %q: %w", x.ID, err)
		}
	}
	return append(b, '}'), nil
}

func appendJSON(b []byte, f field) ([]byte, error) {
	start := len(b)
	b = f.append(b)
	if len(b) == start {
		return append(b, "null"...), nil
	}
	if !f.isText() {
		return b, nil
	}
	quoted, err := json.Marshal(string(b[start:]))
	return append(b[:start], quoted...), err
}
