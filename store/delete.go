package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// idBatch is how many ids are read before their exchanges are deleted.
const idBatch = 500

// Delete deletes the ended exchanges of f with their prompts, and what is kept of
// experiments of which nothing is left then. It returns how many there were, with
// an error too. What is under way stays. It works in small steps, so that nobody
// who records waits for long, and calls told after each with the count so far;
// nil is fine.
func (s *Store) Delete(ctx context.Context, f Filter, told func(deleted int64)) (int64, error) {
	u, err := s.openUpkeep()
	if err != nil {
		return 0, fmt.Errorf("delete exchanges: %w", err)
	}
	d := deletion{upkeep: u, told: told}
	if f.Limit > 0 {
		err = d.some(ctx, f)
	} else {
		err = d.all(ctx, f)
	}
	if d.deleted > 0 && !f.isPast() {
		err = errors.Join(err, d.begin(context.WithoutCancel(ctx)))
	}
	return d.deleted, wrap(errors.Join(err, u.close()), "delete exchanges")
}

// isPast says whether f has all up to a time: without it, the log just begins
// later.
func (f Filter) isPast() bool {
	f.To = When{}
	return f == Filter{}
}

// A deletion is one under way.
type deletion struct {
	*upkeep
	told    func(int64)
	deleted int64
}

// all deletes what f has, the oldest first: those lie together.
func (d *deletion) all(ctx context.Context, f Filter) error {
	f.Sort, f.Order = "", "asc"
	for {
		ids, next, err := d.store.ids(ctx, f, idBatch)
		if err == nil {
			err = d.delete(ctx, ids)
		}
		if err != nil || next == "" {
			return err
		}
		f.Cursor = next
	}
}

// some deletes the first of f in its order. They are chosen before any goes.
func (d *deletion) some(ctx context.Context, f Filter) error {
	ids, _, err := d.store.ids(ctx, f, f.Limit)
	if err != nil {
		return err
	}
	return d.delete(ctx, ids)
}

// ids are those of the exchanges behind the cursor of f, limit of them at most,
// with the cursor of what follows.
func (s *Store) ids(ctx context.Context, f Filter, limit int) (ids []string, next string, err error) {
	next, err = s.readPart(ctx, f, Part{Columns: []string{"id", f.sortColumn()}, Rows: limit}, func(x *exchange.Exchange) error {
		ids = append(ids, x.ID)
		return nil
	})
	return ids, next, err
}

func (d *deletion) delete(ctx context.Context, ids []string) error {
	for len(ids) > 0 {
		err := d.step(ctx, func(tx *sql.Tx, enough func() bool) error {
			through, deleted, err := deleteSome(ctx, tx, ids, enough)
			ids, d.deleted = ids[through:], d.deleted+deleted
			return err
		})
		if err != nil {
			return err
		}
		if d.told != nil {
			d.told(d.deleted)
		}
	}
	return nil
}

// deleteSome deletes exchanges until it is enough, and says how many of the ids it
// is through with and how many exchanges these were: 0 with an error.
func deleteSome(ctx context.Context, tx *sql.Tx, ids []string, enough func() bool) (through int, deleted int64, err error) {
	statement, err := tx.PrepareContext(ctx, "DELETE FROM exchange WHERE id = ? RETURNING experiment")
	if err != nil {
		return 0, 0, err
	}
	defer statement.Close()
	experiments := map[string]bool{}
	for through < len(ids) && (through == 0 || !enough()) {
		var experiment sql.NullString
		switch err := statement.QueryRowContext(ctx, ids[through]).Scan(&experiment); {
		case err == nil:
			deleted++
		case !errors.Is(err, sql.ErrNoRows):
			return 0, 0, fmt.Errorf("exchange %q: %w", ids[through], err)
		}
		through++
		if experiment.Valid {
			experiments[experiment.String] = true
		}
	}
	if err := deleteEmpty(ctx, tx, experiments); err != nil {
		return 0, 0, err
	}
	return through, deleted, nil
}

// experimentMost is how long an experiment that has no exchange may yet be under
// way.
const experimentMost = 24 * time.Hour

// deleteEmpty deletes those of some experiments that have no exchange any more.
func deleteEmpty(ctx context.Context, tx *sql.Tx, ids map[string]bool) error {
	for id := range ids {
		_, err := tx.ExecContext(ctx, `
			DELETE FROM experiment WHERE id = ?1 AND (ended_at IS NOT NULL OR started_at < ?2)
			AND NOT EXISTS (SELECT 1 FROM exchange WHERE experiment = ?1)
			AND NOT EXISTS (SELECT 1 FROM aloft WHERE experiment = ?1)`, id, time.Now().Add(-experimentMost).UnixNano())
		if err != nil {
			return fmt.Errorf("experiment %q: %w", id, err)
		}
	}
	return nil
}
