package web

import (
	"strconv"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// promptView is what filled a prompt, and what of it was seen before.
type promptView struct {
	Reuse []string // sentences
	Bar   bar
	Parts []promptPart
}

// promptPart is one kind of content.
type promptPart struct {
	Kind     kind // names its shade in the style sheet
	Word     string
	Tokens   string // an estimate
	Share    string
	Sections int
}

// shades is how many parts are told apart by their shade.
const shades = 6

// promptOf is nil for a prompt that was not read.
func promptOf(l language, x *exchange.Exchange) *promptView {
	shares := diagnosis.Composition(x)
	if len(shares) == 0 {
		return nil
	}
	v := &promptView{Reuse: reuseOf(l, x)}
	var all, drawn int64
	for _, s := range shares {
		all += s.Bytes
	}
	for i, s := range shares {
		share := float64(s.Bytes) / float64(all)
		p := promptPart{
			Kind: kind("shade-" + strconv.Itoa(min(i, shades-1))), Word: l.say("section." + s.Part.String()),
			Tokens: roughly(s.Tokens), Share: figure.Percent(share), Sections: s.Sections,
		}
		v.Parts = append(v.Parts, p)
		v.Bar.Rects = append(v.Bar.Rects, rect{p.Kind, percentOf(float64(drawn) / float64(all)), percentOf(share)})
		if v.Bar.Alt != "" {
			v.Bar.Alt += l.say("list.comma")
		}
		v.Bar.Alt += p.Word + " " + p.Share
		drawn += s.Bytes
	}
	return v
}

// roughly is an estimated count, to three digits, or the dash.
func roughly(n *int64) string {
	if n == nil {
		return figure.Unknown
	}
	v, unit := shortCount(*n)
	return "~" + v + unit
}

// reuseOf says what the prompt had in common with earlier ones and what became
// of that.
func reuseOf(l language, x *exchange.Exchange) []string {
	var said []string
	if x.PrefixSharedTokens != nil && x.PrefixIdle != nil {
		said = append(said, l.say("prompt.shared", sharedTokens(x), figure.Count(x.PromptTokens), figure.Pause(x.PrefixIdle)))
	}
	changed := x.CacheOutcome != "broken" && x.ChangedSection != "" && x.ChangedIndex != nil
	if changed {
		said = append(said, l.say("prompt.changed", place(x), l.value("section.", x.ChangedSection)))
	}
	if x.CacheOutcome != "" {
		said = append(said, outcomeOf(l, x))
	}
	return said
}

// sharedTokens is a count where the upstream counted just that, else a rough one.
func sharedTokens(x *exchange.Exchange) string {
	if x.PrefixCounted != nil && *x.PrefixCounted {
		return figure.Count(x.PrefixSharedTokens)
	}
	return roughly(x.PrefixSharedTokens)
}

// place is where the first changed section stands, from 1 on.
func place(x *exchange.Exchange) string {
	if x.ChangedIndex == nil {
		return figure.Unknown
	}
	return figure.Count(new(*x.ChangedIndex + 1))
}

func outcomeOf(l language, x *exchange.Exchange) string {
	cached := figure.Count(x.CachedTokens)
	switch {
	case x.CacheOutcome == "broken" && x.ChangedSection == "compaction":
		return l.say("reuse.compaction", place(x), cached)
	case x.CacheOutcome == "broken":
		return l.say("reuse.broken", place(x), l.value("section.", x.ChangedSection), cached)
	case x.CacheOutcome == "unreported" && x.CachedTokens != nil:
		return l.say("reuse.denied")
	case x.CacheOutcome == "hit", x.CacheOutcome == "partial", x.CacheOutcome == "missed", x.CacheOutcome == "expired":
		return l.say("reuse."+x.CacheOutcome, cached)
	}
	return l.value("reuse.", x.CacheOutcome)
}
