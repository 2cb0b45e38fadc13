package web

import (
	"html/template"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// pair is two exchanges side by side. All that is called more is B's over A's.
type pair struct {
	Say      template.HTML
	Cautions []string // what to mind in reading it
	Swap     string   // address
	Sides    []side
	Scale    scale
	Parts    []pairPart
	More     string // in all; "" unknown
	Lists    []pairList
	Prompts  pairPrompts
}

// side is one of the two.
type side struct {
	Letter     string
	Title, URL string
	When, UTC  string // of the start
	Under      string
	Tag        tag
	Status     string
	Tone       string
	Why        why
	Bar        *bar   // nil where its duration is unknown
	Took       string // "" unknown
}

// pairPart is a part of both times, on the scale of both.
type pairPart struct {
	Word, Aside string
	A, B        []rect
	TookA       string // "" for none of it
	TookB       string
	More        string // "" where the two cannot be set against each other
}

func newPair(l language, a, b contestant, now time.Time) *pair {
	tookA, _ := took(a.Exchange, now)
	tookB, _ := took(b.Exchange, now)
	p := &pair{
		Say:      l.strong(finding(l, a, b)),
		Cautions: cautions(l, a, b),
		Swap:     compareURL(b.Exchange, a.Exchange),
		Scale:    newScale(max(tookA, tookB)),
		Lists:    pairLists(l, a.Exchange, b.Exchange),
		Prompts:  promptsOf(l, a, b),
	}
	for _, x := range []contestant{a, b} {
		p.Sides = append(p.Sides, p.side(l, x, now))
	}
	p.lay(l, a.Exchange, b.Exchange)
	return p
}

func (p *pair) side(l language, x contestant, now time.Time) side {
	s := side{
		Letter: x.letter,
		Title:  headline(l, x.Exchange),
		URL:    exchangeURL(x.Exchange),
		When:   x.StartedAt.In(now.Location()).Format("2006-01-02 15:04:05.000 -07:00"),
		UTC:    utc(x.StartedAt),
		Under:  underline(l, x.Exchange),
		Tag:    tagOf(l, x.Exchange),
		Status: status(x.Exchange),
		Tone:   tone(x.Exchange),
		Why:    whyOf(l, x.Exchange, now),
	}
	if total, ok := took(x.Exchange, now); ok {
		s.Bar = new(p.Scale.barOf(l, x.Exchange, total))
		s.Took = toTheMillisecond(total)
	}
	return s
}

// lay lays the two waterfalls over each other.
func (p *pair) lay(l language, a, b *exchange.Exchange) {
	both := divided(a) && divided(b)
	for _, part := range partsOf(a, b) {
		row := pairPart{
			Word: l.say("phase." + part.name),
			A:    p.Scale.rects(part.a), TookA: inAll(part.a),
			B: p.Scale.rects(part.b), TookB: inAll(part.b),
		}
		if part.name == "wait" && len(part.kinds) > 1 {
			row.Aside = l.say("aside.rest")
		}
		if both {
			row.More = withSign(l, part.more(), toTheMillisecond(part.more().Abs()))
		}
		p.Parts = append(p.Parts, row)
	}
	if a.End != nil && b.End != nil {
		more := *b.End - *a.End
		p.More = withSign(l, more, toTheMillisecond(more.Abs()))
	}
}

// inAll is the time of all phases, "" for none.
func inAll(ps []phase) string {
	if len(ps) == 0 {
		return ""
	}
	return toTheMillisecond(length(ps))
}

// withSign is the size of a difference with the sign of d.
func withSign[T time.Duration | int64 | float64](l language, d T, size string) string {
	switch {
	case d != 0 && !strings.ContainsAny(size, "123456789"): // too small to be shown
		return size
	case d > 0:
		return "+" + size
	case d < 0:
		return "−" + size
	}
	return l.say("compare.same")
}
