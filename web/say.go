package web

import (
	"html"
	"html/template"
	"strings"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// When a finding is worth to be the sentence over a view: shares of the requests,
// of the time, and of a rate.
const (
	fewRequests  = 5
	manyFailed   = 0.05
	muchPrefill  = 0.4
	muchQueue    = 0.1
	muchWait     = 0.5
	muchSlowdown = 0.2
)

// findings are what the sentence over a view can say, the first that there is
// reason for being said. Each tells what its phrase, say.NAME, is about.
var findings = []struct {
	name  string
	found func(o *overview) bool
	args  func(l language, o *overview) []any
}{
	{"failed", func(o *overview) bool { return float64(o.failed()) > manyFailed*float64(o.figured) },
		func(l language, o *overview) []any { return []any{countOf(o.failed()), countOf(o.figured), o.worst(l)} }},
	{"prefill", func(o *overview) bool { return o.share(prefill) > muchPrefill },
		func(_ language, o *overview) []any { return []any{figure.Percent(o.share(prefill))} }},
	{"queue", func(o *overview) bool { return o.share(queue) > muchQueue },
		func(_ language, o *overview) []any { return []any{figure.Percent(o.share(queue))} }},
	{"slower", func(o *overview) bool { s := o.slowdown(); return s != nil && s.after < (1-muchSlowdown)*s.before },
		func(_ language, o *overview) []any {
			s := o.slowdown()
			return []any{plain(s.model, nameRunes), figure.Rate(&s.after, ""), figure.Rate(&s.before, "")}
		}},
	{"wait", func(o *overview) bool { return o.share(wait, floor, network, queue, prefill) > muchWait },
		func(_ language, o *overview) []any {
			return []any{figure.Percent(o.share(wait, floor, network, queue, prefill)), figure.Percent(o.share(wait))}
		}},
	{"decode", func(o *overview) bool { return o.total() > 0 },
		func(_ language, o *overview) []any {
			return []any{figure.Percent(o.share(decode, reasoning, hidden, unseen))}
		}},
	{"nothing", func(*overview) bool { return true }, func(language, *overview) []any { return nil }},
}

// say is the finding of a view in a sentence or two: where many failed, that and
// the next one; otherwise how many are bound by prefill besides.
func (o *overview) say(l language) template.HTML {
	switch {
	case o.Outcome == exchange.Open:
		return l.strong(l.number("say.open", o.rows))
	case o.figured < fewRequests:
		return l.strong(l.number("say.few", int64(o.figured)))
	}
	var said []string
	for _, f := range findings {
		if !f.found(o) {
			continue
		}
		said = append(said, l.say("say."+f.name, f.args(l, o)...))
		if f.name != "failed" {
			break
		}
	}
	if len(said) == 1 {
		said = append(said, o.sayBound(l))
	}
	return l.strong(l.sentences(said...))
}

// sayBound tells how many requests are bound by prefill, and how many of these
// found no cache.
func (o *overview) sayBound(l language) string {
	n := o.bound["prefill"]
	switch {
	case n == 0:
		return l.say("say.none_bound", countOf(o.figured))
	case o.cold == 0:
		return l.say("say.bound", countOf(n), countOf(o.figured))
	case o.cold == n:
		return l.say("say.all_cold", countOf(n), countOf(o.figured))
	}
	return l.say("say.cold", countOf(n), countOf(o.figured), countOf(o.cold))
}

// worst is the most frequent way in which requests failed, in words.
func (o *overview) worst(l language) string {
	worst, most := "", int64(0)
	for outcome, n := range o.outcomes {
		if isFailure(outcome) && (n > most || n == most && string(outcome) < worst) {
			worst, most = string(outcome), n
		}
	}
	return l.value("outcome.", worst)
}

func countOf[T int | int64](n T) string { return figure.Count(new(int64(n))) }

// strong sets the parts of a phrase between asterisks in bold.
func (l language) strong(phrase string) template.HTML {
	var b strings.Builder
	for i, part := range strings.Split(phrase, "*") {
		part = html.EscapeString(part)
		if i%2 == 1 {
			part = "<b>" + part + "</b>"
		}
		b.WriteString(part)
	}
	return template.HTML(b.String())
}
