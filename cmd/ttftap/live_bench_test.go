package main

import (
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// The load under which live pages must be cheap: so many requests a second, each
// a stream of a second.
const (
	liveLoad   = 50
	liveBudget = 0.05 // of a core, for five pages that show the same
	liveRounds = 4
	liveSpell  = 10 * time.Second
)

// BenchmarkLivePages tells what five live pages cost: the processor time of the
// program under load with them, less that without them, in turns. Pages that show
// the same are made once for all of them; five that all show something else may
// cost twice as much. It takes a while: ask for one round.
func BenchmarkLivePages(b *testing.B) {
	upstream := httptest.NewServer(http.HandlerFunc(brief))
	defer upstream.Close()
	same := []string{"/-/", "/-/", "/-/", "/-/", "/-/"}
	different := []string{"/-/", "/-/?lang=zh", "/-/?bound=unknown", "/-/?model=brief", "/-/?from=-1h&scale=10"}
	for _, test := range []struct {
		name   string
		views  []string
		rows   int // in the log before
		budget float64
	}{
		{"the same", same, 0, liveBudget}, {"the same of a long log", same, 60_000, liveBudget},
		{"different", different, 0, 2 * liveBudget}, {"different of a long log", different, 60_000, 2 * liveBudget},
	} {
		b.Run(test.name, func(b *testing.B) {
			db := filepath.Join(b.TempDir(), "x.db")
			var rows []*exchange.Exchange
			for i := range test.rows {
				rows = append(rows, worked(i-test.rows, 2000, 500))
			}
			if err := keep(db, rows); err != nil {
				b.Fatal(err)
			}
			c := startChild(b, upstream.URL, db)
			ctx, stop := context.WithCancel(b.Context())
			var load sync.WaitGroup
			load.Go(func() { c.load(ctx) })
			<-time.After(3 * time.Second)
			var alone, beside time.Duration
			for b.Loop() {
				for range liveRounds {
					alone += c.spell(b, nil)
					beside += c.spell(b, test.views)
				}
			}
			stop()
			load.Wait()
			core := float64(liveRounds) * float64(b.N) * float64(liveSpell)
			cost := float64(beside-alone) / core
			b.ReportMetric(100*float64(alone)/core, "%core-alone")
			b.ReportMetric(100*cost, "%core-pages")
			b.ReportMetric(0, "ns/op")
			if cost > test.budget {
				b.Errorf("five live pages take %.1f %% of a core", 100*cost)
			}
		})
	}
}

// brief streams twenty tokens within a second.
func brief(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	for range 20 {
		<-time.After(50 * time.Millisecond)
		fmt.Fprint(w, textEvent)
		_ = flush.Flush()
	}
	fmt.Fprint(w, lastEvent, "data: [DONE]\n\n")
}

// load sends requests until ctx ends.
func (c *child) load(ctx context.Context) {
	tick := time.NewTicker(time.Second / liveLoad)
	defer tick.Stop()
	var all sync.WaitGroup
	defer all.Wait()
	for ctx.Err() == nil {
		<-tick.C
		all.Go(func() {
			req := must(http.NewRequest(http.MethodPost, c.base+"/v1/chat/completions", strings.NewReader(`{"model":"brief","stream":true}`)))
			if res, err := http.DefaultClient.Do(req); err == nil {
				read(res)
			}
		})
	}
}

// spell is the processor time that the program takes for a while, in which some
// views are followed.
func (c *child) spell(b *testing.B, views []string) time.Duration {
	b.Helper()
	ctx, leave := context.WithCancel(b.Context())
	var pages sync.WaitGroup
	for _, view := range views {
		at := liveAddress(b, c.base, view)
		pages.Go(func() { drain(ctx, at) })
	}
	<-time.After(time.Second) // until they have been told what there is
	before := c.processorTime(b)
	<-time.After(liveSpell)
	took := c.processorTime(b) - before
	leave()
	pages.Wait()
	return took
}

// liveAddress is where a view of the page is followed.
func liveAddress(t testing.TB, base, view string) string {
	t.Helper()
	page := read(must(http.Get(base + view)))
	m := regexp.MustCompile(`data-live="(/-/live[^"]*)"`).FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("%s is not live: %s", view, page)
	}
	return base + html.UnescapeString(m[1])
}

// processorTime is what the program has taken so far, by the kernel's count.
func (c *child) processorTime(b *testing.B) time.Duration {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Process.Pid))
	if err != nil {
		b.Skip("SKIPPED: this system does not tell the processor time of a process in /proc")
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	user, system := must(strconv.Atoi(fields[11])), must(strconv.Atoi(fields[12]))
	return time.Duration(user+system) * 10 * time.Millisecond
}

// read is the whole text of an answer.
func read(res *http.Response) string {
	defer res.Body.Close()
	return string(must(io.ReadAll(res.Body)))
}
