package store_test

import (
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ttftap/ttftap/store"
	"github.com/ttftap/ttftap/store/large"
)

// BenchmarkLargeCSV exports the oldest exchanges of a large log, in the order of
// time, and has the sqlite3 command do the same with the same columns where there
// is one. What the lines tell is rows/s and, of the processor, us/row.
func BenchmarkLargeCSV(b *testing.B) {
	const rows = 200_000
	path := large.Log(b, large.Rows())
	s, err := store.OpenReader(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	b.Run("ttftap", func(b *testing.B) {
		perRow(b, rows, func() error {
			return s.WriteCSV(b.Context(), io.Discard, store.Filter{Order: "asc", Limit: rows}, false)
		})
	})
	b.Run("sqlite3", func(b *testing.B) {
		if _, err := exec.LookPath("sqlite3"); err != nil {
			b.Skip(err)
		}
		stored := strings.Replace(strings.Join(store.Columns(), ", "), "ended_at, ", "", 1) // follows from others
		perRow(b, rows, func() error {
			return exec.Command("sqlite3", "-readonly", "-csv", "-header", path, "SELECT "+stored+" FROM exchange ORDER BY started_at, id LIMIT 200000").Run()
		})
	})
}

// perRow reports how fast fn gets through so many rows.
func perRow(b *testing.B, rows int, fn func() error) {
	begun := large.Processor(b)
	start := time.Now()
	for b.Loop() {
		if err := fn(); err != nil {
			b.Fatal(err)
		}
	}
	all := float64(rows * b.N)
	b.ReportMetric(all/time.Since(start).Seconds(), "rows/s")
	b.ReportMetric(float64((large.Processor(b)-begun).Microseconds())/all, "cpu-us/row")
}

// BenchmarkLargeStart opens a large log to record into it, and closes it.
func BenchmarkLargeStart(b *testing.B) {
	path := large.Log(b, large.Rows())
	for b.Loop() {
		s, err := store.Open(b.Context(), path)
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
