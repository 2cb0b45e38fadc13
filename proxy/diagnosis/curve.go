package diagnosis

import "time"

// Curve is what a prompt costs a model that nothing delays: the lower envelope
// of its waits over the length of their prompts,
//
//	wait = Floor + f(uncached tokens) + PerCached x cached tokens.
//
// The last two terms are the prefill: what is cached has still to be loaded and
// attended to.
type Curve struct {
	Floor       time.Duration  // fixed start of gateway and model
	Knots       []Knot         // f, from {0, 0} on; each piece at least as steep as the one before it
	PerCached   *time.Duration // for a cached token; nil where too few exchanges had any
	Least, Most int64          // uncached tokens of the exchanges that it was fitted to
	Fast        int            // of these the ones that nothing delayed
	Error       float64        // share of the wait within which nine of ten of the fast ones lie, more where they are few
}

// Knot is where f bends, or its end.
type Knot struct {
	Tokens  int64
	Prefill time.Duration
}

// shortWait is the wait below which errors no longer shrink with it.
const shortWait = 50 * time.Millisecond

// Prefill is what the tokens of a prompt cost. Beyond the most tokens seen each
// costs as much as the last of them.
func (c *Curve) Prefill(uncached, cached int64) time.Duration {
	i := c.piece(uncached)
	at := c.Knots[i-1]
	took := at.Prefill + time.Duration(c.slope(i)*float64(uncached-at.Tokens))
	if c.PerCached != nil {
		took += *c.PerCached * time.Duration(cached)
	}
	return took
}

// piece is the number of the knot that ends the piece of f to which a prompt of
// so many tokens belongs.
func (c *Curve) piece(tokens int64) int {
	i := 1
	for i < len(c.Knots)-1 && c.Knots[i].Tokens < tokens {
		i++
	}
	return i
}

// slope is what a token costs within the piece that ends at knot i, in
// nanoseconds.
func (c *Curve) slope(i int) float64 {
	from, to := c.Knots[i-1], c.Knots[i]
	return float64(to.Prefill-from.Prefill) / float64(to.Tokens-from.Tokens)
}

// within is how far off, either way, an estimate for such a prompt may be. It
// grows with the distance from the prompts seen.
func (c *Curve) within(uncached, cached int64) time.Duration {
	seen := c.noise(c.Floor + c.Prefill(uncached, cached))
	beyond := max(0, uncached-c.Most, c.Least-uncached)
	return seen + time.Duration(float64(beyond)*c.slopeError(uncached))
}

// noise is how far off a wait of this length may be, among prompts like those
// seen.
func (c *Curve) noise(wait time.Duration) time.Duration {
	return time.Duration(c.Error * float64(max(wait, shortWait)))
}

// slopeError is how far off the cost of a token that is not like those seen may
// be, in nanoseconds: a quarter, or what noise over their range makes of it.
func (c *Curve) slopeError(tokens int64) float64 {
	noise := 2 * float64(c.noise(c.Floor+c.Prefill(c.Most, 0))) / float64(c.Most-c.Least)
	return max(c.slope(c.piece(tokens))/4, noise)
}

// reaches says whether the curve tells anything of a prompt so much longer than
// those seen.
func (c *Curve) reaches(uncached int64) bool {
	return uncached <= c.Most || c.within(uncached, 0) < c.Prefill(uncached, 0)
}
