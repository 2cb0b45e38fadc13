package web

import (
	"slices"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// part is a stretch of two exchanges' times that can be set against each other:
// a phase, or several where one of the two does not tell them apart.
type part struct {
	name  string // its word is phase.NAME, its noun noun.NAME
	kinds []kind
	a, b  []phase
}

// more is what b took more of it than a.
func (p part) more() time.Duration { return length(p.b) - length(p.a) }

func length(ps []phase) (all time.Duration) {
	for _, p := range ps {
		all += p.Length
	}
	return all
}

// partsOf divides the time of two exchanges alike, in the order of a bar. Each
// phase is in one part, so what b took more of the parts adds up to what it took
// more in all.
func partsOf(a, b *exchange.Exchange) []part {
	inA, inB := phasesOf(a), phasesOf(b)
	var parts []part
	for _, p := range division(a, b) {
		p.a, p.b = ofKinds(inA, p.kinds), ofKinds(inB, p.kinds)
		if len(p.a)+len(p.b) > 0 {
			parts = append(parts, p)
		}
	}
	return parts
}

func phasesOf(x *exchange.Exchange) []phase {
	if x.End == nil {
		return nil
	}
	return phases(x, *x.End)
}

func ofKinds(ps []phase, kinds []kind) []phase {
	var of []phase
	for _, p := range ps {
		if slices.Contains(kinds, p.Kind) {
			of = append(of, p)
		}
	}
	return of
}

// division is how the times of two exchanges can be divided alike: waiting can be
// set against each other only as far as both tell apart what went on.
func division(a, b *exchange.Exchange) []part {
	all := single(network)
	switch {
	case known(a.Queue, b.Queue, a.Prefill, b.Prefill), !divided(a), !divided(b):
		all = append(all, single(floor, queue, wait, prefill)...)
	case known(a.Prefill, b.Prefill):
		all = append(all, part{name: "wait", kinds: []kind{floor, queue, wait}})
		all = append(all, single(prefill)...)
	default:
		all = append(all, part{name: "all_wait", kinds: []kind{floor, queue, wait, prefill}})
	}
	return append(all, single(tool, hidden, unseen, reasoning, decode, tail)...)
}

// single are parts of a phase each.
func single(kinds ...kind) []part {
	var parts []part
	for _, k := range kinds {
		parts = append(parts, part{name: string(k), kinds: []kind{k}})
	}
	return parts
}

// known says whether none of them is nil.
func known(ds ...*time.Duration) bool { return !slices.Contains(ds, nil) }

// divided says whether an exchange's phases are no more than they are called. The
// wait of one that failed, or whose output was held back, can be anything.
func divided(x *exchange.Exchange) bool {
	return x.End != nil && !failed(x) && x.Bound != "" && x.Bound != exchange.Unknown
}
