package proxy

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// kernelRTT is the smoothed round trip that TCP has measured on a socket, nil
// where it has none: macOS keeps no lowest one.
func kernelRTT(raw syscall.RawConn) *time.Duration {
	if raw == nil {
		return nil
	}
	var rtt *time.Duration
	_ = raw.Control(func(fd uintptr) {
		t, err := unix.GetsockoptTCPConnectionInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_CONNECTION_INFO)
		if err == nil && t.Srtt > 0 {
			d := time.Duration(t.Srtt) * time.Millisecond
			rtt = &d
		}
	})
	return rtt
}

func unsent(syscall.RawConn) (int, bool) { return 0, false }
