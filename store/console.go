package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// ConsoleRow is what a provider's console has of an exchange, as an audit found
// it. Counts are as the log counts; nil, or "", is what the console does not state.
type ConsoleRow struct {
	ExchangeID string
	KeptAt     time.Time
	Place      string // file and rows
	Class      string // what the audit found
	Model      string
	Key        string // its name on the console
	Input      *int64
	Cached     *int64
	CacheWrite *int64
	Output     *int64
	Reasoning  *int64
	Amount     string // exact decimal
	Currency   string
	MoneyKind  string
}

const upsertConsole = `
	INSERT INTO console (id, kept_at, place, class, model, key_name,
		input_tokens, cached_tokens, cache_write_tokens, output_tokens, reasoning_tokens, amount, currency, money_kind)
	SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM exchange WHERE id = ?)
	ON CONFLICT (id) DO UPDATE SET kept_at = excluded.kept_at, place = excluded.place, class = excluded.class,
		model = excluded.model, key_name = excluded.key_name, input_tokens = excluded.input_tokens,
		cached_tokens = excluded.cached_tokens, cache_write_tokens = excluded.cache_write_tokens,
		output_tokens = excluded.output_tokens, reasoning_tokens = excluded.reasoning_tokens,
		amount = excluded.amount, currency = excluded.currency, money_kind = excluded.money_kind`

// SaveConsole keeps the rows with their exchanges, all or none. What an earlier
// audit kept of an exchange gives way; a row whose exchange is gone is left out.
func (s *Store) SaveConsole(ctx context.Context, rows []ConsoleRow) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.conns().writer
	if s.closed || w == nil {
		return errors.New("save the console's rows: the log is not open for recording")
	}
	tx, err := w.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("save the console's rows: %w", err)
	}
	defer tx.Rollback()
	for _, r := range rows {
		_, err := tx.ExecContext(ctx, upsertConsole, r.ExchangeID, clock{&r.KeptAt}.value(), r.Place, r.Class, r.Model, r.Key,
			r.Input, r.Cached, r.CacheWrite, r.Output, r.Reasoning, r.Amount, r.Currency, r.MoneyKind, r.ExchangeID)
		if err != nil {
			return fmt.Errorf("save the console's row of exchange %q: %w", r.ExchangeID, err)
		}
	}
	return wrap(tx.Commit(), "save the console's rows")
}

// ConsoleRow is what was kept of an exchange, nil where nothing was.
func (s *Store) ConsoleRow(ctx context.Context, id string) (*ConsoleRow, error) {
	r := &ConsoleRow{ExchangeID: id}
	var kept any
	err := s.conns().reader.QueryRowContext(ctx, `
		SELECT kept_at, place, class, model, key_name, input_tokens, cached_tokens, cache_write_tokens, output_tokens,
			reasoning_tokens, amount, currency, money_kind FROM console WHERE id = ?`, id).Scan(
		&kept, &r.Place, &r.Class, &r.Model, &r.Key, &r.Input, &r.Cached, &r.CacheWrite, &r.Output,
		&r.Reasoning, &r.Amount, &r.Currency, &r.MoneyKind)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err == nil {
		err = clock{&r.KeptAt}.set(kept)
	}
	if err != nil {
		return nil, fmt.Errorf("the console's row of exchange %q: %w", id, err)
	}
	return r, nil
}
