package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func machineFaults() []fault {
	lasts := inChaos(500*time.Millisecond, 10*time.Second)
	m := new(shortMemory)
	return []fault{
		{name: "disk full (a file system of 64 MiB)", tries: 5, try: inTrouble(trouble{place: smallDisk, begin: fillDisk, lasts: lasts, late: true, fails: true})},
		{name: "disk full (a limit on the size of files)", tries: 5, try: inTrouble(trouble{begin: limitFiles, lasts: lasts, late: true, fails: true})},
		{name: "log made read-only (immutable)", tries: 5, try: inTrouble(trouble{begin: freezeLog, lasts: lasts, late: true, fails: true})},
		{name: "SIGTERM while the disk is full", tries: 2, try: stopOnAFullDisk},
		{name: "no descriptors left (ulimit -n 64)", tries: 5, try: noDescriptors},
		{name: "GOMEMLIMIT=64MiB with 100 streams", tries: 3, try: m.try, told: m.told},
	}
}

// statusOf is a number that the kernel tells of the program.
func (c *child) statusOf(t *testing.T, name string) int {
	t.Helper()
	for line := range strings.Lines(string(must(os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Process.Pid))))) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			return must(strconv.Atoi(strings.Fields(rest)[0]))
		}
	}
	t.Fatalf("nothing is told of %s", name)
	return 0
}

// descriptors are how many the program has open.
func (c *child) descriptors(t *testing.T) int {
	t.Helper()
	return len(must(os.ReadDir(fmt.Sprintf("/proc/%d/fd", c.Process.Pid))))
}

// smallDisk makes a file system of its own for the log.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64m"); err != nil {
		t.Skipf("SKIPPED: no file system may be mounted: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	return filepath.Join(dir, "ttftap.db")
}

func fillDisk(t *testing.T, c *child) (end func()) {
	t.Helper()
	filler := filepath.Join(filepath.Dir(c.db), "filler")
	f := must(os.Create(filler))
	defer f.Close()
	for p := make([]byte, 4<<10); ; {
		if _, err := f.Write(p); err != nil {
			break
		}
	}
	return func() { os.Remove(filler) }
}

// limitFiles lets the program write no file beyond its first byte.
func limitFiles(t *testing.T, c *child) (end func()) {
	t.Helper()
	limit := func(size uint64) {
		if err := unix.Prlimit(c.Process.Pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: size, Max: unix.RLIM_INFINITY}, nil); err != nil {
			t.Fatal(err)
		}
	}
	limit(1)
	return func() { limit(unix.RLIM_INFINITY) }
}

// freezeLog has the file system refuse every write to the log's files, also over
// descriptors that were opened to write.
func freezeLog(t *testing.T, c *child) (end func()) {
	t.Helper()
	files := []string{c.db, c.db + "-wal"}
	end = func() {
		for _, name := range files {
			setImmutable(t, name, false)
		}
	}
	t.Cleanup(end) // or nobody could remove them
	for _, name := range files {
		setImmutable(t, name, true)
	}
	return end
}

func setImmutable(t *testing.T, name string, to bool) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	flags, err := unix.IoctlGetUint32(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if flags &^= unix.STATX_ATTR_IMMUTABLE; to {
		flags |= unix.STATX_ATTR_IMMUTABLE // the flag of the file system has the same value
	}
	if err == nil {
		err = unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, int(flags))
	}
	if err != nil {
		t.Skipf("SKIPPED: a file cannot be made immutable here: %v", err)
	}
}

// stopOnAFullDisk stops a program whose rows cannot be written. It gives up after
// ten seconds and says how much is lost.
func stopOnAFullDisk(t *testing.T) {
	c := startChild(t, quickModel(t), logOf(t))
	c.passes(t, 0)
	c.recorded(t)
	limitFiles(t, c)
	rows := c.passes(t, 0)
	c.Process.Signal(syscall.SIGTERM)
	if err := c.Wait(); err == nil {
		t.Error("it says that all is well")
	}
	// Of an exchange whose beginning the writer already had, the end is another record.
	m := regexp.MustCompile(`(\d+) records lost`).FindStringSubmatch(c.log())
	if m == nil || must(strconv.Atoi(m[1])) < rows {
		t.Errorf("it does not say that %d rows are lost: %s", rows, c.log())
	}
}

// noDescriptors takes descriptors away while streams go on, and has so many
// clients come that none is left.
func noDescriptors(t *testing.T) {
	upstream, release := gated(t)
	c := startChild(t, quickModel(t)+" slow="+upstream, logOf(t))
	c.passes(t, 0)
	var streams []*http.Response
	for range 5 {
		streams = append(streams, must(http.Post(c.base+"/to/slow/v1/chat/completions", "application/json", strings.NewReader("{}"))))
	}
	few := unix.Rlimit{Cur: 64, Max: 64}
	if err := unix.Prlimit(c.Process.Pid, unix.RLIMIT_NOFILE, &few, nil); err != nil {
		t.Fatal(err)
	}
	var crowd []net.Conn
	for range 100 {
		crowd = append(crowd, c.dial(t)) // it is the system that takes them at first
	}
	until(t, "the lack is said", func() bool { return strings.Contains(c.log(), "level=WARN") })
	close(release)
	for _, s := range streams {
		if body, err := io.ReadAll(s.Body); err != nil || string(body) != textEvent+lastEvent {
			t.Errorf("a stream that went on: %q, %v", body, err)
		}
	}
	for _, conn := range crowd {
		conn.Close()
	}
	until(t, "it serves again", func() bool { return answersWhole(c.base) })
	c.passes(t, 100*time.Millisecond)
	c.recorded(t)
	if strings.Contains(c.health(t), "\nlost 0\n") && outcomes(t, c.db)["ok"] > 5 {
		return
	}
	t.Errorf("rows %v, health %s", outcomes(t, c.db), c.health(t))
}

// shortMemory is the program with little memory and many streams.
type shortMemory struct{ most int }

func (m *shortMemory) told() string {
	return fmt.Sprintf("at most %d MiB in memory, the program itself included", m.most>>20)
}

func (m *shortMemory) try(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(brief))
	t.Cleanup(upstream.Close)
	c := startChild(t, upstream.URL, logOf(t), "GOMEMLIMIT=64MiB")
	body := fmt.Sprintf(`{"model":"m","stream":true,"messages":[{"role":"user","content":%q}]}`, strings.Repeat("word ", 20<<10))
	want := strings.Repeat(textEvent, 20) + lastEvent + "data: [DONE]\n\n"
	streams := inChaos(100, 1000)
	places := make(chan struct{}, 100)
	var all sync.WaitGroup
	for range streams {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			res, err := http.Post(c.base+"/v1/chat/completions", "application/json", strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			if got := read(res); got != want {
				t.Errorf("%d bytes came, want %d", len(got), len(want))
			}
		})
	}
	all.Wait()
	c.recorded(t)
	if got := outcomes(t, c.db); got["ok"] != streams {
		t.Errorf("rows %v, want %d", got, streams)
	}
	m.most = max(m.most, c.statusOf(t, "VmHWM")<<10)
	if isChaos() && m.most > 128<<20 { // a program built to find races has more
		t.Errorf("it took %d MiB", m.most>>20)
	}
}
