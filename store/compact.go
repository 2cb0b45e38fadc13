package store

import (
	"context"
	"errors"
)

// Compact writes the file anew without what is free in it, and so that from then
// on free space can be given back bit by bit. Nobody else can record meanwhile; it
// takes the room of the log once more on the disk, and longer than to copy it.
func (s *Store) Compact(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.conns().writer
	if s.closed || w == nil {
		return errors.New("compact the log: it is not open for recording")
	}
	for _, statement := range []string{"PRAGMA auto_vacuum = INCREMENTAL", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if _, err := w.ExecContext(ctx, statement); err != nil {
			return wrap(err, "compact the log")
		}
	}
	return nil
}
