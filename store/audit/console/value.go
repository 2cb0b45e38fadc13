package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/ttftap/ttftap/store/audit"
)

// A row is one row of a table: the cells that are not empty, by the normal names
// of their columns.
type row struct {
	line  int
	cells map[string]string
}

// normal is a column's name as it is compared: without blanks, marks of order,
// case, and the difference of full and half width.
func normal(name string) string {
	if isPlain(name) {
		return name
	}
	name = norm.NFKC.String(strings.TrimPrefix(name, "\uFEFF"))
	return strings.ToLower(strings.Join(strings.Fields(name), ""))
}

// isPlain says whether a name is normal as it stands, as most are.
func isPlain(name string) bool {
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c >= 0x7F || c >= 'A' && c <= 'Z' {
			return false
		}
	}
	return true
}

// text is the first cell of "a|b" that says something, without the apostrophe
// that guards it from being taken for a formula.
func (r row) text(columns string) string {
	for column := range strings.SplitSeq(columns, "|") {
		s := strings.TrimSpace(r.cells[column])
		if len(s) > 1 && s[0] == '\'' && strings.IndexByte("=+-@", s[1]) >= 0 {
			s = s[1:]
		}
		switch s {
		case "", "-", "—", "--", "null", "NULL", "N/A", "n/a", "None":
			continue
		}
		return s
	}
	return ""
}

// A doubt is a cell that cannot be read.
type doubt struct {
	column string
	say    audit.Words
}

func (d *doubt) Error() string { return fmt.Sprintf("column %s: %s", d.column, d.say.En) }

// doubt is about the first of the columns that says something.
func (r row) doubt(columns, en, zh string, args ...any) *doubt {
	d := &doubt{say: say(en, zh, args...)}
	for column := range strings.SplitSeq(columns, "|") {
		if d.column == "" || strings.TrimSpace(r.cells[d.column]) == "" {
			d.column = column
		}
	}
	return d
}

// unfold adds the members of JSON that a column holds as text.
func (r row) unfold(column string) {
	text := r.cells[column]
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var object map[string]any
	if d.Decode(&object) == nil {
		flatten(r.cells, column+".", object, 0)
	}
}

// count reads a whole number. Columns may be alternatives, "a|b", and sums of
// such, "a + b", of which not all need be there. Nil: none of them is.
func (r row) count(columns string, decimalComma bool) (*int64, error) {
	if columns == "" {
		return nil, nil
	}
	var sum *int64
	for term := range strings.SplitSeq(columns, " + ") {
		s := r.text(term)
		if s == "" {
			continue
		}
		v, err := number(s, decimalComma)
		if err != nil || v != math.Trunc(v) || v < 0 || v > maxCount {
			return nil, r.doubt(term, "%s is not a count", "%s 不是数量", strconv.Quote(short(s)))
		}
		n := int64(v)
		if sum != nil {
			n += *sum
		}
		sum = &n
	}
	return sum, nil
}

// span reads a duration: the column's name, a blank, and s or ms. What is below
// nothing is how a gateway says that it does not know.
func (r row) span(column string, decimalComma bool) (*time.Duration, error) {
	names, unit, _ := strings.Cut(column, " ")
	s := r.text(names)
	if s == "" {
		return nil, nil
	}
	v, err := number(s, decimalComma)
	if err != nil {
		return nil, r.doubt(names, "%s is not a duration", "%s 不是时长", strconv.Quote(short(s)))
	}
	scale := time.Millisecond
	if unit == "s" {
		scale = time.Second
	}
	if d := v * float64(scale); d >= 0 && d < float64(maxSpan) {
		whole := time.Duration(math.Round(d))
		return &whole, nil
	}
	return nil, nil
}

// No console counts beyond these, and sums of them stay exact.
const (
	maxCount = 1 << 40
	maxSpan  = 1000 * time.Hour
)

var (
	grouped  = regexp.MustCompile(`^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$`)
	groupedC = regexp.MustCompile(`^[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?$`)

	errNumber = errors.New("not a number")
)

// number reads a number with or without marks between thousands, in digits of
// any width. A lone comma is a decimal mark where it can be nothing else, or
// where the file writes decimals so.
func number(s string, decimalComma bool) (float64, error) {
	if v, err := strconv.ParseFloat(s, 64); err == nil && !(decimalComma && groupedC.MatchString(s)) {
		return finite(v)
	}
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \u00A0\u2009\u202F'’", r) {
			return -1
		}
		return r
	}, norm.NFKC.String(s))
	switch {
	case decimalComma && groupedC.MatchString(s), strings.Count(s, ",") == 1 && strings.LastIndex(s, ".") < strings.Index(s, ",") && (decimalComma || !grouped.MatchString(s)):
		s = strings.ReplaceAll(strings.ReplaceAll(s, ".", ""), ",", ".")
	case grouped.MatchString(s):
		s = strings.ReplaceAll(s, ",", "")
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, errNumber
	}
	return finite(v)
}

func finite(v float64) (float64, error) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, errNumber
	}
	return v, nil
}

// signs are how amounts tell their currency.
var signs = []struct{ sign, currency string }{
	{"US$", "USD"}, {"$", "USD"}, {"＄", "USD"}, {"USD", "USD"}, {"CNY", "CNY"}, {"RMB", "CNY"}, {"￥", "CNY"}, {"¥", "CNY"}, {"元", "CNY"}, {"€", "EUR"}, {"EUR", "EUR"}, {"£", "GBP"},
}

// money reads an amount in units of a currency, and the currency if it says so.
func money(s string, decimalComma bool) (units float64, currency string, err error) {
	for _, c := range signs {
		if i := strings.Index(s, c.sign); i >= 0 {
			s = s[:i] + s[i+len(c.sign):]
			currency = c.currency
			break
		}
	}
	units, err = number(strings.TrimSpace(s), decimalComma)
	return units, currency, err
}

// nano is an amount in billionths.
func nano(units float64) (int64, bool) {
	n := math.Round(units * 1e9)
	return int64(n), math.Abs(n) < 1<<62
}

// short is the beginning of a text that cannot be read, to be quoted. It is not
// long enough to hold much of anything.
func short(s string) string {
	const most = 24
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
