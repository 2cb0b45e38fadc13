package proxy

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// kernelRTT is the lowest round trip that TCP has measured on a socket, nil
// where it has none.
func kernelRTT(raw syscall.RawConn) *time.Duration {
	if raw == nil {
		return nil
	}
	var rtt *time.Duration
	_ = raw.Control(func(fd uintptr) {
		t, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		if err == nil && t.Min_rtt > 0 && t.Min_rtt < 1<<31 {
			d := time.Duration(t.Min_rtt) * time.Microsecond
			rtt = &d
		}
	})
	return rtt
}

// unsent is how many written bytes the peer has not acknowledged.
func unsent(raw syscall.RawConn) (int, bool) {
	n, err := 0, error(unix.EINVAL)
	if raw != nil {
		_ = raw.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) })
	}
	return n, err == nil
}
