package proxy_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
)

const chatThought = `data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{"reasoning_content":"Hm"}}]}` + "\n\n"

func TestWhatIsUnderWayIsKnownAsItComes(t *testing.T) {
	upstream := script(eventStream,
		step{200 * time.Millisecond, chatRole},
		step{300 * time.Millisecond, chatThought},
		step{500 * time.Millisecond, chatText},
		step{500 * time.Millisecond, chatText + chatText},
		step{500 * time.Millisecond, chatFinish + chatUsage + chatDone},
	)
	inBubble(t, upstream, func(t *testing.T, w *world) {
		begun := time.Now()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			w.exchange("/v1/chat/completions", chatAsked)
		}()
		moments := []struct {
			at     time.Duration
			events int64
			instants
			firstReasoning float64
		}{
			{100, -1, instants{-1, -1, -1, -1, -1, -1, -1, -1}, -1},
			{400, -1, instants{200, 200, 200, -1, -1, -1, -1, -1}, -1},
			{900, 1, instants{200, 200, 200, 500, -1, 500, -1, -1}, 500},
			{1400, 2, instants{200, 200, 200, 500, 1000, 1000, -1, -1}, 500},
			{1900, 4, instants{200, 200, 200, 500, 1000, 1500, -1, -1}, 500},
		}
		var earlier []exchange.Exchange
		for _, m := range moments {
			time.Sleep(m.at*time.Millisecond - time.Since(begun))
			synctest.Wait()
			all := w.proxy.UnderWay()
			if len(all) != 1 || w.proxy.Flying() != 1 {
				t.Fatalf("after %d ms %d are under way", m.at, len(all))
			}
			x := *all[0]
			if diff := cmp.Diff(m.instants, of(x)); diff != "" {
				t.Errorf("after %d ms: %s", m.at, diff)
			}
			if ms(x.FirstReasoning) != m.firstReasoning || count(x.OutputEvents) != m.events {
				t.Errorf("after %d ms: first thought at %v ms, %d events", m.at, ms(x.FirstReasoning), count(x.OutputEvents))
			}
			earlier = append(earlier, x)
		}
		for i, x := range earlier {
			if diff := cmp.Diff(moments[i].instants, of(x)); diff != "" {
				t.Errorf("a copy changed later on: %s", diff)
			}
		}
		last := earlier[len(earlier)-1]
		if last.Outcome != exchange.Open || last.ModelRequested != "m" || count(last.Status) != 200 || ms(last.Wait) != 500 || last.Prompt != nil {
			t.Errorf("under way: %+v", last)
		}
		<-ended
		w.proxy.Wait()
		if all := w.proxy.UnderWay(); len(all) != 0 || w.proxy.Flying() != 0 {
			t.Errorf("%d are under way after the end", len(all))
		}
	})
}

func count(n *int64) int64 {
	if n == nil {
		return -1
	}
	return *n
}

func TestThoseUnderWayComeInTheOrderInWhichTheyBegan(t *testing.T) {
	upstream := script(eventStream, step{time.Second, chatText + chatDone})
	inBubble(t, upstream, func(t *testing.T, w *world) {
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() { w.exchange("/v1/chat/completions", chatAsked) })
			time.Sleep(10 * time.Millisecond)
		}
		xs := w.proxy.UnderWay()
		if len(xs) != 5 {
			t.Fatalf("%d are under way", len(xs))
		}
		for i, x := range xs[1:] {
			if !xs[i].StartedAt.Before(x.StartedAt) {
				t.Errorf("number %d began before number %d", i+1, i)
			}
		}
		all.Wait()
	})
}

// TestToLookHarmsNothing asks all the time while very many come and go. It is for
// the race detector; what it checks itself is that nothing was lost.
func TestToLookHarmsNothing(t *testing.T) {
	upstream := script(eventStream, step{0, chatRole}, step{0, chatText}, step{time.Millisecond, chatText}, step{0, chatFinish + chatUsage + chatDone})
	for name, upstream := range map[string]http.Handler{"plain": upstream, "compressed": zipped(upstream)} {
		t.Run(name, func(t *testing.T) {
			w := onSockets(t, "/v1", upstream)
			var clients, watcher sync.WaitGroup
			done := make(chan struct{})
			watcher.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
						w.proxy.UnderWay()
					}
				}
			})
			for range 8 {
				clients.Go(func() {
					for range 20 {
						res := w.post("/v1/chat/completions", chatAsked)
						io.Copy(io.Discard, res.Body)
						res.Body.Close()
					}
				})
			}
			clients.Wait()
			close(done)
			watcher.Wait()
			for range 160 {
				if x := w.row(); x.Outcome != exchange.OK || count(x.OutputTokens) != 5 || count(x.OutputEvents) != 2 {
					t.Fatalf("outcome %s, %d tokens, %d events", x.Outcome, count(x.OutputTokens), count(x.OutputEvents))
				}
			}
		})
	}
}

// zipped serves what h does, compressed and flushed piece by piece.
func zipped(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		defer z.Close()
		h.ServeHTTP(zipping{w, z}, r)
	})
}

type zipping struct {
	http.ResponseWriter
	z *gzip.Writer
}

func (w zipping) Write(p []byte) (int, error) { return w.z.Write(p) }

func (w zipping) Flush() {
	w.z.Flush()
	w.ResponseWriter.(http.Flusher).Flush()
}
