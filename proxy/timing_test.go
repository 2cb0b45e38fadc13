package proxy_test

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
)

const (
	chatRole   = `data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}` + "\n\n"
	chatText   = `data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{"content":"Hello"}}]}` + "\n\n"
	chatFinish = `data: {"id":"c1","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	chatUsage  = `data: {"id":"c1","model":"m","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":5,"total_tokens":17}}` + "\n\n"
	chatDone   = "data: [DONE]\n\n"
	chatAsked  = `{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}`
)

// instants are the offsets of a row, in ms, -1 for nil.
type instants struct {
	Headers, FirstByte, FirstEvent, FirstToken, AnswerStart, LastToken, Terminal, End float64
}

func of(x exchange.Exchange) instants {
	return instants{ms(x.Headers), ms(x.FirstByte), ms(x.FirstEvent), ms(x.FirstToken), ms(x.AnswerStart), ms(x.LastToken), ms(x.Terminal), ms(x.End)}
}

func TestInstantsAreExact(t *testing.T) {
	upstream := script(eventStream,
		step{200 * time.Millisecond, ": ping\n\n"},
		step{300 * time.Millisecond, chatRole},
		step{1500 * time.Millisecond, chatText},
		step{100 * time.Millisecond, chatText},
		step{100 * time.Millisecond, chatFinish},
		step{10 * time.Millisecond, chatUsage + chatDone},
		step{5 * time.Millisecond, ""},
	)
	inBubble(t, upstream, func(t *testing.T, w *world) {
		_, x := w.exchange("/v1/chat/completions", chatAsked)
		want := instants{Headers: 200, FirstByte: 200, FirstEvent: 500, FirstToken: 2000, AnswerStart: 2000, LastToken: 2100, Terminal: 2200, End: 2215}
		if diff := cmp.Diff(want, of(x)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestClientThatLeavesKeepsWhatWasMeasured(t *testing.T) {
	gone := make(chan time.Duration, 1)
	upstream := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", eventStream)
		for _, s := range []step{{200 * time.Millisecond, chatRole}, {300 * time.Millisecond, chatText}, {100 * time.Millisecond, chatText}, {100 * time.Millisecond, chatText}} {
			time.Sleep(s.after)
			io.WriteString(w, s.write)
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
		gone <- time.Since(start)
	})
	inBubble(t, upstream, func(t *testing.T, w *world) {
		res := w.post("/v1/chat/completions", chatAsked)
		go io.Copy(io.Discard, res.Body)
		time.Sleep(550 * time.Millisecond) // 200 ms have passed: the head came with the first chunk
		res.Body.Close()
		x := w.row()
		want := instants{Headers: 200, FirstByte: 200, FirstEvent: 200, FirstToken: 500, AnswerStart: 500, LastToken: 700, Terminal: -1, End: 750}
		if diff := cmp.Diff(want, of(x)); diff != "" {
			t.Error(diff)
		}
		if x.Outcome != exchange.ClientAbort || x.PromptTokens != nil || x.OutputTokens != nil {
			t.Errorf("outcome %s, tokens %v in, %v out", x.Outcome, x.PromptTokens, x.OutputTokens)
		}
		if at := <-gone; at != 750*time.Millisecond {
			t.Errorf("the upstream saw the client leave after %s", at)
		}
	})
}

func TestLongSilenceBeforeTheHeadIsNoError(t *testing.T) {
	answer := respCreated + respText + respEnd("completed", "", respUsage)
	inBubble(t, script(eventStream, step{290 * time.Second, answer}), func(t *testing.T, w *world) {
		got, x := w.exchange(respPath, `{"model":"m","stream":true}`)
		if got != answer || number(x.Status) != 200 || x.Outcome != exchange.OK || ms(x.FirstByte) != 290_000 || number(x.PromptTokens) != 12 || number(x.OutputTokens) != 5 {
			t.Errorf("outcome %s, first byte after %v ms, %+v, bytes equal: %v", x.Outcome, ms(x.FirstByte), countsOf(x), got == answer)
		}
		if x.Bound == exchange.PrefillBound {
			t.Error("12 tokens were called prefill-bound")
		}
	})
}
