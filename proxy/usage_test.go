package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// passed puts an answer through the proxy and returns its row. No byte of it may
// have changed.
func passed(t *testing.T, path, contentType, answer string) exchange.Exchange {
	t.Helper()
	w := onSockets(t, "/v1", script(contentType, step{0, answer}))
	got, x := w.exchange(path, `{"model":"m","stream":true}`)
	if got != answer {
		t.Errorf("the client got %.200q", got)
	}
	return x
}

// counts are the tokens of a row, -1 for nil.
type counts struct{ prompt, cached, written, uncached, output, reasoning, total int64 }

func countsOf(x exchange.Exchange) counts {
	return counts{number(x.PromptTokens), number(x.CachedTokens), number(x.CacheWriteTokens), number(x.UncachedTokens),
		number(x.OutputTokens), number(x.ReasoningTokens), number(x.TotalTokens)}
}

// asTold is what a usage of 12 and 5 tokens comes to that says nothing of a cache or
// of reasoning.
var (
	asTold = counts{12, -1, -1, -1, 5, -1, 17}
	untold = counts{-1, -1, -1, -1, -1, -1, -1}
)

// withUsage is an event with a usage in it.
func withUsage(event, usage string) string {
	return strings.Replace(event, `,"choices"`, `,"usage":`+usage+`,"choices"`, 1)
}

const (
	twelveAndFive = `{"prompt_tokens":12,"completion_tokens":5,"total_tokens":17}`
	chatPath      = "/v1/chat/completions"
)

func TestAUsageOfNullSaysNothing(t *testing.T) {
	events := withUsage(chatRole, "null") + withUsage(chatText, "null") + withUsage(chatFinish, "null")
	if got := countsOf(passed(t, chatPath, eventStream, events+chatUsage+chatDone)); got != asTold {
		t.Errorf("with a usage at the end: %+v", got)
	}
	x := passed(t, chatPath, eventStream, events+chatDone)
	if countsOf(x) != untold || x.UsageSource != "absent" || x.Outcome != exchange.OK {
		t.Errorf("without: %+v, usage %s", countsOf(x), x.UsageSource)
	}
}

func TestRunningTotalsAreNotAddedUp(t *testing.T) {
	var answer string
	for _, n := range []int{1, 3, 5} {
		answer += withUsage(chatText, fmt.Sprintf(`{"prompt_tokens":12,"completion_tokens":%d,"total_tokens":%d}`, n, 12+n))
	}
	x := passed(t, chatPath, eventStream, answer+chatFinish+chatUsage+chatDone)
	if countsOf(x) != asTold || number(x.OutputEvents) != 3 {
		t.Errorf("%+v of %d events", countsOf(x), number(x.OutputEvents))
	}
}

func TestUsageIsReadWhereverItStands(t *testing.T) {
	for name, answer := range map[string]string{
		"with the end":   chatRole + chatText + withUsage(chatFinish, twelveAndFive) + chatDone,
		"before the end": chatRole + chatText + chatUsage + chatFinish + chatDone,
		"after the end":  chatRole + chatText + chatFinish + chatUsage + chatDone,
		"after all":      chatRole + chatText + chatFinish + chatDone + chatUsage,
		"at the start":   withUsage(chatRole, twelveAndFive) + chatText + chatFinish + chatDone,
	} {
		if x := passed(t, chatPath, eventStream, answer); countsOf(x) != asTold || x.Outcome != exchange.OK {
			t.Errorf("%s: %+v, outcome %s", name, countsOf(x), x.Outcome)
		}
	}
}

const (
	respCreated = `event: response.created` + "\n" + `data: {"type":"response.created","response":{"id":"r1","status":"in_progress","usage":null}}` + "\n\n"
	respRunning = `event: response.in_progress` + "\n" + `data: {"type":"response.in_progress","response":{"id":"r1","status":"in_progress","usage":null}}` + "\n\n"
	respText    = `event: response.output_text.delta` + "\n" + `data: {"type":"response.output_text.delta","output_index":0,"delta":"Hello"}` + "\n\n"
	respPath    = "/v1/responses"
	respUsage   = `{"input_tokens":12,"input_tokens_details":{"cached_tokens":8},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":2},"total_tokens":17}`
)

// respEnd is the last event of a response: completed, incomplete or failed.
func respEnd(kind, more, usage string) string {
	return fmt.Sprintf("event: response.%[1]s\ndata: {\"type\":\"response.%[1]s\",\"response\":{\"id\":\"r1\",\"status\":%[1]q,\"model\":\"m\",%[2]s\"usage\":%[3]s}}\n\n", kind, more, usage)
}

func TestEveryEndOfAResponseTellsItsUsage(t *testing.T) {
	limit, died := `"incomplete_details":{"reason":"max_output_tokens"},`, `"error":{"code":"server_error","message":"it died"},`
	all := counts{12, 8, -1, 4, 5, 2, 17}
	for _, c := range []struct {
		end     string
		outcome exchange.Outcome
		want    counts
	}{
		{respEnd("completed", "", respUsage), exchange.OK, all},
		{respEnd("incomplete", limit, respUsage), exchange.Incomplete, all},
		{respEnd("failed", died, respUsage), exchange.ErrorEvent, all},
		{respEnd("failed", died, "null"), exchange.ErrorEvent, untold},
	} {
		x := passed(t, respPath, eventStream, respCreated+respText+c.end)
		if diff := cmp.Diff(c.want, countsOf(x), cmp.AllowUnexported(counts{})); diff != "" || x.Outcome != c.outcome {
			t.Errorf("%.40q: outcome %s, %s", c.end, x.Outcome, diff)
		}
	}
}

func TestReasoningIsAPartOfTheOutput(t *testing.T) {
	usage := `{"prompt_tokens":10,"completion_tokens":50,"total_tokens":60,"completion_tokens_details":{"reasoning_tokens":40}}`
	overResponses := `{"input_tokens":10,"output_tokens":50,"total_tokens":60,"output_tokens_details":{"reasoning_tokens":40}}`
	want := counts{10, -1, -1, -1, 50, 40, 60}
	for name, x := range map[string]exchange.Exchange{
		"chat":      passed(t, chatPath, eventStream, chatText+withUsage(chatFinish, usage)+chatDone),
		"responses": passed(t, respPath, eventStream, respCreated+respText+respEnd("completed", "", overResponses)),
	} {
		if got := countsOf(x); got != want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestCachedTokensAreAPartOfThePromptWhoeverTellsThem(t *testing.T) {
	inside := `{"prompt_tokens":2006,"completion_tokens":5,"total_tokens":2011,"prompt_tokens_details":{"cached_tokens":1920}}`
	x := passed(t, chatPath, eventStream, chatText+withUsage(chatFinish, inside)+chatDone)
	if got, want := countsOf(x), (counts{2006, 1920, -1, 86, 5, -1, 2011}); got != want {
		t.Errorf("told as a part: %+v, want %+v", got, want)
	}
	beside := `{"id":"m1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn",` +
		`"usage":{"input_tokens":7,"cache_read_input_tokens":9000,"cache_creation_input_tokens":1000,"output_tokens":20}}`
	x = passed(t, "/v1/messages", "application/json", beside)
	if got := countsOf(x); got.prompt != 10007 || got.cached != 9000 || got.written != 1000 || got.uncached != 1007 || got.output != 20 {
		t.Errorf("told beside it: %+v", got)
	}
	if !strings.Contains(x.UsageRaw, `"input_tokens":7,`) {
		t.Errorf("kept as %s", x.UsageRaw)
	}
}

func TestMoreCachedThanThereIsMakesNoNegativeNumber(t *testing.T) {
	odd := `{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"prompt_tokens_details":{"cached_tokens":900}}`
	x := passed(t, chatPath, eventStream, chatText+withUsage(chatFinish, odd)+chatDone)
	if got := countsOf(x); got.prompt != 100 || got.cached != 900 || got.uncached != -1 {
		t.Errorf("%+v", got)
	}
}
