package main

import (
	"slices"
	"time"
)

// maxSamples bounds what is kept of a model for its percentiles.
const maxSamples = 10_000

// quantiles are those of a series of durations. Of a long one it keeps every
// second, fourth, ... so that memory is bounded and no stretch of it is missing.
type quantiles struct {
	kept   []time.Duration
	stride int // one of so many is kept; 0 before the first
	seen   int
}

func (q *quantiles) add(d time.Duration) {
	q.stride = max(1, q.stride)
	if q.seen%q.stride == 0 {
		q.kept = append(q.kept, d)
	}
	q.seen++
	if len(q.kept) < maxSamples {
		return
	}
	half := q.kept[:0]
	for i := 0; i < len(q.kept); i += 2 {
		half = append(half, q.kept[i])
	}
	q.kept, q.stride = half, 2*q.stride
}

// at is the duration that such a share of the others do not exceed, nil of none.
func (q *quantiles) at(share float64) *millis {
	if len(q.kept) == 0 {
		return nil
	}
	ds := slices.Sorted(slices.Values(q.kept))
	return new(millis(ds[int(share*float64(len(ds)-1)+0.5)]))
}
