package proxy_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// score counts what was judged how.
type score struct {
	mu        sync.Mutex
	scenarios atomic.Int64
	exchanges int
	cells     map[string]map[verdict]int // by label
	clear     tally                      // where one phase was to blame and could be known
	cause     tally
	blind     tally // where it was to blame and could not be known
	errors    map[string][]estimate
	misses    []string
	sinned    []string
}

// tally is how many of some were right.
type tally struct{ right, all int }

func (t *tally) add(right bool) {
	t.all++
	if right {
		t.right++
	}
}

func (t tally) share() float64 { return float64(t.right) / float64(max(1, t.all)) }

func (t tally) String() string {
	return fmt.Sprintf("%.2f %% (%d of %d)", 100*t.share(), t.right, t.all)
}

// estimate is a time beside the truth.
type estimate struct{ got, truth time.Duration }

func (e estimate) off() time.Duration { return (e.got - e.truth).Abs() }

// beyond is how far it is off, 1 being 10 % or 20 ms, whichever is more.
func (e estimate) beyond() float64 {
	return float64(e.off()) / max(float64(20*time.Millisecond), 0.1*float64(e.truth))
}

func newScore() *score {
	return &score{cells: map[string]map[verdict]int{}, errors: map[string][]estimate{}}
}

// add takes in an exchange; where names it.
func (c *score) add(where string, s scored) {
	c.watch(where, s)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.exchanges++
	got := verdict{s.Bound, s.Cause}
	if s.failed() {
		c.cell("aborted, failed", got)
		if got.bound != exchange.Unknown || got.cause != "aborted" && got.cause != "error" {
			c.misses = append(c.misses, where+": "+s.describe())
		}
		return
	}
	switch label := s.label(); {
	case label == "":
		c.cell("no phase alone", got)
	case s.unnoticed():
		c.cell("reasoning that nothing shows", got)
	default:
		c.grade(where, s, label)
	}
}

// watch looks for what must never be.
func (c *score) watch(where string, s scored) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, sin := range s.sins() {
		c.sinned = append(c.sinned, fmt.Sprintf("%s: %s: %s", where, sin, s.describe()))
	}
}

// grade scores an exchange that one phase made slow.
func (c *score) grade(where string, s scored, label string) {
	got := verdict{s.Bound, s.Cause}
	right, tellable := s.want()
	bound := slices.ContainsFunc(right, func(v verdict) bool { return v.bound == got.bound })
	cause := slices.Contains(right, got)
	if tellable {
		c.clear.add(bound)
		c.cause.add(cause)
		c.estimate(s, label)
	} else {
		c.blind.add(cause)
		label += " (cannot be known)"
	}
	c.cell(label, got)
	if !cause {
		c.misses = append(c.misses, fmt.Sprintf("%s: want %v: %s", where, right, s.describe()))
	}
}

func (c *score) cell(label string, v verdict) {
	if c.cells[label] == nil {
		c.cells[label] = map[verdict]int{}
	}
	c.cells[label][v]++
}

// estimate compares what a baseline gave; what a server told needs no estimate.
func (c *score) estimate(s scored, label string) {
	note := func(name string, got *time.Duration, truth time.Duration) {
		if got != nil {
			c.errors[name] = append(c.errors[name], estimate{*got, truth})
		}
	}
	switch {
	case label == "prefill" && s.ServerPrefill == nil:
		note("prefill", s.Prefill, s.truth.Prefill)
	case (label == "queue" || label == "cold start") && s.ServerQueue == nil:
		note("queue", s.Queue, s.truth.Queue+s.truth.Load)
	case label == "decode" && s.conceals():
		note("hidden decode", s.HiddenDecode, s.truth.Hidden)
	}
}

// failed says whether the exchange did not end well, by what was done to it.
func (s scored) failed() bool {
	return s.Outcome != exchange.OK && s.Outcome != exchange.Incomplete
}

// matrix is a Markdown table of the truth by the verdict.
func (c *score) matrix() string {
	var b strings.Builder
	b.WriteString("| what took the time |")
	for _, bound := range exchange.Bounds {
		fmt.Fprintf(&b, " %s |", bound)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(exchange.Bounds)) + "\n")
	for _, label := range slices.Sorted(maps.Keys(c.cells)) {
		fmt.Fprintf(&b, "| %s |", label)
		for _, bound := range exchange.Bounds {
			fmt.Fprintf(&b, " %s |", causes(c.cells[label], bound))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// causes lists the causes of a bound with their numbers, the most frequent first.
func causes(cell map[verdict]int, bound exchange.Bound) string {
	var found []verdict
	for v := range cell {
		if v.bound == bound {
			found = append(found, v)
		}
	}
	slices.SortFunc(found, func(v, w verdict) int {
		return cmp.Or(cell[w]-cell[v], strings.Compare(v.cause, w.cause))
	})
	var words []string
	for _, v := range found {
		words = append(words, fmt.Sprintf("%d %s", cell[v], strings.ReplaceAll(v.cause, "_", " ")))
	}
	return strings.Join(words, ", ")
}

// summary says how good all of it was.
func (c *score) summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d scenarios, %d exchanges\n", c.scenarios.Load(), c.exchanges)
	fmt.Fprintf(&b, "one phase over 65 %%, and evidence for it: bound right in %s, bound and cause in %s\n", c.clear, c.cause)
	fmt.Fprintf(&b, "one phase over 65 %%, and no evidence for it: so said in %s\n", c.blind)
	for _, name := range slices.Sorted(maps.Keys(c.errors)) {
		es := c.errors[name]
		fmt.Fprintf(&b, "%s: %d estimates, off by %s at the median, %s at p95; in units of 10 %% or 20 ms: %.2f, %.2f\n",
			name, len(es), tenths(quantile(es, 0.5, estimate.off)), tenths(quantile(es, 0.95, estimate.off)),
			quantile(es, 0.5, estimate.beyond), quantile(es, 0.95, estimate.beyond))
	}
	return b.String()
}

func quantile[T time.Duration | float64](es []estimate, share float64, of func(estimate) T) T {
	var vs []T
	for _, e := range es {
		vs = append(vs, of(e))
	}
	slices.Sort(vs)
	return vs[int(share*float64(len(vs)-1)+0.5)]
}

// The bounds that must hold.
const (
	boundRight = 0.99
	causeRight = 0.97
	blindRight = 0.99
)

// hold fails the test where the bounds are not met, and tells of all that was
// judged wrongly then.
func (c *score) hold(t *testing.T) {
	for _, sin := range c.sinned {
		t.Error(sin)
	}
	few := c.scenarios.Load() < 2000 // of which the shares mean little
	if !few && (c.clear.share() < boundRight || c.cause.share() < causeRight || c.blind.share() < blindRight) {
		t.Errorf("bound right in %s, cause in %s, said to be unknown in %s", c.clear, c.cause, c.blind)
	}
	for name, es := range c.errors {
		if off := quantile(es, 0.5, estimate.beyond); off > 1 {
			t.Errorf("%s is off by %.2f times 10 %% or 20 ms at the median", name, off)
		}
	}
	if t.Failed() || testing.Verbose() {
		for _, miss := range c.misses {
			t.Log(miss)
		}
	}
}
