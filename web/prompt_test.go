package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// reusing is an answered exchange of which so much was shared and cached.
func reusing(outcome string, shared, cached int64) *exchange.Exchange {
	x := &exchange.Exchange{}
	x.CacheOutcome, x.PromptTokens, x.CachedTokens = outcome, new(int64(40_000)), &cached
	x.PrefixSharedTokens, x.PrefixCounted, x.PrefixIdle = &shared, new(false), span(20_000)
	return x
}

func TestThePartsOfAPromptAreShownByTheirSize(t *testing.T) {
	x := &exchange.Exchange{}
	x.PromptTokens = new(int64(96_210))
	filled(x, 220_000)
	v := promptOf(english, x)
	var got []string
	for _, p := range v.Parts {
		got = append(got, fmt.Sprintf("%s | %s | %s | %s | %d", p.Kind, p.Word, p.Tokens, p.Share, p.Sections))
	}
	want := []string{
		"shade-0 | tool results | ~68.9k | 72 % | 1", "shade-1 | earlier reasoning | ~9.53k | 10 % | 1",
		"shade-2 | tools | ~8.21k | 9 % | 1", "shade-3 | instructions | ~5.55k | 6 % | 1",
		"shade-4 | tool calls | ~3.07k | 3 % | 1", "shade-5 | user | ~699 | < 1 % | 2",
		"shade-5 | earlier answers | ~220 | < 1 % | 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	if len(v.Bar.Rects) != len(want) || v.Bar.Rects[1].X != v.Bar.Rects[0].Width || !strings.HasPrefix(v.Bar.Alt, "tool results 72 %, earlier") {
		t.Errorf("bar %+v", v.Bar)
	}
	if x.PromptTokens = nil; promptOf(english, x).Parts[0].Tokens != figure.Unknown {
		t.Error("an uncounted prompt has tokens")
	}
	if promptOf(english, &exchange.Exchange{}) != nil {
		t.Error("an unread prompt is shown")
	}
}

func TestWhatBecameOfTheSharedPrefixIsToldWithItsNumbers(t *testing.T) {
	changed := func(x *exchange.Exchange, section string) *exchange.Exchange {
		x.ChangedSection, x.ChangedIndex = section, new(int64(3))
		return x
	}
	unsaid := reusing("unreported", 30_000, 0)
	unsaid.CachedTokens = nil
	counted := reusing("hit", 30_000, 29_952)
	counted.PrefixCounted = new(true)
	first := reusing("new", 0, 0)
	first.PrefixIdle = nil
	for _, test := range []struct {
		x    *exchange.Exchange
		want []string
	}{
		{first, []string{"New: no earlier request"}},
		{counted, []string{"30,000 of its 40,000 tokens are the beginning of an earlier request, which ended 20.0 s before.", "A cache hit: 29,952 tokens"}},
		{changed(reusing("hit", 900, 39_000), "tools"), []string{"~900 of its 40,000", "section 4 was changed first: tools.", "A cache hit: 39,000"}},
		{reusing("partial", 30_000, 20_000), []string{"~30.0k", "A hit in part: 20,000"}},
		{reusing("missed", 30_000, 0), []string{"~30.0k", "A cache miss: 0 tokens"}},
		{reusing("expired", 30_000, 0), []string{"~30.0k", "had expired"}},
		{reusing("too_short", 800, 0), []string{"~800", "Too short"}},
		{unsaid, []string{"~30.0k", "did not say"}},
		{reusing("unreported", 30_000, 0), []string{"~30.0k", "too short for that"}},
		{changed(reusing("broken", 5_000, 4_992), "user"), []string{"~5.00k", "The client changed section 4 (user), so all behind it was to be read anew; 4,992 tokens"}},
		{changed(reusing("broken", 5_000, 4_992), "compaction"), []string{"~5.00k", "The conversation was compacted, so from section 4 on"}},
		{&exchange.Exchange{}, nil},
	} {
		got := reuseOf(english, test.x)
		if len(got) != len(test.want) || len(reuseOf(chinese, test.x)) != len(got) {
			t.Errorf("%q, want %q", got, test.want)
			continue
		}
		for i := range got {
			if !strings.Contains(got[i], test.want[i]) {
				t.Errorf("%q does not say %q", got[i], test.want[i])
			}
		}
	}
}
