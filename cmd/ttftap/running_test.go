package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// running is the program itself, started as main starts it.
type running struct {
	t      testing.TB
	base   string
	db     string
	stderr *lockedBuffer
	stop   context.CancelFunc // the first signal
	end    context.CancelFunc // the second
	code   chan int
}

// lockedBuffer takes what several goroutines write.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// startProgram runs a command that serves, on a free port with a log of its
// own, and waits until it accepts connections.
func startProgram(t testing.TB, args ...string) *running {
	t.Helper()
	r := &running{t: t, db: filepath.Join(t.TempDir(), "log", "ttftap.db"), stderr: new(lockedBuffer), code: make(chan int, 1)}
	now, end := context.WithCancel(context.Background())
	orderly, stop := context.WithCancel(now)
	r.stop, r.end = stop, end
	out, in := io.Pipe()
	args = append(args, "--listen", "localhost:0", "--db", r.db)
	go func() {
		r.code <- run(stopping{orderly, now}, args, in, r.stderr)
		in.Close()
	}()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if base, ok := strings.CutPrefix(lines.Text(), "ttftap listening on "); ok {
			r.base = base
			break
		}
	}
	go io.Copy(io.Discard, out)
	if r.base == "" {
		t.Fatalf("it did not start: %s", r.stderr)
	}
	t.Cleanup(func() { end(); r.exit() })
	return r
}

// exit is the exit code, once the program has ended.
func (r *running) exit() int {
	code := <-r.code
	r.code <- code
	return code
}

func (r *running) get(path string) (*http.Response, string) {
	r.t.Helper()
	res, err := local.RoundTrip(must(http.NewRequest(http.MethodGet, r.base+path, nil)))
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return res, string(body)
}

// rows are the exported rows, oldest first, once there are at least n.
func (r *running) rows(n int) []map[string]string {
	r.t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		_, body := r.get("/-/export.csv?sort=time&order=asc")
		table, err := csv.NewReader(strings.NewReader(body)).ReadAll()
		if err != nil {
			r.t.Fatalf("%v in %s", err, body)
		}
		if len(table) > n {
			return byName(table)
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("%d rows, want %d; log: %s", len(table)-1, n, r.stderr)
		}
		<-time.After(20 * time.Millisecond)
	}
}

func byName(table [][]string) []map[string]string {
	var rows []map[string]string
	for _, line := range table[1:] {
		row := make(map[string]string)
		for i, name := range table[0] {
			row[name] = line[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// needs is a tool that a test cannot do without: without it the test is skipped,
// or fails where nothing may be skipped.
func needs(t *testing.T, path, what string) string {
	t.Helper()
	if path != "" {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	if os.Getenv("TTFTAP_NO_SKIP") != "" {
		t.Fatalf("%s is missing", what)
	}
	t.Skipf("SKIPPED: %s is missing", what)
	return ""
}
