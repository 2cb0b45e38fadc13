package web

import (
	"slices"
	"time"
)

// axis is one direction of a chart. What lies on it are whole numbers of a small
// unit, tokens or nanoseconds for instance, so that no rounding puts a mark into
// a bin that does not lead to it.
type axis struct {
	lo, hi      int64             // lo < hi
	under, over bool              // values lie beyond
	zero        int64             // steps are counted from here
	round       func(int64) int64 // the next round number
}

const (
	ticksMost      = 5
	clockTicksMost = 6
	farthest       = 1 << 60 // what lies beyond is drawn there
)

// newAxis suits values: from 0, or the least below it, to a round number not
// under most of them. It is never shorter than least.
func newAxis(values []int64, least int64) axis {
	above, below := make([]int64, 0, len(values)), []int64(nil)
	for _, v := range values {
		if v > 0 {
			above = append(above, min(v, farthest))
		} else if v < 0 {
			below = append(below, min(-max(v, -farthest), farthest))
		}
	}
	a := axis{lo: -reach(below), hi: reach(above), round: roundNumber}
	a.hi = max(a.hi, a.lo+least)
	step := a.step(ticksMost)
	a.lo, a.hi = floorDiv(a.lo, step)*step, ceilDiv(a.hi, step)*step
	for _, v := range values {
		a.under, a.over = a.under || v < a.lo, a.over || v > a.hi
	}
	return a
}

// newTimeAxis reaches from the first of some instants, in nanoseconds since 1970,
// to the last.
func newTimeAxis(instants []int64, zone *time.Location) axis {
	a := axis{round: roundTime}
	if len(instants) > 0 {
		a.lo, a.hi = slices.Min(instants), slices.Max(instants)
	}
	if short := int64(time.Second) - (a.hi - a.lo); short > 0 {
		a.lo, a.hi = a.lo-short/2, a.hi+short/2
	}
	_, offset := time.Unix(0, a.hi).In(zone).Zone()
	a.zero = -int64(offset) * int64(time.Second)
	return a
}

const (
	tailLeast = 8  // values from which a few may be cut off
	tailShare = 50 // one in so many, and one at least
	tailRatio = 5  // how much longer the axis would be with them
)

// reach is how far an axis goes for values over 0: to the greatest, unless a few
// would squash all the others.
func reach(values []int64) int64 {
	if len(values) == 0 {
		return 0
	}
	most := slices.Max(values)
	if len(values) < tailLeast {
		return most
	}
	usual := nth(values, len(values)-1-max(1, len(values)/tailShare))
	if most/tailRatio > usual {
		return usual
	}
	return most
}

// share is where a value lies between the ends, 0 to 1; what lies beyond is at
// the end.
func (a axis) share(v int64) float64 {
	return min(max(float64(v-a.lo)/float64(a.hi-a.lo), 0), 1)
}

// cuts says whether a value lies beyond the ends.
func (a axis) cuts(v int64) bool { return v < a.lo || v > a.hi }

// step is the smallest round one with at most so many steps between the ends.
func (a axis) step(most int64) int64 { return a.round(ceilDiv(a.hi-a.lo, most)) }

// ticks are the multiples of a step between the ends.
func (a axis) ticks(step int64) (all []int64) {
	for v := a.zero + ceilDiv(a.lo-a.zero, step)*step; v <= a.hi; v += step {
		all = append(all, v)
	}
	return all
}

// cell is the number of the step in which a value lies, that at the end for what
// lies beyond.
func (a axis) cell(v, step int64) int64 {
	return floorDiv(min(max(v, a.lo), a.hi-1)-a.zero, step)
}

// edges are where a cell begins and where the next one does.
func (a axis) edges(cell, step int64) (from, to int64) {
	from = a.zero + cell*step
	return from, from + step
}

// roundNumber is the next of 1, 2 and 5 times a power of ten.
func roundNumber(v int64) int64 {
	for power := int64(1); ; power *= 10 {
		for _, m := range []int64{1, 2, 5} {
			if v <= m*power {
				return m * power
			}
		}
	}
}

// roundTimes are the steps of clocks and calendars, from one second on.
var roundTimes = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, day, 2 * day, 7 * day,
}

const day = 24 * time.Hour

// roundTime is the next step of a clock, or a round number of weeks or of
// nanoseconds.
func roundTime(v int64) int64 {
	if v <= int64(time.Second)/2 {
		return roundNumber(v)
	}
	for _, step := range roundTimes {
		if v <= int64(step) {
			return int64(step)
		}
	}
	week := 7 * int64(day)
	return week * roundNumber(ceilDiv(v, week))
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

func ceilDiv(a, b int64) int64 { return -floorDiv(-a, b) }

// nth is the value that stands at place k when all are in order. It puts them
// into another order.
func nth(values []int64, k int) int64 {
	lo, hi := 0, len(values)-1
	for lo < hi {
		low, high := split(values[lo : hi+1])
		switch {
		case k < lo+low:
			hi = lo + low - 1
		case k >= lo+high:
			lo += high
		default:
			return values[k]
		}
	}
	return values[k]
}

// split puts the values under one of them before low, those over it from high on,
// and those like it between.
func split(values []int64) (low, high int) {
	pivot := median3(values[0], values[len(values)/2], values[len(values)-1])
	high = len(values)
	for i := 0; i < high; {
		switch v := values[i]; {
		case v < pivot:
			values[low], values[i] = values[i], values[low]
			low++
			i++
		case v > pivot:
			high--
			values[high], values[i] = values[i], values[high]
		default:
			i++
		}
	}
	return low, high
}

func median3(a, b, c int64) int64 { return max(min(a, b), min(max(a, b), c)) }

// quantileOf is the value that such a share of the others do not exceed, as
// quantile tells it; nil of none. It puts them into another order.
func quantileOf(values []int64, share float64) *int64 {
	if len(values) == 0 {
		return nil
	}
	return new(nth(values, int(share*float64(len(values)-1)+0.5)))
}
