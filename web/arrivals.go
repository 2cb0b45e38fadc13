package web

import (
	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// arrivals is how one exchange's output came: drawn where that says how it was
// decoded, and in words.
type arrivals struct {
	Cadence *cadence // nil where it is not drawn
	Said    string
}

// arrivalsOf is nil where there was no output.
func arrivalsOf(l language, x *exchange.Exchange) *arrivals {
	said := deliveryOf(l, x)
	if len(said) == 0 {
		return nil
	}
	v := &arrivals{Cadence: cadenceOf(l, x)}
	switch {
	case x.Delivery != exchange.Streamed:
		said = append(said, l.say("cadence.arrivals"))
	case x.Cadence == nil && x.OutputEvents != nil && *x.OutputEvents > 1:
		said = append(said, l.say("cadence.unkept"))
	}
	v.Said = l.sentences(said...)
	return v
}

// deliveryOf says how the output arrived.
func deliveryOf(l language, x *exchange.Exchange) []string {
	var said []string
	say := func(key string, args ...any) { said = append(said, l.say(key, args...)) }
	switch x.Delivery {
	case "":
	case exchange.Bursty:
		say("delivery.bursty", figure.Duration(x.DeliveryPeriod), figure.Count(x.DeliveryBytes))
	default:
		say("delivery." + string(x.Delivery))
	}
	if stalled(x) {
		say("delivery.stalls", figure.Count(x.Stalls), figure.Duration(x.StallTime))
	}
	switch silent := silences(l, x); {
	case silent != "":
		say("cadence.silences", silent)
	case x.MaxGap != nil:
		say("delivery.gap", figure.Duration(x.MaxGap))
	}
	return said
}

// silences lists those that stand out, "" for none.
func silences(l language, x *exchange.Exchange) string {
	if x.Cadence == nil || x.FirstToken == nil {
		return ""
	}
	var parts []string
	for _, g := range x.Cadence.Gaps {
		at := outputStart(x) + g.From
		parts = append(parts, l.say("cadence.silence", figure.Duration(&g.Took), figure.Duration(&at)))
	}
	return l.list(parts)
}
