package web

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// contestant is one of two exchanges that are compared.
type contestant struct {
	*exchange.Exchange
	letter string
}

// contest is two ended exchanges and which of them took longer.
type contest struct {
	l          language
	a, b       contestant
	slow, fast contestant
}

// finding says which of two exchanges took longer, and in which phases.
func finding(l language, a, b contestant) string {
	for _, x := range []contestant{a, b} {
		switch {
		case x.Outcome == exchange.Open:
			return l.say("compare.open", x.letter)
		case x.End == nil:
			return l.say("compare.unwritten", x.letter)
		}
	}
	c := contest{l, a, b, b, a}
	if *a.End > *b.End {
		c.slow, c.fast = a, b
	}
	return c.say()
}

func (c contest) say() string {
	took := *c.slow.End - *c.fast.End
	if took <= *c.slow.End/20 {
		return c.sayAlike()
	}
	longer := figure.Duration(&took)
	if told := c.differences(max(took/20, *c.slow.End/100)); told != "" {
		return c.l.say("compare.longer.by", c.slow.letter, longer, c.fast.letter, told)
	}
	return c.l.say("compare.longer", c.slow.letter, longer, c.fast.letter)
}

func (c contest) sayAlike() string {
	tookA, tookB := figure.Duration(c.a.End), figure.Duration(c.b.End)
	if told := c.differences(*c.slow.End / 20); told != "" {
		return c.l.say("compare.alike.but", tookA, tookB, c.slow.letter, told)
	}
	return c.l.say("compare.alike", tookA, tookB)
}

// differences are the parts of the time that differ by so much at least, the
// largest first. There are none where the phases are not what they are called.
func (c contest) differences(least time.Duration) string {
	if !divided(c.slow.Exchange) || !divided(c.fast.Exchange) {
		return ""
	}
	parts := partsOf(c.fast.Exchange, c.slow.Exchange)
	slices.SortStableFunc(parts, func(p, q part) int { return cmp.Compare(q.more().Abs(), p.more().Abs()) })
	var told []string
	for _, p := range parts {
		if d := p.more(); d.Abs() >= least {
			told = append(told, c.difference(p, d))
		}
	}
	return c.l.list(told)
}

func (c contest) difference(p part, d time.Duration) string {
	noun := c.l.say("noun." + p.name)
	text := c.l.say("compare.more", figure.Duration(&d), noun)
	if d < 0 {
		text = c.l.say("compare.less", figure.Duration(new(-d)), noun)
	}
	if aside := c.l.list(c.aside(p)); aside != "" {
		text += c.l.say("compare.aside", aside)
	}
	return text
}

// aside is what else differs that bears on a part.
func (c contest) aside(p part) []string {
	s, f := c.slow, c.fast
	var said []string
	add := func(text string) {
		if text != "" {
			said = append(said, text)
		}
	}
	switch p.name {
	case "network":
		if isTrue(f.ConnReused) && !isTrue(s.ConnReused) {
			add(c.l.say("compare.connected"))
		}
	case "queue":
		add(c.estimated(s.ServerQueue, f.ServerQueue))
	case "prefill":
		add(c.estimated(s.ServerPrefill, f.ServerPrefill))
		add(c.unread())
	case "all_wait":
		add(c.unread())
	case "unseen":
		add(c.l.say("aside.estimate"))
	case "hidden":
		add(c.l.say("aside.estimate"))
		add(c.tokens("reasoning", s.ReasoningTokens, f.ReasoningTokens))
	case "reasoning":
		add(c.tokens("reasoning", s.ReasoningTokens, f.ReasoningTokens))
	case "decode":
		add(c.tokens("output", answerTokens(s.Exchange), answerTokens(f.Exchange)))
		add(c.rates())
		if stalled(s.Exchange) {
			add(c.l.say("rates.stalled", figure.Duration(s.StallTime)))
		}
	}
	return said
}

// unread is the difference in tokens that were to be read.
func (c contest) unread() string {
	if c.slow.UncachedTokens != nil && c.fast.UncachedTokens != nil {
		return c.tokens("uncached", c.slow.UncachedTokens, c.fast.UncachedTokens)
	}
	return c.tokens("prompt", c.slow.PromptTokens, c.fast.PromptTokens)
}

// rates are both decode rates, "" where they are unknown or hardly differ.
func (c contest) rates() string {
	s, f := c.slow.TokensPerSec, c.fast.TokensPerSec
	if s == nil || f == nil || math.Abs(*s-*f) < *f/20 {
		return ""
	}
	return c.l.say("compare.against", figure.Rate(s, c.slow.RateQuality), figure.Rate(f, c.fast.RateQuality))
}

// tokens is a difference in tokens, "" where it is unknown or under a hundredth.
func (c contest) tokens(noun string, slow, fast *int64) string {
	if slow == nil || fast == nil {
		return ""
	}
	d := *slow - *fast
	switch least := max(*slow, *fast) / 100; {
	case d > least:
		return c.l.say("compare.more", figure.Count(&d), c.l.say("tokens.of."+noun))
	case -d > least:
		return c.l.say("compare.fewer", figure.Count(new(-d)), c.l.say("tokens.of."+noun))
	}
	return ""
}

// estimated says so unless the upstreams told both lengths.
func (c contest) estimated(told ...*time.Duration) string {
	if known(told...) {
		return ""
	}
	return c.l.say("aside.estimate")
}

func isTrue(b *bool) bool { return b != nil && *b }

// cautions are what to mind in comparing two exchanges.
func cautions(l language, a, b contestant) []string {
	var all []string
	if others := answerers(l, a.Exchange, b.Exchange); others != "" {
		all = append(all, l.say("compare.differ", others))
	}
	for _, x := range []contestant{a, b} {
		switch {
		case x.End == nil: // which the finding is about
		case failed(x.Exchange):
			all = append(all, l.say("compare.failed", x.letter, l.value("outcome.", string(x.Outcome))))
		case !divided(x.Exchange):
			all = append(all, l.say("compare.undivided", x.letter, l.value("cause.", cmp.Or(x.Cause, "unseparated"))))
		}
	}
	return all
}

// answerers names what answered two exchanges, where it is known not to be the
// same.
func answerers(l language, a, b *exchange.Exchange) string {
	var all []string
	for _, d := range []struct{ name, a, b string }{
		{"models", modelFor(a, b), modelFor(b, a)},
		{"upstreams", a.Upstream, b.Upstream},
		{"tiers", a.ServiceTier, b.ServiceTier},
	} {
		if d.a != "" && d.b != "" && d.a != d.b {
			all = append(all, l.say("differ."+d.name, plain(d.a, nameRunes), plain(d.b, nameRunes)))
		}
	}
	return strings.Join(all, l.say("list.semicolon"))
}

// modelFor is the model of x by the name that can be held against y's: the one
// that served, if that is known of both.
func modelFor(x, y *exchange.Exchange) string {
	if x.ModelServed == "" || y.ModelServed == "" {
		return cmp.Or(x.ModelRequested, x.ModelServed)
	}
	return x.ModelServed
}
