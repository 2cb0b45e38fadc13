package store

import (
	"context"
	"time"
)

// Size is what a log holds and what it takes up.
type Size struct {
	Rows   int64      // exchanges, those under way included
	Open   int64      // of these, those under way, or left so by a process that was killed
	Oldest *time.Time // start of the oldest one; nil without one
	Newest *time.Time
	Months []Month // the oldest first; those without an exchange are left out

	Space
}

// Space is what the files of a log take up, in bytes.
type Space struct {
	File       int64 // the log itself, as it will be once all is copied into it
	WAL        int64 // what is written ahead of it
	Free       int64 // what of the file is free, to be filled again before it grows
	Returnable bool  // Shrink can give back what is free
}

// Month is a month of UTC.
type Month struct {
	Start time.Time
	Rows  int64 // exchanges that began in it
}

// Space looks at the files alone.
func (s *Store) Space(ctx context.Context) (Space, error) {
	p, err := s.pages(ctx)
	return Space{p.count * p.size, s.walSize(), p.free * p.size, p.returnable}, err
}

// Size looks at the log. It counts by index, ten million exchanges in a second or
// two.
func (s *Store) Size(ctx context.Context) (z Size, err error) {
	if z, err = s.held(ctx); err == nil {
		z.Space, err = s.Space(ctx)
	}
	return z, wrap(err, "look at the size of the log")
}

// held says what the log holds.
func (s *Store) held(ctx context.Context) (z Size, err error) {
	if z.Oldest, err = s.edge(ctx, "asc"); err != nil || z.Oldest == nil {
		return z, err
	}
	if z.Newest, err = s.edge(ctx, "desc"); err != nil || z.Newest == nil {
		return z, err
	}
	if z.Open, err = s.Count(ctx, Filter{Outcome: "open"}); err != nil {
		return z, err
	}
	first := time.Date(z.Oldest.Year(), z.Oldest.Month(), 1, 0, 0, 0, 0, time.UTC)
	for at := first; !at.After(*z.Newest); at = at.AddDate(0, 1, 0) {
		n, err := s.Count(ctx, Filter{From: When{Time: at}, To: When{Time: at.AddDate(0, 1, 0)}, IncludeOpen: true})
		if err != nil {
			return z, err
		}
		if z.Rows += n; n > 0 {
			z.Months = append(z.Months, Month{at, n})
		}
	}
	return z, nil
}

// edge is the start of the first exchange in an order of time, nil of none.
func (s *Store) edge(ctx context.Context, order string) (*time.Time, error) {
	page, err := s.List(ctx, Filter{Order: order, Limit: 1, IncludeOpen: true})
	if err != nil || len(page.Exchanges) == 0 {
		return nil, err
	}
	return &page.Exchanges[0].StartedAt, nil
}

// Tree is a table or an index of a log.
type Tree struct {
	Name  string // as SQLite has it
	Table string // that it belongs to, or is
	Bytes int64  // of all its pages
}

// Trees reads every page of the log and says what each of its tables and indexes
// takes up. That takes as long as to read the file; told is called with
// the name of each before it is looked through, and may be nil.
func (s *Store) Trees(ctx context.Context, told func(name string)) ([]Tree, error) {
	all, err := s.roots(ctx)
	if err != nil {
		return nil, wrap(err, "look through the log")
	}
	for i := range all {
		if told != nil {
			told(all[i].Name)
		}
		// One at a time, so that no read of the log takes longer than it must.
		err := s.conns().reader.QueryRowContext(ctx, "SELECT ifnull(sum(pgsize), 0) FROM dbstat WHERE name = ? AND aggregate = TRUE", all[i].Name).Scan(&all[i].Bytes)
		if err != nil {
			return nil, wrap(err, "look through the log")
		}
	}
	return all, nil
}

// roots are the tables and indexes of the log.
func (s *Store) roots(ctx context.Context) ([]Tree, error) {
	rows, err := s.conns().reader.QueryContext(ctx, "SELECT name, tbl_name FROM sqlite_schema WHERE rootpage > 0 ORDER BY rootpage")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []Tree
	for rows.Next() {
		var p Tree
		if err := rows.Scan(&p.Name, &p.Table); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, rows.Err()
}
