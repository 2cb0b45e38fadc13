package meter

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/dialect"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// instants in milliseconds, as a table can hold them; NaN for none.
func instant(d *time.Duration) float64 {
	if d == nil {
		return math.NaN()
	}
	return float64(*d) / 1e6
}

func TestClockStopsOnGeneratedOutputAlone(t *testing.T) {
	none := math.NaN()
	for _, c := range []struct {
		name                                                         string
		script                                                       script
		event, token, reasoning, text, tool, answer, last, terminal_ float64
	}{
		{
			"a role comes before the text",
			script{}.at(200, nothing).at(4000, word).at(4100, word).at(4200, terminal),
			200, 4000, none, 4000, none, 4000, 4100, 4200,
		},
		{
			"reasoning is output but no answer",
			script{}.at(200, nothing).run(101, 1000, 11000, thought).run(11, 11000, 12000, word).at(12000, terminal),
			200, 1000, 1000, 11000, none, 11000, 12000, 12000,
		},
		{
			"summaries are reasoning",
			script{}.run(3, 1000, 3000, summary).at(5000, argument).at(5000, terminal),
			1000, 1000, 1000, none, 5000, 5000, 5000, 5000,
		},
		{
			"a refusal is visible text",
			script{}.at(700, out(dialect.Refusal, 0, 9)),
			700, 700, none, 700, none, 700, 700, none,
		},
		{
			"sound and pictures are neither text nor tool",
			script{}.at(700, out(dialect.Audio, 0, 9)).at(800, out(dialect.Image, 0, 9)),
			700, 700, none, none, none, 700, 800, none,
		},
		{
			"one event may hold reasoning and text",
			script{}.at(700, dialect.Event{Kind: dialect.Reasoning | dialect.Text, ThoughtBytes: 3, AnswerBytes: 3}),
			700, 700, 700, 700, none, 700, 700, none,
		},
		{
			"the first terminal event ends, and nothing came",
			script{}.at(300, nothing).at(900, terminal).at(901, terminal),
			300, none, none, none, none, none, none, 900,
		},
		{
			"a clock that runs back stands still",
			script{}.at(500, word).at(400, word),
			500, 500, none, 500, none, 500, 500, none,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := c.script.measure(usage(12, -1, 5))
			got := []float64{
				instant(x.FirstEvent), instant(x.FirstToken), instant(x.FirstReasoning), instant(x.FirstText),
				instant(x.FirstTool), instant(x.AnswerStart), instant(x.LastToken), instant(x.Terminal),
			}
			want := []float64{c.event, c.token, c.reasoning, c.text, c.tool, c.answer, c.last, c.terminal_}
			if diff := cmp.Diff(want, got, sameNaN); diff != "" {
				t.Errorf("event, token, reasoning, text, tool, answer, last, terminal (-want +got):\n%s", diff)
			}
		})
	}
}

var sameNaN = cmp.Comparer(func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) })

func TestGenerationStartsWithAnItemAfterTheHead(t *testing.T) {
	late := script{}.at(50, opens(dialect.ReasoningItem, 0)).at(90, opens(dialect.OutputItem, 1)).at(100, word)
	for _, c := range []struct {
		name    string
		script  script
		headers *time.Duration
		want    float64
	}{
		{"the first item of any kind", late, new(ms(40)), 50},
		{"an item that came with the head tells nothing", late, new(ms(50)), math.NaN()},
		{"a socket has no head", late, nil, 50},
		{"no item, no start", script{}.at(100, word), new(ms(40)), math.NaN()},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := c.script.measure(usage(12), func(x *exchange.Exchange) { x.Headers = c.headers })
			if got := instant(x.GenerationStarted); !cmp.Equal(got, c.want, sameNaN) {
				t.Errorf("generation started at %v ms, want %v", got, c.want)
			}
		})
	}
}

func TestAbortedStreamKeepsWhatWasMeasured(t *testing.T) {
	s := script{}.at(200, nothing).at(500, word).at(600, word).at(700, word)
	x := s.measure(&dialect.Answer{}, func(x *exchange.Exchange) {
		x.Outcome, x.End = exchange.ClientAbort, new(ms(750))
	})
	if instant(x.FirstToken) != 500 || instant(x.LastToken) != 700 || instant(x.Decode) != 200 {
		t.Errorf("first %v, last %v, decode %v", x.FirstToken, x.LastToken, x.Decode)
	}
	if x.PromptTokens != nil || x.OutputTokens != nil || x.TotalTokens != nil || x.UsageSource != "absent" {
		t.Errorf("tokens that nobody reported: %+v", x.Tokens)
	}
	if x.TokensPerSec != nil || x.RateQuality != "" {
		t.Errorf("a rate without tokens: %v %q", x.TokensPerSec, x.RateQuality)
	}
}

func TestAnswerThatIsNoStreamHasNoTokenTimes(t *testing.T) {
	x := streamed()
	x.Streamed, x.End = new(false), new(3*time.Second)
	New().Finish(x, usage(12, -1, 5, -1, 17))
	if x.Delivery != exchange.NotStreamed || *x.OutputTokens != 5 {
		t.Errorf("delivery %q, output %v", x.Delivery, x.OutputTokens)
	}
	if x.FirstToken != nil || x.TokensPerSec != nil || x.Wait != nil || x.Decode != nil || x.Stalls != nil || x.MaxGap != nil {
		t.Errorf("made up from a body that came whole: %+v", x.Figures)
	}
}

func TestUnansweredAndUnparsedExchangesStayEmpty(t *testing.T) {
	x := &exchange.Exchange{Dialect: exchange.Chat}
	New().Finish(x, nil)
	want := &exchange.Exchange{Dialect: exchange.Chat}
	if diff := cmp.Diff(want, x); diff != "" {
		t.Errorf("out of nothing came something (-want +got):\n%s", diff)
	}
	x = script{}.at(5, nothing).measure(&dialect.Answer{}, func(x *exchange.Exchange) { x.Dialect = exchange.Other })
	if x.UsageSource != "" || x.Delivery != "" || x.FirstToken != nil || x.OutputEvents != nil {
		t.Errorf("an unparsed stream: %+v", x)
	}
}

func TestUnreadableEventsAreCountedAndStopNothing(t *testing.T) {
	s := script{}.at(100, word).at(110, unread).at(120, unread).at(130, unread).at(140, unread).at(300, word)
	x := s.measure(usage(12, -1, 5, -1, 17))
	if x.UnreadEvents == nil || *x.UnreadEvents != 4 || *x.OutputEvents != 2 || instant(x.LastToken) != 300 {
		t.Errorf("unread %v, events %v, last %v", x.UnreadEvents, x.OutputEvents, x.LastToken)
	}
	if x = (script{}).at(100, word).measure(usage(1)); x.UnreadEvents != nil {
		t.Errorf("none unread, but %d counted", *x.UnreadEvents)
	}
}

func TestTimeOfHostedToolsIsTakenApart(t *testing.T) {
	search := opens(dialect.HostedTool, 0)
	for _, c := range []struct {
		name                         string
		script                       script
		hosted, first, answer, decod float64
	}{
		{
			"a search before the first token",
			script{}.at(500, search).at(3500, closes(dialect.HostedTool, 0)).run(11, 4000, 5000, word),
			3000, 3000, 3000, 1000,
		},
		{
			"two searches at once count once",
			script{}.at(500, search).at(1500, opens(dialect.HostedTool, 1)).at(2500, closes(dialect.HostedTool, 0)).
				at(3500, closes(dialect.HostedTool, 1)).run(11, 4000, 5000, word),
			3000, 3000, 3000, 1000,
		},
		{
			"an interpreter after its code is written, told whole again at its end",
			script{}.run(11, 1000, 2000, out(dialect.Tool, 2, 4)).at(2000, opens(dialect.HostedTool, 2)).
				at(5000, dialect.Event{Kind: dialect.Tool, Index: 2, AnswerBytes: 9, Closes: dialect.HostedTool}).
				run(11, 5000, 6000, word),
			3000, 0, 0, 2000,
		},
		{
			"a tool between reasoning and answer",
			script{}.run(11, 1000, 2000, thought).at(2000, search).at(6000, closes(dialect.HostedTool, 0)).run(11, 6000, 7000, word),
			4000, 0, 4000, 2000,
		},
		{
			"a tool that nothing closes ends with the next item's output",
			script{}.at(500, search).at(1000, out(dialect.Text, 1, 4)).at(1500, out(dialect.Text, 1, 4)).at(9000, nothing),
			500, 500, 500, 500,
		},
		{
			"a tool that outlasts the output is cut with it",
			script{}.at(100, word).at(500, opens(dialect.HostedTool, 1)).at(800, word).at(9000, closes(dialect.HostedTool, 1)),
			300, 0, 0, 400,
		},
		{
			"without output it lasts to the end",
			script{}.at(500, search).at(9000, nothing),
			8500, math.NaN(), math.NaN(), math.NaN(),
		},
		{
			"what was never opened cannot close",
			script{}.at(500, closes(dialect.HostedTool, 0)).at(600, word),
			math.NaN(), math.NaN(), math.NaN(), 0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := c.script.measure(usage(12, -1, 22))
			got := []float64{instant(x.HostedTool), instant(x.HostedBeforeFirst), instant(x.HostedBeforeAnswer), instant(x.Decode)}
			if diff := cmp.Diff([]float64{c.hosted, c.first, c.answer, c.decod}, got, sameNaN); diff != "" {
				t.Errorf("hosted, before first, before answer, decode (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMemoryStaysBoundedAndFiguresTrue(t *testing.T) {
	const n = 3 * maxReads
	m, x := New(), streamed()
	for i := range n {
		m.Event(time.Second+time.Duration(i)*10*time.Millisecond, word)
		m.Event(time.Second+time.Duration(i)*10*time.Millisecond, opens(dialect.HostedTool, i+9))
		m.Event(time.Second+time.Duration(i)*10*time.Millisecond, closes(dialect.HostedTool, i+9))
		m.Event(time.Second+time.Duration(i)*10*time.Millisecond, opens(dialect.ReasoningItem, i+9))
	}
	if len(m.reads) > maxReads || len(m.items.open) > maxItems || len(m.items.ended) > maxStretches {
		t.Errorf("kept %d reads, %d and %d items", len(m.reads), len(m.items.open), len(m.items.ended))
	}
	m.Finish(x, usage(1, -1, n, 0))
	if got := *x.TokensPerSec; math.Abs(got-100) > 0.5 {
		t.Errorf("rate %v of 100 tokens a second", got)
	}
	if *x.OutputEvents != n || *x.TokensPerEvent != 1 || *x.Stalls != 0 || x.RateQuality != "steady" {
		t.Errorf("events %d, tokens per event %v, stalls %d", *x.OutputEvents, *x.TokensPerEvent, *x.Stalls)
	}
}

func TestEventAllocatesNothingInTheSteadyState(t *testing.T) {
	m := New()
	at := time.Second
	allocs := testing.AllocsPerRun(10*maxReads, func() {
		at += time.Millisecond
		m.Event(at, word)
		m.Event(at, argument)
		m.Event(at, nothing)
	})
	if allocs > 0.01 {
		t.Errorf("%v allocations an event", allocs)
	}
}
