//go:build unix

package store_test

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// processor is the processor time of this process and of those that it ran.
func processor(b *testing.B) (all time.Duration) {
	b.Helper()
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var used unix.Rusage
		if err := unix.Getrusage(who, &used); err != nil {
			b.Fatal(err)
		}
		all += time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
	return all
}
