package main

import (
	"errors"
	"log/slog"
	"net"
	"syscall"
	"time"
)

// patient is a listener that outlives what keeps it from accepting for a while:
// the lack of a descriptor or of memory, and what became of a connection before it
// was accepted. Only its own end ends it.
type patient struct {
	net.Listener
	log  *slog.Logger
	told time.Time // when trouble was last logged; Accept's own, which one goroutine calls
}

const (
	acceptAgainMin = 5 * time.Millisecond
	acceptAgainMax = 500 * time.Millisecond
	tellAgain      = time.Minute
)

// Accept waits for the next connection.
func (l *patient) Accept() (net.Conn, error) {
	for pause := acceptAgainMin; ; pause = min(2*pause, acceptAgainMax) {
		c, err := l.Listener.Accept()
		if err == nil || !passes(err) {
			return c, err
		}
		if time.Since(l.told) > tellAgain {
			l.told = time.Now()
			l.log.Warn("connections have to wait; streams under way go on", "error", err, "remedy", remedy(err))
		}
		time.Sleep(pause)
	}
}

// passes says whether a later attempt may succeed.
func passes(err error) bool {
	return lacksDescriptors(err) || errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.ENOMEM) ||
		errors.Is(err, syscall.ECONNABORTED) || errors.Is(err, syscall.EPERM)
}

func lacksDescriptors(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

func remedy(err error) string {
	if lacksDescriptors(err) {
		return "raise the limit of open files (ulimit -n): a stream takes two"
	}
	return "none: it is tried again"
}
