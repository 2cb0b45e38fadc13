package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// tallied is what a report says of exchanges, judged in their order.
func tallied(rows ...*exchange.Exchange) *report {
	var book diagnosis.Book
	for _, x := range rows {
		usual := book.Baseline(x)
		x.CacheOutcome = diagnosis.CacheOutcome(x, usual)
		diagnosis.Judge(x, usual)
		book.Add(x)
	}
	t := newTally(book.Baselines())
	for _, x := range rows {
		t.add(x)
	}
	return t.report()
}

func TestThePooledRateIsAllTokensOverAllTheirTime(t *testing.T) {
	fast := worked(0, 50, 0, func(x *exchange.Exchange) { // 21 tokens in 0.1 s
		x.TokensPerSec, x.TPOT, x.RateQuality = new(200.), new(5*time.Millisecond), "noisy"
		x.LastToken = new(*x.FirstToken + 100*time.Millisecond)
	})
	r := tallied(fast, worked(1, 50, 0)) // and 100 in 2 s
	if got := *r.Models[0].TokensPerSec; got < 57.13 || got > 57.15 {
		t.Errorf("%v, want 120 tokens in 2.1 s", got)
	}
}

func TestHiddenReasoningIsNotInThePooledRate(t *testing.T) {
	x := worked(0, 50, 0, func(x *exchange.Exchange) {
		x.Reasoning, x.ReasoningTokens, x.OutputTokens = "hidden", new(int64(400)), new(int64(501))
		later(x, 8200*time.Millisecond)
	})
	if got := *tallied(x).Models[0].TokensPerSec; got < 49.9 || got > 50.1 {
		t.Errorf("%v tokens/s, want those of the answer", got)
	}
}

func TestAPrewarmIsPartOfNoFigure(t *testing.T) {
	warm := worked(1, 50, 0, func(x *exchange.Exchange) { x.MarkPrewarm() })
	with, without := tallied(worked(0, 50, 0), warm), tallied(worked(0, 50, 0))
	if with.Coverage.Prewarms != 1 {
		t.Errorf("%d prewarms", with.Coverage.Prewarms)
	}
	with.Coverage.Prewarms = 0
	with.Baselines, without.Baselines = nil, nil // what is usual is told by those with output alone
	if diff := cmp.Diff(without, with); diff != "" {
		t.Errorf("the report with it:\n%s", diff)
	}
}

func TestWhatNobodyKnowsIsNil(t *testing.T) {
	x := &exchange.Exchange{ID: "x", StartedAt: noon, Outcome: exchange.ClientAbort, Upstream: "default", ModelRequested: "m"}
	r := tallied(x)
	want := []modelReport{{Upstream: "default", Model: "m", Requests: 1}}
	if diff := cmp.Diff(want, r.Models); diff != "" {
		t.Errorf("models:\n%s", diff)
	}
	if diff := cmp.Diff(uncachedReport{}, r.Uncached); diff != "" {
		t.Errorf("without cache:\n%s", diff)
	}
	for _, c := range r.Checks {
		if c.Value == nil != strings.HasPrefix(c.Conclusion, "not known") {
			t.Errorf("%+v", c)
		}
	}
	var b bytes.Buffer
	if err := r.write(&b); err != nil || !strings.Contains(b.String(), "| default | m | 1 | – | – | – | – | – | – | – |") {
		t.Errorf("%v\n%s", err, &b)
	}
}

func TestACacheThatIsUnreportedHasNoShare(t *testing.T) {
	x := worked(0, 5000, 0, func(x *exchange.Exchange) { x.CachedTokens = nil })
	if m := tallied(x).Models[0]; m.CachedShare != nil || *m.PromptTokens != 5000 {
		t.Errorf("%+v", m)
	}
}

func TestWithoutACacheItIsPaidForAgain(t *testing.T) {
	r := tallied(working()...)
	if u := r.Uncached; u.Requests != 1 || *u.Tokens != 4500 || u.Reckoned != 1 {
		t.Errorf("%+v", u)
	}
	if took := time.Duration(*r.Uncached.Prefill); took < 4400*time.Millisecond || took > 4600*time.Millisecond {
		t.Errorf("%v, want 1 ms a token", took)
	}
}

func TestWhatIsTooFarFromAllThatWasSeenIsNotReckoned(t *testing.T) {
	r := tallied(append(working(), worked(40, 50, 500_000))...)
	if u := r.Uncached; u.Requests != 2 || u.Reckoned != 1 {
		t.Errorf("%+v", u)
	}
}

func TestTheSlowestComeFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []time.Duration
		p := podium{by: func(x *exchange.Exchange) *time.Duration { return x.End }}
		for range rapid.IntRange(0, 9).Draw(t, "n") {
			d := time.Duration(rapid.IntRange(0, 5).Draw(t, "total"))
			all = append(all, d)
			x := exchange.Exchange{}
			x.End = &d
			p.add(&x)
			p.add(&exchange.Exchange{}) // of unknown length
		}
		slices.SortFunc(all, func(a, b time.Duration) int { return int(b - a) })
		var got []time.Duration
		for _, x := range p.best {
			got = append(got, *x.End)
		}
		if want := all[:min(3, len(all))]; !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

func TestModelsBeyondMeasureShareALine(t *testing.T) {
	tl := newTally(nil)
	for i := range 2 * maxModels {
		x := worked(0, 50, 0)
		x.ModelServed = fmt.Sprint("model-", i)
		tl.add(x)
	}
	r := tl.report()
	others := slices.IndexFunc(r.Models, func(m modelReport) bool { return m.Model == otherModels })
	if len(r.Models) != maxModels+1 || others < 0 || r.Models[others].Requests != maxModels {
		t.Errorf("%d lines", len(r.Models))
	}
}

func TestPercentilesOfALongSeriesAreThoseOfAllOfIt(t *testing.T) {
	var q quantiles
	const n = 7 * maxSamples
	for i := range n {
		q.add(time.Duration(i))
	}
	if len(q.kept) >= maxSamples || q.seen != n {
		t.Errorf("%d kept of %d", len(q.kept), q.seen)
	}
	for _, share := range []float64{0, 0.5, 0.95} {
		if got := float64(*q.at(share)); got < share*n-n/1000 || got > share*n+n/1000 {
			t.Errorf("%v at %v", got, share)
		}
	}
	if new(quantiles).at(0.5) != nil {
		t.Error("a median of nothing")
	}
}

func TestACheckConcludesFromItsLimit(t *testing.T) {
	beyond := finding{"too much", "ttftap report"}
	for _, c := range []struct {
		value            *float64
		conclusion, next string
	}{
		{nil, "not known: no request tells", ""},
		{new(0.5), "fine", ""},
		{new(0.51), "too much", "ttftap report"},
	} {
		got := newCheck("item", "how", 0.5, c.value, beyond)
		if got.Conclusion != c.conclusion || got.Next != c.next {
			t.Errorf("%v: %+v", c.value, got)
		}
	}
}

func TestMillisecondsHaveTheDecimalsOfTheExports(t *testing.T) {
	got := must(json.Marshal([]*millis{new(millis(1234567)), nil}))
	if string(got) != "[1.235,null]" {
		t.Errorf("%s", got)
	}
}

func TestAForeignTextIsNoMarkupAndCommandsNoTerminal(t *testing.T) {
	for text, want := range map[string]string{
		"": figure.Unknown, "gpt-5": "gpt-5", "通义 千问": "通义 千问",
		"a|b\n# c":                          `a\|b # c`,
		"<img src=x onerror=alert(1)>":      "&lt;img src=x onerror=alert(1)>",
		"![x](https://elsewhere.invalid/x)": `!\[x](https://elsewhere.invalid/x)`,
		"\x1b]0;title\a\u202e":              "�]0;title��",
	} {
		if got := cell(text); got != want {
			t.Errorf("%q is written %q, want %q", text, got, want)
		}
	}
}
