package store

import (
	"testing"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// rowMost is what a row may take on the disk with its indexes, in bytes; what a
// prompt has in common with others is apart.
const rowMost = 1600

func TestARowTakesLittleOnTheDisk(t *testing.T) {
	const rows = 4000
	if got := rowSize(t, rows); got > rowMost {
		t.Errorf("a row takes %.0f bytes, want %d at most", got, rowMost)
	}
}

// BenchmarkRowSize tells what a row of a log of a million takes on the disk.
func BenchmarkRowSize(b *testing.B) {
	size := 0.0
	for b.Loop() {
		size = rowSize(b, 1_000_000)
	}
	b.ReportMetric(size, "bytes/row")
	b.ReportMetric(0, "ns/op")
}

// reason is as long as they get; in the middle they have two thirds of that.
const reason = "4.15 s of decode, 81 % of the time to the last token: 300 tokens at 72.3 tokens/s, which is usual for this model " +
	"(71.9 tokens/s in the middle of its last 412 exchanges). Of the 0.93 s before the first token, prefill of 1,000 uncached " +
	"input tokens took about 0.41 s and what is fixed 0.37 s (network 15 ms)."

// rowSize is what a row takes with its indexes in a log of n, written as under
// load: each begins and ends, those that end at a time together.
func rowSize(t testing.TB, n int) float64 {
	t.Helper()
	s := openTemp(t)
	const group = 50
	for first := 0; first < n; first += group {
		var begun, ended []*exchange.Exchange
		for i := range group {
			x := prompted(first + i)
			x.Reason = reason[:len(reason)*(1+i%3)/3]
			begun, ended = append(begun, opening(x)), append(ended, x)
		}
		save(t, s, begun...)
		save(t, s, ended...)
	}
	var bytes float64
	err := s.conns().reader.QueryRow(`
		SELECT sum(pgsize) FROM dbstat WHERE aggregate = 1 AND name IN (SELECT name FROM sqlite_schema WHERE tbl_name IN ('exchange', 'aloft'))`).Scan(&bytes)
	if err != nil {
		t.Fatal(err)
	}
	return bytes / float64(n)
}
