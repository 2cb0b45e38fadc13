package proxy_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// slowly answers each request after a second.
var slowly = script(eventStream, step{time.Second, chatText + chatFinish + chatUsage + chatDone})

func TestHowManyAreUnderWayIsCounted(t *testing.T) {
	inBubble(t, slowly, func(t *testing.T, w *world) {
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() { w.exchange("/v1/chat/completions", chatAsked) })
			time.Sleep(400 * time.Millisecond)
		}
		group.Wait()
		var got []int64
		for _, x := range w.rows.begun {
			got = append(got, *x.Concurrency)
		}
		if diff := cmp.Diff([]int64{1, 2, 3}, got); diff != "" {
			t.Errorf("under way (-want +got):\n%s", diff)
		}
		if _, x := w.exchange("/v1/chat/completions", chatAsked); *x.Concurrency != 1 || x.IdleBefore != nil {
			t.Errorf("later %d are under way; a request without a session was idle for %v", *x.Concurrency, x.IdleBefore)
		}
	})
}

func TestTheTimeBetweenTwoRequestsOfASessionIsTheClients(t *testing.T) {
	inBubble(t, slowly, func(t *testing.T, w *world) {
		ask := func(session string) exchange.Exchange {
			_, x := w.exchange("/v1/chat/completions", chatAsked, "Session-Id", session)
			return x
		}
		if x := ask("a"); x.IdleBefore != nil {
			t.Errorf("the first was idle for %v", *x.IdleBefore)
		}
		time.Sleep(3 * time.Second)
		if x := ask("b"); x.IdleBefore != nil {
			t.Errorf("another session was idle for %v", *x.IdleBefore)
		}
		if x := ask("a"); ms(x.IdleBefore) != 4_000 {
			t.Errorf("idle for %v ms, want 4000", ms(x.IdleBefore))
		}
		var group sync.WaitGroup
		for i := range 2 {
			group.Go(func() { ask("a") })
			time.Sleep(time.Duration(1+i) * 200 * time.Millisecond)
		}
		group.Wait()
		if x := w.rows.begun[len(w.rows.begun)-1]; x.IdleBefore != nil {
			t.Errorf("with another one under way it was idle for %v", *x.IdleBefore)
		}
	})
}

func TestWhatTheProxyRefusesIsNotTheSessionsWork(t *testing.T) {
	w := onSockets(t, "/v1", slowly)
	r, err := http.NewRequest(http.MethodGet, w.url+"/to/nowhere/v1/models", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Session-Id", "a")
	for range 2 {
		res, err := w.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if x := w.row(); x.Concurrency != nil || x.IdleBefore != nil {
			t.Errorf("%s: %v under way, idle for %v", x.Outcome, x.Concurrency, x.IdleBefore)
		}
	}
}
