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

// pairList is figures of two exchanges under a title.
type pairList struct {
	Title string
	Words bool // rather than numbers
	Rows  []pairFigure
}

// pairFigure is a figure of both, and what B has more of it.
type pairFigure struct {
	Word, A, B string
	More       string // "" where one of the two is unknown
}

func (f pairFigure) unknown() bool { return f.A == figure.Unknown && f.B == figure.Unknown }

// versus collects the figures of two exchanges.
type versus struct {
	l    language
	a, b *exchange.Exchange
	pairList
}

func pairLists(l language, a, b *exchange.Exchange) []pairList {
	times, tokens := newVersus(l, a, b, "compare.times"), newVersus(l, a, b, "tokens.title")
	rates, route := newVersus(l, a, b, "rates.title"), newVersus(l, a, b, "route.title")
	server := newVersus(l, a, b, "server.title")
	times.times()
	tokens.tokens()
	rates.rates()
	server.server()
	route.route()
	lists := []pairList{times.pairList, tokens.pairList, rates.pairList, server.pairList, route.pairList}
	return slices.DeleteFunc(lists, func(list pairList) bool { return len(list.Rows) == 0 })
}

func newVersus(l language, a, b *exchange.Exchange, title string) *versus {
	return &versus{l: l, a: a, b: b, pairList: pairList{Title: l.say(title)}}
}

func (v *versus) times() {
	v.time("column.ttft", func(x *exchange.Exchange) *time.Duration { return x.FirstToken })
	v.time("instant.first_byte", func(x *exchange.Exchange) *time.Duration { return x.FirstByte })
	v.time("phase.network", func(x *exchange.Exchange) *time.Duration { return x.Network })
	v.time("phase.wait", func(x *exchange.Exchange) *time.Duration { return x.Wait })
	v.time("phase.queue", func(x *exchange.Exchange) *time.Duration { return x.Queue })
	v.time("phase.prefill", func(x *exchange.Exchange) *time.Duration { return x.Prefill })
	v.time("phase.hidden", func(x *exchange.Exchange) *time.Duration { return x.HiddenDecode })
	v.time("phase.decode", func(x *exchange.Exchange) *time.Duration { return x.Decode })
	v.time("phase.tool", func(x *exchange.Exchange) *time.Duration { return x.HostedTool })
	v.time("fact.excess", func(x *exchange.Exchange) *time.Duration { return x.Excess })
	v.time("column.total", func(x *exchange.Exchange) *time.Duration { return x.End })
}

func (v *versus) tokens() {
	v.count("fact.prompt", func(x *exchange.Exchange) *int64 { return x.PromptTokens })
	v.count("fact.cached", func(x *exchange.Exchange) *int64 { return x.CachedTokens })
	v.count("fact.uncached", func(x *exchange.Exchange) *int64 { return x.UncachedTokens })
	v.count("fact.output", func(x *exchange.Exchange) *int64 { return x.OutputTokens })
	v.count("fact.reasoning", func(x *exchange.Exchange) *int64 { return x.ReasoningTokens })
}

func (v *versus) rates() {
	quality := func(x *exchange.Exchange) string { return x.RateQuality }
	v.rate("fact.tokens_per_sec", func(x *exchange.Exchange) *float64 { return x.TokensPerSec }, quality)
	v.tpot()
	unmarked := func(*exchange.Exchange) string { return "" }
	v.rate("fact.end_to_end", func(x *exchange.Exchange) *float64 { return x.EndToEndTokensPerSec }, unmarked)
	v.rate("fact.prefill_rate", func(x *exchange.Exchange) *float64 { return x.PrefillTokensPerSec }, unmarked)
}

func (v *versus) server() {
	v.time("phase.queue", func(x *exchange.Exchange) *time.Duration { return x.ServerQueue })
	v.time("phase.prefill", func(x *exchange.Exchange) *time.Duration { return x.ServerPrefill })
	v.time("phase.decode", func(x *exchange.Exchange) *time.Duration { return x.ServerDecode })
	v.Rows = slices.DeleteFunc(v.Rows, pairFigure.unknown)
}

func (v *versus) route() {
	v.Words = true
	v.word("fact.outcome", func(x *exchange.Exchange) string { return v.l.value("outcome.", string(x.Outcome)) })
	v.word("fact.model_asked", func(x *exchange.Exchange) string { return x.ModelRequested })
	v.word("fact.model_served", func(x *exchange.Exchange) string { return x.ModelServed })
	v.word("filter.upstream", func(x *exchange.Exchange) string { return x.Upstream })
	v.word("fact.tier", func(x *exchange.Exchange) string { return x.ServiceTier })
	v.word("fact.cache", func(x *exchange.Exchange) string { return v.l.worded("cached.", x.CacheOutcome) })
	v.word("fact.delivery", func(x *exchange.Exchange) string { return v.l.worded("came.", string(x.Delivery)) })
	v.word("fact.finish", func(x *exchange.Exchange) string { return x.FinishReason })
	v.word("fact.connection", func(x *exchange.Exchange) string { return connection(v.l, x) })
	v.word("fact.concurrency", func(x *exchange.Exchange) string { return figure.Count(x.Concurrency) })
	v.word("fact.idle", func(x *exchange.Exchange) string { return figure.Pause(x.IdleBefore) })
	v.Rows = slices.DeleteFunc(v.Rows, pairFigure.unknown)
}

func (v *versus) add(word, a, b, more string) {
	v.Rows = append(v.Rows, pairFigure{v.l.say(word), a, b, more})
}

func (v *versus) time(word string, of func(*exchange.Exchange) *time.Duration) {
	a, b, more := of(v.a), of(v.b), ""
	if known(a, b) {
		d := *b - *a
		more = withSign(v.l, d, figure.Duration(new(d.Abs())))
	}
	v.add(word, figure.Duration(a), figure.Duration(b), more)
}

func (v *versus) count(word string, of func(*exchange.Exchange) *int64) {
	a, b, more := of(v.a), of(v.b), ""
	if a != nil && b != nil {
		d := *b - *a
		more = withSign(v.l, d, figure.Count(new(max(d, -d))))
	}
	v.add(word, figure.Count(a), figure.Count(b), more)
}

// rate adds a rate. Where one is rough the difference is too.
func (v *versus) rate(word string, of func(*exchange.Exchange) *float64, quality func(*exchange.Exchange) string) {
	a, b, more := of(v.a), of(v.b), ""
	if a != nil && b != nil {
		more = withSign(v.l, *b-*a, figure.Rate(new(math.Abs(*b-*a)), ""))
		if quality(v.a) == exchange.NoisyRate || quality(v.b) == exchange.NoisyRate {
			more = rough(more)
		}
	}
	v.add(word, figure.Rate(a, quality(v.a)), figure.Rate(b, quality(v.b)), more)
}

// tpot adds the time per token, as rough as the rate that it is the inverse of.
func (v *versus) tpot() {
	v.time("fact.tpot", func(x *exchange.Exchange) *time.Duration { return x.TPOT })
	row := &v.Rows[len(v.Rows)-1]
	if v.a.RateQuality == exchange.NoisyRate {
		row.A, row.More = rough(row.A), rough(row.More)
	}
	if v.b.RateQuality == exchange.NoisyRate {
		row.B, row.More = rough(row.B), rough(row.More)
	}
}

// rough marks a figure to be taken with care, if it is one.
func rough(f string) string {
	if !strings.ContainsAny(f, "0123456789") || strings.HasPrefix(f, "~") {
		return f
	}
	return "~" + f
}

// word adds what is no number.
func (v *versus) word(word string, of func(*exchange.Exchange) string) {
	a, b, more := of(v.a), of(v.b), ""
	switch {
	case a == "" || b == "":
	case a == b:
		more = v.l.say("compare.same")
	default:
		more = v.l.say("compare.differs")
	}
	v.add(word, cmp.Or(plain(a, nameRunes), figure.Unknown), cmp.Or(plain(b, nameRunes), figure.Unknown), more)
}
