package experiment

import "math"

// crowding compares how many requests of an arm were spikes with how many were
// where fewer went at a time. A queue that some of a crowd have to stand in moves no
// median.
type crowding struct {
	at              int // requests at a time
	spikes, of      int
	before, ofFewer int      // spikes where fewer went at a time, and requests
	excess          *float64 // ms: the median of what the spikes took beyond the usual; nil without one
}

// byChance is the likelihood below which nobody takes so many spikes for chance.
const byChance = 0.002

// crowdings are those of all arms but the first, which are in the order of how many
// requests they have at a time.
func (f *finder) crowdings(arms []int) (all []crowding) {
	var before, ofFewer int
	for i, arm := range arms {
		c := crowding{at: f.Arms[arm].AtOnce, before: before, ofFewer: ofFewer}
		var over []float64
		for _, r := range ofArm(f.rows, arm) {
			if r.Wait != nil {
				c.of++
			}
			if r.Over != nil {
				c.spikes++
				over = append(over, *r.Over)
			}
		}
		if e := middle(over); e != nil {
			c.excess = &e.At
		}
		if before, ofFewer = before+c.spikes, ofFewer+c.of; i > 0 {
			all = append(all, c)
		}
	}
	return all
}

// chance is how likely so many spikes or more would be in this arm if the number at
// a time had nothing to do with it (Fisher's exact test, one-sided).
func (c crowding) chance() float64 {
	spikes, all := c.spikes+c.before, c.of+c.ofFewer
	var p float64
	for n := c.spikes; n <= min(spikes, c.of); n++ {
		p += math.Exp(choices(c.of, n) + choices(c.ofFewer, spikes-n) - choices(all, spikes))
	}
	return min(p, 1)
}

// choices is the logarithm of in how many ways k of n can be chosen.
func choices(n, k int) float64 {
	if k < 0 || k > n {
		return math.Inf(-1)
	}
	gamma := func(m int) float64 { v, _ := math.Lgamma(float64(m + 1)); return v }
	return gamma(n) - gamma(k) - gamma(n-k)
}

var moreRounds = Sentence{"More rounds would tell whether that comes of their number.", "增加轮数即可分辨是否与并发数有关。"}

// words tell of the spikes.
func (c crowding) words() Sentence {
	return Sentence{
		"At ${at} at a time ${n} of ${of} requests waited about ${excess} longer than the others; with fewer at a time ${before} of ${fewer} did.",
		"同时 ${at} 个时，${of} 个请求中有 ${n} 个比其余多等约 ${excess}；同时更少时，${fewer} 个中有 ${before} 个。",
	}.with(figures{"at": count(c.at), "n": count(c.spikes), "of": count(c.of), "excess": took(*c.excess), "before": count(c.before), "fewer": count(c.ofFewer)})
}
