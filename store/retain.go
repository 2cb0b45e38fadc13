package store

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"time"
)

// Retention is what a log keeps of what has ended. The zero value keeps all.
type Retention struct {
	Keep    time.Duration // since the start of an exchange; 0: for ever
	MaxRows int64         // the newest so many; 0: any number
}

const (
	retainEach  = time.Minute
	retainShare = 100 // of the time, at most one part goes into looking for what may go
)

// Retain deletes what need not be kept, now and then until ctx ends. Space that
// becomes free is filled again; where it is more than a quarter of the file, it is
// given back. Failures are told to log, once until it works again.
func (s *Store) Retain(ctx context.Context, r Retention, log *slog.Logger) {
	failing := false
	for ctx.Err() == nil {
		begun := time.Now()
		cut, err := s.cut(ctx, r, begun)
		pause := max(retainEach, retainShare*time.Since(begun))
		if err == nil {
			err = s.deleteBefore(ctx, cut, log)
		}
		if err != nil && !failing && ctx.Err() == nil {
			log.Error("what need not be kept cannot be deleted; it is tried again", "error", err)
		}
		failing = err != nil
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

func (s *Store) deleteBefore(ctx context.Context, cut When, log *slog.Logger) error {
	if cut.IsZero() {
		return nil
	}
	n, err := s.Delete(ctx, Filter{To: cut}, nil)
	if n > 0 {
		log.Debug("deleted what need not be kept", "exchanges", n, "before", cut.UTC().Format(time.RFC3339))
	}
	if err != nil {
		return err
	}
	p, err := s.pages(ctx)
	if err == nil && p.free > p.count/4 {
		err = s.Shrink(ctx, p.count*p.size/8, nil)
	}
	return err
}

// cut is the time of which r keeps all that is not before it, zero for all.
func (s *Store) cut(ctx context.Context, r Retention, now time.Time) (When, error) {
	var cut When
	if r.Keep > 0 {
		cut.Time = now.Add(-r.Keep)
	}
	if r.MaxRows <= 0 {
		return cut, nil
	}
	switch nth, err := s.newest(ctx, r.MaxRows); {
	case err != nil:
		return When{}, err
	case nth.After(cut.Time):
		cut.Time = nth
	}
	return cut, nil
}

// newest is the start of the n-th newest exchange, zero if there are fewer. There
// are no more than the row numbers span, so that mostly nothing has to be counted.
func (s *Store) newest(ctx context.Context, n int64) (time.Time, error) {
	var span, at int64
	reader := s.conns().reader
	err := reader.QueryRowContext(ctx, "SELECT ifnull((SELECT max(rowid) FROM exchange) - (SELECT min(rowid) FROM exchange) + 1, 0)").Scan(&span)
	if err == nil && span <= n {
		return time.Time{}, nil
	}
	if err == nil {
		err = reader.QueryRowContext(ctx, "SELECT started_at FROM exchange ORDER BY started_at DESC LIMIT 1 OFFSET ?", n-1).Scan(&at)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, nil
	}
	return time.Unix(0, at).UTC(), wrap(err, "count exchanges")
}
