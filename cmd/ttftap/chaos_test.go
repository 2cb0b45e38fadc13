package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// fault is something that goes wrong around the program. A try has it happen once
// to a program of its own, and fails where that does not keep a promise.
type fault struct {
	name  string
	tries int  // of make chaos; make test has one
	alone bool // its try is a test by itself, which make test has run
	try   func(*testing.T)
	told  func() string // figures of all tries, after them; nil for none
}

// isChaos says whether all is tried that there is to try, for as long as it takes.
func isChaos() bool { return os.Getenv("TTFTAP_CHAOS") != "" }

// inChaos is the second where all is tried, and the first in make test.
func inChaos[T any](short, long T) T {
	if isChaos() {
		return long
	}
	return short
}

// TestFaults has each fault happen as often as it is to be tried. In make chaos it
// prints how often the program survived.
func TestFaults(t *testing.T) {
	if isChaos() {
		fmt.Print("| fault | survived / tried | |\n|---|--:|---|\n")
	}
	for _, f := range faults() {
		if f.alone && !isChaos() {
			continue
		}
		t.Run(f.name, f.happen)
	}
}

func faults() []fault {
	var all []fault
	for _, some := range [][]fault{killFaults(), logFaults(), signalFaults(), upstreamFaults(), clientFaults(), machineFaults(), clockFaults(), besideFaults()} {
		all = append(all, some...)
	}
	return all
}

func (f fault) happen(t *testing.T) {
	survived, tried := 0, 0
	for n := range inChaos(1, f.tries) {
		skipped := false
		well := t.Run(fmt.Sprint(n+1), func(t *testing.T) {
			defer func() { skipped = t.Skipped() }()
			f.try(t)
		})
		if skipped {
			continue
		}
		if tried++; well {
			survived++
		}
	}
	note := ""
	switch {
	case tried == 0:
		note = "cannot be done here"
	case f.told != nil:
		note = f.told()
	}
	if isChaos() {
		fmt.Printf("| %s | %d / %d | %s |\n", f.name, survived, tried, note)
	}
}

// quickModel is the address of a model that answers at once.
func quickModel(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(model))
	t.Cleanup(s.Close)
	return s.URL
}

// logOf is where a try keeps its log.
func logOf(t *testing.T) string { return filepath.Join(t.TempDir(), "log", "ttftap.db") }

// health is what the program says of its recorder.
func (c *child) health(t *testing.T) string {
	t.Helper()
	return read(must(http.Get(c.base + "/-/healthz")))
}

// log is what the program has logged.
func (c *child) log() string { return c.Stderr.(*lockedBuffer).String() }

// until waits for something to be so.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !so(); {
		if time.Now().After(deadline) {
			t.Fatalf("in vain: %s", what)
		}
		<-time.After(20 * time.Millisecond)
	}
}

// passes sends requests for a while, some at once, wants each answer whole and
// returns how many there were.
func (c *child) passes(t *testing.T, while time.Duration) (answers int) {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	end := time.Now().Add(while)
	for range 4 {
		all.Go(func() {
			for first := true; first || time.Now().Before(end); first = false {
				if !answersWhole(c.base) {
					t.Error("an answer is missing or broken")
					return
				}
				mu.Lock()
				answers++
				mu.Unlock()
				<-time.After(5 * time.Millisecond)
			}
		})
	}
	all.Wait()
	return answers
}

// recorded waits until everything is in the log.
func (c *child) recorded(t *testing.T) {
	t.Helper()
	until(t, "all is recorded", func() bool {
		h := c.health(t)
		return strings.Contains(h, "\nqueued 0\n") && !strings.Contains(h, "\nerror ")
	})
}

// says wants the page to have some words in each of its languages.
func (c *child) says(t *testing.T, english, chinese string) {
	t.Helper()
	for lang, words := range map[string]string{"en": english, "zh": chinese} {
		if page := read(must(http.Get(c.base + "/-/connect?lang=" + lang))); !strings.Contains(page, words) {
			t.Errorf("the page does not say %q", words)
		}
	}
}

// hasGrown wants the program's memory to have grown by no more than so many bytes.
// One that is built to find races, as in make test, takes several times as much.
func (c *child) hasGrown(t *testing.T, before, most int64) {
	t.Helper()
	if grown := c.memory(t, "VmRSS") - before; isChaos() && grown > most {
		t.Errorf("memory has grown by %d MiB", grown>>20)
	}
}
