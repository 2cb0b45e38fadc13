package web

import (
	"cmp"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// tally adds up a count of many exchanges, of which some may not know it: then
// the sum is the least that it was.
type tally struct {
	sum       int64
	known, of int
	estimated bool // some of it was counted here, not reported
}

func (t *tally) add(n *int64, x *exchange.Exchange) {
	t.of++
	if n == nil {
		return
	}
	t.known++
	t.sum += *n
	t.estimated = t.estimated || x.UsageSource == exchange.EstimatedUsage
}

// total is nil where no exchange knew its part.
func (t tally) total() *int64 {
	if t.known == 0 {
		return nil
	}
	return &t.sum
}

// partial says whether the sum lacks a part.
func (t tally) partial() bool { return t.known > 0 && t.known < t.of }

// quantity has a mark where the sum lacks a part or is an estimate, and in its
// title what the mark means.
func (t tally) quantity(l language) quantity {
	q := tokens(t.total())
	if t.estimated {
		q.Value, q.Faint = "~"+q.Value, true
		q.Title = l.list([]string{q.Title, l.say("usage.estimated")})
	}
	if t.partial() {
		q.Value = "≥ " + q.Value
		q.Title = l.list([]string{q.Title, l.say("turn.known", countOf(t.known), countOf(t.of))})
	}
	return q
}

// noisyBelow is in tokens: a rate of fewer is a hint only.
const noisyBelow = 64

// turnSums are the counts of a turn's exchanges together.
type turnSums struct {
	prompt, cached, output, reasoning tally
	failed, cancelled, again          int64 // exchanges that failed, that the client ended, that repeat one that failed
	pooled                            pool
}

func sumsOf(exchanges []*exchange.Exchange) turnSums {
	var s turnSums
	for _, x := range exchanges {
		s.prompt.add(x.PromptTokens, x)
		s.cached.add(x.CachedTokens, x)
		s.output.add(cmp.Or(x.OutputTokens, x.EstimatedOutput), x)
		s.reasoning.add(x.ReasoningTokens, x)
		if isFailure(x.Outcome) {
			s.failed++
		}
		if x.Outcome == exchange.ClientAbort {
			s.cancelled++
		}
		if retried(x) {
			s.again++
		}
		s.addRate(x)
	}
	return s
}

// partial says whether a sum of tokens lacks a part.
func (s turnSums) partial() bool {
	return s.prompt.partial() || s.cached.partial() || s.output.partial()
}

// addRate takes the tokens of a decode rate back out of it.
func (s *turnSums) addRate(x *exchange.Exchange) {
	if x.TokensPerSec == nil || x.End == nil {
		return
	}
	spent := byKind(phases(x, *x.End))
	seen := spent[decode] + spent[reasoning]
	s.pooled.add(pool{*x.TokensPerSec * seen.Seconds(), seen})
}

// rate is the tokens of all exchanges over the time in which they came: the
// right figure for many short answers.
func (s turnSums) rate() quantity {
	quality := ""
	if s.pooled.tokens < noisyBelow {
		quality = exchange.NoisyRate
	}
	return rate(s.pooled.rate(), quality)
}

func (s turnSums) numbers(l language, rowsURL string, n int64) []number {
	return []number{
		{Word: l.say("number.requests"), quantity: quantity{Value: countOf(n)}, Aside: s.ends(l), URL: rowsURL},
		{Word: l.say("fact.prompt"), quantity: s.prompt.quantity(l), Aside: s.cachedAside(l)},
		{Word: l.say("fact.output"), quantity: s.output.quantity(l), Aside: s.reasoningAside(l)},
		{Word: l.say("number.rate"), quantity: s.rate(), Title: l.about("number.rate")},
	}
}

// ends tells of what went wrong.
func (s turnSums) ends(l language) string {
	var ends []string
	if s.failed > 0 {
		ends = append(ends, l.number("turn.failed", s.failed))
	}
	if s.cancelled > 0 {
		ends = append(ends, l.number("number.cancelled", s.cancelled))
	}
	if s.again > 0 {
		ends = append(ends, l.number("turn.again", s.again))
	}
	return l.list(ends)
}

// cachedAside is how many of the prompts' tokens were cached, and their share
// where all of them are known.
func (s turnSums) cachedAside(l language) string {
	cached := s.cached.quantity(l)
	switch {
	case cached.Value == "":
		return l.say("turn.cached.unknown")
	case s.cached.partial() || s.prompt.partial() || s.prompt.sum <= 0:
		return l.say("turn.cached", cached.Value+cached.Unit)
	}
	share := figure.Percent(float64(s.cached.sum) / float64(s.prompt.sum))
	return l.list([]string{l.say("turn.cached", cached.Value+cached.Unit), share})
}

func (s turnSums) reasoningAside(l language) string {
	if q := s.reasoning.quantity(l); s.reasoning.sum > 0 {
		return l.say("turn.reasoning", q.Value+q.Unit)
	}
	return ""
}
