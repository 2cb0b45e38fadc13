package meter

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/dialect"
	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestTokensAreNormalised(t *testing.T) {
	type counts struct{ prompt, cached, uncached, output, reasoning, total int64 }
	for _, c := range []struct {
		name   string
		answer *dialect.Answer
		want   counts // -1 for nil
		source string
	}{
		{"as reported", usage(12, -1, 5, -1, 17), counts{12, -1, -1, 5, -1, 17}, "reported"},
		{"reasoning is part of the output", usage(10, -1, 50, 40, 60), counts{10, -1, -1, 50, 40, 60}, "reported"},
		{"reasoning left out of the output", usage(12, 2, 10, 278, 300), counts{12, 2, 10, 288, 278, 300}, "reported"},
		{"without a total nothing is given away", usage(12, 2, 10, 278), counts{12, 2, 10, 10, 278, -1}, "reported"},
		{"cached is part of the prompt", usage(2006, 1920, 20), counts{2006, 1920, 86, 20, -1, -1}, "reported"},
		{"cached beside the prompt", usage(7, 9000, 20, -1, 9027), counts{9007, 9000, 7, 20, -1, 9027}, "reported"},
		{"more cached than prompt, and no total that says why", usage(7, 9000, 20, -1, 27), counts{7, 9000, -1, 20, -1, 27}, "reported"},
		{"a reported 0 is 0", usage(12, 0, 5, 0, 17), counts{12, 0, 12, 5, 0, 17}, "reported"},
		{"nothing is negative", func() *dialect.Answer {
			a := usage(12)
			a.Usage.Output = new(int64(-5))
			return a
		}(), counts{12, -1, -1, -1, -1, -1}, "reported"},
		{"absent is nil", &dialect.Answer{}, counts{-1, -1, -1, -1, -1, -1}, "absent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := script{}.at(100, word).measure(c.answer)
			var got counts
			for _, f := range []struct {
				to   *int64
				from *int64
			}{
				{&got.prompt, x.PromptTokens}, {&got.cached, x.CachedTokens}, {&got.uncached, x.UncachedTokens},
				{&got.output, x.OutputTokens}, {&got.reasoning, x.ReasoningTokens}, {&got.total, x.TotalTokens},
			} {
				if *f.to = -1; f.from != nil {
					*f.to = *f.from
				}
			}
			if got != c.want || x.UsageSource != c.source {
				t.Errorf("got %+v %q, want %+v %q", got, x.UsageSource, c.want, c.source)
			}
		})
	}
}

func TestUsageIsAbsentOnlyWhereItCouldBeExpected(t *testing.T) {
	for _, c := range []struct {
		dialect exchange.Dialect
		status  *int64
		want    string
	}{
		{exchange.Chat, new(int64(200)), "absent"},
		{exchange.Embeddings, new(int64(200)), "absent"},
		{exchange.Responses, new(int64(101)), "absent"},
		{exchange.Chat, new(int64(429)), ""},
		{exchange.Chat, nil, ""},
		{exchange.Other, new(int64(200)), ""},
	} {
		x := &exchange.Exchange{Dialect: c.dialect, Status: c.status, Streamed: new(false)}
		New().Finish(x, &dialect.Answer{})
		if x.UsageSource != c.want {
			t.Errorf("%s with status %v: usage %q, want %q", c.dialect, c.status, x.UsageSource, c.want)
		}
	}
}

func TestReasoningIsNamedByWhatWasSeenOfIt(t *testing.T) {
	item := script{}.at(90, opens(dialect.ReasoningItem, 0)).at(95, closes(dialect.ReasoningItem, 0))
	for _, c := range []struct {
		name   string
		script script
		answer *dialect.Answer
		want   string
		seen   int64 // -1 for nil
	}{
		{"its text", script{}.at(100, summary).at(110, thought), usage(1, -1, 9, 5), "visible", 9},
		{"its text, uncounted", script{}.at(110, thought), usage(1, -1, 9), "visible", -1},
		{"a text too short for its tokens", script{}.run(15, 100, 110, thought), usage(1, -1, 90, 32), "summary", 58},
		{"a text just long enough", script{}.run(16, 100, 110, thought), usage(1, -1, 90, 32), "visible", 90},
		{"a short text of few tokens", script{}.run(15, 100, 110, thought), usage(1, -1, 90, 31), "visible", 90},
		{"a text too short, with the answer, for all tokens", script{}.at(100, thought).run(14, 110, 120, word), usage(1, -1, 32), "summary", -1},
		{"a text long enough with the answer", script{}.at(100, thought).run(15, 110, 120, word), usage(1, -1, 32), "visible", -1},
		{"summaries", script{}.at(100, summary), usage(1, -1, 9, 5), "summary", 4},
		{"summaries, uncounted", script{}.at(100, summary), usage(1, -1, 9), "summary", -1},
		{"a count", script{}.at(100, word), usage(1, -1, 9, 5), "hidden", 4},
		{"an item", item, usage(1, -1, 9), "hidden", -1},
		{"a reported 0", script{}.at(100, word), usage(1, -1, 9, 0), "none", 9},
		{"an empty item and a reported 0", item, usage(1, -1, 9, 0), "none", 9},
		{"nothing", script{}.at(100, word), usage(1, -1, 9), "", 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := c.script.measure(c.answer)
			seen := int64(-1)
			if n := x.SeenTokens(); n != nil {
				seen = *n
			}
			if x.Reasoning != c.want || seen != c.seen {
				t.Errorf("reasoning %q, %d tokens seen; want %q, %d", x.Reasoning, seen, c.want, c.seen)
			}
		})
	}
}

func TestReasoningInABodyIsNamedByWhatTheBodyHolds(t *testing.T) {
	body := func(kinds dialect.Kind, thought, answer int, a *dialect.Answer) *dialect.Answer {
		a.Whole = dialect.Event{Kind: kinds, ThoughtBytes: thought, AnswerBytes: answer}
		return a
	}
	for _, c := range []struct {
		name   string
		answer *dialect.Answer
		want   string
	}{
		{"its text", body(dialect.Reasoning|dialect.Text, 200, 20, usage(1, -1, 60, 50)), "visible"},
		{"its text, uncounted", body(dialect.Reasoning|dialect.Text, 200, 20, usage(1, -1, 60)), "visible"},
		{"a text too short for its tokens", body(dialect.Reasoning|dialect.Text, 99, 20, usage(1, -1, 60, 50)), "summary"},
		{"a summary", body(dialect.Summary|dialect.Text, 200, 20, usage(1, -1, 60, 50)), "summary"},
		{"a count alone", body(dialect.Text, 0, 20, usage(1, -1, 60, 50)), "hidden"},
		{"nothing", body(dialect.Text, 0, 20, usage(1, -1, 60)), ""},
	} {
		x := streamed()
		x.Streamed = new(false)
		New().Finish(x, c.answer)
		if x.Reasoning != c.want || x.FirstReasoning != nil {
			t.Errorf("%s: reasoning %q at %v, want %q", c.name, x.Reasoning, x.FirstReasoning, c.want)
		}
	}
}

func TestAnswerNamesItself(t *testing.T) {
	a := &dialect.Answer{
		Model: "m-2026", ResponseID: "r1", ServiceTier: "priority", FinishReason: "stop", Choices: 2,
		Timings: exchange.Server{ServerPrefill: new(2 * time.Second), ServerDecode: new(time.Second), ServerSource: "body"},
	}
	a.Usage.Raw, a.Usage.Prompt = `{"prompt_tokens":9}`, new(int64(9))
	x := streamed()
	x.ModelServed, x.ServerQueue, x.ServerPrefill, x.ServerSource = "head", new(ms(7)), new(ms(8)), "header"
	New().Finish(x, a)
	want := streamed()
	want.ModelServed, want.ResponseID, want.ServiceTier, want.FinishReason = "m-2026", "r1", "priority", "stop"
	want.Choices = new(int64(2))
	want.PromptTokens, want.UsageRaw, want.UsageSource = new(int64(9)), `{"prompt_tokens":9}`, "reported"
	want.ServerQueue, want.ServerPrefill, want.ServerDecode = new(ms(7)), new(ms(2000)), new(ms(1000))
	want.ServerSource = "body"
	want.Derive()
	if diff := cmp.Diff(want, x); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	New().Finish(x, &dialect.Answer{})
	if x.ModelServed != "m-2026" || x.ServerSource != "body" {
		t.Errorf("an answer that says nothing took away %q, %q", x.ModelServed, x.ServerSource)
	}
}
