package proxy_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// part is a response.create that goes on from a response with new items.
func part(after string, items ...string) string {
	previous := ""
	if after != "" {
		previous = fmt.Sprintf(`"previous_response_id":%q,`, after)
	}
	return fmt.Sprintf(`{"type":"response.create","model":"m",%s"tools":[{"type":"function","name":"run","description":%q}],"input":[%s]}`,
		previous, strings.Repeat("runs a command. ", 100), strings.Join(items, ","))
}

// spoken is an item of a conversation, large enough to matter.
func spoken(id string) string {
	return fmt.Sprintf(`{"type":"message","role":"user","id":%q,"content":[{"type":"input_text","text":%q}]}`, id, id+strings.Repeat(" and so on", 600))
}

func TestMessagesThatSayOnlyWhatIsNewExtendTheirPrompt(t *testing.T) {
	w := onSockets(t, "/v1", answeringEach(events("r%d", wsCreated, wsText, wsCompleted)...))
	for _, headers := range [][]string{{"Session-Id", "s1"}, nil} { // without a session it is the socket that tells what came before
		c := w.socket(t, headers...)
		for n := 1; n <= 3; n++ {
			after := ""
			if n > 1 {
				after = fmt.Sprintf("r%d", n-1)
			}
			c.tell(part(after, spoken(fmt.Sprintf("%v-item-%d", headers, n))))
			c.hearUntil("completed")
		}
		rows := byResponse(w, 3)
		var before exchange.Exchange
		for n := 1; n <= 3; n++ {
			x := rows[fmt.Sprintf("r%d", n)]
			if n > 1 && (len(x.Prompt) <= len(before.Prompt) || !slices.Equal(before.Prompt, x.Prompt[:len(before.Prompt)])) {
				t.Errorf("message %d does not extend the one before", n)
			}
			if shared := number(x.PrefixSharedTokens); n > 1 && shared < 400 || number(x.PromptTokens) != 900 {
				t.Errorf("message %d: %d of %d tokens are shared", n, shared, number(x.PromptTokens))
			}
			before = x
		}
		c.Close()
	}
}

// Once the socket is lost all is sent again, with the answers in the client's own
// words. That changes nothing of the prompt, though nobody could tell by its bytes.
func TestAConversationThatIsSentAgainOverAnotherSocketChangesNothing(t *testing.T) {
	w := onSockets(t, "/v1", answeringEach(events("r%d", wsCreated, wsText, wsCompleted)...))
	one, two := spoken("one"), spoken("two")
	for _, messages := range [][]string{
		{part("", one), part("r1", two)},
		{part("", one, `{"type":"message","role":"assistant","content":"some words"}`, two, spoken("three"))},
	} {
		c := w.socket(t, "Session-Id", "s1")
		for _, m := range messages {
			c.tell(m)
			c.hearUntil("completed")
			x := w.row()
			if x.ChangedSection != "" || x.CacheOutcome == "broken" {
				t.Errorf("%s: changed %q", x.CacheOutcome, x.ChangedSection)
			}
			for _, p := range diagnosis.Composition(&x) {
				if p.Bytes == 0 {
					t.Errorf("nothing of the prompt is %s", p.Part)
				}
			}
		}
		c.Close()
	}
}

// A client that lost its socket sends over the next one all that it had sent, in
// other bytes and with another time.
func TestWhatIsAskedAgainOverAnotherSocketIsARetry(t *testing.T) {
	w := onSockets(t, "/v1", talking(func(c *talker) {
		m, err := c.hear()
		switch {
		case err != nil:
		case strings.Contains(string(m.Data), "previous_response_id"):
			c.tell(`{"type":"error","status":500,"error":{"type":"server_error","message":"broken"}}`)
		default:
			c.tell(events("r2", wsCompleted)...)
		}
		c.hear()
	}))
	var got []exchange.Exchange
	for _, message := range []string{part("r1", spoken("two")), part("", spoken("one"), `{"type":"message","role":"assistant","content":"yes"}`, spoken("two")), part("", spoken("two"))} {
		c := w.socket(t, "Session-Id", "s1")
		c.tell(strings.Replace(message, `"model"`, fmt.Sprintf(`"client_metadata":{"sent":"%d"},"model"`, time.Now().UnixNano()), 1))
		got = append(got, w.row())
		c.Close()
	}
	if first := got[0]; first.RetryGroup != first.ID || number(first.Attempt) != 1 || got[1].RetryGroup != first.ID || number(got[1].Attempt) != 2 {
		t.Errorf("groups %q and %q, attempts %d and %d", first.RetryGroup, got[1].RetryGroup, number(first.Attempt), number(got[1].Attempt))
	}
	if got[2].RetryGroup != "" {
		t.Error("what succeeded is tried again")
	}
}

// byResponse are the rows of n responses.
func byResponse(w *world, n int) map[string]exchange.Exchange {
	rows := make(map[string]exchange.Exchange)
	for range n {
		x := w.row()
		rows[x.ResponseID] = x
	}
	return rows
}

// A client asks on as soon as it has heard the last of an answer. By then that has
// ended here, too.
func TestWhatIsAskedNextFindsTheOneBeforeEnded(t *testing.T) {
	const many = 300
	w := onSockets(t, "/v1", answeringEach(events("r%d", wsText, wsCompleted)...))
	c := w.socket(t, "Session-Id", "s")
	for range many {
		c.tell(create(""))
		c.hearUntil("completed")
	}
	for id, x := range byResponse(w, many) {
		if number(x.Concurrency) != 1 || x.IdleBefore == nil && id != "r1" {
			t.Errorf("%s: %d at once, idle for %v before", id, number(x.Concurrency), x.IdleBefore)
		}
	}
}

// The page looks at what is under way whenever it likes.
func TestWhatIsUnderWayOverASocketMayBeLookedAtAtAnyTime(t *testing.T) {
	w := onSockets(t, "/v1", answeringEach(events("r%d", wsCreated, wsText, wsCompleted)...))
	c := w.socket(t)
	over := make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() {
		for {
			select {
			case <-over:
				return
			default:
			}
			for _, x := range w.proxy.UnderWay() {
				if x.Proxy == nil || x.Transport != "websocket" {
					t.Errorf("half of a row: %+v", x)
				}
			}
		}
	})
	for range 50 {
		c.tell(create(""))
		c.hearUntil("completed")
		w.row()
	}
	close(over)
	looking.Wait()
}

func asked(model, more string) string {
	return fmt.Sprintf(`{"type":"response.create","model":%q,%s"input":"hello"}`, model, more)
}

func TestSeveralResponsesInTurnAreToldApart(t *testing.T) {
	w := onSockets(t, "/v1", talking(func(c *talker) {
		for range 3 {
			c.hear()
		}
		for _, id := range []string{"r1", "r2", "r3"} {
			c.tell(events(id, wsCreated, wsText, wsText, wsCompleted)...)
		}
		c.hear()
	}))
	c := w.socket(t)
	c.tell(asked("m1", ""), asked("m2", ""), asked("m3", ""))
	for id, x := range byResponse(w, 3) {
		if want := strings.Replace(id, "r", "m", 1); x.ModelRequested != want || number(x.OutputEvents) != 2 || x.Outcome != exchange.OK {
			t.Errorf("%s answers %s with %d events, %s", id, x.ModelRequested, number(x.OutputEvents), x.Outcome)
		}
	}
}

func TestLanesOfOneSocketAreToldApart(t *testing.T) {
	in := func(lane string, texts ...string) []string {
		for i, text := range texts {
			texts[i] = strings.Replace(text, `{`, fmt.Sprintf(`{"stream_id":%q,`, lane), 1)
		}
		return texts
	}
	w := onSockets(t, "/v1", talking(func(c *talker) {
		for range 4 {
			c.hear()
		}
		c.tell(in("b", events("rb", wsCreated, wsText)...)...)
		c.tell(in("a", events("ra", wsCreated)...)...)
		c.tell(in("b", wsText, wsText)...)
		c.tell(events("r0", wsCreated, wsText, wsText)...)
		c.tell(in("a", `{"type":"error","status":400,"error":{"code":"odd"}}`, wsText)...)
		c.tell(in("b", events("rb", wsCompleted)...)...)
		c.tell(events("r0", wsCompleted)...)
		c.tell(in("a", events("ra2", wsCreated, wsText, wsCompleted)...)...)
		c.hear()
	}))
	c := w.socket(t)
	c.tell(asked("in-a", `"stream_id":"a",`), asked("in-b", `"stream_id":"b",`), asked("in-none", ""), asked("in-a-2", `"stream_id":"a",`))
	rows := byResponse(w, 4)
	for id, want := range map[string]struct {
		model   string
		events  int64
		outcome exchange.Outcome
	}{
		"ra": {"in-a", -1, exchange.ErrorEvent}, "rb": {"in-b", 3, exchange.OK}, "r0": {"in-none", 2, exchange.OK}, "ra2": {"in-a-2", 2, exchange.OK},
	} {
		if x := rows[id]; x.ModelRequested != want.model || number(x.OutputEvents) != want.events || x.Outcome != want.outcome {
			t.Errorf("%s answers %s with %d events, %s", id, x.ModelRequested, number(x.OutputEvents), x.Outcome)
		}
	}
}

// What an upstream says of a response that has failed is nothing of the next one.
func TestStragglersOfAFailedResponseAreNobodys(t *testing.T) {
	w := onSockets(t, "/v1", talking(func(c *talker) {
		c.hear()
		c.tell(events("r1", wsCreated, `{"type":"error","error":{"code":"odd"}}`)...)
		c.hear()
		c.tell(events("r1", `{"type":"response.failed","response":{"id":"%[1]s","status":"failed","error":{"code":"odd"}}}`)...)
		c.tell(events("r2", wsCreated, wsText, wsCompleted)...)
		c.hear()
	}))
	c := w.socket(t)
	for _, want := range []exchange.Outcome{exchange.ErrorEvent, exchange.OK} {
		c.tell(create(""))
		if x := w.row(); x.Outcome != want {
			t.Errorf("%s is %s, want %s", x.ResponseID, x.Outcome, want)
		}
	}
}

// The upstream adds up over a turn what its engine did for it.
func TestTheEnginesTimesAreThoseOfEachResponse(t *testing.T) {
	timing := func(first, total float64) string {
		return fmt.Sprintf(`{"type":"responsesapi.websocket_timing","timing_metrics":{"engine_service_ttft_total_ms":%v,"engine_service_total_ms":%v,"responses_duration_excl_engine_and_client_tool_time_ms":30}}`, first, total)
	}
	upstream := talking(func(c *talker) {
		for i, told := range []string{timing(400, 900), timing(650, 1350), timing(300, 310), ""} {
			c.hear()
			time.Sleep(time.Second)
			c.tell(events(fmt.Sprintf("r%d", i), wsCreated, wsText)...)
			if told != "" {
				c.tell(told)
			}
			c.tell(events(fmt.Sprintf("r%d", i), wsCompleted)...)
		}
		c.hear()
	})
	inBubble(t, upstream, func(t *testing.T, w *world) {
		c := w.socket(t, "Session-Id", "s")
		for i, want := range []string{"400 500", "250 200", "300 10", "-1 -1"} {
			turn := "one"
			if i > 1 {
				turn = "two"
			}
			c.tell(create(turnOf(turn, "turn")))
			c.hearUntil("completed")
			x := w.row()
			if got := fmt.Sprint(ms(x.ServerPrefill), ms(x.ServerDecode)); got != want || (x.ServerSource == "openai") != (i < 3) {
				t.Errorf("response %d: prefill and decode %s by %q, want %s", i, got, x.ServerSource, want)
			}
		}
		c.Close()
	})
}

func TestTheFramesOfARealCodexAreReadOverASocket(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(sample(t, "websocket-0.171.frames.jsonl")), "\n")
	replies := make(chan string, len(lines))
	for i := range lines {
		var next struct {
			Previous string `json:"previous_response_id"`
		}
		if i+1 < len(lines) {
			if err := json.Unmarshal([]byte(lines[i+1]), &next); err != nil {
				t.Fatal(err)
			}
		}
		replies <- next.Previous
	}
	w := onSockets(t, "/v1", talking(func(c *talker) {
		for range lines {
			c.hear()
			c.tell(events(<-replies, wsCreated, wsCompleted)...)
		}
		c.hear()
	}))
	c := w.socket(t, "Session-Id", "s")
	for i, kind := range []string{"prewarm", "turn", "turn", "turn"} {
		c.tell(lines[i])
		x := w.row()
		if x.RequestKind != kind || (x.TurnID == "") != (i == 0) || x.ModelRequested != "mock-model" || x.Note != "" || number(x.RequestBytes) != int64(len(lines[i])) {
			t.Errorf("frame %d: %q of turn %q, model %q, note %q, %d bytes", i, x.RequestKind, x.TurnID, x.ModelRequested, x.Note, number(x.RequestBytes))
		}
		if i > 1 && (x.PrefixSharedTokens == nil || x.ChangedSection != "") {
			t.Errorf("frame %d changed %q", i, x.ChangedSection)
		}
	}
}
