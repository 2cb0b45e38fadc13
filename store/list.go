package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// Page is a part of a list.
type Page struct {
	Exchanges []*exchange.Exchange
	Next      string // the cursor of what follows, "" at the end
}

const (
	pageDefault = 100
	pageMost    = 1000
	eachBatch   = 500     // rows that Each holds at a time
	all         = 1 << 30 // rows: more than any log has
)

// Exchange returns the exchange with this id, the newest ended one for "last",
// with its prompt.
// If there is none, the error wraps fs.ErrNotExist.
func (s *Store) Exchange(ctx context.Context, id string) (*exchange.Exchange, error) {
	table, condition, args := everywhere, "id = ?", []any{id}
	if id == "last" {
		table, condition, args = "exchange", "TRUE", nil
	}
	d := newDecoder()
	row := s.conns().reader.QueryRowContext(ctx,
		d.selectFrom(table)+" WHERE "+condition+" ORDER BY started_at DESC, id DESC LIMIT 1", args...)
	err := d.scan(row.Scan)
	if errors.Is(err, sql.ErrNoRows) {
		err = fs.ErrNotExist
	}
	if err == nil {
		d.x.Prompt, err = s.prompt(ctx, d.x.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("exchange %q: %w", id, err)
	}
	return &d.x, nil
}

// List returns the page of f that begins at its cursor: its limit of rows, 100
// without one, 1000 at most.
func (s *Store) List(ctx context.Context, f Filter) (Page, error) {
	var page Page
	next, err := s.read(ctx, f, min(f.limit(pageDefault), pageMost), func(x *exchange.Exchange) error {
		kept := *x
		page.Exchanges = append(page.Exchanges, &kept)
		return nil
	})
	page.Next = next
	return page, err
}

// Each calls fn with every exchange of f in its order, f.Limit of them at most
// if that is set. Memory is constant: x is valid during the call only. By time,
// which is the default, it reads in short steps, so that a slow fn never keeps
// SQLite from recycling its write-ahead file; sorted otherwise it is one long
// read.
func (s *Store) Each(ctx context.Context, f Filter, fn func(x *exchange.Exchange) error) error {
	return s.eachPart(ctx, f, nil, fn)
}

// eachPart does the same with some columns alone: all without any.
func (s *Store) eachPart(ctx context.Context, f Filter, columns []string, fn func(x *exchange.Exchange) error) error {
	left := f.limit(all)
	if f.sortColumn() != byTime {
		_, err := s.readPart(ctx, f, Part{columns, left}, fn)
		return err
	}
	batch := make([]exchange.Exchange, 0, eachBatch)
	for {
		batch = batch[:0]
		next, err := s.readPart(ctx, f, Part{columns, min(left, eachBatch)}, func(x *exchange.Exchange) error {
			batch = append(batch, *x)
			return nil
		})
		if err != nil {
			return err
		}
		for i := range batch {
			if err := fn(&batch[i]); err != nil {
				return err
			}
		}
		left -= len(batch)
		if next == "" || left <= 0 {
			return nil
		}
		f.Cursor = next
	}
}

// read calls fn with the exchanges of f behind its cursor, limit of them at
// most, and returns the cursor of what follows.
func (s *Store) read(ctx context.Context, f Filter, limit int, fn func(*exchange.Exchange) error) (string, error) {
	return s.readPart(ctx, f, Part{Rows: limit}, fn)
}

// readPart does the same with some columns alone, among which has to be the one
// that f sorts by.
func (s *Store) readPart(ctx context.Context, f Filter, part Part, fn func(*exchange.Exchange) error) (string, error) {
	d := newDecoder(part.Columns...)
	rows, err := s.query(ctx, f, d, part.Rows+1)
	if err != nil {
		return "", fmt.Errorf("read exchanges: %w", err)
	}
	defer rows.Close()
	sort := slices.Index(names(d.cols), f.sortColumn())
	var value any
	for n := 0; rows.Next(); n++ {
		if n == part.Rows {
			return f.cursor(value, d.x.ID)
		}
		if err := d.scan(rows.Scan); err != nil {
			return "", fmt.Errorf("read exchanges: %w", err)
		}
		value = d.raw[sort]
		if err := fn(&d.x); err != nil {
			return "", err
		}
	}
	if err := rows.Err(); err != nil {
		return "", fmt.Errorf("read exchanges: %w", err)
	}
	return "", nil
}

func (s *Store) query(ctx context.Context, f Filter, d *decoder, limit int) (*sql.Rows, error) {
	if _, err := f.position(); err != nil {
		return nil, err
	}
	statement, args := f.statement(d.selectFrom(f.table()), limit)
	return s.conns().reader.QueryContext(ctx, statement, args...)
}

// Count returns how many exchanges f has, its limit and cursor left aside.
func (s *Store) Count(ctx context.Context, f Filter) (int64, error) {
	statement, args := f.count()
	var n int64
	err := s.conns().reader.QueryRowContext(ctx, statement, args...).Scan(&n)
	return n, wrap(err, "count exchanges")
}

// CountTo counts no further than to most, so that it takes no longer on a long log
// than on a short one where f is Indexed; more says whether there are more.
func (s *Store) CountTo(ctx context.Context, f Filter, most int64) (n int64, more bool, err error) {
	where, args := f.where()
	err = s.conns().reader.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT 1 FROM "+f.table()+" WHERE "+where+" LIMIT ?)",
		append(args, most+1)...).Scan(&n)
	return min(n, most), n > most, wrap(err, "count exchanges")
}

// count asks how many exchanges f has. Each table counts its own, so that an
// index alone can count those that have ended.
func (f Filter) count() (string, []any) {
	const counting = "SELECT count(*) FROM "
	where, args := f.where()
	if f.table() == everywhere {
		return "SELECT (" + counting + "exchange WHERE " + where + ") + (" + counting + "aloft WHERE " + where + ")", slices.Concat(args, args)
	}
	return counting + f.table() + " WHERE " + where, args
}

// Reach says how far back a search may go that looks at so many exchanges: from
// f's own start, or, where that lies farther, from the start of the oldest of
// them. Confined says whether it is the latter.
func (s *Store) Reach(ctx context.Context, f Filter, exchanges int) (from When, confined bool, err error) {
	where, args := Filter{From: f.From, To: f.To}.where()
	var at int64
	err = s.conns().reader.QueryRowContext(ctx, "SELECT started_at FROM exchange WHERE "+where+
		" ORDER BY started_at DESC LIMIT 1 OFFSET ?", append(args, exchanges-1)...).Scan(&at)
	if errors.Is(err, sql.ErrNoRows) {
		return f.From, false, nil
	}
	return When{Time: time.Unix(0, at).UTC()}, true, wrap(err, "read exchanges")
}

// Part is some columns of some rows.
type Part struct {
	Columns []string
	Rows    int // at most
}

// Newest calls fn with the newest exchanges of f, the newest first, in which only
// the columns of part are filled in. Where very many are read for little of each
// it takes a fraction of the time of Each. x is valid during the call only, what
// its pointers point at for good.
func (s *Store) Newest(ctx context.Context, f Filter, part Part, fn func(x *exchange.Exchange)) error {
	d := newDecoder(part.Columns...)
	where, args := f.where()
	rows, err := s.conns().reader.QueryContext(ctx, d.selectFrom(f.table())+" WHERE "+where+
		" ORDER BY started_at DESC, id DESC LIMIT ?", append(args, part.Rows)...)
	if err != nil {
		return fmt.Errorf("read exchanges: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := d.scan(rows.Scan); err != nil {
			return fmt.Errorf("read exchanges: %w", err)
		}
		fn(&d.x)
	}
	return wrap(rows.Err(), "read exchanges")
}

// A decoder reads rows of stored columns into one exchange, over and over.
type decoder struct {
	x    exchange.Exchange
	cols []column
	raw  []any // the row as SQLite gave it
	dest []any // pointers into raw
}

// newDecoder reads the columns of these names, all without any.
func newDecoder(names ...string) *decoder {
	d := new(decoder)
	d.cols = storedColumns(&d.x)
	if len(names) > 0 {
		d.cols = slices.DeleteFunc(d.cols, func(c column) bool { return !slices.Contains(names, c.name) })
	}
	d.raw, d.dest = make([]any, len(d.cols)), make([]any, len(d.cols))
	for i := range d.raw {
		d.dest[i] = &d.raw[i]
	}
	return d
}

func (d *decoder) selectFrom(table string) string {
	return "SELECT " + strings.Join(names(d.cols), ", ") + " FROM " + table
}

func (d *decoder) scan(from func(dest ...any) error) error {
	if err := from(d.dest...); err != nil {
		return err
	}
	for i, c := range d.cols {
		if err := c.set(d.raw[i]); err != nil {
			return fmt.Errorf("column %s: %w", c.name, err)
		}
	}
	return nil
}
