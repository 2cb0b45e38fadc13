package web

import (
	"math"
	"strings"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// pairPrompts is what two prompts have in common, and what fills each.
type pairPrompts struct {
	Say   string
	Parts pairList // estimated tokens by kind of content
}

func promptsOf(l language, a, b contestant) pairPrompts {
	p := pairPrompts{Say: alike(l, a, b)}
	inA, inB := composition(a.Exchange), composition(b.Exchange)
	for _, part := range exchange.Parts() {
		tokensA, okA := inA[part]
		tokensB, okB := inB[part]
		if !okA && !okB {
			continue
		}
		row := pairFigure{Word: l.say("section." + part.String()), A: roughly(tokensA), B: roughly(tokensB)}
		if tokensA != nil && tokensB != nil {
			d := *tokensB - *tokensA
			row.More = rough(withSign(l, d, strings.TrimPrefix(roughly(new(max(d, -d))), "~")))
		}
		p.Parts.Rows = append(p.Parts.Rows, row)
	}
	return p
}

// composition is the tokens of a prompt by what they are, nil where they cannot
// be estimated.
func composition(x *exchange.Exchange) map[exchange.Part]*int64 {
	tokens := map[exchange.Part]*int64{}
	for _, s := range diagnosis.Composition(x) {
		tokens[s.Part] = s.Tokens
	}
	return tokens
}

// alike says how far two prompts begin alike, and where they part.
func alike(l language, a, b contestant) string {
	for _, x := range []contestant{a, b} {
		if len(x.Prompt) == 0 {
			return l.say("compare.prompt.unread", x.letter)
		}
	}
	if a.Upstream != b.Upstream || a.KeyID != b.KeyID {
		return l.say("compare.prompt.route")
	}
	n := inCommon(a.Prompt, b.Prompt)
	restA, restB := a.Prompt[n:], b.Prompt[n:]
	switch {
	case len(restA)+len(restB) == 0:
		return l.say("compare.prompt.same", countOf(sections(a.Prompt)))
	case len(restA) == 0:
		return goesOn(l, a, b, restB)
	case len(restB) == 0:
		return goesOn(l, b, a, restA)
	case restA[0].Part == exchange.ModelPart && restB[0].Part == exchange.ModelPart:
		return l.say("compare.prompt.models")
	}
	return parting(l, a, b, n)
}

// parting says where two prompts part that begin alike for n boundaries.
func parting(l language, a, b contestant, n int) string {
	partA, partB := l.say("section."+a.Prompt[n].Part.String()), l.say("section."+b.Prompt[n].Part.String())
	before := sections(a.Prompt[:n])
	same := l.say("compare.prompt.before", countOf(before), amount(l, a.Exchange, a.Prompt[:n]))
	if partA == partB {
		return l.sentences(l.say("compare.prompt.within", countOf(before+1), partA), same)
	}
	return l.sentences(l.say("compare.prompt.differ", countOf(before+1), partA, partB), same)
}

// goesOn says that the prompt of one is the beginning of the other's.
func goesOn(l language, one, other contestant, rest []exchange.Boundary) string {
	return l.say("compare.prompt.goes_on", one.letter, other.letter, l.number("compare.sections", sections(rest)), amount(l, other.Exchange, rest))
}

// inCommon counts the boundaries that two prompts share: each hash covers the
// whole beginning, so behind the first that differs there are none.
func inCommon(a, b []exchange.Boundary) int {
	n := 0
	for n < min(len(a), len(b)) && a[n].Hash == b[n].Hash {
		n++
	}
	return n
}

// sections counts the whole ones.
func sections(bs []exchange.Boundary) (n int64) {
	for _, b := range bs {
		if !b.Inner {
			n++
		}
	}
	return n
}

// amount is how much of the prompt of x some of its sections are: in tokens,
// shared out by bytes, or in bytes where its tokens are unknown.
func amount(l language, x *exchange.Exchange, of []exchange.Boundary) string {
	some, all := weight(of), weight(x.Prompt)
	if x.PromptTokens == nil || all == 0 {
		return size(&some)
	}
	share := float64(some) / float64(all)
	return l.say("aside.tokens", roughly(new(int64(math.Round(float64(*x.PromptTokens)*share)))))
}

func weight(bs []exchange.Boundary) (bytes int64) {
	for _, b := range bs {
		bytes += b.Bytes
	}
	return bytes
}
