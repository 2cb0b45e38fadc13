package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// chunkOf is a chunk of a model's stream with a text in it.
func chunkOf(model, field, text string) string {
	return fmt.Sprintf(`data: {"id":"c1","model":%q,"choices":[{"index":0,"delta":{%q:%q}}]}`, model, field, text) + "\n\n"
}

func TestTokensThatNobodyTellsAreCounted(t *testing.T) {
	story := strings.Repeat("one two three four five six ", 5)
	for _, c := range []struct {
		name, answer string
		tokens       int64 // -1: none
	}{
		{"a model whose encoding is known", chunkOf("gpt-4o-mini", "content", "Hello") + chunkOf("gpt-4o-mini", "content", " world") + chatFinish, 2},
		{"by a vendor's gateway", chunkOf("openai/gpt-4.1", "content", story) + chatFinish, 31},
		{"an older encoding", chunkOf("gpt-3.5-turbo-0125", "content", "Hello world") + chatFinish, 2},
		{"a tuned model", chunkOf("ft:gpt-4o-2024-08-06:acme::x", "content", "Hello world") + chatFinish, 2},
		{"cut by a limit", chunkOf("gpt-4o", "content", "Hello world") + strings.Replace(chatFinish, "stop", "length", 1), 2},
		{"reasoning that is seen", chunkOf("gpt-oss:20b", "reasoning", "Hello") + chunkOf("gpt-oss:20b", "content", " world") + chatFinish, 2},
		{"reasoning that is not", chunkOf("gpt-oss:20b", "content", "Hello world") + chatFinish, -1},
		{"a model that hides its own", chunkOf("gpt-5", "content", "Hello world") + chatFinish, -1},
		{"a model that is not known", chunkOf("m", "content", "Hello world") + chatFinish, -1},
		{"a name that only begins like one", chunkOf("gpt-4.9", "content", "Hello world") + chatFinish, -1},
		{"two choices", chunkOf("gpt-4o", "content", "Hello") + strings.Replace(chunkOf("gpt-4o", "content", "Hello"), `"index":0`, `"index":1`, 1) +
			chatFinish + strings.Replace(chatFinish, `"index":0`, `"index":1`, 1), -1},
		{"no text", chunkOf("gpt-4o", "content", "") + chatFinish, -1},
		{"more at once than is held", chunkOf("gpt-4o", "content", strings.Repeat("one two ", 20_000)) + chunkOf("gpt-4o", "content", "three") + chatFinish, -1},
		{"more than is held", strings.Repeat(chunkOf("gpt-4o", "content", strings.Repeat("one two ", 1000)), 20) + chatFinish, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := onSockets(t, "/v1", script(eventStream, step{0, c.answer + chatDone}))
			_, x := w.exchange("/v1/chat/completions", chatAsked)
			want := "estimated"
			if c.tokens < 0 {
				want = "absent"
			}
			if number(x.EstimatedOutput) != c.tokens || x.UsageSource != want || x.OutputTokens != nil || x.PromptTokens != nil {
				t.Errorf("%d tokens, usage %s", number(x.EstimatedOutput), x.UsageSource)
			}
		})
	}
}

func TestWhatIsToldIsNotCounted(t *testing.T) {
	hello := chunkOf("gpt-4o", "content", "Hello world")
	w := onSockets(t, "/v1", script(eventStream, step{0, hello + chatFinish + chatUsage + chatDone}))
	if _, x := w.exchange("/v1/chat/completions", chatAsked); number(x.OutputTokens) != 5 || x.EstimatedOutput != nil || x.UsageSource != "reported" {
		t.Errorf("%d tokens, usage %s", number(x.OutputTokens), x.UsageSource)
	}
}

func TestNothingIsReckonedWithACount(t *testing.T) {
	var steps []step
	for range 40 {
		steps = append(steps, step{100 * time.Millisecond, chunkOf("gpt-4o", "content", " one two three")})
	}
	inBubble(t, script(eventStream, append(steps, step{100 * time.Millisecond, chatFinish + chatDone})...), func(t *testing.T, w *world) {
		_, x := w.exchange("/v1/chat/completions", chatAsked)
		if number(x.EstimatedOutput) != 120 || x.UsageSource != exchange.EstimatedUsage {
			t.Fatalf("%d tokens, usage %s", number(x.EstimatedOutput), x.UsageSource)
		}
		if x.TokensPerSec != nil || x.TPOT != nil || x.EndToEndTokensPerSec != nil || x.TokensPerEvent != nil || x.RateQuality != "" || x.Excess != nil {
			t.Errorf("rates %v and %v, %v a token", x.TokensPerSec, x.EndToEndTokensPerSec, x.TPOT)
		}
		if x.Bound != exchange.DecodeBound || !strings.Contains(x.Reason, "About 120 output tokens came, as counted here") {
			t.Errorf("%s: %s", x.Bound, x.Reason)
		}
	})
}

func TestAnAnswerThatDidNotComeWholeIsNotCounted(t *testing.T) {
	hello := chunkOf("gpt-4o", "content", "Hello world")
	for name, upstream := range map[string]http.HandlerFunc{
		"cut off": func(w http.ResponseWriter, r *http.Request) {
			script(eventStream, step{0, hello})(w, r)
			panic(http.ErrAbortHandler)
		},
		"an error in it": script(eventStream, step{0, hello + `data: {"error":{"message":"engine died"}}` + "\n\n"}),
	} {
		w := onSockets(t, "/v1", upstream)
		res := w.post("/v1/chat/completions", chatAsked)
		res.Body.Close()
		if x := w.row(); x.EstimatedOutput != nil || x.UsageSource == exchange.EstimatedUsage {
			t.Errorf("%s: %d tokens, usage %s", name, number(x.EstimatedOutput), x.UsageSource)
		}
	}
}

func TestAnAnswerInOnePieceIsCountedToo(t *testing.T) {
	w := onSockets(t, "/v1", script("application/json", step{0, `{"model":"gpt-4o","choices":[{"index":0,"message":{"content":"Hello world"},"finish_reason":"stop"}]}`}))
	if _, x := w.exchange("/v1/chat/completions", `{"model":"gpt-4o"}`); number(x.EstimatedOutput) != 2 || x.UsageSource != exchange.EstimatedUsage {
		t.Errorf("%d tokens, usage %s", number(x.EstimatedOutput), x.UsageSource)
	}
}
