package web

import (
	"math"
	"slices"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// charting gathers what the charts of a view are drawn from, in one pass over its
// exchanges.
type charting struct {
	zone *time.Location
	full bool // for their own view, which has more than the band over the log

	models   groups
	prompts  cloud          // TTFT over uncached tokens; of a kind are those of one bound
	left     map[string]int // those that are not among them, by why
	networks map[served][]int64
	rates    cloud // decode rate over time; of a kind are those of one model
	rough    int   // those that are not among them, of few tokens

	all            group // as what follows, in the full view alone
	firsts, excess cloud // over time, by model
	upstreams      groups
	hours          [24]group // of the day, in the zone
}

// served is what a baseline is of.
type served struct{ upstream, model string }

func newCharting(zone *time.Location, full bool) *charting {
	return &charting{
		zone: zone, full: full,
		left: map[string]int{}, networks: map[served][]int64{}, models: groups{}, upstreams: groups{},
	}
}

func (c *charting) add(b *brief) {
	if b.Prewarm {
		return
	}
	o := origin{b.ID, b.StartedAt.UnixNano()}
	model := c.models.of(b.Model)
	model.add(b)
	c.addPrompt(b, o)
	c.addRate(b, o, model.kind)
	if c.full {
		c.addTimes(b, o, model.kind)
		c.all.add(b)
		c.upstreams.of(b.Upstream).add(b)
		c.hours[b.StartedAt.In(c.zone).Hour()].add(b)
	}
}

// leftOuts are why an exchange is not among the prompts, in the order of telling.
var leftOuts = []string{"first", "buffered", "uncached"}

func (c *charting) addPrompt(b *brief, o origin) {
	switch {
	case b.FirstToken == nil:
		c.left["first"]++
	case b.buffered():
		c.left["buffered"]++
	case b.Uncached == nil || b.CacheDenied:
		c.left["uncached"]++
	default:
		c.prompts.add(o, *b.Uncached, int64(*b.FirstToken), boundKind(b.Bound))
		model := served{b.Upstream, b.Model}
		c.networks[model] = push(c.networks[model], int64(b.spent[networkAt]))
	}
}

// boundKind is the place of a bound among all, which end with the unknown.
func boundKind(b exchange.Bound) int32 {
	if i := slices.Index(exchange.Bounds, b); i >= 0 {
		return int32(i)
	}
	return int32(len(exchange.Bounds) - 1)
}

// rateTokens is the output from which a rate is drawn.
const rateTokens = 64

func (c *charting) addRate(b *brief, o origin, model int32) {
	if b.Rate == nil {
		return
	}
	if b.Output == nil || *b.Output < rateTokens || b.RateQuality == exchange.NoisyRate {
		c.rough++
		return
	}
	c.rates.add(o, o.at, thousandths(*b.Rate), model)
}

// thousandths is a rate by the unit of its axis.
func thousandths(perSec float64) int64 { return int64(math.Round(min(perSec*1000, farthest))) }

func (c *charting) addTimes(b *brief, o origin, model int32) {
	if b.FirstToken != nil && !b.buffered() {
		c.firsts.add(o, o.at, int64(*b.FirstToken), model)
	}
	if b.Excess != nil {
		c.excess.add(o, o.at, int64(*b.Excess), model)
	}
}
