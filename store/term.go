package store

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// modelSQL is the model that served, else the one asked for, as indexed.
const modelSQL = "ifnull(model_served, model_requested)"

// A term is one name of a filter: how its value is read, written, and asked of
// SQLite and of an exchange in hand. A term without a condition only shapes the
// list.
type term struct {
	name  string
	set   func(string) error
	text  string // the value now, "" if it is not set
	where string
	args  []any
	holds func(*Subject) bool // the same as where
}

// terms lists the names of a filter, once for parsing, for links and for SQL.
func (f *Filter) terms(now time.Time) []term {
	return []term{
		point("from", &f.From, now).ranges("started_at >= ?", func(at, from time.Time) bool { return !at.Before(from) }),
		point("to", &f.To, now).ranges("started_at < ?", time.Time.Before),
		word("upstream", &f.Upstream).is("upstream", func(s *Subject) string { return s.Upstream }),
		word("model", &f.Model).is(modelSQL, func(s *Subject) string { return s.Model }),
		oneOf("bound", &f.Bound, exchange.Bounds).is("bound", func(s *Subject) string { return string(s.Bound) }),
		word("cause", &f.Cause).is("cause", func(s *Subject) string { return s.Cause }),
		oneOf("outcome", &f.Outcome, exchange.Outcomes).is("outcome", func(s *Subject) string { return string(s.Outcome) }),
		word("session", &f.Session).is("session_id", func(s *Subject) string { return s.Session }),
		word("turn", &f.Turn).is("turn_id", func(s *Subject) string { return s.Turn }),
		word("client", &f.Client).begins("client", func(s *Subject) string { return s.Client }),
		word("key", &f.Key).is("key_id", func(s *Subject) string { return s.Key }),
		word("experiment", &f.Experiment).is("experiment", func(s *Subject) string { return s.Experiment }),
		atLeast("min_first_token_ms", &f.MinFirstTokenMS).in("first_token_ms", func(s *Subject) *float64 { return floatMS(s.FirstToken) }),
		atLeast("min_prompt_tokens", &f.MinPromptTokens).in("prompt_tokens", func(s *Subject) *float64 { return float(s.PromptTokens) }),
		atLeast("min_excess_ms", &f.MinExcessMS).in("excess_ms", func(s *Subject) *float64 { return floatMS(s.Excess) }),
		search("q", &f.Search),
		oneOf("sort", &f.Sort, sortKeys),
		oneOf("order", &f.Order, []string{"asc", "desc"}),
		count("limit", &f.Limit),
		word("cursor", &f.Cursor),
	}
}

// wordMost is how long a value may be: SQLite takes no pattern that is much longer.
const wordMost = 1000

func word[T ~string](name string, p *T) term {
	set := func(s string) error {
		switch {
		case len(s) > wordMost:
			return fmt.Errorf("is longer than %d bytes", wordMost)
		case strings.ContainsRune(s, 0) || !utf8.ValidString(s):
			return errors.New("is no text")
		}
		*p = T(s)
		return nil
	}
	return term{name: name, set: set, text: string(*p)}
}

func oneOf[T ~string](name string, p *T, allowed []T) term {
	t := word(name, p)
	t.set = func(s string) error {
		if !slices.Contains(allowed, T(s)) {
			return fmt.Errorf("is not one of %s", listed(allowed))
		}
		*p = T(s)
		return nil
	}
	return t
}

func listed[T ~string](words []T) string {
	var all []string
	for _, w := range words {
		all = append(all, string(w))
	}
	return strings.Join(all, ", ")
}

// is asks for the rows whose expression, of is the same of a subject, equals the
// value.
func (t term) is(expression string, of func(*Subject) string) term {
	t.where, t.args = expression+" = ?", []any{t.text}
	t.holds = func(s *Subject) bool { return of(s) == t.text }
	return t
}

// begins asks for the rows whose column begins with the value, in any case.
func (t term) begins(column string, of func(*Subject) string) term {
	t.where, t.args = column+like, []any{escape.Replace(t.text) + "%"}
	t.holds = func(s *Subject) bool { return Begins(of(s), t.text) }
	return t
}

const like = ` LIKE ? ESCAPE '\'`

var escape = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// Begins says whether a value begins with a prefix as filters compare them: in any
// case of the ASCII letters, as SQLite's LIKE does.
func Begins(s, prefix string) bool {
	return len(s) >= len(prefix) && lower(s[:len(prefix)]) == lower(prefix)
}

// lower folds the ASCII letters.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}

func search(name string, p *string) term {
	t := word(name, p)
	pattern := escape.Replace(t.text)
	conditions := []string{"error" + like}
	t.args = []any{"%" + pattern + "%"}
	for _, id := range []string{"id", "request_id", "response_id", "gateway_request_id", "session_id", "turn_id"} {
		conditions = append(conditions, id+like)
		t.args = append(t.args, pattern+"%")
	}
	t.where = "(" + strings.Join(conditions, " OR ") + ")"
	folded := lower(t.text)
	t.holds = func(s *Subject) bool {
		ids := []string{s.ID, s.RequestID, s.ResponseID, s.GatewayRequestID, s.Session, s.Turn}
		return s.Error != "" && strings.Contains(lower(s.Error), folded) ||
			slices.ContainsFunc(ids, func(id string) bool { return id != "" && Begins(id, t.text) })
	}
	return t
}

func atLeast(name string, p **float64) term {
	t := term{name: name}
	if *p != nil {
		t.text, t.args = strconv.FormatFloat(**p, 'f', -1, 64), []any{**p}
	}
	t.set = func(s string) error {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return errors.New("is no number")
		}
		*p = &v
		return nil
	}
	return t
}

// in asks for the rows whose column has at least the value.
func (t term) in(column string, of func(*Subject) *float64) term {
	t.where = column + " >= ?"
	if len(t.args) > 0 {
		least := t.args[0].(float64)
		t.holds = func(s *Subject) bool { v := of(s); return v != nil && *v >= least }
	}
	return t
}

func float(n *int64) *float64 {
	if n == nil {
		return nil
	}
	return new(float64(*n))
}

func floatMS(d *time.Duration) *float64 {
	if d == nil {
		return nil
	}
	return new(milliseconds(*d))
}

func count(name string, p *int) term {
	t := term{name: name}
	if *p > 0 {
		t.text = strconv.Itoa(*p)
	}
	t.set = func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return errors.New("is not a whole number from 1 on")
		}
		*p = n
		return nil
	}
	return t
}

func point(name string, p *When, now time.Time) term {
	t := term{name: name, text: p.text(), args: []any{p.UnixNano()}}
	t.set = func(s string) error {
		w, err := parseWhen(s, now)
		if err == nil {
			*p = w
		}
		return err
	}
	return t
}

// ranges asks for the rows that started on one side of a point in time.
func (t term) ranges(where string, beside func(at, point time.Time) bool) term {
	t.where = where
	limit := time.Unix(0, t.args[0].(int64))
	t.holds = func(s *Subject) bool { return beside(s.StartedAt, limit) }
	return t
}

func (w When) text() string {
	if w.Text == "" && !w.IsZero() {
		return w.Format(time.RFC3339Nano)
	}
	return w.Text
}

// parseWhen reads RFC 3339, shorter forms of it as UTC, or "-2h", "-30d" from
// now. A plus sign that a query turned into a space is put back.
func parseWhen(s string, now time.Time) (When, error) {
	s = strings.ReplaceAll(s, " ", "+")
	if ago, ok := strings.CutPrefix(s, "-"); ok {
		d, err := ParseSpan(ago)
		if err != nil {
			return When{}, errNoTime
		}
		return When{now.Add(-d), s}, nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04", "2006-01-02"} {
		t, err := time.Parse(layout, s)
		if err == nil && 1970 <= t.Year() && t.Year() < 2262 {
			return When{t, s}, nil
		}
	}
	return When{}, errNoTime
}

var errNoTime = errors.New("is no time: want 2026-11-30T16:41:00Z, or -2h or -30d for back from now")

var errNoSpan = errors.New("is no span of time: want 30d, 12h or 1d12h")

// ParseSpan reads a duration that may begin with days: 30d, 1d12h, 2h30m.
func ParseSpan(s string) (time.Duration, error) {
	var days time.Duration
	if n, rest, ok := strings.Cut(s, "d"); ok {
		count, err := strconv.ParseUint(n, 10, 14)
		if err != nil {
			return 0, errNoSpan
		}
		days, s = time.Duration(count)*24*time.Hour, rest+"0s"
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d > 16384*24*time.Hour {
		return 0, errNoSpan
	}
	return days + d, nil
}

// FormatSpan writes a duration as ParseSpan reads it, whole days as such.
func FormatSpan(d time.Duration) string {
	if day := 24 * time.Hour; d > 0 && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	return d.String()
}
