package web

import (
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// list is a block of facts under a title.
type list struct {
	Title string
	Facts []fact
}

func (l list) empty() bool { return len(l.Facts) == 0 }

// fact is a name and its value.
type fact struct {
	Name, Value, Aside string
	Code               bool   // an id
	Copy               string // the value to be copied; "" for what is cut, or has more in it than shows
	URL                string // of the exchanges that share the value
}

// lister builds a list of one exchange's facts in one language.
type lister struct {
	l     language
	ended bool
	list
}

func newLister(l language, title string, x *exchange.Exchange) *lister {
	return &lister{l: l, ended: x.End != nil, list: list{Title: l.say(title)}}
}

// add adds a fact, shown as a dash where it is unknown. Before the end is
// written it is left out: a dash would say that it did not happen.
func (b *lister) add(name, value, aside string) {
	if !b.ended {
		b.have(name, value, aside)
		return
	}
	b.put(name, value, aside)
}

func (b *lister) put(name, value, aside string) {
	if value == "" {
		value, aside = figure.Unknown, ""
	}
	b.Facts = append(b.Facts, fact{Name: b.l.say("fact." + name), Value: value, Aside: aside})
}

// have adds a fact only where it is known.
func (b *lister) have(name, value, aside string) {
	if value != "" && value != figure.Unknown {
		b.put(name, value, aside)
	}
}

// rowsWith is the address of the rows that share a value, "" for a value that
// no address should be made of, or that no filter takes as it is.
func rowsWith(filter, value string) string {
	if value == "" || len(value) > 4*nameRunes || value != strings.TrimSpace(value) {
		return ""
	}
	return query{}.with(filter, value)
}

func tokenList(l language, x *exchange.Exchange) list {
	b := newLister(l, "tokens.title", x)
	cached, uncached := promptParts(x)
	b.add("prompt", figure.Count(x.PromptTokens), "")
	b.add("cached", figure.Count(x.CachedTokens), cached)
	b.have("cache_write", figure.Count(x.CacheWriteTokens), "")
	b.add("uncached", figure.Count(x.UncachedTokens), uncached)
	b.add("output", figure.Output(x.OutputTokens, x.EstimatedOutput), "")
	b.add("reasoning", figure.Count(x.ReasoningTokens), b.l.worded("reasoning.", x.Reasoning))
	b.add("total_tokens", figure.Count(x.TotalTokens), "")
	b.have("usage_source", b.l.worded("usage.", x.UsageSource), "")
	return b.list
}

func rateList(l language, x *exchange.Exchange) list {
	b := newLister(l, "rates.title", x)
	b.add("tokens_per_sec", figure.Rate(x.TokensPerSec, x.RateQuality), rateAside(l, x))
	b.add("tpot", figure.Duration(x.TPOT), "")
	b.add("end_to_end", figure.Rate(x.EndToEndTokensPerSec, ""), "")
	b.have("prefill_rate", figure.Rate(x.PrefillTokensPerSec, ""), "")
	b.have("last_over_first", decimal(x.RateLastOverFirst), "")
	b.have("tokens_per_event", decimal(x.TokensPerEvent), "")
	b.have("output_events", figure.Count(x.OutputEvents), "")
	return b.list
}

// usualList is what is usual for the model, as of the verdict.
func usualList(l language, x *exchange.Exchange) list {
	b := newLister(l, "usual.title", x)
	b.have("floor", figure.Duration(x.Floor), "")
	b.have("usual_prefill", figure.Duration(x.UsualPrefill), beyondUsual(l, x))
	b.have("cached_wait", figure.Duration(x.CachedWait), "")
	b.have("tpot", figure.Duration(x.UsualTPOT), "")
	name, off := "excess", x.Excess
	if off != nil && *off < 0 {
		name, off = "saved", new(-*off)
	}
	b.have(name, figure.Duration(off), "")
	if len(b.Facts) > 0 && x.UsualRows != nil {
		b.put("usual_rows", figure.Count(x.UsualRows), "")
		b.Facts[len(b.Facts)-1].URL = rowsWith("model", x.Model())
	}
	return b.list
}

// beyondUsual says that the prompt was longer than any that the model is known by.
func beyondUsual(l language, x *exchange.Exchange) string {
	if x.UsualTokens == nil || x.UncachedTokens == nil || *x.UncachedTokens <= *x.UsualTokens {
		return ""
	}
	return l.say("usual.beyond", figure.Count(x.UsualTokens))
}

func routeList(l language, x *exchange.Exchange) list {
	b := newLister(l, "route.title", x)
	b.add("model_asked", plain(x.ModelRequested, nameRunes), "")
	b.add("model_served", plain(x.ModelServed, nameRunes), "")
	b.have("tier", plain(x.ServiceTier, nameRunes), "")
	b.add("outcome", l.say("outcome."+string(x.Outcome)), "")
	b.have("finish", plain(x.FinishReason, nameRunes), "")
	b.add("dialect", plain(string(x.Dialect), nameRunes), plain(x.Transport, nameRunes))
	b.have("connection", connection(l, x), "")
	b.have("rtt", figure.Duration(x.RTT), "")
	b.have("sent", size(x.RequestBytes), upload(x))
	b.have("received", size(x.ResponseBytes), "")
	b.have("concurrency", figure.Count(x.Concurrency), "")
	b.have("idle", figure.Pause(x.IdleBefore), "")
	b.have("clock", clockOffset(l, x.UpstreamClockOffset), "")
	b.have("proxy", figure.Duration(x.Proxy), "")
	b.have("client_wait", figure.Duration(x.ClientWait), "")
	b.cause(x.Cause)
	return b.list
}

// cause adds a cause in words, with the code that the filter and the CSV know it
// by.
func (b *lister) cause(code string) {
	b.have("cause", b.l.worded("cause.", code), plain(code, nameRunes))
	if code != "" {
		b.Facts[len(b.Facts)-1].URL = rowsWith("cause", code)
	}
}

// promptParts are the shares of the prompt that a cache had and that none had,
// "" where they are unknown.
func promptParts(x *exchange.Exchange) (cached, uncached string) {
	if x.PromptTokens == nil || x.CachedTokens == nil || x.UncachedTokens == nil || *x.PromptTokens <= 0 {
		return "", ""
	}
	return figure.Percents(float64(*x.CachedTokens) / float64(*x.PromptTokens))
}

// rateAside says how far the decode rate can be relied on, "" without one.
func rateAside(l language, x *exchange.Exchange) string {
	var parts []string
	if x.RateQuality != "" {
		parts = append(parts, l.value("quality.", x.RateQuality))
	}
	if x.TokensPerSec != nil && stalled(x) {
		parts = append(parts, l.say("rates.stalled", figure.Duration(x.StallTime)))
	}
	return l.list(parts)
}

// stalled says whether an exchange had silences in its output.
func stalled(x *exchange.Exchange) bool {
	return x.Stalls != nil && *x.Stalls > 0 && x.StallTime != nil
}

// clockOffset is how far the upstream's clock is from this machine's. The
// upstream tells whole seconds, so it is known to half a second either way.
func clockOffset(l language, d *time.Duration) string {
	switch {
	case d == nil:
		return ""
	case d.Abs() <= time.Second/2:
		return l.say("clock.close")
	case *d < 0:
		return l.say("clock.behind", figure.Decimal(-d.Seconds(), 1))
	}
	return l.say("clock.ahead", figure.Decimal(d.Seconds(), 1))
}

func decimal(v *float64) string {
	if v == nil {
		return ""
	}
	return figure.Decimal(*v, 2)
}

// upload is how long sending took, or took at the least; "" unknown.
func upload(x *exchange.Exchange) string {
	switch {
	case x.Upload == nil:
		return ""
	case x.UploadLowerBound != nil && *x.UploadLowerBound:
		return "≥ " + figure.Duration(x.Upload)
	}
	return figure.Duration(x.Upload)
}

func size(n *int64) string {
	if n == nil || *n < 0 {
		return ""
	}
	return humanize.Bytes(uint64(*n))
}
