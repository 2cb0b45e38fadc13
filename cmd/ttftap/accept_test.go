package main

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// troubled is a listener that fails in turn with each of some errors, and has a
// connection for whoever outlives them.
type troubled struct {
	net.Listener
	errs []error
}

func (l *troubled) Accept() (net.Conn, error) {
	if len(l.errs) == 0 {
		return new(net.TCPConn), nil
	}
	err := l.errs[0]
	l.errs = l.errs[1:]
	return nil, err
}

func accepting(errno syscall.Errno) error {
	return &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", errno)}
}

func TestAListenerOutlivesWhatPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		full := accepting(syscall.EMFILE)
		l := &patient{
			Listener: &troubled{errs: []error{full, full, accepting(syscall.ECONNABORTED), accepting(syscall.ENOBUFS), full}},
			log:      slog.New(slog.NewTextHandler(&log, nil)),
		}
		begin := time.Now()
		if c, err := l.Accept(); c == nil || err != nil {
			t.Fatalf("it ended with %v", err)
		}
		if took := time.Since(begin); took != (5+10+20+40+80)*time.Millisecond {
			t.Errorf("it waited for %v", took)
		}
		if said := log.String(); strings.Count(said, "\n") != 1 || !strings.Contains(said, "ulimit -n") {
			t.Errorf("it said %s", said)
		}
	})
}

func TestAListenerThatIsClosedOrBrokenEnds(t *testing.T) {
	for _, end := range []error{net.ErrClosed, accepting(syscall.EBADF)} {
		l := &patient{Listener: &troubled{errs: []error{end}}, log: slog.New(slog.DiscardHandler)}
		if _, err := l.Accept(); !errors.Is(err, end) {
			t.Errorf("%v became %v", end, err)
		}
	}
}
