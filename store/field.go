package store

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// A field carries one value between an exchange, SQLite and text. Nil, or the
// empty string, is NULL in SQLite and nothing at all as text.
type field interface {
	sqlType() string        // "" if it is derived from others and not stored
	isText() bool           // free text, or a time: quoted in JSON
	value() any             // for SQLite
	set(v any) error        // from SQLite
	append(b []byte) []byte // as text
}

// read asserts that SQLite gave a T, or NULL.
func read[T any](v any) (*T, error) {
	if v == nil {
		return nil, nil
	}
	t, ok := v.(T)
	if !ok {
		return nil, fmt.Errorf("want %T, got %T", t, v)
	}
	return &t, nil
}

// text is a string of any kind. What is no UTF-8 is repaired on its way in, so
// that every way out may rely on it.
type text[T ~string] struct{ p *T }

func (f text[T]) sqlType() string        { return "TEXT" }
func (f text[T]) isText() bool           { return true }
func (f text[T]) append(b []byte) []byte { return append(b, *f.p...) }

func (f text[T]) value() any {
	if *f.p == "" {
		return nil
	}
	return strings.ToValidUTF8(string(*f.p), "\uFFFD")
}

func (f text[T]) set(v any) error {
	s, err := read[string](v)
	*f.p = ""
	if s != nil {
		*f.p = T(*s)
	}
	return err
}

type integer struct{ p **int64 }

func (f integer) sqlType() string { return "INTEGER" }
func (f integer) isText() bool    { return false }

func (f integer) value() any {
	if *f.p == nil {
		return nil
	}
	return **f.p
}

func (f integer) set(v any) (err error) {
	*f.p, err = read[int64](v)
	return err
}

func (f integer) append(b []byte) []byte {
	if *f.p == nil {
		return b
	}
	return strconv.AppendInt(b, **f.p, 10)
}

// boolean is 0 or 1 in SQLite, false or true as text.
type boolean struct{ p **bool }

func (f boolean) sqlType() string { return "INTEGER" }
func (f boolean) isText() bool    { return false }

func (f boolean) value() any {
	if *f.p == nil {
		return nil
	}
	return **f.p
}

func (f boolean) set(v any) error {
	n, err := read[int64](v)
	*f.p = nil
	if n != nil {
		yes := *n != 0
		*f.p = &yes
	}
	return err
}

func (f boolean) append(b []byte) []byte {
	if *f.p == nil {
		return b
	}
	return strconv.AppendBool(b, **f.p)
}

// real is a number that is no time. As text it has at most six decimals; NaN
// and the infinities, which nobody can have measured, are NULL.
type real struct{ p **float64 }

func (f real) sqlType() string { return "REAL" }
func (f real) isText() bool    { return false }

func (f real) value() any {
	if *f.p == nil || math.IsNaN(**f.p) || math.IsInf(**f.p, 0) {
		return nil
	}
	return **f.p
}

func (f real) set(v any) (err error) {
	*f.p, err = read[float64](v)
	return err
}

func (f real) append(b []byte) []byte {
	v, ok := f.value().(float64)
	if !ok {
		return b
	}
	if math.Abs(v) < 1e9 { // beyond, a float has no six decimals to round to
		v = math.Round(v*1e6)/1e6 + 0 // + 0: no minus before a zero
	}
	return strconv.AppendFloat(b, v, 'f', -1, 64)
}

// ms is a duration: milliseconds, exact to the microsecond, with three decimals
// as text.
type ms struct{ p **time.Duration }

func (f ms) sqlType() string { return "REAL" }
func (f ms) isText() bool    { return false }

func (f ms) value() any {
	if *f.p == nil {
		return nil
	}
	return milliseconds(**f.p)
}

func (f ms) set(v any) error {
	n, err := read[float64](v)
	*f.p = nil
	if n != nil {
		d := time.Duration(math.Round(*n*1e3)) * time.Microsecond
		*f.p = &d
	}
	return err
}

func (f ms) append(b []byte) []byte {
	if *f.p == nil {
		return b
	}
	return strconv.AppendFloat(b, milliseconds(**f.p), 'f', 3, 64)
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)/time.Microsecond) / 1e3
}

// clock is a wall-clock time: nanoseconds since 1970 in SQLite, so that order
// and ranges are exact; UTC with milliseconds as text.
type clock struct{ p *time.Time }

func (f clock) sqlType() string { return "INTEGER" }
func (f clock) isText() bool    { return true }

func (f clock) value() any {
	if f.p.IsZero() {
		return nil
	}
	return f.p.UnixNano()
}

func (f clock) set(v any) error {
	n, err := read[int64](v)
	*f.p = time.Time{}
	if n != nil {
		*f.p = time.Unix(0, *n).UTC()
	}
	return err
}

func (f clock) append(b []byte) []byte { return appendTime(b, *f.p) }

// ended is the time of the end, which follows from the start and the total.
type ended struct{ x *exchange.Exchange }

func (f ended) sqlType() string        { return "" }
func (f ended) isText() bool           { return true }
func (f ended) value() any             { return nil }
func (f ended) set(any) error          { return nil }
func (f ended) append(b []byte) []byte { return appendTime(b, f.x.EndedAt()) }

func appendTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return b
	}
	return t.UTC().AppendFormat(b, "2006-01-02T15:04:05.000Z")
}
