//go:build !linux && !darwin

package proxy

import (
	"syscall"
	"time"
)

func kernelRTT(syscall.RawConn) *time.Duration { return nil }

func unsent(syscall.RawConn) (int, bool) { return 0, false }

func hungUp(syscall.RawConn, bool) bool { return false }
