// Package diagnosis says why an exchange took as long as it did. A verdict is a
// function of the exchange's row and of what was usual for its model: the same
// facts get the same verdict whenever they are judged.
package diagnosis

import (
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// Phases is where the time of an exchange went, as far as its row tells. They
// follow each other in the order of the fields. What a hosted tool took is in
// neither Wait nor Decode.
type Phases struct {
	Wait         time.Duration // until the model began to decode, the network included; all there was where no token came
	HostedBefore time.Duration // hosted tools before the answer
	Hidden       time.Duration // the part of Decode that made reasoning which nobody saw
	Unseen       time.Duration // the part of Decode that made an output which came whole
	Shown        time.Duration // the part of Decode that made reasoning which was seen
	Decode       time.Duration // from the end of Wait to the last token, stalls included
	HostedAfter  time.Duration // hosted tools from the answer on

	Stalled time.Duration // silences within Decode
	Total   time.Duration // from the start to the end; 0 while under way
}

// Weigh divides the time of an exchange. It is a function of the row alone.
func Weigh(x *exchange.Exchange) Phases {
	p := Phases{Stalled: known(x.StallTime), Total: known(x.End)}
	switch {
	case x.Delivery == exchange.NotStreamed:
		p.Decode = min(known(x.ServerDecode), p.Total)
		p.Hidden = min(known(x.HiddenDecode), p.Decode)
		p.Wait = p.Total - p.Decode
	case x.FirstToken == nil:
		p.HostedBefore = min(known(x.HostedTool), p.Total)
		p.Wait = p.Total - p.HostedBefore
	default:
		p.weighStream(x)
	}
	return p
}

func (p *Phases) weighStream(x *exchange.Exchange) {
	answer, hosted := answerStart(x)
	p.HostedBefore = min(hosted, answer)
	p.HostedAfter = max(0, known(x.HostedTool)-p.HostedBefore)
	waited := answer - p.HostedBefore
	p.Hidden = min(waited, max(known(x.HiddenDecode), reasoningSeen(x)))
	p.Unseen = min(waited-p.Hidden, known(x.UnseenDecode))
	p.Wait = waited - p.Hidden - p.Unseen
	last := max(known(x.LastToken), known(x.FirstToken))
	p.Decode = max(0, last-p.Wait-known(x.HostedTool))
	p.Shown = min(p.Decode, reasoningShown(x))
}

// Share is the part that a bound's phase has in wait and decode together, or
// stalls in the total, from 0 to 1. It is false for a bound that is no one
// phase's, and where there was no time.
func (p Phases) Share(b exchange.Bound) (part float64, ok bool) {
	took, of := p.Wait, p.Wait+p.Decode
	switch b {
	case exchange.WaitBound, exchange.PrefillBound:
	case exchange.DecodeBound:
		took = p.Decode
	case exchange.Stalled:
		took, of = p.Stalled, p.Total
	default:
		return 0, false
	}
	if of == 0 {
		return 0, false
	}
	return min(1, float64(took)/float64(of)), true
}

// answerStart is when the first token came that could be seen, after reasoning
// that could not, and how long hosted tools ran before it.
func answerStart(x *exchange.Exchange) (at, hosted time.Duration) {
	switch {
	case !x.HidesReasoning():
		return known(x.FirstToken), known(x.HostedBeforeFirst)
	case x.AnswerStart != nil:
		return known(x.AnswerStart), known(x.HostedBeforeAnswer)
	}
	return known(x.LastToken), known(x.HostedTool)
}

// reasoningSeen is the least that hidden reasoning took: from its first summary,
// or from when its item was opened, to the answer the model was decoding.
func reasoningSeen(x *exchange.Exchange) time.Duration {
	if !x.HidesReasoning() || x.FirstToken == nil {
		return 0
	}
	answer, hosted := answerStart(x)
	if began := x.GenerationStarted; began != nil && *began < *x.FirstToken {
		return max(0, answer-known(began)-hosted)
	}
	return max(0, answer-known(x.FirstToken)-(hosted-known(x.HostedBeforeFirst)))
}

// reasoningShown is how long reasoning came that could be seen.
func reasoningShown(x *exchange.Exchange) time.Duration {
	if x.HidesReasoning() || x.FirstReasoning == nil {
		return 0
	}
	until, hosted := x.AnswerStart, x.HostedBeforeAnswer
	if until == nil {
		until, hosted = x.LastToken, x.HostedTool
	}
	return max(0, known(until)-known(x.FirstToken)-(known(hosted)-known(x.HostedBeforeFirst)))
}

// estimate sets the parts of decode that nobody saw: reasoning that was not
// shown, and an output that came whole. Both are nil where nothing tells what they
// took.
func estimate(x *exchange.Exchange) {
	x.HiddenDecode, x.UnseenDecode = nil, nil
	tpot := tokenTime(x)
	answer, hosted := answerStart(x)
	most := max(0, answer-hosted-known(x.Network))
	if x.Delivery == exchange.NotStreamed {
		most = known(x.ServerDecode)
	}
	if x.HidesReasoning() && x.ReasoningTokens != nil && tpot != nil {
		x.HiddenDecode = new(max(reasoningSeen(x), making(*x.ReasoningTokens, *tpot, most)))
	}
	if cameWhole(x) {
		x.UnseenDecode = unseen(x, tpot, max(0, most-known(x.HiddenDecode)))
	}
}

// cameWhole says whether the output came in one piece and is too large for the
// time of making it to be overlooked. Of one that nobody counted the server's word
// on that time is enough.
func cameWhole(x *exchange.Exchange) bool {
	n := x.SeenTokens()
	return x.Delivery == exchange.Single && (n != nil && *n > 8 || uncounted(x))
}

// uncounted says whether all that tells of the size of an output is how long the
// server says that it decoded.
func uncounted(x *exchange.Exchange) bool {
	return x.SeenTokens() == nil && known(x.ServerDecode) > 0
}

// unseen is how long an output that came whole took to make, no more than most.
func unseen(x *exchange.Exchange, tpot *time.Duration, most time.Duration) *time.Duration {
	switch {
	case uncounted(x):
		return new(min(max(0, *x.ServerDecode-known(x.HiddenDecode)), most))
	case tpot == nil:
		return nil
	}
	return new(making(*x.SeenTokens()-1, *tpot, most))
}

// tokenTime is the time per token to reckon with: this exchange's own, else the
// server's word on it, else what is usual. The first token is made by prefill. Its
// own is not taken where it is noisy, however slow: of a short answer that is a
// pause more often than the model.
func tokenTime(x *exchange.Exchange) *time.Duration {
	if own := x.SteadyTPOT(); own != nil {
		return own
	}
	if known(x.ServerDecode) == 0 || x.OutputTokens == nil || *x.OutputTokens < 2 {
		return x.UsualTPOT
	}
	return new(*x.ServerDecode / time.Duration(*x.OutputTokens-1))
}

// making is the time that so many tokens took, and no more than most.
func making(tokens int64, tpot, most time.Duration) time.Duration {
	return time.Duration(max(0, min(float64(tokens)*float64(tpot), float64(most))))
}

// known is a duration of the row, none where it is unknown.
func known(d *time.Duration) time.Duration {
	if d == nil {
		return 0
	}
	return max(0, *d)
}
