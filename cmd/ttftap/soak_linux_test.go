package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const (
	soakSeed   = 60_000 // exchanges in the log before: more than the page keeps in memory, which is then full from the start
	soakSample = 10 * time.Second
	soakSettle = 6 * time.Second // after the load: idle connections to the upstream are kept for 4 s
	soakGrowth = 0.10            // of its memory that the program may gain from the first third to the end
)

// TestSoak has the program work under load of every kind for as long as
// TTFTAP_SOAK says, and wants it to hold no more memory, goroutines, threads and
// descriptors at the end than it did soon after the start.
func TestSoak(t *testing.T) {
	lasts := must(time.ParseDuration(cmp.Or(os.Getenv("TTFTAP_SOAK"), "2s")))
	long := lasts >= time.Minute
	upstream := soakModel(t)
	path := logOf(t)
	if long {
		if err := keep(path, someRows(soakSeed)); err != nil {
			t.Fatal(err)
		}
	}
	s := &soak{t: t, child: startChild(t, upstream, path)}
	rowsBefore := total(outcomes(t, path))
	s.load(2 * time.Second)
	idle := s.settled()
	s.report("after 2 s of load and a pause")

	begin := time.Now()
	s.watch(lasts)
	end := s.settled()
	s.report("in the end, after a pause")
	if end.descriptors > idle.descriptors+4 {
		t.Errorf("%d descriptors are open, %d were", end.descriptors, idle.descriptors)
	}
	if grown := s.growth(); long && grown > soakGrowth {
		t.Errorf("its memory has grown by %.1f %%", 100*grown)
	}
	s.recorded(t)
	if h := s.health(t); !strings.Contains(h, "\nlost 0\n") {
		t.Errorf("rows are lost: %s", h)
	}
	if rows := int64(total(outcomes(t, path)) - rowsBefore); rows < s.answered.Load() {
		t.Errorf("%d rows of %d answers", rows, s.answered.Load())
	}
	goroutines, fresh := s.goroutines(), s.goroutinesOfAnother(upstream)
	s.say("%v, %d answers; %d goroutines in the end, %d in a program that has just begun; memory %+.1f %%",
		time.Since(begin).Round(time.Second), s.answered.Load(), goroutines, fresh, 100*s.growth())
	if goroutines > fresh+4 {
		t.Errorf("%d goroutines are left, where a program that has just begun has %d", goroutines, fresh)
	}
}

// soak is a program under load of every kind.
type soak struct {
	*child
	t        *testing.T
	begin    time.Time
	answered atomic.Int64 // requests of whose answer something was seen
	samples  []sample
}

// sample is what the program holds at a time.
type sample struct {
	at                           time.Duration
	memory, threads, descriptors int
}

func (s *soak) sample() sample {
	return sample{time.Since(s.begin), int(s.memory(s.t, "VmRSS")), s.statusOf(s.t, "Threads"), s.descriptors(s.t)}
}

func (s *soak) report(when string) {
	now := s.sample()
	s.say("%s: %d answers, %.1f MiB, %d threads, %d descriptors",
		when, s.answered.Load(), float64(now.memory)/(1<<20), now.threads, now.descriptors)
}

// say prints what goes on where that takes long.
func (s *soak) say(format string, args ...any) {
	if os.Getenv("TTFTAP_SOAK") == "" {
		s.t.Logf(format, args...)
		return
	}
	fmt.Printf(format+"\n", args...)
}

// watch loads the program, takes samples and prints a line a minute.
func (s *soak) watch(lasts time.Duration) {
	s.begin = time.Now()
	done := make(chan struct{})
	go func() { s.load(lasts); close(done) }()
	each, minute := time.NewTicker(soakSample), time.NewTicker(time.Minute)
	defer each.Stop()
	defer minute.Stop()
	for {
		select {
		case <-done:
			return
		case <-each.C:
			s.samples = append(s.samples, s.sample())
		case <-minute.C:
			s.report(fmt.Sprintf("minute %.0f", time.Since(s.begin).Minutes()))
		}
	}
}

// settled is what the program holds once nothing is under way.
func (s *soak) settled() sample {
	<-time.After(soakSettle)
	return s.sample()
}

// growth is by what part of its memory the program has grown since the first third,
// by the line that fits the samples best.
func (s *soak) growth() float64 {
	later := s.samples[len(s.samples)/3:]
	if len(later) < 3 {
		return 0
	}
	var x, y float64
	for _, p := range later {
		x += p.at.Seconds() / float64(len(later))
		y += float64(p.memory) / float64(len(later))
	}
	var xx, xy float64
	for _, p := range later {
		dx := p.at.Seconds() - x
		xx += dx * dx
		xy += dx * (float64(p.memory) - y)
	}
	return xy / xx * (later[len(later)-1].at - later[0].at).Seconds() / y
}

// load sends everything that a program may be sent until the time is over.
func (s *soak) load(lasts time.Duration) {
	ctx, stop := context.WithTimeout(s.t.Context(), lasts)
	defer stop()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	defer client.CloseIdleConnections()
	var lanes sync.WaitGroup
	for _, l := range soakLanes() {
		for range l.lanes {
			lanes.Go(func() {
				for ctx.Err() == nil {
					l.once(ctx, s, client)
					select {
					case <-time.After(l.pause/2 + rand.N(l.pause)):
					case <-ctx.Done():
					}
				}
			})
		}
	}
	lanes.Wait()
}

// soakLane is one kind of traffic.
type soakLane struct {
	lanes int
	pause time.Duration // on average, between two
	once  func(ctx context.Context, s *soak, client *http.Client)
}

func soakLanes() []soakLane {
	big := fmt.Sprintf(`{"model":"big","stream":true,"messages":[{"role":"user","content":%q}]}`, strings.Repeat("word ", 50<<10))
	return []soakLane{
		{10, 200 * time.Millisecond, posts("/v1/chat/completions", `{"model":"brief","stream":true,"messages":[{"role":"user","content":"hello"}]}`, 0)},
		{2, 200 * time.Millisecond, posts("/v1/json", `{"model":"m","messages":[]}`, 0)},
		{1, time.Second, posts("/v1/chat/completions", big, 0)},
		{2, 500 * time.Millisecond, posts("/v1/chat/completions", `{"model":"brief","stream":true}`, 400*time.Millisecond)},
		{1, 300 * time.Millisecond, posts("/v1/fails", `{"model":"m","stream":true}`, 0)},
		{1, 300 * time.Millisecond, posts("/v1/cuts", `{"model":"m","stream":true}`, 0)},
		{2, time.Second, talks},
		{1, time.Second, looks("/-/", "/-/?lang=zh&bound=unknown", "/-/charts", "/-/models", "/-/connect", "/-/api/requests?limit=50", "/-/healthz")},
		{1, 2 * time.Second, looks("/-/live")},
		{1, 15 * time.Second, looks("/-/export.csv?from=-2m", "/-/export.jsonl?limit=1000", "/-/export.csv?outcome=upstream_error")},
	}
}

// posts asks and reads the answer; where there is a patience, it leaves by then.
func posts(path, body string, patience time.Duration) func(context.Context, *soak, *http.Client) {
	return func(ctx context.Context, s *soak, client *http.Client) {
		if patience > 0 {
			var leave context.CancelFunc
			ctx, leave = context.WithTimeout(ctx, rand.N(patience))
			defer leave()
		}
		req := must(http.NewRequestWithContext(ctx, http.MethodPost, s.base+path, strings.NewReader(body)))
		if res, err := client.Do(req); err == nil {
			s.answered.Add(1)
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
	}
}

// talks asks for a few responses over a socket.
func talks(ctx context.Context, s *soak, _ *http.Client) {
	l := lane{agent: "soak/1", session: fmt.Sprint(rand.Int())}
	for range 3 {
		l.asks = append(l.asks, ask{model: "m", topic: "soak", prompt: 100})
	}
	s.answered.Add(l.converse(ctx, s.base))
}

// looks asks for one of some pages, for two seconds at most where it does not end.
func looks(paths ...string) func(context.Context, *soak, *http.Client) {
	return func(ctx context.Context, s *soak, _ *http.Client) {
		ctx, leave := context.WithTimeout(ctx, 2*time.Second)
		defer leave()
		drain(ctx, s.base+paths[rand.IntN(len(paths))])
	}
}

// soakModel answers in every way: streams, JSON, sockets, errors, and streams that
// are cut.
func soakModel(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/json", costly{}.ServeHTTP)
	mux.HandleFunc("/v1/responses", socketModel)
	mux.HandleFunc("/v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		brief(w, r)
	})
	mux.HandleFunc("/v1/fails", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"error":{"type":"rate_limit_error","message":"slow down"}}`)
	})
	mux.HandleFunc("/v1/cuts", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, textEvent)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

var goroutineLine = regexp.MustCompile(`(?m)^goroutine \d+ `)

// goroutines has the program end by SIGQUIT, upon which it prints every goroutine
// it has, and counts them.
func (c *child) goroutines() int {
	before := len(c.log())
	_ = c.Process.Signal(syscall.SIGQUIT)
	_ = c.Wait()
	return len(goroutineLine.FindAllIndex([]byte(c.log()[before:]), -1))
}

// goroutinesOfAnother are those of a program that has done a little and rests.
func (s *soak) goroutinesOfAnother(upstream string) int {
	another := &soak{t: s.t, child: startChild(s.t, upstream, logOf(s.t))}
	another.load(2 * time.Second)
	another.settled()
	return another.goroutines()
}
