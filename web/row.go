package web

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// quiet is the gap between two rows that is worth a word.
const quiet = 2 * time.Minute

// row is one exchange in the log.
type row struct {
	Break      string // said above it; "" for nothing
	Span       int    // columns of the table
	ID         string
	At         string // of the start: milliseconds of the epoch
	SoFar      string // milliseconds under way; "" once it has ended
	URL        string
	Clock      string // to the second, in the page's zone
	Millis     string
	UTC        string
	Status     string
	Tone       string    // bad, gone, running; "" for the usual
	Attempt    *quantity // from the second on
	Model      string
	ModelTitle string
	Tag        tag
	Bar        *bar   // nil where its duration is unknown
	Unwritten  string // in place of the figures, where the end is not written
	TTFT       quantity
	Rate       quantity
	Prompt     quantity
	Meter      *meter
	Output     quantity
	Total      quantity
	Slow       bool // far slower than the model usually is for as much work
	Extra      []string
	Words      *words // what went wrong; nil if nothing did
}

// WordsSpan is how many columns the words take.
func (r row) WordsSpan() int { return r.Span - 2 }

// meter is the part of the prompt that no cache had.
type meter struct{ Width, Title string }

// words are a sentence and what follows it.
type words struct{ Lead, Rest string }

func (sh *sheet) row(x *exchange.Exchange) row {
	l, now := sh.l, sh.now
	at := x.StartedAt.In(now.Location())
	r := row{
		ID:     plain(x.ID, nameRunes),
		At:     sinceEpoch(at),
		URL:    exchangeURL(x),
		Clock:  at.Format("15:04:05"),
		Millis: at.Format(".000"),
		UTC:    utc(at),
		Status: status(x),
		Tone:   tone(x),
		Tag:    tagOf(l, x),
		TTFT:   seconds(x.FirstToken),
		Rate:   rateOf(l, x),
		Prompt: tokens(x.PromptTokens),
		Meter:  meterOf(l, x),
		Output: outputOf(l, x),
		Total:  seconds(x.End),
		Slow:   isSlow(x),
		Extra:  cells(x, sh.extra),
		Span:   sh.span(),
	}
	r.TTFT.Strong = sh.late != nil && x.FirstToken != nil && *x.FirstToken > *sh.late
	r.Rate.Strong = sh.slow != nil && x.TokensPerSec != nil && !r.Rate.Faint && *x.TokensPerSec < *sh.slow
	if r.Slow {
		r.Total.Title = l.list([]string{r.Total.Title, l.say("row.slow", figure.Duration(x.Excess))})
	}
	r.Model, r.ModelTitle = modelOf(l, x)
	r.Tag.Title = hint(l, x)
	if retried(x) {
		r.Attempt = &quantity{Value: figure.Count(x.Attempt), Title: l.say("row.attempt", figure.Count(x.Attempt))}
	}
	if total, ok := took(x, now); ok {
		b := sh.scale.barOf(l, x, total)
		r.Bar = &b
	}
	switch {
	case x.Outcome == exchange.Open:
		r.goOn(l, x, now)
	case x.End == nil:
		r.Unwritten = l.say("row.unknown")
	}
	if failed(x) {
		r.Words = inSentences(strings.TrimSpace(l.sentences(diagnosis.ErrorWords(x, string(l)), saidBy(l, x))))
	}
	return r
}

// hint is the reason for a verdict whose name does not tell it.
func hint(l language, x *exchange.Exchange) string {
	if _, told := ends[x.Outcome]; told || x.Bound == exchange.PrefillBound || x.Bound == exchange.DecodeBound {
		return ""
	}
	return plain(diagnosis.Reason(x, string(l)), proseRunes)
}

// soFar is how long an exchange has been under way.
func soFar(x *exchange.Exchange, now time.Time) string {
	return figure.Duration(new(max(now.Sub(x.StartedAt), 0)))
}

// retried says whether an exchange repeats one that failed.
func retried(x *exchange.Exchange) bool { return x.Attempt != nil && *x.Attempt > 1 }

// exchangeURL is the address of an exchange's view.
func exchangeURL(x *exchange.Exchange) string { return "/-/requests/" + url.PathEscape(x.ID) }

// status is the upstream's answer, a dash where it gave none.
func status(x *exchange.Exchange) string {
	switch {
	case x.Status != nil:
		return strconv.FormatInt(*x.Status, 10)
	case x.Outcome == exchange.Open:
		return "···"
	}
	return figure.Unknown
}

// modelOf names the model that was asked for, with a mark if it is another one
// that answered, not just the same with its date.
func modelOf(l language, x *exchange.Exchange) (name, title string) {
	asked, served := plain(x.ModelRequested, nameRunes), plain(x.ModelServed, nameRunes)
	switch {
	case asked == "" || served == "":
		name = cmp.Or(asked, served, plain(x.Path, nameRunes))
		return name, name
	case strings.HasPrefix(served, asked):
		return asked, served
	}
	return "→ " + served, l.say("row.served", asked, served)
}

func meterOf(l language, x *exchange.Exchange) *meter {
	if x.PromptTokens == nil || x.UncachedTokens == nil || *x.PromptTokens <= 0 {
		return nil
	}
	share := float64(*x.UncachedTokens) / float64(*x.PromptTokens)
	return &meter{
		Width: percentOf(min(max(share, 0), 1)),
		Title: l.say("row.cached", figure.Count(x.CachedTokens), figure.Count(x.PromptTokens), figure.Count(x.UncachedTokens)),
	}
}

// rateOf has in its title how far it can be relied on.
func rateOf(l language, x *exchange.Exchange) quantity {
	q := rate(x.TokensPerSec, x.RateQuality)
	if aside := rateAside(l, x); q.Value != "" && aside != "" {
		q.Title = l.list([]string{q.Title, aside})
	}
	return q
}

func outputOf(l language, x *exchange.Exchange) quantity {
	q := tokens(cmp.Or(x.OutputTokens, x.EstimatedOutput))
	if x.ReasoningTokens != nil && *x.ReasoningTokens > 0 && q.Value != "" {
		q.Title = l.say("row.reasoning", q.Title, figure.Count(x.ReasoningTokens))
	}
	if x.OutputTokens == nil && q.Value != "" {
		q.Value, q.Faint = "~"+q.Value, true
		q.Title = l.list([]string{q.Title, l.say("usage.estimated")})
	}
	return q
}

// saidBy is what the upstream said of an error, where the words for it do not have
// that; "" for nothing.
func saidBy(l language, x *exchange.Exchange) string {
	said := plain(x.Error, nameRunes)
	if x.Outcome != exchange.UpstreamError || said == "" || strings.Contains(diagnosis.ErrorWords(x, string(l)), said) {
		return ""
	}
	return l.say("row.said", said)
}

// inSentences takes the first sentence of a text apart; nil for no text.
func inSentences(text string) *words {
	text = plain(text, proseRunes)
	for _, end := range []string{". ", "。"} {
		if lead, rest, ok := strings.Cut(text, end); ok {
			return &words{lead + strings.TrimSpace(end), rest}
		}
	}
	if text == "" {
		return nil
	}
	return &words{Lead: text}
}

// breakBefore says what lies between a row and the newer one above it: a
// midnight, or a long silence.
func breakBefore(l language, x, newer *exchange.Exchange, now time.Time) string {
	above := now
	if newer != nil {
		above = newer.StartedAt
	}
	at := x.StartedAt.In(now.Location())
	if day := at.Format(time.DateOnly); day != above.In(now.Location()).Format(time.DateOnly) {
		return day
	}
	end := x.EndedAt()
	if newer == nil || end.IsZero() || above.Sub(end) < quiet {
		return ""
	}
	return l.say("break.quiet", l.roughly(above.Sub(end)))
}

// roughly is a long time in whole minutes or hours.
func (l language) roughly(d time.Duration) string {
	if d < 90*time.Minute {
		return l.number("minutes", int64(d.Round(time.Minute)/time.Minute))
	}
	return l.number("hours", int64(d.Round(time.Hour)/time.Hour))
}

// zone names the page's time zone.
func zone(now time.Time) string {
	_, offset := now.Zone()
	if offset == 0 {
		return "UTC"
	}
	return "UTC" + strings.TrimSuffix(now.Format("-07:00"), ":00")
}
