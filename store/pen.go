package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"

	"modernc.org/sqlite"
	sqlitelib "modernc.org/sqlite/lib"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// A pen writes exchanges over a connection of its own. It speaks to the driver
// itself, since database/sql takes long for the hundred values of a row.
type pen struct {
	conn driver.Conn
	x    exchange.Exchange // the one that is being written
	all  []*statement      // to be closed

	begin, commit, rollback *statement

	aloft    table // those under way
	exchange table // those that have ended
	prompt   table // what theirs have in common
	landed   *statement
}

// A table takes rows of pen.x. Nearly every row is new and has few columns, or
// those that most have: it is written as such, and if that fails, as it must be.
type table struct {
	narrow, wide *statement // narrow has less columns, and is nil where there is no use in that
	anew         *statement // for the row of an id that is there
}

// A statement of a pen is run with columns of pen.x as its parameters.
type statement struct {
	exec  driver.StmtExecContext
	close func() error
	cols  []cell
	rest  []cell // of its table, which it leaves NULL
	args  []driver.NamedValue
}

// A cell is a column of pen.x as it is written.
type cell struct {
	name  string
	value func() any
}

func newPen(ctx context.Context, dsn string) (p *pen, err error) {
	connector, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	p = new(pen)
	if p.conn, err = connector.Connect(ctx); err != nil {
		return nil, err
	}
	if err := p.prepareAll(ctx); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

func (p *pen) prepareAll(ctx context.Context) error {
	var errs []error
	prepare := func(text string, cols, rest []cell) *statement {
		s, err := p.prepare(ctx, text, cols, rest)
		errs = append(errs, err)
		return s
	}
	var stored []cell
	for _, c := range storedColumns(&p.x) {
		stored = append(stored, cell{c.name, c.value})
	}
	id, boundaries := stored[0], cell{"boundaries", func() any { return promptValue(p.x.Prompt) }}
	under, prompt := append(slices.Clip(stored), boundaries), []cell{id, boundaries}
	known, unknown := part(under, knownAloft)
	rare, usual := part(stored, rarelyKnown)

	p.begin = prepare("BEGIN IMMEDIATE", nil, nil)
	p.commit = prepare("COMMIT", nil, nil)
	p.rollback = prepare("ROLLBACK", nil, nil)
	p.aloft = table{
		narrow: prepare(insertInto("aloft", known), known, unknown),
		wide:   prepare(insertInto("aloft", under), under, nil),
		anew:   prepare(upsertInto("aloft", under), under, nil),
	}
	p.exchange = table{
		narrow: prepare(insertInto("exchange", usual), usual, rare),
		wide:   prepare(insertInto("exchange", stored), stored, nil),
		anew:   prepare(upsertInto("exchange", stored), stored, nil),
	}
	p.prompt = table{
		wide: prepare(insertInto("prompt", prompt), prompt, nil),
		anew: prepare(upsertInto("prompt", prompt), prompt, nil),
	}
	p.landed = prepare("DELETE FROM aloft WHERE id = ?", []cell{id}, nil)
	return errors.Join(errs...)
}

func (p *pen) prepare(ctx context.Context, text string, cols, rest []cell) (*statement, error) {
	prepared, err := p.conn.(driver.ConnPrepareContext).PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	s := &statement{exec: prepared.(driver.StmtExecContext), close: prepared.Close, cols: cols, rest: rest}
	for i := range cols {
		s.args = append(s.args, driver.NamedValue{Ordinal: i + 1})
	}
	p.all = append(p.all, s)
	return s, nil
}

func (p *pen) close() error {
	var errs []error
	for _, s := range p.all {
		errs = append(errs, s.close())
	}
	return errors.Join(append(errs, p.conn.Close())...)
}

// write writes rows, all or none. ctx ends the wait for another's lock; after
// that there is nothing to wait for.
func (p *pen) write(ctx context.Context, rows []*exchange.Exchange) error {
	if err := p.begin.run(ctx); err != nil {
		return err
	}
	err := p.putAll(rows)
	if err == nil {
		err = p.commit.run(context.Background())
	}
	if err != nil {
		// Some errors have ended the transaction already, so this may fail.
		_ = p.rollback.run(context.Background())
	}
	return err
}

func (p *pen) putAll(rows []*exchange.Exchange) error {
	for _, row := range rows {
		p.x = *row
		if err := p.put(); err != nil {
			return fmt.Errorf("exchange %q: %w", row.ID, err)
		}
	}
	return nil
}

// put writes x where it belongs. A row without a prompt, such as those of a list,
// leaves the one that is kept as it is.
func (p *pen) put() error {
	if p.x.Outcome == exchange.Open {
		return p.aloft.put()
	}
	if err := p.exchange.put(); err != nil {
		return err
	}
	if len(p.x.Prompt) > 0 {
		if err := p.prompt.put(); err != nil {
			return err
		}
	}
	return p.landed.run(context.Background())
}

func (t *table) put() error {
	s := t.wide
	if t.narrow != nil && t.narrow.fits() {
		s = t.narrow
	}
	err := s.run(context.Background())
	if isThere(err) {
		return t.anew.run(context.Background())
	}
	return err
}

// isThere says whether err is that the table has a row of that id.
func isThere(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) &&
		(e.Code() == sqlitelib.SQLITE_CONSTRAINT_UNIQUE || e.Code() == sqlitelib.SQLITE_CONSTRAINT_PRIMARYKEY)
}

// fits says whether s has all that there is to write.
func (s *statement) fits() bool {
	for _, c := range s.rest {
		if c.value() != nil {
			return false
		}
	}
	return true
}

func (s *statement) run(ctx context.Context) error {
	for i, c := range s.cols {
		s.args[i].Value = c.value()
	}
	_, err := s.exec.ExecContext(ctx, s.args)
	return err
}

// knownAloft are the columns that an exchange mostly has while it is under way.
var knownAloft = []string{
	"id", "started_at", "upstream", "key_id", "client", "session_id", "turn_id", "request_kind", "method", "path", "dialect",
	"model_requested", "outcome", "received_ms", "concurrency", "idle_before_ms", "boundaries",
}

// rarelyKnown are the columns that most exchanges do not have when they have ended.
var rarelyKnown = []string{
	"experiment", "experiment_step", "error", "gateway_request_id", "retry_group", "attempt", "cache_write_tokens",
	"dns_ms", "connect_ms", "tls_ms", "pool_wait_ms", "first_reasoning_ms", "first_tool_ms",
	"hidden_decode_ms", "unseen_decode_ms", "hosted_tool_ms", "hosted_before_first_ms", "hosted_before_answer_ms",
	"server_queue_ms", "server_prefill_ms", "server_decode_ms", "server_source", "service_tier", "note", "unread_events",
	"upload_lower_bound", "delivery_period_ms", "delivery_bytes", "choices", "changed_section", "changed_index",
	"seen_delivery", "seen_tpot_ms", "seen_tokens_per_sec", "seen_rate_quality", "seen_rate_last_over_first",
	"estimated_output_tokens",
}

// part parts the columns of these names from the others.
func part(cols []cell, named []string) (in, out []cell) {
	for _, c := range cols {
		if slices.Contains(named, c.name) {
			in = append(in, c)
		} else {
			out = append(out, c)
		}
	}
	return in, out
}

func insertInto(table string, cols []cell) string {
	var names []string
	for _, c := range cols {
		names = append(names, c.name)
	}
	return "INSERT INTO " + table + " (" + strings.Join(names, ", ") + ") VALUES (?" + strings.Repeat(", ?", len(cols)-1) + ")"
}

func upsertInto(table string, cols []cell) string {
	var sets []string
	for _, c := range cols {
		sets = append(sets, c.name+" = excluded."+c.name)
	}
	return insertInto(table, cols) + " ON CONFLICT (id) DO UPDATE SET " + strings.Join(sets, ", ")
}
