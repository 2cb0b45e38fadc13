// Package large makes logs of very many exchanges for benchmarks. No part of the
// product imports it.
package large

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ttftap/ttftap/store"
)

// End is when a large log ends. One exchange begins each Step before it.
var End = time.Date(2026, 3, 14, 4, 0, 0, 0, time.UTC)

// Step is the time between the starts of two exchanges: a year has 10 million.
const Step = 3 * time.Second

// Rows is how many exchanges a large log has: what ROWS says, a million without.
func Rows() int {
	if n, err := strconv.Atoi(os.Getenv("ROWS")); err == nil {
		return n
	}
	return 1_000_000
}

// Log is the path of a log of about so many exchanges. It is made once and kept in
// the folder that TTFTAP_LARGE names, or made for this benchmark alone without one.
// Whoever changes it does so to a copy.
func Log(tb testing.TB, rows int) string {
	tb.Helper()
	folder := os.Getenv("TTFTAP_LARGE")
	if folder == "" {
		folder = tb.TempDir()
	}
	path := filepath.Join(folder, fmt.Sprintf("ttftap-%d.db", rows))
	if _, err := os.Stat(path); err == nil {
		return path
	}
	begun := time.Now()
	if err := makeLog(tb.Context(), path+".part", rows); err != nil {
		tb.Fatal(err)
	}
	_ = os.Remove(path + ".part.lock")
	if err := os.Rename(path+".part", path); err != nil {
		tb.Fatal(err)
	}
	tb.Logf("made a log of %d exchanges in %s", rows, time.Since(begun).Round(time.Second))
	return path
}

// block is how many exchanges are made one by one; the others are copies of these
// with ids and times of their own, made by SQLite itself: to record them would
// take longer than all that is measured.
const block = 2000

func makeLog(ctx context.Context, path string, rows int) error {
	s, err := store.Open(ctx, path)
	if err != nil {
		return err
	}
	if err := s.Save(ctx, ordinary(End.Add(-time.Duration(rows)*Step))); err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path)+
		"?_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)&_pragma=locking_mode(EXCLUSIVE)&_pragma=cache_size(-400000)")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if err := multiply(ctx, db, rows/block); err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "PRAGMA journal_mode = WAL")
	return err
}

// multiply makes copies of all that is there, as if it had gone on so.
func multiply(ctx context.Context, db *sql.DB, times int) error {
	for _, table := range []string{"exchange", "prompt"} {
		copies, columns, err := copied(ctx, db, table)
		if err != nil {
			return err
		}
		if _, err := db.ExecContext(ctx, "CREATE TEMP TABLE block AS SELECT * FROM main."+table); err != nil {
			return err
		}
		_, err = db.ExecContext(ctx, fmt.Sprintf(`
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
			INSERT INTO %s (%s) SELECT %s FROM n CROSS JOIN temp.block`, times-1, table, columns, copies))
		if err != nil {
			return err
		}
		if _, err := db.ExecContext(ctx, "DROP TABLE temp.block"); err != nil {
			return err
		}
	}
	return nil
}

// copied are the columns of a table and what the i-th copy has in them.
func copied(ctx context.Context, db *sql.DB, table string) (copies, columns string, err error) {
	rows, err := db.QueryContext(ctx, "SELECT name FROM pragma_table_info(?)", table)
	if err != nil {
		return "", "", err
	}
	defer rows.Close()
	var from, to []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return "", "", err
		}
		to = append(to, name)
		switch name {
		case "id":
			name = fmt.Sprintf("printf('01K%%011d%%s', substr(id, 4, 11) + i * %d, substr(id, 15))", block)
		case "started_at":
			name = fmt.Sprintf("started_at + i * %d", block*Step)
		case "session_id", "turn_id", "request_id", "response_id", "gateway_request_id":
			name += " || printf('%04x', i)"
		}
		from = append(from, name)
	}
	return strings.Join(from, ", "), strings.Join(to, ", "), rows.Err()
}
