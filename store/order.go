package store

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// sortKeys are what a list may be sorted by: time, and columns by their name. No
// other word reaches SQL.
var sortKeys = []string{
	"time", "status", "prompt_tokens", "cached_tokens", "uncached_tokens", "output_tokens", "reasoning_tokens",
	"total_tokens", "network_ms", "first_byte_ms", "first_token_ms", "total_ms", "wait_ms", "queue_ms", "prefill_ms",
	"decode_ms", "excess_ms", "tpot_ms", "tokens_per_sec", "max_gap_ms", "stall_ms", "concurrency", "idle_before_ms",
	"request_bytes", "response_bytes",
}

const byTime = "started_at" // the one sort column that is never NULL

// sortColumn and descending are the order of f with its defaults.
func (f Filter) sortColumn() string {
	if f.Sort == "time" || !slices.Contains(sortKeys, f.Sort) {
		return byTime
	}
	return f.Sort
}

func (f Filter) descending() bool { return f.Order != "asc" }

// limit is the limit of f, or another one where it has none.
func (f Filter) limit(otherwise int) int {
	if f.Limit > 0 {
		return f.Limit
	}
	return otherwise
}

// orderBy sorts by the column, NULL last both ways, and by id, so that the order
// is total.
func (f Filter) orderBy() string {
	direction := " ASC"
	if f.descending() {
		direction = " DESC"
	}
	column := f.sortColumn() + direction
	if f.sortColumn() != byTime { // its index serves the plain form only
		column += " NULLS LAST"
	}
	return " ORDER BY " + column + ", id" + direction
}

// A position is a place in an order: behind the row with this value and id.
type position struct {
	Column string       `json:"c"`
	Desc   bool         `json:"d,omitempty"`
	Value  *json.Number `json:"v,omitempty"` // nil: among the rows without a value
	ID     string       `json:"i"`
}

var errNoCursor = errors.New("is no cursor of this list: start from the first page")

// position is the place where f goes on, the zero one if at the start.
func (f Filter) position() (position, error) {
	var p position
	if f.Cursor == "" {
		return p, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(f.Cursor)
	if err != nil || json.Unmarshal(text, &p) != nil {
		return position{}, errNoCursor
	}
	if p.ID == "" || p.Column != f.sortColumn() || p.Desc != f.descending() || p.Value == nil && p.Column == byTime {
		return position{}, errNoCursor
	}
	if _, err := p.number(); err != nil {
		return position{}, errNoCursor
	}
	return p, nil
}

// number is the value as SQLite has it: an integer where it is one, since
// nanoseconds do not fit a float.
func (p position) number() (any, error) {
	if p.Value == nil {
		return nil, nil
	}
	if n, err := p.Value.Int64(); err == nil {
		return n, nil
	}
	return p.Value.Float64()
}

// cursor is the position behind the row with this sort value and id.
func (f Filter) cursor(value any, id string) (string, error) {
	p := position{Column: f.sortColumn(), Desc: f.descending(), ID: id}
	if value != nil {
		number := json.Number(fmt.Sprint(value))
		p.Value = &number
	}
	text, err := json.Marshal(p)
	return base64.RawURLEncoding.EncodeToString(text), err
}

// after is the SQL condition for the rows behind p.
func (p position) after() (string, []any) {
	than := " > "
	if p.Desc {
		than = " < "
	}
	switch value, _ := p.number(); {
	case p.ID == "":
		return "TRUE", nil
	case value == nil:
		return p.Column + " IS NULL AND id" + than + "?", []any{p.ID}
	case p.Column == byTime:
		return "(started_at, id)" + than + "(?, ?)", []any{value, p.ID}
	default:
		return "(" + p.Column + than + "? OR " + p.Column + " = ? AND id" + than + "? OR " + p.Column + " IS NULL)",
			[]any{value, value, p.ID}
	}
}
