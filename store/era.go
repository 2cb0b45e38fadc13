package store

import (
	"context"
	"database/sql"
	"time"
)

// Era tells whether what was read of a log still stands. In another one it may
// lack exchanges that were deleted, or be of a file that was taken away. In the
// same one there may be new ones, and the oldest may be gone.
type Era struct {
	Renewed  int64  // how often the log was begun anew while it was open
	Deletion string // of something else than the oldest; "" before the first one
}

// Era returns the log's, with the start of its oldest exchange: nil without one.
func (s *Store) Era(ctx context.Context) (e Era, oldest *time.Time, err error) {
	var first sql.NullInt64
	e.Renewed = s.renewed.Load()
	err = s.conns().reader.QueryRowContext(ctx,
		"SELECT ifnull((SELECT hex(value) FROM setting WHERE name = 'deleted'), ''), (SELECT min(started_at) FROM exchange)").Scan(&e.Deletion, &first)
	if first.Valid {
		oldest = new(time.Unix(0, first.Int64).UTC())
	}
	return e, oldest, wrap(err, "look for what was deleted from the log")
}

// begin begins another era.
func (u *upkeep) begin(ctx context.Context) error {
	return u.step(ctx, func(tx *sql.Tx, _ func() bool) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO setting (name, value) VALUES ('deleted', randomblob(8)) ON CONFLICT DO UPDATE SET value = excluded.value")
		return err
	})
}
