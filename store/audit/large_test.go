package audit

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// large is a log and its console of n requests, with every fiftieth row dropped,
// unless all are the same.
func large(n int, same, withIDs bool) ([]File, []Attempt) {
	r := rand.New(rand.NewPCG(1, 2))
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	w := &world{at: AtEnd, step: time.Second, clock: 1800 * time.Millisecond, file: File{Source: "made"}}
	for i := range n {
		in, out := int64(1840), int64(128)
		if !same {
			at = at.Add(time.Duration(r.IntN(20_000)) * time.Millisecond)
			in, out = r.Int64N(100_000), 32+r.Int64N(2000)
		}
		took := time.Duration(1+r.IntN(30_000)) * time.Millisecond
		a := Attempt{
			ID: fmt.Sprintf("x%07d", i), Start: at, End: at.Add(took), Total: &took, Upstream: "default", Outcome: exchange.OK,
			Models: []string{worldModels[i%2]}, Counts: Counts{Input: &in, Cached: new(in / 2), Output: &out},
		}
		if same {
			a.End, a.Models = at.Add(time.Second), worldModels[:1]
		}
		if withIDs {
			a.IDs[2] = fmt.Sprintf("request-%07d", i)
		}
		w.attempts = append(w.attempts, a)
		if i%50 != 49 {
			rec := w.row(a)
			rec.Line = i + 2
			w.file.Records = append(w.file.Records, rec)
		}
	}
	return []File{w.file}, w.attempts
}

func TestManyRowsAreComparedWithoutLosingOne(t *testing.T) {
	files, attempts := large(5000, false, false)
	r := Compare(files, attempts, Options{})
	of := make(map[Class]int)
	for _, n := range r.Counts {
		of[n.Class] = n.Exchanges
	}
	if of[OnlyLocal] < 98 || of[Matched] < 4800 || of[OnlyConsole]+of[TokensDiffer] > 0 {
		t.Errorf("of 5000 exchanges, 100 of which the console lacks: %v", of)
	}
	if r.Clock == nil || r.Clock.OffsetMS < 1500 || r.Clock.OffsetMS > 2100 {
		t.Errorf("the console's clock is 1.8 s ahead, found %+v", r.Clock)
	}
}

// Nothing tells 100,000 equal rows apart: that must be said, and soon.
func TestACrowdOfEqualRowsIsOneFinding(t *testing.T) {
	files, attempts := large(100_000, true, false)
	start := time.Now()
	r := Compare(files, attempts, Options{Log: Span{attempts[0].Start.Add(-time.Hour), attempts[0].Start.Add(time.Hour)}})
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
	if len(r.Counts) != 1 || r.Counts[0].Class != Ambiguous || r.Counts[0].Rows != 1 || r.Counts[0].Exchanges != len(attempts) {
		t.Errorf("want one crowd, got %+v", r.Counts)
	}
}

func BenchmarkCompare(b *testing.B) {
	for name, of := range map[string]struct{ same, ids bool }{"tokens": {}, "ids": {ids: true}, "equal": {same: true}} {
		b.Run(name, func(b *testing.B) {
			files, attempts := large(100_000, of.same, of.ids)
			peak := watch(b)
			for b.Loop() {
				Compare(files, attempts, Options{})
			}
			b.ReportMetric(float64(peak())/(1<<20), "peak-MB")
		})
	}
}

// watch tells the most memory that the heap took.
func watch(b *testing.B) func() uint64 {
	done, out := make(chan struct{}), make(chan uint64)
	go func() {
		var most uint64
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapSys)
			select {
			case <-done:
				out <- most
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return func() uint64 { close(done); return <-out }
}
