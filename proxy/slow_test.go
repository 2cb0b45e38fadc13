package proxy_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// A client that takes its time holds the upstream back, and nothing piles up here.
func TestUpstreamIsHeldBackByASlowClient(t *testing.T) {
	const chunk = 64 << 10
	var written atomic.Int64
	upstream := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		time.Sleep(time.Millisecond) // a flush of the head that waited for a write would stop the bubble's time
		for range 100 {
			io.WriteString(w, strings.Repeat("x", chunk))
			written.Add(chunk)
		}
	})
	inBubble(t, upstream, func(t *testing.T, w *world) {
		res := w.post("/v1/audio/speech", "{}")
		time.Sleep(time.Hour + time.Millisecond)
		synctest.Wait()
		if n := written.Load(); n > 2*chunk {
			t.Errorf("%d bytes were taken of the upstream that nobody read", n)
		}
		got, err := io.ReadAll(res.Body)
		if err != nil || len(got) != 100*chunk {
			t.Errorf("%d bytes, %v", len(got), err)
		}
		if x := w.row(); x.Outcome != exchange.OK || *x.ClientWait < time.Hour {
			t.Errorf("outcome %s, waited %v for the client", x.Outcome, *x.ClientWait)
		}
	})
}

// The time that a client takes to read is its own: no rate is made of it.
func TestSlowClientIsNotTheModelsDecoding(t *testing.T) {
	var steps []step
	for range 100 {
		steps = append(steps, step{10 * time.Millisecond, chatText})
	}
	usage := strings.Replace(chatUsage, `"completion_tokens":5,"total_tokens":17`, `"completion_tokens":100`, 1)
	upstream := script(eventStream, append(steps, step{0, chatFinish + usage + chatDone})...)
	inBubble(t, upstream, func(t *testing.T, w *world) {
		res := w.post("/v1/chat/completions", chatAsked)
		buf := make([]byte, len(chatText))
		for range 50 {
			io.ReadFull(res.Body, buf)
			time.Sleep(100 * time.Millisecond)
		}
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
		x := w.row()
		if x.Outcome != exchange.OK || number(x.OutputTokens) != 100 || *x.ClientWait < time.Second || x.TokensPerSec != nil {
			t.Errorf("outcome %s, waited %v for the client, rate %v", x.Outcome, *x.ClientWait, x.TokensPerSec)
		}
	})
}
