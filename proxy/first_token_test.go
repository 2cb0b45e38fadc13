package proxy_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// inTime puts a stream through the proxy in a bubble of time and returns its row.
func inTime(t *testing.T, path string, steps ...step) (x exchange.Exchange) {
	t.Helper()
	inBubble(t, script(eventStream, steps...), func(t *testing.T, w *world) {
		_, x = w.exchange(path, `{"model":"m","stream":true}`)
	})
	return x
}

// usageOf is the chunk that ends a stream of chat with its usage.
func usageOf(prompt, output int) string {
	return chatFinish + fmt.Sprintf(`data: {"id":"c1","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`+"\n\n", prompt, output, prompt+output) + chatDone
}

func TestAnOpeningFrameIsNoToken(t *testing.T) {
	long := strings.Replace(respUsage, `"input_tokens":12,"input_tokens_details":{"cached_tokens":8}`, `"input_tokens":20000,"input_tokens_details":{"cached_tokens":0}`, 1)
	early, late := 200*time.Millisecond, 3800*time.Millisecond
	for _, c := range []struct {
		name, path        string
		opening, text     string
		end               string
		bound             exchange.Bound
		wantPromptAtLeast int64
	}{
		{"chat, short", chatPath, chatRole, chatText, usageOf(12, 5), exchange.WaitBound, 12},
		{"chat, long", chatPath, chatRole, chatText, usageOf(20000, 5), exchange.PrefillBound, 20000},
		{"responses, short", respPath, respCreated + respRunning, respText, respEnd("completed", "", strings.Replace(respUsage, `"reasoning_tokens":2`, `"reasoning_tokens":0`, 1)), exchange.WaitBound, 12},
		{"responses, long", respPath, respCreated + respRunning, respText, respEnd("completed", "", strings.Replace(long, `"reasoning_tokens":2`, `"reasoning_tokens":0`, 1)), exchange.PrefillBound, 20000},
	} {
		x := inTime(t, c.path, step{early, c.opening}, step{late, c.text}, step{0, c.end})
		if ms(x.FirstByte) != 200 || ms(x.FirstEvent) != 200 || ms(x.FirstToken) != 4000 {
			t.Errorf("%s: first byte %v, event %v, token %v", c.name, ms(x.FirstByte), ms(x.FirstEvent), ms(x.FirstToken))
		}
		if x.Bound != c.bound || x.Cause != "unseparated" || number(x.PromptTokens) != c.wantPromptAtLeast {
			t.Errorf("%s: %s, %s of %d tokens", c.name, x.Bound, x.Cause, number(x.PromptTokens))
		}
	}
}

// reasoningThenText thinks aloud from 1.0 s on, answers from 11.0 s on, and ends at
// 12.0 s: a token every 0.1 s.
func reasoningThenText(opening, thought, text, end string) (steps []step) {
	const pace = 100 * time.Millisecond
	steps = append(steps, step{900 * time.Millisecond, opening})
	for range 100 {
		steps = append(steps, step{pace, thought})
	}
	for range 11 {
		steps = append(steps, step{pace, text})
	}
	return append(steps, step{0, end})
}

func TestReasoningIsOutputAndNotTheWaitForIt(t *testing.T) {
	thought := func(delta string) string {
		return `data: {"id":"c1","choices":[{"index":0,"delta":` + delta + `}]}` + "\n\n"
	}
	chatEnd := strings.Replace(usageOf(12, 111), `"total_tokens"`, `"completion_tokens_details":{"reasoning_tokens":100},"total_tokens"`, 1)
	item := `data: {"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"i1"}}` + "\n\n"
	summary := `data: {"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"hm"}` + "\n\n"
	answer := strings.Replace(respText, `"output_index":0`, `"output_index":1`, 1)
	respDone := respEnd("completed", "", `{"input_tokens":12,"output_tokens":111,"output_tokens_details":{"reasoning_tokens":100},"total_tokens":123}`)
	for name, c := range map[string]struct {
		path  string
		steps []step
	}{
		"reasoning_content":    {chatPath, reasoningThenText(chatRole, thought(`{"reasoning_content":"hm"}`), chatText, chatEnd)},
		"reasoning":            {chatPath, reasoningThenText(chatRole, thought(`{"reasoning":"hm"}`), chatText, chatEnd)},
		"beside null":          {chatPath, reasoningThenText(chatRole, thought(`{"content":null,"reasoning_content":"hm"}`), chatText, chatEnd)},
		"beside nothing":       {chatPath, reasoningThenText(chatRole, thought(`{"content":"","reasoning":"hm"}`), chatText, chatEnd)},
		"summaries, responses": {respPath, reasoningThenText(respCreated+item, summary, answer, respDone)},
	} {
		x := inTime(t, c.path, c.steps...)
		if ms(x.FirstToken) != 1000 || ms(x.FirstReasoning) != 1000 || ms(x.FirstText) != 11_000 || ms(x.LastToken) != 12_000 || ms(x.Decode) != 11_000 {
			t.Errorf("%s: first token %v, text %v, last %v, decode %v", name, ms(x.FirstToken), ms(x.FirstText), ms(x.LastToken), ms(x.Decode))
		}
		if x.Bound != exchange.DecodeBound {
			t.Errorf("%s: %s, %s", name, x.Bound, x.Reason)
		}
	}
}

func TestTheRateIsOfTheOutputInTheTimeOfTheOutput(t *testing.T) {
	steps := []step{{2 * time.Second, chatText}}
	for range 100 {
		steps = append(steps, step{20 * time.Millisecond, chatText})
	}
	x := inTime(t, chatPath, append(steps, step{0, usageOf(1000, 101)}, step{100 * time.Millisecond, ""})...)
	if x.TokensPerSec == nil || math.Abs(*x.TokensPerSec-50) > 0.01 || ms(x.TPOT) != 20 {
		t.Errorf("rate %v, %v ms a token", x.TokensPerSec, ms(x.TPOT))
	}
	if x.EndToEndTokensPerSec == nil || math.Abs(*x.EndToEndTokensPerSec-101/4.0) > 0.01 {
		t.Errorf("from the start of the request: %v", x.EndToEndTokensPerSec)
	}
}

// An event may hold many tokens: of the rate, those of the first are no part.
func TestEventsAreNotTokens(t *testing.T) {
	forty := strings.Replace(chatText, "Hello", strings.Repeat("four", 10), 1)
	steps := []step{{time.Second, forty}}
	for range 4 {
		steps = append(steps, step{500 * time.Millisecond, forty})
	}
	x := inTime(t, chatPath, append(steps, step{0, usageOf(12, 60)})...)
	if number(x.OutputTokens) != 60 || number(x.OutputEvents) != 5 || x.TokensPerSec == nil || *x.TokensPerSec != 24 {
		t.Errorf("%d tokens in %d events, rate %v, want (60 - 12) in 2 s", number(x.OutputTokens), number(x.OutputEvents), x.TokensPerSec)
	}
	x = inTime(t, chatPath, append(steps, step{0, chatFinish + chatDone})...)
	if x.OutputTokens != nil || x.TokensPerSec != nil || x.TPOT != nil || number(x.OutputEvents) != 5 {
		t.Errorf("untold: %d tokens, rate %v, %d events", number(x.OutputTokens), x.TokensPerSec, number(x.OutputEvents))
	}
}

func TestWhatOneTokenCannotTellIsNotTold(t *testing.T) {
	x := inTime(t, chatPath, step{time.Second, chatRole + chatText}, step{time.Second, usageOf(12, 1)})
	if ms(x.FirstToken) != 1000 || x.TokensPerSec != nil || x.TPOT != nil || x.RateQuality != "" {
		t.Errorf("first token %v, rate %v %s", ms(x.FirstToken), x.TokensPerSec, x.RateQuality)
	}
	whole := step{3 * time.Second, `{"id":"c1","choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}],"usage":` + twelveAndFive + `}`}
	inBubble(t, script("application/json", whole), func(t *testing.T, w *world) {
		_, x := w.exchange(chatPath, `{"model":"m"}`)
		if x.FirstToken != nil || x.TokensPerSec != nil || x.Bound != exchange.Unknown || x.Cause != "not_streamed" || ms(x.End) != 3000 {
			t.Errorf("first token %v, rate %v, %s, %s, end %v", x.FirstToken, x.TokensPerSec, x.Bound, x.Cause, ms(x.End))
		}
	})
}

// Something before us collects what the model says and sends it in lumps.
func TestAStreamThatComesInLumpsIsSaidToBeBuffered(t *testing.T) {
	lump := strings.Repeat(chatText, 40)
	x := inTime(t, chatPath, step{90 * time.Second, lump}, step{40 * time.Second, lump}, step{40 * time.Second, lump + usageOf(12, 120)})
	if x.Delivery != exchange.Bursty || x.TokensPerSec != nil || x.Bound != exchange.Unknown || x.Cause != "buffered" {
		t.Errorf("delivery %s, rate %v, %s, %s", x.Delivery, x.TokensPerSec, x.Bound, x.Cause)
	}
	x = inTime(t, chatPath, step{90 * time.Second, lump + lump + usageOf(12, 80)})
	if x.Delivery != exchange.Pseudo || x.TokensPerSec != nil || x.Cause != "buffered" {
		t.Errorf("all at once: delivery %s, rate %v, %s", x.Delivery, x.TokensPerSec, x.Cause)
	}
}

// Go measures by the monotonic clock what lies between two times that hold it: a
// clock that is set meanwhile changes no duration. The start must not have lost it.
func TestDurationsAreOfTheMonotonicClock(t *testing.T) {
	w := onSockets(t, "/v1", script(eventStream, step{0, wholeChat}))
	_, x := w.exchange(chatPath, chatAsked)
	if !strings.Contains(x.StartedAt.String(), " m=") {
		t.Errorf("the start is %v", x.StartedAt)
	}
	if since := time.Since(x.StartedAt); *x.End > since || *x.End < 0 {
		t.Errorf("it took %v, in %v", *x.End, since)
	}
}
