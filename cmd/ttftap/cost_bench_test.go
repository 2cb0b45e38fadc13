package main

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"text/tabwriter"
	"time"
)

// costly is traffic whose cost is measured, and what is told of it.
type costly struct {
	demand
	name   string
	prices []price
}

// price is something that a proxy costs, and how often as much as Go's own reverse
// proxy ttftap may at most.
type price struct {
	name, unit string
	most       float64
	of         func(c demand, s, direct spent) float64
}

func perRequest(most float64) price {
	return price{"processor time a request", "us", most, func(c demand, s, _ spent) float64 {
		return micros(s.processor) / float64(c.requests)
	}}
}

func perChunk(most float64) price {
	return price{"processor time a chunk", "us", most, func(c demand, s, _ spent) float64 {
		return micros(s.processor) / float64(c.requests*c.chunks)
	}}
}

func memory(most float64) price {
	return price{"memory at the most", "MiB", most, func(_ demand, s, _ spent) float64 { return float64(s.peak) / (1 << 20) }}
}

func added(most float64) price {
	return price{"added to the first token", "us", most, func(_ demand, s, direct spent) float64 { return micros(s.first - direct.first) }}
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

var costs = []costly{
	{demand{requests: 400, atOnce: 1, prompt: 1 << 10, chunks: 5}, "one at a time", []price{added(1.3)}},
	{demand{requests: 400, atOnce: 1, prompt: 256 << 10, chunks: 5}, "one at a time of 256 KiB", []price{added(1.3)}},
	{demand{requests: 640, atOnce: 32, prompt: 1 << 10, chunks: 500}, "bulk", []price{perChunk(1.5)}},
	{demand{requests: 4000, atOnce: 32, prompt: 1 << 10, chunks: 10}, "many short", []price{perRequest(2)}},
	{demand{requests: 1500, atOnce: 8, prompt: 256 << 10, chunks: 20}, "many of 256 KiB", []price{perRequest(1.3)}},
	{demand{requests: 6000, atOnce: 32, prompt: 1 << 10}, "not streamed", []price{perRequest(2)}},
	{demand{requests: 1000, atOnce: 1000, prompt: 1 << 10, chunks: 150, pace: 100 * time.Millisecond, ramp: 2 * time.Second},
		"1000 paced streams", []price{perChunk(1.25), memory(1.5)}},
}

// BenchmarkCost tells what the proxy costs beside Go's own reverse proxy, which
// records nothing: each is a program of its own, started anew for each round and
// loaded in turn. The bare one is measured twice, so that the noise is seen. It
// closes with a table of the medians.
func BenchmarkCost(b *testing.B) {
	buildPrograms(b)
	var table bytes.Buffer
	lines := tabwriter.NewWriter(&table, 0, 0, 1, ' ', 0)
	fmt.Fprintln(lines, "| load\t| figure\t| bare\t| ttftap\t| x bare\t| bare again\t| at most\t|")
	fmt.Fprintln(lines, "| ---\t| ---\t| ---\t| ---\t| ---\t| ---\t| ---\t|")
	for _, c := range costs {
		b.Run(c.name, func(b *testing.B) {
			upstream := httptest.NewServer(c)
			defer upstream.Close()
			var rounds []round
			for b.Loop() {
				rounds = append(rounds, c.round(b, upstream.URL))
			}
			b.ReportMetric(0, "ns/op")
			for _, f := range c.prices {
				fmt.Fprintln(lines, c.told(b, f, rounds))
			}
		})
	}
	_ = lines.Flush()
	fmt.Printf("\n%s\nMedians of the rounds; the ratios are taken round by round.\n\n", table.String())
}

// round is what each took in one round.
type round struct{ direct, bare, again, own spent }

func (c costly) round(b *testing.B, upstream string) (r round) {
	if c.atOnce == 1 { // else the time to the first token is not told
		r.direct.first = c.send(b, upstream, c.requests)
	}
	r.bare = c.through(b, startBare(b, upstream))
	r.own = c.through(b, startChild(b, upstream, filepath.Join(b.TempDir(), "x.db")))
	r.again = c.through(b, startBare(b, upstream))
	return r
}

// told reports a figure and is its line in the table.
func (c costly) told(b *testing.B, f price, rounds []round) string {
	value := func(s, direct spent) float64 { return f.of(c.demand, s, direct) }
	bare := medianOf(rounds, func(r round) float64 { return value(r.bare, r.direct) })
	own := medianOf(rounds, func(r round) float64 { return value(r.own, r.direct) })
	times := medianOf(rounds, func(r round) float64 { return value(r.own, r.direct) / value(r.bare, r.direct) })
	again := medianOf(rounds, func(r round) float64 { return value(r.again, r.direct) / value(r.bare, r.direct) })
	b.ReportMetric(bare, "bare-"+f.unit)
	b.ReportMetric(own, f.unit)
	b.ReportMetric(times, "x-bare-"+f.unit)
	b.ReportMetric(again, "x-again-"+f.unit)
	return fmt.Sprintf("| %s\t| %s, %s\t| %s\t| %s\t| %.2f\t| %.2f\t| %.2f\t|", c.name, f.name, f.unit, rounded(bare), rounded(own), times, again, f.most)
}

// rounded is a number with about three digits that count.
func rounded(v float64) string {
	if v >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

func medianOf[R any, V cmp.Ordered](rounds []R, of func(R) V) V {
	var values []V
	for _, r := range rounds {
		values = append(values, of(r))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// spent is what a program took for its load.
type spent struct {
	processor time.Duration
	peak      int64         // of its memory, in bytes
	first     time.Duration // from the request to the first token, the median
}

// through loads a program, after some requests to warm it up, and stops it.
func (c demand) through(b *testing.B, program *child) (s spent) {
	b.Helper()
	warm := c
	warm.atOnce, warm.chunks, warm.pace, warm.ramp = min(c.atOnce, 8), min(c.chunks, 20), 0, 0
	warm.send(b, program.base, 400)
	program.forgetPeak(b)
	before := program.processorTime(b)
	s.first = c.send(b, program.base, c.requests)
	s.processor = program.processorTime(b) - before
	s.peak = program.memory(b, "VmHWM")
	_ = program.Process.Kill()
	_ = program.Wait()
	return s
}

// forgetPeak begins the peak of the program's memory anew.
func (c *child) forgetPeak(b *testing.B) {
	b.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", c.Process.Pid), []byte("5"), 0); err != nil {
		b.Skipf("SKIPPED: this system does not tell the memory of a process in /proc: %v", err)
	}
}

// memory is a line of /proc/PID/status, in bytes, 0 where there is no such file.
func (c *child) memory(t testing.TB, name string) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Process.Pid))
	if err != nil {
		return 0
	}
	_, line, _ := bytes.Cut(status, []byte(name+":"))
	fields := bytes.Fields(line)
	return must(strconv.ParseInt(string(fields[0]), 10, 64)) << 10
}
