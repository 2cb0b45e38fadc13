package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Pages are those of a log's file.
type pages struct {
	size, count, free int64
	returnable        bool // free ones can be given back bit by bit
}

func (s *Store) pages(ctx context.Context) (p pages, err error) {
	var vacuum int
	err = s.conns().reader.QueryRowContext(ctx, `
		SELECT page_size, page_count, freelist_count, auto_vacuum
		FROM pragma_page_size, pragma_page_count, pragma_freelist_count, pragma_auto_vacuum`).Scan(&p.size, &p.count, &p.free, &vacuum)
	const incremental = 2
	p.returnable = vacuum == incremental
	return p, wrap(err, "look at the pages of the log")
}

// Shrink gives free pages of the file back to the system, in small steps as Delete
// does it, until only so many bytes of them are left; told gets how many bytes are
// left free, nil is fine. A log that an earlier version made has to be compacted
// once before that: its pages stay, to be filled again.
func (s *Store) Shrink(ctx context.Context, leave int64, told func(free int64)) error {
	p, err := s.pages(ctx)
	if err != nil || !p.returnable {
		return err
	}
	u, err := s.openUpkeep()
	if err != nil {
		return fmt.Errorf("shrink the log: %w", err)
	}
	for err == nil && p.free*p.size > leave {
		err = u.step(ctx, func(tx *sql.Tx, enough func() bool) (err error) {
			p.free, err = giveBack(ctx, tx, p.free, enough)
			return err
		})
		if told != nil && err == nil {
			told(p.free * p.size)
		}
	}
	return wrap(errors.Join(err, u.close()), "shrink the log")
}

// atOnce is how many pages are given back between two looks at the clock.
const atOnce = 8

// giveBack gives free pages back until it is enough, and returns how many are left.
func giveBack(ctx context.Context, tx *sql.Tx, free int64, enough func() bool) (int64, error) {
	for first := true; free > 0 && (first || !enough()); first = false {
		rows, err := tx.QueryContext(ctx, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", atOnce))
		if err != nil {
			return free, err
		}
		for rows.Next() { // each is a page
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return free, err
		}
		if err := tx.QueryRowContext(ctx, "PRAGMA freelist_count").Scan(&free); err != nil {
			return free, err
		}
	}
	return free, nil
}
