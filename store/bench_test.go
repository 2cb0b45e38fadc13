package store

import (
	"fmt"
	"io"
	"testing"
)

func BenchmarkSave(b *testing.B) {
	for _, size := range []int{1, 100, 250} {
		b.Run(fmt.Sprintf("%d rows a transaction", size), func(b *testing.B) {
			s := openTemp(b)
			next := 0
			for b.Loop() {
				b.StopTimer()
				rows := typicals(next, size)
				next += size
				b.StartTimer()
				if err := s.Save(b.Context(), rows); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(next)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

func BenchmarkWriteCSV(b *testing.B) {
	const rows = 20_000
	s := openTemp(b)
	save(b, s, typicals(0, rows)...)
	for b.Loop() {
		if err := s.WriteCSV(b.Context(), io.Discard, Filter{}, false); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
}
