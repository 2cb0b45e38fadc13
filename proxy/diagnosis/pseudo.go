package diagnosis

import "github.com/ttftap/ttftap/proxy/exchange"

const (
	tooFast = 5 // times the usual rate at which no model decodes

	// fewTokens is the fewest output tokens of which delivery may be pseudo. It is
	// one number of one definition, which two rooms apply that may not know each
	// other: the meter, to how the output arrived, and expose, once it is known
	// what is usual.
	fewTokens = 32
)

// expose finds a stream that was made before it was sent, by the rate that is
// usual for its model. It has no rate of its own then; the one at which it came
// is kept apart, since by another baseline it may be one after all.
func expose(x *exchange.Exchange, b *Baseline) {
	asSeen(x)
	if b == nil || b.TPOT == nil || !pretends(x, b) {
		return
	}
	x.Seen = exchange.Seen{
		SeenDelivery: x.Delivery, SeenTPOT: x.TPOT, SeenTokensPerSec: x.TokensPerSec,
		SeenRateQuality: x.RateQuality, SeenRateLastOverFirst: x.RateLastOverFirst,
	}
	x.Delivery = exchange.Pseudo
	x.TPOT, x.TokensPerSec, x.RateQuality, x.RateLastOverFirst = nil, nil, "", nil
}

// asSeen gives a stream back what an earlier baseline took from it.
func asSeen(x *exchange.Exchange) {
	if s := x.Seen; s.SeenDelivery != "" {
		x.Delivery, x.TPOT, x.TokensPerSec = s.SeenDelivery, s.SeenTPOT, s.SeenTokensPerSec
		x.RateQuality, x.RateLastOverFirst = s.SeenRateQuality, s.SeenRateLastOverFirst
	}
	x.Seen = exchange.Seen{}
}

// pretends says whether a stream came far faster than the model makes one.
func pretends(x *exchange.Exchange, b *Baseline) bool {
	n := x.SeenTokens()
	if x.Delivery != exchange.Streamed || x.ServerDecode != nil || n == nil || *n < fewTokens {
		return false
	}
	took := decodeSpan(x)
	if x.TPOT != nil { // which knows how many tokens the first read held
		took = making(*n-1, *x.TPOT, eternity)
	}
	return tooFast*took < making(*n-1, *b.TPOT, eternity)
}
