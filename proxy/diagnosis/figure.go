package diagnosis

import (
	"cmp"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// figure is what stands for a name in a phrase: a number, or another phrase
// that depends on what is known.
func (t teller) figure(name string) string {
	if f, ok := durations[name]; ok {
		return figure.Duration(f(t))
	}
	if f, ok := counts[name]; ok {
		return figure.Count(f(t.x))
	}
	if f, ok := texts[name]; ok {
		return f(t)
	}
	if f, ok := parts[name]; ok {
		return t.tell(f(t))
	}
	return "?" + name
}

var durations = map[string]func(teller) *time.Duration{
	"wait":          func(t teller) *time.Duration { return &t.p.Wait },
	"decode":        func(t teller) *time.Duration { return &t.p.Decode },
	"hidden":        func(t teller) *time.Duration { return &t.p.Hidden },
	"unseen":        func(t teller) *time.Duration { return t.x.UnseenDecode },
	"streaming":     func(t teller) *time.Duration { return t.x.Decode },
	"network":       func(t teller) *time.Duration { return t.x.Network },
	"upload":        func(t teller) *time.Duration { return t.x.Upload },
	"round trip":    func(t teller) *time.Duration { return t.x.RTT },
	"connecting":    func(t teller) *time.Duration { return new(connecting(t.x)) },
	"queue":         func(t teller) *time.Duration { return t.x.Queue },
	"prefill":       func(t teller) *time.Duration { return t.x.Prefill },
	"stalled":       func(t teller) *time.Duration { return t.x.StallTime },
	"gap":           func(t teller) *time.Duration { return t.x.MaxGap },
	"period":        func(t teller) *time.Duration { return t.x.DeliveryPeriod },
	"silence":       func(t teller) *time.Duration { return new(silence(t.x)) },
	"first token":   func(t teller) *time.Duration { return t.x.FirstToken },
	"last token":    func(t teller) *time.Duration { return t.x.LastToken },
	"total":         func(t teller) *time.Duration { return t.x.End },
	"floor":         func(t teller) *time.Duration { return t.x.Floor },
	"usual prefill": func(t teller) *time.Duration { return t.x.UsualPrefill },
	"cached wait":   func(t teller) *time.Duration { return t.x.CachedWait },
	"give or take":  func(t teller) *time.Duration { return t.x.EstimateError },
	"answer start":  func(t teller) *time.Duration { at, _ := answerStart(t.x); return &at },
}

var counts = map[string]func(*exchange.Exchange) *int64{
	"stalls":           func(x *exchange.Exchange) *int64 { return x.Stalls },
	"burst":            func(x *exchange.Exchange) *int64 { return x.DeliveryBytes },
	"uncached tokens":  func(x *exchange.Exchange) *int64 { return x.UncachedTokens },
	"prompt tokens":    func(x *exchange.Exchange) *int64 { return x.PromptTokens },
	"output tokens":    func(x *exchange.Exchange) *int64 { return x.OutputTokens },
	"estimated output": func(x *exchange.Exchange) *int64 { return x.EstimatedOutput },
	"seen tokens":      (*exchange.Exchange).SeenTokens,
	"reasoning tokens": func(x *exchange.Exchange) *int64 { return x.ReasoningTokens },
	"usual rows":       func(x *exchange.Exchange) *int64 { return x.UsualRows },
	"usual tokens":     func(x *exchange.Exchange) *int64 { return x.UsualTokens },
	"concurrency":      func(x *exchange.Exchange) *int64 { return x.Concurrency },
	"status":           statusOf,
}

var texts = map[string]func(teller) string{
	"wait share":    func(t teller) string { return t.share(exchange.WaitBound) },
	"decode share":  func(t teller) string { return t.share(exchange.DecodeBound) },
	"stalled share": func(t teller) string { return t.share(exchange.Stalled) },
	"rate":          func(t teller) string { return figure.Rate(t.x.TokensPerSec, t.x.RateQuality) },
	"usual rate":    func(t teller) string { return rateOf(t.x.UsualTPOT) },
	"model idle":    func(t teller) string { return figure.Pause(t.x.ModelIdle) },
	"path":          func(t teller) string { return t.x.Path },
	"error":         func(t teller) string { return cmp.Or(strings.TrimRight(t.x.Error, ".。 "), figure.Unknown) },
}

// parts are the phrases that others are made of.
var parts = map[string]func(teller) phrase{
	"words":        func(t teller) phrase { return trouble(t.x) },
	"so far":       teller.soFar,
	"decode lead":  teller.decodeLead,
	"input":        teller.input,
	"output":       teller.output,
	"pace":         teller.pace,
	"reasoning":    teller.reasoning,
	"at least":     teller.atLeast,
	"too fast":     teller.tooFast,
	"reckoned":     teller.reckoned,
	"load":         teller.load,
	"wait lead":    teller.waitLead,
	"known parts":  teller.knownParts,
	"network part": teller.networkPart,
	"miss":         func(t teller) phrase { return misses[t.x.CacheOutcome] },
	"lack":         teller.lack,
	"basis":        teller.basis,
	"prefill took": teller.prefillTook,
	"that took":    teller.thatTook,
	"best case":    teller.bestCase,
	"close call":   teller.closeCall,
	"company":      teller.company,
	"first in":     teller.firstIn,
	"beyond start": teller.beyondStart,
	"less wait":    teller.lessWait,
	"less decode":  teller.lessDecode,
}

func (t teller) share(b exchange.Bound) string {
	part, _ := t.p.Share(b)
	return figure.Percent(part)
}

// rateOf is the rate of so much time per token.
func rateOf(tpot *time.Duration) string {
	if known(tpot) == 0 {
		return figure.Unknown
	}
	return figure.Rate(new(1/tpot.Seconds()), "")
}
