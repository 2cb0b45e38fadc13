package simulator

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// kind is what an output item is.
type kind int

const (
	thought kind = iota // reasoning
	speech
	call
)

// item is one part of an answer.
type item struct {
	kind   kind
	index  int
	id     string
	shown  Reasoning // of a thought
	tool   string    // of a call
	pieces []string  // what becomes visible with each token, mostly of a word; "" for nothing
}

// text is all that becomes visible of the item.
func (it *item) text() string { return strings.Join(it.pieces, "") }

// parts are the pieces that show something.
func (it *item) parts() []string {
	var parts []string
	for _, piece := range it.pieces {
		if piece != "" {
			parts = append(parts, piece)
		}
	}
	return parts
}

// finish says why generation ends.
type finish int

const (
	stopped finish = iota
	cutShort
	called
)

// plan is an answer before it is generated.
type plan struct {
	items  []*item
	finish finish
}

// summaryEvery is how many reasoning tokens one sentence of a summary is about.
const summaryEvery = 160

// newPlan decides the answer to a request: a thought where the model reasons,
// then a call, as long as the conversation lacks tool results, or a message.
func newPlan(ask *request, how *Behaviour, id string, luck *rand.Rand) plan {
	var p plan
	if ask.prewarm {
		return p
	}
	if how.Reasoning != "" {
		p.add(&item{kind: thought, id: "rs_" + id, shown: how.Reasoning, pieces: thoughts(how, luck)})
	}
	if ask.tool != "" && ask.results < how.ToolRounds {
		p.add(&item{kind: call, id: "fc_" + id, tool: ask.tool, pieces: arguments(how, luck)})
		p.finish = called
	} else {
		p.add(&item{kind: speech, id: "msg_" + id, pieces: sentence(how.Output, luck)})
	}
	if ask.limit > 0 {
		p.shorten(ask.limit)
	}
	return p
}

// shown are the items of which anything is to be seen.
func (p *plan) shown() []*item {
	return slices.DeleteFunc(slices.Clone(p.items), func(it *item) bool { return it.text() == "" })
}

func (p *plan) add(it *item) {
	if len(it.pieces) > 0 {
		it.index = len(p.items)
		p.items = append(p.items, it)
	}
}

// shorten ends the plan after that many tokens.
func (p *plan) shorten(limit int) {
	for i, it := range p.items {
		if len(it.pieces) > limit {
			it.pieces = it.pieces[:limit]
			p.items = p.items[:i+min(limit, 1)] // without an item of which nothing is left
			p.finish = cutShort
			return
		}
		limit -= len(it.pieces)
	}
}

// answerTokens counts the tokens that are not reasoning.
func (p *plan) answerTokens() int {
	n := 0
	for _, it := range p.items {
		if it.kind != thought {
			n += len(it.pieces)
		}
	}
	return n
}

func thoughts(how *Behaviour, luck *rand.Rand) []string {
	n := how.ReasoningTokens
	if how.Reasoning == Visible {
		return words(n, luck)
	}
	pieces := make([]string, n)
	if how.Reasoning == Hidden {
		return pieces
	}
	for i := range pieces {
		if (i+1)%summaryEvery == 0 || i == n-1 {
			pieces[i] = fmt.Sprintf("**Step %d**\n\nWeighing%s.", i/summaryEvery+1, strings.Join(words(12, luck), ""))
		}
	}
	return pieces
}

// arguments are those of a shell command that says hello, {"cmd":"echo hello"},
// and then more, as long as the call is to be.
func arguments(how *Behaviour, luck *rand.Rand) []string {
	pieces := []string{`{"cmd":"`, "echo", " hello"}
	pieces = append(pieces, words(how.ToolTokens-len(pieces)-1, luck)...)
	pieces = append(pieces, `"}`)
	if how.Whole {
		all := strings.Join(pieces, "")
		pieces = make([]string, len(pieces))
		pieces[len(pieces)-1] = all
	}
	return pieces
}

// sentence is words with a beginning.
func sentence(n int, luck *rand.Rand) []string {
	pieces := words(n, luck)
	if n > 0 {
		pieces[0] = "Done:"
	}
	return pieces
}

// lexicon is four bytes a word with its blank, as tokens are counted.
var lexicon = [...]string{
	"ash", "bay", "cup", "day", "elm", "fog", "gap", "hut", "ink", "jar", "key", "log", "map", "net", "oak", "pen",
	"ray", "sea", "tin", "urn", "van", "web", "yew", "zip", "arc", "bud", "cog", "dew", "fig", "gem", "hay", "ivy",
}

func words(n int, luck *rand.Rand) []string {
	pieces := make([]string, max(n, 0))
	for i := range pieces {
		pieces[i] = " " + lexicon[luck.IntN(len(lexicon))]
	}
	return pieces
}
