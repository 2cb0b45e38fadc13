package store_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
	"github.com/ttftap/ttftap/store/large"
)

// BenchmarkBesideUpkeep records a row each 5 ms while another process would copy
// the log, delete from it, and give space back. What the lines tell is how long
// recording a row took.
func BenchmarkBesideUpkeep(b *testing.B) {
	log := large.Log(b, 100_000)
	for _, work := range []struct {
		name string
		do   func(b *testing.B, s *store.Store, path string) error
	}{
		{"nothing", func(b *testing.B, s *store.Store, path string) error { <-time.After(3 * time.Second); return nil }},
		{"backup", func(b *testing.B, s *store.Store, path string) error { return s.Backup(b.Context(), path+".copy", nil) }},
		{"delete the oldest", func(b *testing.B, s *store.Store, path string) error {
			return deleting(b, s, store.Filter{Order: "asc", Limit: 20_000})
		}},
		{"delete here and there", func(b *testing.B, s *store.Store, path string) error {
			return deleting(b, s, store.Filter{Model: "qwen3-coder", Order: "asc", Limit: 2_000})
		}},
		{"delete, and give space back", func(b *testing.B, s *store.Store, path string) error {
			if err := deleting(b, s, store.Filter{Order: "asc", Limit: 5_000}); err != nil {
				return err
			}
			return s.Shrink(b.Context(), 0, nil)
		}},
	} {
		b.Run(work.name, func(b *testing.B) { beside(b, copyOf(b, log), work.do) })
	}
}

// deleting deletes and reports how fast.
func deleting(b *testing.B, s *store.Store, f store.Filter) error {
	begun := time.Now()
	n, err := s.Delete(b.Context(), f, nil)
	b.ReportMetric(float64(n)/time.Since(begun).Seconds(), "deleted/s")
	return err
}

func beside(b *testing.B, path string, do func(*testing.B, *store.Store, string) error) {
	recorder, err := store.Open(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	defer recorder.Close()
	other, err := store.OpenBeside(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	defer other.Close()
	done := make(chan error)
	go func() { done <- do(b, other, path) }()
	var took []time.Duration
	for tick := time.Tick(5 * time.Millisecond); ; <-tick {
		select {
		case err := <-done:
			if err != nil {
				b.Fatal(err)
			}
			reportWaits(b, took)
			return
		default:
		}
		begun := time.Now()
		x := &exchange.Exchange{ID: fmt.Sprintf("02%024d", len(took)), StartedAt: begun, Outcome: exchange.OK}
		if err := recorder.Save(b.Context(), []*exchange.Exchange{x}); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begun))
	}
}

func reportWaits(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	at := func(share float64) float64 { return took[int(share*float64(len(took)-1))].Seconds() * 1e3 }
	b.ReportMetric(float64(len(took)), "rows")
	b.ReportMetric(at(0.5), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
	b.ReportMetric(at(1), "most-ms")
}

// copyOf is a copy of a log that may be changed.
func copyOf(b *testing.B, path string) string {
	b.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	path = filepath.Join(b.TempDir(), "log.db")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}
