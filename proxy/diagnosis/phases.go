// Package diagnosis says why an exchange took as long as it did. A verdict is a
// function of the exchange's row and of what was usual for its model: the same
// facts get the same verdict whenever they are judged.
package diagnosis

import (
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// phases is where the time of an exchange went, as far as its row tells.
type phases struct {
	wait   time.Duration // until the model began to decode
	decode time.Duration // from then to the last token, stalls included
	hidden time.Duration // the part of decode that made reasoning nobody saw
}

// weigh divides the time of an exchange. Hosted tools are in neither part.
func weigh(x *exchange.Exchange) phases {
	if x.Delivery == exchange.NotStreamed {
		decode := min(known(x.ServerDecode), known(x.End))
		return phases{known(x.End) - decode, decode, min(known(x.HiddenDecode), decode)}
	}
	answer, hosted := answerStart(x)
	hidden := max(known(x.HiddenDecode), reasoningSeen(x))
	wait := max(0, answer-hidden-known(x.UnseenDecode)-hosted)
	last := max(known(x.LastToken), known(x.FirstToken))
	return phases{wait, max(0, last-wait-known(x.HostedTool)), hidden}
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

// estimate sets the parts of decode that nobody saw: reasoning that was not
// shown, and an output that came whole. Both are nil without a time per token.
func estimate(x *exchange.Exchange) {
	x.HiddenDecode, x.UnseenDecode = nil, nil
	tpot := tokenTime(x)
	if tpot == nil {
		return
	}
	answer, hosted := answerStart(x)
	most := max(0, answer-hosted-known(x.Network))
	if x.Delivery == exchange.NotStreamed {
		most = known(x.ServerDecode)
	}
	if x.HidesReasoning() && x.ReasoningTokens != nil {
		x.HiddenDecode = new(max(reasoningSeen(x), making(*x.ReasoningTokens, *tpot, most)))
	}
	if cameWhole(x) {
		x.UnseenDecode = new(making(*x.SeenTokens()-1, *tpot, max(0, most-known(x.HiddenDecode))))
	}
}

// cameWhole says whether the output came in one piece and is too large for the
// time of making it to be overlooked.
func cameWhole(x *exchange.Exchange) bool {
	n := x.SeenTokens()
	return x.Delivery == exchange.Single && n != nil && *n > 8
}

// tokenTime is the time per token to reckon with: this exchange's own, else the
// server's word on it, else what is usual. The first token is made by prefill.
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
