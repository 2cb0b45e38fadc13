package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// Experiment is what is kept of one: what it was meant to be. Its exchanges are
// those that a Filter finds by its id.
type Experiment struct {
	ID        string // a ULID
	StartedAt time.Time
	EndedAt   *time.Time // nil while it runs, and for one that was killed
	Stopped   bool       // ended before its last request
	Plan      []byte     // JSON
}

// SaveExperiment inserts e, or updates the one whose id is there.
func (s *Store) SaveExperiment(ctx context.Context, e Experiment) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.conns().writer
	if s.closed || w == nil {
		return errors.New("save experiment: the log is not open for recording")
	}
	if e.EndedAt == nil {
		e.EndedAt = new(time.Time) // the zero time is NULL
	}
	_, err := w.ExecContext(ctx, `
		INSERT INTO experiment (id, started_at, ended_at, stopped, plan) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET ended_at = excluded.ended_at, stopped = excluded.stopped, plan = excluded.plan`,
		e.ID, clock{&e.StartedAt}.value(), clock{e.EndedAt}.value(), e.Stopped, string(e.Plan))
	return wrap(err, "save experiment")
}

const selectExperiment = "SELECT id, started_at, ended_at, stopped, plan FROM experiment "

// Experiment returns the one with this id. If there is none, the error wraps
// fs.ErrNotExist.
func (s *Store) Experiment(ctx context.Context, id string) (Experiment, error) {
	e, err := readExperiment(s.conns().reader.QueryRowContext(ctx, selectExperiment+"WHERE id = ?", id).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return Experiment{}, fmt.Errorf("experiment %q: %w", id, err)
	}
	return e, nil
}

// Experiments returns the newest ones, limit of them at most, the newest first.
func (s *Store) Experiments(ctx context.Context, limit int) ([]Experiment, error) {
	rows, err := s.conns().reader.QueryContext(ctx, selectExperiment+"ORDER BY id DESC LIMIT ?", limit)
	if err != nil {
		return nil, fmt.Errorf("read experiments: %w", err)
	}
	defer rows.Close()
	var all []Experiment
	for rows.Next() {
		e, err := readExperiment(rows.Scan)
		if err != nil {
			return nil, fmt.Errorf("read experiments: %w", err)
		}
		all = append(all, e)
	}
	return all, wrap(rows.Err(), "read experiments")
}

func readExperiment(scan func(...any) error) (e Experiment, err error) {
	var started, ended any
	if err := scan(&e.ID, &started, &ended, &e.Stopped, &e.Plan); err != nil {
		return Experiment{}, err
	}
	if ended != nil {
		e.EndedAt = new(time.Time)
		err = clock{e.EndedAt}.set(ended)
	}
	return e, errors.Join(err, clock{&e.StartedAt}.set(started))
}
