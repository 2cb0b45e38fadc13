package web

import (
	"strconv"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// list is a block of facts under a title.
type list struct {
	Title string
	Facts []fact
}

// fact is a name and its value.
type fact struct {
	Name, Value, Aside string
	Code               bool   // an id, to be copied
	URL                string // of the rows that share the value
}

// lister builds a list in one language.
type lister struct {
	l language
	list
}

func newLister(l language, title string) *lister {
	return &lister{l: l, list: list{Title: l.say(title)}}
}

// add adds a fact, shown as a dash where it is unknown.
func (b *lister) add(name, value, aside string) {
	if value == "" {
		value, aside = nothing, ""
	}
	b.Facts = append(b.Facts, fact{Name: b.l.say("fact." + name), Value: value, Aside: aside})
}

// have adds a fact only where it is known.
func (b *lister) have(name, value, aside string) {
	if value != "" && value != nothing {
		b.add(name, value, aside)
	}
}

// id adds an id where there is one, with what it is good for.
func (b *lister) id(name, value, aside string) {
	if value != "" {
		b.Facts = append(b.Facts, fact{Name: b.l.say("fact." + name), Value: plain(value, nameRunes), Aside: aside, Code: true})
	}
}

// linked adds an id that leads to the rows that share it.
func (b *lister) linked(name, filter, value string) {
	if value != "" {
		b.id(name, value, "")
		b.Facts[len(b.Facts)-1].URL = rowsWith(filter, value)
	}
}

// rowsWith is the address of the rows that share a value, "" for a value that
// no address should be made of.
func rowsWith(filter, value string) string {
	if value == "" || len(value) > 4*nameRunes {
		return ""
	}
	return query{}.with(filter, value)
}

func tokenList(l language, x *exchange.Exchange) list {
	b := newLister(l, "tokens.title")
	b.add("prompt", count(x.PromptTokens), "")
	b.add("cached", count(x.CachedTokens), part(x.CachedTokens, x.PromptTokens))
	b.have("cache_write", count(x.CacheWriteTokens), "")
	b.add("uncached", count(x.UncachedTokens), part(x.UncachedTokens, x.PromptTokens))
	b.add("output", count(x.OutputTokens), "")
	b.add("reasoning", count(x.ReasoningTokens), b.phrase("reasoning.", x.Reasoning))
	b.add("total_tokens", count(x.TotalTokens), "")
	b.have("usage_source", b.phrase("usage.", x.UsageSource), "")
	return b.list
}

func rateList(l language, x *exchange.Exchange) list {
	b := newLister(l, "rates.title")
	b.add("tokens_per_sec", perSec(x.TokensPerSec), b.phrase("quality.", x.RateQuality))
	b.add("tpot", duration(x.TPOT), "")
	b.add("end_to_end", perSec(x.EndToEndTokensPerSec), "")
	b.have("prefill_rate", perSec(x.PrefillTokensPerSec), "")
	b.have("last_over_first", decimal(x.RateLastOverFirst), "")
	b.have("tokens_per_event", decimal(x.TokensPerEvent), "")
	b.have("output_events", count(x.OutputEvents), "")
	b.have("excess", duration(x.Excess), "")
	return b.list
}

func idList(l language, x *exchange.Exchange) list {
	b := newLister(l, "ids.title")
	b.id("gateway_id", x.GatewayRequestID, l.say("ids.gateway"))
	b.id("request_id", x.RequestID, l.say("ids.request"))
	b.id("response_id", x.ResponseID, l.say("ids.response"))
	b.id("id", x.ID, "")
	b.linked("session", "session", x.SessionID)
	b.linked("turn", "turn", x.TurnID)
	b.have("kind", plain(x.RequestKind, nameRunes), "")
	b.id("retry_group", x.RetryGroup, "")
	return b.list
}

func routeList(l language, x *exchange.Exchange) list {
	b := newLister(l, "route.title")
	b.add("model_asked", plain(x.ModelRequested, nameRunes), "")
	b.add("model_served", plain(x.ModelServed, nameRunes), "")
	b.have("tier", plain(x.ServiceTier, nameRunes), "")
	b.add("outcome", l.say("outcome."+string(x.Outcome)), "")
	b.have("finish", plain(x.FinishReason, nameRunes), "")
	b.add("dialect", plain(string(x.Dialect), nameRunes), plain(x.Transport, nameRunes))
	b.have("connection", connection(l, x), "")
	b.have("rtt", duration(x.RTT), "")
	b.have("sent", size(x.RequestBytes), upload(x))
	b.have("received", size(x.ResponseBytes), "")
	b.have("concurrency", count(x.Concurrency), "")
	b.have("idle", duration(x.IdleBefore), "")
	b.have("clock", duration(x.UpstreamClockOffset), "")
	b.have("proxy", duration(x.Proxy), "")
	b.have("client_wait", duration(x.ClientWait), "")
	b.have("cause", plain(x.Cause, nameRunes), "")
	b.have("cache_outcome", plain(x.CacheOutcome, nameRunes), "")
	return b.list
}

// phrase is a value's phrase, "" for no value.
func (b *lister) phrase(prefix, value string) string {
	if value == "" {
		return ""
	}
	return b.l.value(prefix, value)
}

// part is n's share of the whole, "" where either is unknown.
func part(n, whole *int64) string {
	if n == nil || whole == nil || *whole <= 0 {
		return ""
	}
	return percent(float64(*n) / float64(*whole))
}

func perSec(v *float64) string {
	if v == nil {
		return ""
	}
	return humanize.CommafWithDigits(*v, 1) + " tokens/s"
}

func decimal(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', 2, 64)
}

func duration(d *time.Duration) string {
	if d == nil {
		return ""
	}
	return inWords(*d)
}

// upload is how long sending took, or took at the least.
func upload(x *exchange.Exchange) string {
	if x.Upload != nil && x.UploadLowerBound != nil && *x.UploadLowerBound {
		return "≥ " + duration(x.Upload)
	}
	return duration(x.Upload)
}

func size(n *int64) string {
	if n == nil || *n < 0 {
		return ""
	}
	return humanize.Bytes(uint64(*n))
}
