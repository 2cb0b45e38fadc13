//go:build linux || darwin

package proxy

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// hungUp says whether the peer has closed its side of an idle connection.
func hungUp(raw syscall.RawConn) bool {
	closed := false
	if raw != nil {
		_ = raw.Control(func(fd uintptr) {
			var b [1]byte
			n, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
			closed = n == 0 && err == nil || err == unix.ECONNRESET
		})
	}
	return closed
}
