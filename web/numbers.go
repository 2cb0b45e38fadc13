package web

import (
	"html/template"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// summary is an overview as it is shown.
type summary struct {
	Say     template.HTML
	Split   []stretch
	Alt     string // the split in words
	Numbers []number
	Notes   []note
}

// stretch is a piece of the split bar, and its entry in the legend.
type stretch struct {
	rect
	Word, Share string
}

// number is a figure of all the exchanges of a view, with the rows behind it.
type number struct {
	Word, Title string
	quantity
	Aside string
	URL   string
}

// note says what a view does not show, and where to find it.
type note struct{ Text, Word, URL string }

// splitKinds are the entries of the split bar with the phases that each takes in.
var splitKinds = []struct {
	kind kind
	of   []kind
}{
	{network, []kind{network}}, {queue, []kind{queue}}, {wait, []kind{wait, floor}}, {prefill, []kind{prefill}},
	{tool, []kind{tool}}, {hidden, []kind{hidden, unseen}}, {reasoning, []kind{reasoning}}, {decode, []kind{decode}}, {tail, []kind{tail}},
}

func (o *overview) summary(l language, q query) summary {
	s := summary{Say: o.say(l), Numbers: []number{o.requests(l, q), o.ttft(l, q), o.rate(l, q), o.cachedShare(l, q)}}
	s.Split, s.Alt = o.split(l)
	s.Notes = o.notes(l, q)
	return s
}

func (o *overview) split(l language) (all []stretch, alt string) {
	var words []string
	at := 0.0
	for _, s := range splitKinds {
		share := o.share(s.of...)
		if share == 0 {
			continue
		}
		word := l.say("legend." + string(s.kind))
		all = append(all, stretch{rect{s.kind, percentOf(at), percentOf(share)}, word, figure.Percent(share)})
		words = append(words, word+" "+figure.Percent(share))
		at += share
	}
	return all, l.list(words)
}

func (o *overview) requests(l language, q query) number {
	var asides []string
	if n := o.failed(); n > 0 {
		asides = append(asides, l.number("number.failed", n))
	}
	if n := o.outcomes[exchange.ClientAbort]; n > 0 {
		asides = append(asides, l.number("number.cancelled", n))
	}
	return number{Word: l.say("number.requests"), quantity: quantity{Value: o.found(l)}, Aside: l.list(asides), URL: q.with()}
}

func (o *overview) ttft(l language, q query) number {
	n := number{Word: l.say("number.ttft"), Title: l.about("number.ttft"), quantity: seconds(quantile(o.firsts, 0.5))}
	if p95 := quantile(o.firsts, 0.95); p95 != nil {
		n.Aside, n.URL = l.say("number.p95", figure.Duration(p95)), q.with("sort", "first_token_ms", "order", "")
	}
	return n
}

func (o *overview) rate(l language, q query) number {
	n := number{Word: l.say("number.rate"), Title: l.about("number.rate"), quantity: rate(o.pooled.rate(), "")}
	if p10 := quantile(o.rates, 0.1); p10 != nil {
		low := rate(p10, "")
		n.Aside = l.say("number.p10", low.Value+" "+low.Unit)
	}
	if n.Value != "" {
		n.URL = q.with("sort", "tokens_per_sec", "order", "asc")
	}
	return n
}

func (o *overview) cachedShare(l language, q query) number {
	n := number{Word: l.say("number.cached"), Title: l.about("number.cached"), Aside: l.say("number.unreported")}
	if o.prompt > 0 {
		v, unit := shortCount(o.prompt)
		n.quantity = quantity{Value: figure.Percent(float64(o.cached) / float64(o.prompt))}
		n.Aside, n.URL = l.say("number.of", v+unit), q.with("sort", "uncached_tokens", "order", "")
	}
	return n
}

// notes say of a long log what was not looked at.
func (o *overview) notes(l language, q query) (all []note) {
	if o.confined {
		at := o.From.UTC().Format("2006-01-02 15:04:05 UTC")
		all = append(all, note{l.say("scope.confined", countOf(o.most), at), l.say("scope.older"),
			q.with("from", "", "to", o.From.UTC().Format("2006-01-02T15:04:05.999999999Z"))})
	}
	if o.sampled {
		all = append(all, note{Text: l.say("scope.sampled", countOf(o.figured), o.found(l))})
	}
	if o.partly {
		all = append(all, note{Text: l.say("scope.facets", countOf(o.most))})
	}
	return all
}
