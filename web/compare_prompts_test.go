package web

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// asking is an exchange whose prompt has these parts, of 1,000 bytes each.
func asking(letter string, parts ...exchange.Part) contestant {
	x := seeded(letter, time.Second, func(x *exchange.Exchange) { answered(x, 1000, 2000, 40) })
	x.PromptTokens, x.UsageSource = new(int64(250*(len(parts)-1))), "reported"
	for _, part := range parts {
		x.Prompt = append(x.Prompt, exchange.Boundary{Part: part, Bytes: 1000})
	}
	x.Prompt[0].Bytes = 0
	chained(x.Prompt, 7)
	return contestant{x, letter}
}

const (
	named  = exchange.ModelPart
	tools  = exchange.ToolsPart
	user   = exchange.UserPart
	called = exchange.ToolCallPart
)

func TestTheFirstSectionThatDiffersIsNamed(t *testing.T) {
	another := func(c contestant) contestant { chained(c.Prompt, 8); return c }
	elsewhere := func(c contestant) contestant { c.Upstream = "lab"; return c }
	inside := func(c contestant) contestant {
		c.Prompt = slices.Insert(c.Prompt, 2, exchange.Boundary{Part: user, Bytes: 1000, Inner: true})
		chained(c.Prompt, 7)
		return c
	}
	larger := func(c contestant) contestant { c.Prompt[2].Bytes++; chained(c.Prompt, 7); return c }
	unread := contestant{seeded("b", time.Second, func(*exchange.Exchange) {}), "B"}
	for name, test := range map[string]struct {
		a, b contestant
		want string
	}{
		"the same": {asking("A", named, tools, user), asking("B", named, tools, user), "The prompts are the same in all of their 3 sections."},
		"B goes on": {asking("A", named, tools, user), asking("B", named, tools, user, called, user),
			"The prompt of A is the beginning of that of B, which goes on for 2 sections more, ~500 tokens."},
		"A goes on": {asking("A", named, tools, user, called), asking("B", named, tools, user),
			"The prompt of B is the beginning of that of A, which goes on for 1 section more, ~250 tokens."},
		"one differs": {asking("A", named, tools, user, called), asking("B", named, tools, called, called),
			"Section 3 is the first that differs: user in A, tool calls in B. What comes before is the same: 2 whole sections, ~250 tokens."},
		"within one": {inside(asking("A", named, tools, user)), inside(asking("B", named, tools, called)),
			"Section 3 is the first that differs: user in A, tool calls in B. What comes before is the same: 2 whole sections, ~333 tokens."},
		"the same part": {asking("A", named, tools, user), larger(asking("B", named, tools, user)),
			"Section 3 is the first that differs: user in both. What comes before is the same: 2 whole sections, ~250 tokens."},
		"other models": {asking("A", named, tools, user), another(asking("B", named, tools, user)),
			"They asked for different models, with which the hashes of prompts begin: these cannot be held against each other."},
		"other upstreams": {asking("A", named, tools, user), elsewhere(asking("B", named, tools, user)),
			"They went to different upstreams or with different keys. The hashes of prompts are kept apart by both, so these cannot be held against each other."},
		"unread": {asking("A", named, tools, user), unread, "The prompt of B was not read, so the two cannot be held against each other."},
	} {
		if got := alike(english, test.a, test.b); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, test.want)
		}
	}
}

func TestWhatFillsThePromptsIsSetAgainstEachOther(t *testing.T) {
	got := promptsOf(english, asking("A", named, tools, user), asking("B", named, tools, user, user, called)).Parts.Rows
	want := []pairFigure{
		{"tools", "~250", "~250", "same"},
		{"user", "~250", "~500", "~+250"},
		{"tool calls", "–", "~250", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}
