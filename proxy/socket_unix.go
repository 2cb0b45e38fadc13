//go:build linux || darwin

package proxy

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// hungUp says whether the peer has closed its side of an idle connection. Over TLS
// it says so in a record of its own; nothing else can come while nothing is asked.
func hungUp(raw syscall.RawConn, secure bool) bool {
	closed := false
	if raw != nil {
		_ = raw.Control(func(fd uintptr) {
			var b [1]byte
			n, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
			closed = err == nil && (n == 0 || secure) || err == unix.ECONNRESET
		})
	}
	return closed
}
