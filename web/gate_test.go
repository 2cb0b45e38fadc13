package web

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// stuck is a client that takes nothing until it is freed.
type stuck struct {
	*httptest.ResponseRecorder
	freed chan struct{}
}

func (s stuck) Write(p []byte) (int, error) {
	<-s.freed
	return s.ResponseRecorder.Write(p)
}

func lookedAt(ctx context.Context) *http.Request {
	return httptest.NewRequestWithContext(ctx, http.MethodGet, "/-/", nil)
}

func TestViewsAreMadeInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var making, most atomic.Int64
		view := make(gate, 2).inTurns(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for range 3 { // as an export does
				most.Store(max(most.Load(), making.Add(1)))
				time.Sleep(time.Second)
				making.Add(-1)
				io.WriteString(w, "x")
			}
		}))
		begin := time.Now()
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				w := httptest.NewRecorder()
				view.ServeHTTP(w, lookedAt(t.Context()))
				if w.Body.String() != "xxx" {
					t.Errorf("a view is %q", w.Body)
				}
			})
		}
		all.Wait()
		if took := time.Since(begin); most.Load() != 2 || took != 9*time.Second {
			t.Errorf("%d at a time, %v in all", most.Load(), took)
		}
	})
}

func TestAReaderWhoTakesNothingHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		view := make(gate, 1).inTurn(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "x") }))
		slow := stuck{httptest.NewRecorder(), make(chan struct{})}
		var all sync.WaitGroup
		all.Go(func() { view.ServeHTTP(slow, lookedAt(t.Context())) })
		synctest.Wait()
		quick := httptest.NewRecorder()
		view.ServeHTTP(quick, lookedAt(t.Context())) // or the bubble is at a dead end
		close(slow.freed)
		all.Wait()
		if quick.Body.String() != "x" || slow.Body.String() != "x" {
			t.Errorf("they got %q and %q", quick.Body, slow.Body)
		}
	})
}

func TestWhoLeavesBeforeHisTurnHasNoneMade(t *testing.T) {
	g := make(gate, 1)
	g <- struct{}{}
	ctx, leave := context.WithCancel(t.Context())
	leave()
	g.inTurn(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was made") })).
		ServeHTTP(httptest.NewRecorder(), lookedAt(ctx))
	<-g
	select {
	case g <- struct{}{}:
	default:
		t.Error("a turn is lost")
	}
}
