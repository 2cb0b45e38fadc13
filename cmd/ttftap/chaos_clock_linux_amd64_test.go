package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/csv"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func clockFaults() []fault {
	return []fault{{name: "wall clock set an hour back, then two on, under a stream", tries: 5, try: clockIsSet}}
}

// wallClock is the time of day as one program sees it.
type wallClock struct {
	memory *os.File // the program's
	ahead  int64    // address of the seconds by which its clock is ahead of all others'
}

// readClock stands for the function by which Linux lets a program read its clocks
// without a system call. It makes the system call, and adds to the time of day, and
// to no other clock, what stands behind it.
var readClock = []byte{
	0xb8, 0xe4, 0, 0, 0, //           mov eax, 228 (clock_gettime)
	0x0f, 0x05, //                    syscall
	0x85, 0xc0, //                    test eax, eax
	0x75, 0x0e, //                    jnz end
	0x85, 0xff, //                    test edi, edi (CLOCK_REALTIME)
	0x75, 0x0a, //                    jnz end
	0x48, 0x8b, 0x15, 0x0a, 0, 0, 0, // mov rdx, [ahead]
	0x48, 0x01, 0x16, //              add [rsi], rdx
	0xc3,             // end:         ret
	0, 0, 0, 0, 0, 0, //
	0, 0, 0, 0, 0, 0, 0, 0, // ahead:
}

const aheadAt = 32 // in readClock

// takeClock gives a program a wall clock of its own. The program must be at rest.
func takeClock(t *testing.T, c *child) *wallClock {
	t.Helper()
	start, image := c.vdso(t)
	symbol, err := vdsoSymbol(image, "__vdso_clock_gettime")
	if err != nil || symbol.Size < uint64(len(readClock)) {
		t.Skipf("SKIPPED: this kernel's clock is read in another way: %v", err)
	}
	at := start + int64(symbol.Value)
	c.stopOutside(t, at, at+int64(symbol.Size))
	defer c.Process.Signal(syscall.SIGCONT)
	memory := must(os.OpenFile(fmt.Sprintf("/proc/%d/mem", c.Process.Pid), os.O_RDWR, 0))
	t.Cleanup(func() { memory.Close() })
	if _, err := memory.WriteAt(readClock, at); err != nil {
		t.Skipf("SKIPPED: the memory of a child cannot be written here: %v", err)
	}
	return &wallClock{memory, at + aheadAt}
}

// set has the clock be ahead of all others by so much.
func (w *wallClock) set(t *testing.T, ahead time.Duration) {
	t.Helper()
	seconds := binary.LittleEndian.AppendUint64(nil, uint64(int64(ahead/time.Second)))
	if _, err := w.memory.WriteAt(seconds, w.ahead); err != nil {
		t.Fatal(err)
	}
}

// vdso is the code that Linux puts into a program, and where.
func (c *child) vdso(t *testing.T) (start int64, image []byte) {
	t.Helper()
	for line := range strings.Lines(string(must(os.ReadFile(fmt.Sprintf("/proc/%d/maps", c.Process.Pid))))) {
		if strings.Contains(line, "[vdso]") {
			var end int64
			if _, err := fmt.Sscanf(line, "%x-%x", &start, &end); err != nil {
				t.Fatal(err)
			}
			memory := must(os.Open(fmt.Sprintf("/proc/%d/mem", c.Process.Pid)))
			defer memory.Close()
			image = must(io.ReadAll(io.NewSectionReader(memory, start, end-start)))
			return start, image
		}
	}
	t.Skip("SKIPPED: this kernel puts no code into a program")
	return 0, nil
}

func vdsoSymbol(image []byte, name string) (elf.Symbol, error) {
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return elf.Symbol{}, err
	}
	symbols, err := f.DynamicSymbols()
	for _, s := range symbols {
		if s.Name == name {
			return s, nil
		}
	}
	return elf.Symbol{}, fmt.Errorf("no symbol %s: %w", name, err)
}

// stopOutside stops the program at a moment when none of its threads is between two
// addresses.
func (c *child) stopOutside(t *testing.T, from, to int64) {
	t.Helper()
	until(t, "no thread reads the clock", func() bool {
		_ = c.Process.Signal(syscall.SIGSTOP)
		until(t, "it stands", func() bool { return c.threadsAre(func(s string) bool { return !strings.HasPrefix(s, "running") }) })
		if c.threadsAre(func(s string) bool { return !isBetween(s, from, to) }) {
			return true
		}
		_ = c.Process.Signal(syscall.SIGCONT)
		return false
	})
}

// threadsAre says whether what the kernel tells of the place where each thread
// stands is so.
func (c *child) threadsAre(so func(where string) bool) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", c.Process.Pid))
	for _, name := range threads {
		if where, err := os.ReadFile(name); err == nil && !so(string(where)) {
			return false
		}
	}
	return len(threads) > 0
}

// isBetween says whether the last word of a line is an address between two others.
func isBetween(line string, from, to int64) bool {
	words := strings.Fields(line)
	at, err := strconv.ParseInt(words[len(words)-1], 0, 64)
	return err != nil || at >= from && at < to
}

// clockIsSet sets the wall clock under a stream, back and on, and asks again by each
// time of day: no duration knows of it, each start is the time of day that it was.
func clockIsSet(t *testing.T) {
	slow, release := gated(t)
	c := startChild(t, quickModel(t)+" slow="+slow, logOf(t))
	clock := takeClock(t, c)
	const hour = time.Hour
	begin := time.Now()
	open := c.askInSession("/to/slow")
	clock.set(t, -hour)
	<-time.After(300 * time.Millisecond)
	read(c.askInSession(""))
	clock.set(t, hour)
	<-time.After(300 * time.Millisecond)
	close(release)
	if body := read(open); body != textEvent+lastEvent {
		t.Errorf("the stream is %q", body)
	}
	read(c.askInSession(""))
	took := time.Since(begin)
	c.passes(t, 0)
	c.recorded(t)
	for _, page := range []string{"/-/", "/-/charts", "/-/models", "/-/connect"} {
		if res := must(http.Get(c.base + page)); res.StatusCode != http.StatusOK || len(read(res)) == 0 {
			t.Errorf("%s: status %d", page, res.StatusCode)
		}
	}
	rows := byName(must(csv.NewReader(strings.NewReader(read(must(http.Get(c.base + "/-/export.csv?sort=time&order=asc"))))).ReadAll()))
	durationsAre(t, rows, took)
	for i, want := range []time.Duration{-hour, 0, hour} { // the oldest first, by the time of day
		at := must(time.Parse(time.RFC3339, rows[i]["started_at"]))
		if off := at.Sub(begin) - want; off < -time.Second || off > took+time.Second {
			t.Errorf("row %d started at %s, which is %v off", i, at, off)
		}
	}
	if total := must(strconv.ParseFloat(rows[1]["total_ms"], 64)); total < 600 {
		t.Errorf("the stream took %v ms", total)
	}
}

// askInSession asks as one client does, again and again.
func (c *child) askInSession(upstream string) *http.Response {
	req := must(http.NewRequest(http.MethodPost, c.base+upstream+"/v1/chat/completions",
		strings.NewReader(fmt.Sprintf(`{"model":"m","stream":true,"messages":[{"role":"user","content":%q}]}`, strings.Repeat("word ", 2000)))))
	req.Header.Set("Session-Id", "one")
	return must(http.DefaultClient.Do(req))
}

// durationsAre wants no duration of any row to be negative or longer than all took.
func durationsAre(t *testing.T, rows []map[string]string, took time.Duration) {
	t.Helper()
	for _, row := range rows {
		for name, value := range row {
			if !strings.HasSuffix(name, "_ms") || name == "upstream_clock_offset_ms" || value == "" {
				continue
			}
			if d := must(strconv.ParseFloat(value, 64)); d < 0 || d > took.Seconds()*1000+1000 {
				t.Errorf("%s is %s", name, value)
			}
		}
	}
}
