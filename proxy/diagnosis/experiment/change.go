package experiment

import (
	"maps"
	"slices"
)

// Resolution says what an interval settles.
type Resolution string

// The resolutions.
const (
	NoChange  Resolution = "same"       // it lies within 5 % either way
	Resolved  Resolution = "resolved"   // it excludes no change at all
	Undecided Resolution = "unresolved" // neither
)

// Change is how a figure differs between two arms. What is compared leaves out
// connecting, and counts a spike as slow as the slowest other of its arm.
type Change struct {
	Figure     Figure     `json:"figure"`
	From       string     `json:"from"` // names of arms
	To         string     `json:"to"`
	Before     float64    `json:"before"` // median of From
	After      float64    `json:"after"`  // median of To
	Change     Estimate   `json:"change"` // After less Before: where there are rounds, the median over them
	Share      float64    `json:"share"`  // Change over Before; 0 where that is
	Resolution Resolution `json:"resolution"`
}

// alike is how far apart, as a share, two figures may be and count as the same.
const alike = 0.05

// newChange judges a change from before to after.
func newChange(before, after *Estimate, by Estimate) Change {
	c := Change{Before: before.At, After: after.At, Change: by, Resolution: Undecided}
	near := alike * before.At
	switch {
	case by.Low == nil:
	case *by.Low >= -near && *by.High <= near:
		c.Resolution = NoChange
	case *by.Low > 0 || *by.High < 0:
		c.Resolution = Resolved
	}
	if before.At != 0 {
		c.Share = by.At / before.At
	}
	return c
}

// rounds are the medians of an arm's values in each round.
func rounds(rows []row, arm int, value func(row) *float64) map[int]float64 {
	in := make(map[int][]float64)
	for _, r := range ofArm(rows, arm) {
		if v := value(r); v != nil {
			in[r.Round] = append(in[r.Round], *v)
		}
	}
	medians := make(map[int]float64, len(in))
	for round, vs := range in {
		medians[round] = middle(vs).At
	}
	return medians
}

// paired are the differences of b from a, in each round that both have. What
// drifts from round to round is in none of them.
func paired(a, b map[int]float64) []float64 {
	var diffs []float64
	for _, round := range slices.Sorted(maps.Keys(a)) {
		if v, ok := b[round]; ok {
			diffs = append(diffs, v-a[round])
		}
	}
	return diffs
}

// compared are the figures whose changes are listed, the first of them the one
// that is judged.
var compared = []Figure{TTFT, Wait, Network, Total, Rate}

// compare lists how one arm differs from another, says how its decode rate does
// where that is sure, and returns the change of the first token, nil where there is
// none to tell.
func (f *finder) compare(from, to int) *Change {
	var judged *Change
	for _, of := range compared {
		c := f.change(of, from, to)
		if c == nil {
			continue
		}
		f.Changes = append(f.Changes, *c)
		switch {
		case of == TTFT:
			judged = c
		case of == Rate && c.Resolution == Resolved:
			f.say(c.words())
		}
	}
	return judged
}

// change is how a figure differs between two arms, nil where no round has both.
func (f *finder) change(of Figure, from, to int) *Change {
	value := func(r row) *float64 { return r.settled(of) }
	a, b := rounds(f.rows, from, value), rounds(f.rows, to, value)
	by := middle(paired(a, b))
	if by == nil {
		return nil
	}
	over := func(arm int) *Estimate { return middle(known(ofArm(f.rows, arm), value)) }
	c := newChange(over(from), over(to), *by)
	c.Figure, c.From, c.To = of, f.Arms[from].Name, f.Arms[to].Name
	return &c
}
