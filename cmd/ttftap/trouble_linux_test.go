package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// limitFiles lets a process write no file beyond a size, which is to it as a disk
// that is full.
func limitFiles(t *testing.T, process int, size uint64) {
	t.Helper()
	if err := unix.Prlimit(process, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: size, Max: unix.RLIM_INFINITY}, nil); err != nil {
		t.Fatal(err)
	}
}

// health is what the program says of its recorder.
func (c *child) health(t *testing.T) string {
	t.Helper()
	res := must(http.Get(c.base + "/-/healthz"))
	defer res.Body.Close()
	return string(must(io.ReadAll(res.Body)))
}

// until waits for something to be so.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !so(); {
		if time.Now().After(deadline) {
			t.Fatalf("in vain: %s", what)
		}
		<-time.After(20 * time.Millisecond)
	}
}

func TestAFullDiskStopsNoStreamAndRecordingResumesByItself(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(model))
	t.Cleanup(upstream.Close)
	c := startChild(t, upstream.URL, filepath.Join(t.TempDir(), "x.db"))
	if !answersWhole(c.base) {
		t.Fatal("there is no answer")
	}
	limitFiles(t, c.Process.Pid, 1)
	const streams = 20
	for range streams {
		if !answersWhole(c.base) {
			t.Fatal("an answer is missing or broken while the disk is full")
		}
	}
	until(t, "the trouble is said", func() bool { return strings.Contains(c.health(t), "\nerror ") })
	if log := c.Stderr.(*lockedBuffer).String(); !strings.Contains(log, "level=ERROR") && !strings.Contains(log, "level=WARN") {
		t.Errorf("nothing of it is logged: %s", log)
	}
	limitFiles(t, c.Process.Pid, unix.RLIM_INFINITY)
	until(t, "all is recorded", func() bool {
		h := c.health(t)
		return strings.Contains(h, "\nqueued 0\n") && strings.Contains(h, "\nlost 0\n") && !strings.Contains(h, "\nerror ")
	})
	if got := outcomes(t, c.db); got["ok"] != streams+1 {
		t.Errorf("rows %v", got)
	}
}
