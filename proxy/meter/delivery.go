package meter

import (
	"slices"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

const (
	fewTokens    = 32   // up to which an answer may come whole and be honest
	tooFast      = 5000 // tokens per second that no server decodes
	together     = 20 * time.Millisecond
	burstTokens  = 16
	fewBursts    = 4
	serverMargin = 200 * time.Millisecond
)

// deliver says how the output came; the first that fits.
func (p *pace) deliver(x *exchange.Exchange) {
	switch {
	case len(p.reads) == 1 && (p.tokens < fewTokens || p.tools):
		x.Delivery = exchange.Single
	case p.pseudo(x):
		x.Delivery = exchange.Pseudo
	case p.bursty(x):
		x.Delivery = exchange.Bursty
	default:
		x.Delivery = exchange.Streamed
	}
}

// pseudo says whether the output was made first and sent afterwards: the server
// took far longer to make it than it took to come.
func (p *pace) pseudo(x *exchange.Exchange) bool {
	if p.tokens < fewTokens {
		return false
	}
	if made := p.made(x); made != nil {
		return p.span < *made/2 && p.span+serverMargin <= *made
	}
	return len(p.reads) == 1 || p.perSecond() > tooFast
}

// made is how long the server says that it decoded what n covers; hidden
// reasoning has its share of what it says.
func (p *pace) made(x *exchange.Exchange) *time.Duration {
	if x.ServerDecode == nil || !x.HidesReasoning() {
		return x.ServerDecode
	}
	if p.n == nil || *x.OutputTokens == 0 {
		return nil
	}
	part := float64(*p.n) / float64(*x.OutputTokens)
	return new(time.Duration(part * float64(*x.ServerDecode)))
}

// burst is output that came with less than 20 ms between its reads.
type burst struct {
	from, to time.Duration
	bytes    int64
}

func (p *pace) bursts() []burst {
	bs := make([]burst, 0, len(p.reads))
	for _, r := range p.reads {
		if last := len(bs) - 1; last >= 0 && r.at-bs[last].to < together {
			bs[last].to = r.at
			bs[last].bytes += r.size()
			continue
		}
		bs = append(bs, burst{r.at, r.at, r.size()})
	}
	return bs
}

// bursty says whether something collects the output and sends it in lumps that
// are too far apart to tell a rate. It notes the period of finer lumps too.
func (p *pace) bursty(x *exchange.Exchange) bool {
	bs := p.bursts()
	if !p.lumps(bs) {
		return false
	}
	var periods []time.Duration
	var sizes []int64
	for i, b := range bs {
		sizes = append(sizes, b.bytes)
		if i > 0 {
			periods = append(periods, b.from-bs[i-1].from)
		}
	}
	period := median(periods)
	x.DeliveryPeriod, x.DeliveryBytes = &period, new(median(sizes))
	return len(bs) < fewBursts || 4*period > p.working(x)
}

// lumps says whether bursts are large and brief enough to be lumps; the last
// one is what was left over and may be small.
func (p *pace) lumps(bs []burst) bool {
	if len(bs) < 2 {
		return false
	}
	var filled time.Duration
	for i, b := range bs {
		filled += b.to - b.from
		if i < len(bs)-1 && p.share(b.bytes) < burstTokens || !p.atOnce(b) {
			return false
		}
	}
	return 10*filled < p.to-p.from
}

// atOnce says whether a burst came as what was collected does. A stream that
// falls silent for once also comes in bursts, but in each of them at the pace at
// which the tokens were made.
func (p *pace) atOnce(b burst) bool {
	took := b.to - b.from
	return took < together || p.share(b.bytes) > tooFast*took.Seconds()
}

// working is wait and decode together; of an unknown network nothing is taken.
func (p *pace) working(x *exchange.Exchange) time.Duration {
	wait := x.Wait
	if wait == nil {
		wait = x.FirstToken
	}
	return *wait + *x.Decode
}

// median of at least one value; of an even number of them, half-way between the
// middle two.
func median[T ~int64](vs []T) T {
	vs = slices.Clone(vs)
	slices.Sort(vs)
	return (vs[(len(vs)-1)/2] + vs[len(vs)/2]) / 2
}
