//go:build unix

package large

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Processor is the processor time of this process and of those that it ran.
func Processor(tb testing.TB) (all time.Duration) {
	tb.Helper()
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var used unix.Rusage
		if err := unix.Getrusage(who, &used); err != nil {
			tb.Fatal(err)
		}
		all += time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
	return all
}
