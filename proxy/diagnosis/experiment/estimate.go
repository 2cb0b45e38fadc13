package experiment

import (
	"math"
	"slices"
)

// Estimate is a figure with its 95 % interval. The intervals keep to the safe
// side: of many experiments, at least that share of them hold the truth.
type Estimate struct {
	At   float64  `json:"at"`
	Low  *float64 `json:"low"` // nil, as High, of a mean, and with fewer than five to go by
	High *float64 `json:"high"`
	N    int      `json:"n"` // requests, or rounds, that it rests on
}

const (
	// fewValues is how many are needed for an interval.
	fewValues = 5
	// miss is how often an interval may leave out what it should hold. It is less
	// than what is stated, since a report draws several conclusions and none of
	// them should be wrong.
	miss = 0.01
)

// beyond is by how much of their range an interval reaches beyond so few values:
// even the least and the greatest have the median between them too seldom. The
// shares are those by which normal values come to miss; others need less.
var beyond = map[int]float64{5: 0.37, 6: 0.17, 7: 0.05}

// middle is the median of values, and the interval that holds the median of all
// that could have been drawn: between two of the values in their order, which
// asks nothing of how they are spread. Nil without values.
func middle(values []float64) *Estimate {
	if len(values) == 0 {
		return nil
	}
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	e := &Estimate{At: median(v), N: n}
	if n < fewValues {
		return e
	}
	k := outside(n)
	wider := beyond[n] * (v[n-1] - v[0])
	e.Low, e.High = new(v[k]-wider), new(v[n-1-k]+wider)
	return e
}

// median is that of sorted values, of which there is at least one.
func median(v []float64) float64 {
	n := len(v)
	return v[(n-1)/2] + (v[n/2]-v[(n-1)/2])/2
}

// outside is how many values on either side of n an interval for their median
// may leave outside: the median lies beyond k of them as seldom as a fair coin
// shows fewer than k heads in n throws.
func outside(n int) int {
	all, _ := math.Lgamma(float64(n + 1))
	k, tail := 0, 0.0
	for ; k <= n/2; k++ {
		heads, _ := math.Lgamma(float64(k + 1))
		tails, _ := math.Lgamma(float64(n - k + 1))
		if tail += math.Exp(all - heads - tails - float64(n)*math.Ln2); 2*tail > miss {
			break
		}
	}
	return max(k-1, 0)
}

// apart is the median difference of b's values from a's, which are no pairs,
// with its interval: that of Mann and Whitney's test. Nil without values.
func apart(a, b []float64) *Estimate {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	var all []float64
	for _, v := range a {
		for _, w := range b {
			all = append(all, w-v)
		}
	}
	slices.Sort(all)
	e := &Estimate{At: median(all), N: min(len(a), len(b))}
	if e.N < fewValues {
		return e
	}
	// The rank sum of two like samples is seldom, 1 time in 100, further from its
	// mean than 2.58 standard deviations: so many differences are left out.
	n, m := float64(len(a)), float64(len(b))
	k := int(math.Floor(n*m/2 - 2.58*math.Sqrt(n*m*(n+m+1)/12)))
	k = min(max(k, 0), (len(all)-1)/2)
	e.Low, e.High = new(all[k]), new(all[len(all)-1-k])
	return e
}

// above says that all of the interval is greater than v.
func (e *Estimate) above(v float64) bool { return e != nil && e.Low != nil && *e.Low > v }

// notBelow is e where nothing can be less than a bound: an interval that reaches
// below it ends there.
func (e Estimate) notBelow(bound float64) Estimate {
	e.At = max(e.At, bound)
	if e.Low != nil {
		e.Low, e.High = new(max(*e.Low, bound)), new(max(*e.High, bound))
	}
	return e
}
