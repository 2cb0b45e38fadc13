//go:build unix

package store

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// BenchmarkRecord tells what the log takes of an exchange: the processor time of
// its row as it begins and as it ends, all threads and the collector included.
// Requests come one after the other, or 2,000 a second from 32 clients.
func BenchmarkRecord(b *testing.B) {
	for _, clients := range []int{1, 32} {
		b.Run(fmt.Sprintf("%d at once", clients), func(b *testing.B) {
			s := openAt(b, filepath.Join(b.TempDir(), "log.db"))
			r := newRecorder(s)
			traffic := make(chan *exchange.Exchange)
			var all sync.WaitGroup
			for range clients {
				all.Go(func() {
					for x := range traffic {
						r.live(x, clients > 1)
					}
				})
			}
			begin, next := processorTime(b), 0
			for b.Loop() {
				x := prompted(next)
				traffic <- x
				next++
			}
			close(traffic)
			all.Wait()
			closed(b, r)
			b.ReportMetric(float64((processorTime(b)-begin).Microseconds())/float64(next), "cpu-us/exchange")
			if state := r.State(); state.Late > 0 || state.Lost > 0 {
				b.Logf("%d were late, %d lost", state.Late, state.Lost)
			}
		})
	}
}

// live records x as it begins, waits for its row before the first byte, and
// records it as it ends. A paced one takes as long as a fast model.
func (r *Recorder) live(x *exchange.Exchange, paced bool) {
	answer, end := time.After(0), time.After(0)
	if paced {
		answer, end = time.After(2*time.Millisecond), time.After(16*time.Millisecond)
	}
	wait := r.Record(opening(x))
	<-answer
	wait()
	<-end
	r.Record(x)
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
