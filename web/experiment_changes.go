package web

import (
	"math"
	"strings"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
)

// changeTable is what differs, with the intervals on one axis.
type changeTable struct {
	Ticks  []chartTick
	Groups []changeGroup
}

// changeGroup is the figures of one pair.
type changeGroup struct {
	From, To string
	Rows     []changeRow
}

// changeRow is how one figure differs.
type changeRow struct {
	Word, Before, After string
	Change              string // in per cent where it is sure, else in words that it is not
	Sure                bool
	Range               string // in per cent; "" with too few to tell
	More                string // the same in the figure's unit
	Plot                whisker
}

// inShares has hundredths of a per cent.
var inShares = unit{
	least: 1000, ticks: ticksMost,
	tick: func(v int64, _ axis) string { return tickNumber(float64(v) / 100) },
	sign: func(axis) string { return " %" },
}

func hundredths(share float64) int64 { return int64(math.Round(share * 1e4)) }

// changesOf lays changes out, those of a pair together.
func changesOf(l language, changes []experiment.Change) (t changeTable) {
	x := newShareAxis(changes)
	t.Ticks = ticksOn(x, inShares)
	for _, c := range changes {
		from, to := plain(c.From, nameRunes), plain(c.To, nameRunes)
		if n := len(t.Groups); n == 0 || t.Groups[n-1].From != from || t.Groups[n-1].To != to {
			t.Groups = append(t.Groups, changeGroup{From: from, To: to})
		}
		g := &t.Groups[len(t.Groups)-1]
		g.Rows = append(g.Rows, changeRowOf(l, c, x, t.Ticks))
	}
	return t
}

// How far the axis goes either way at most, for a change that is settled and for
// one that is not: a figure that was next to nothing must not squash the others.
const (
	settledShare = 3
	openShare    = 0.5
)

// newShareAxis holds the intervals, as shares of what was before; one that reaches
// beyond it ends at its edge.
func newShareAxis(changes []experiment.Change) axis {
	low, high := 0.0, 0.0
	for _, c := range changes {
		share, ok := shareOf(c)
		if !ok {
			continue
		}
		most := float64(settledShare)
		if c.Resolution == experiment.Undecided {
			most = openShare
		}
		for _, end := range []*float64{&share.At, share.Low, share.High} {
			if end != nil {
				low, high = min(low, max(*end, -most)), max(high, min(*end, most))
			}
		}
	}
	return newAxis([]int64{hundredths(low), hundredths(high)}, inShares.least)
}

// shareOf is a change as a share of what was before; ok is false where that is
// nothing.
func shareOf(c experiment.Change) (share experiment.Estimate, ok bool) {
	if c.Before == 0 {
		return share, false
	}
	share = experiment.Estimate{At: c.Change.At / c.Before, N: c.Change.N}
	if c.Change.Low != nil {
		share.Low, share.High = new(*c.Change.Low/c.Before), new(*c.Change.High/c.Before)
	}
	return share, true
}

func changeRowOf(l language, c experiment.Change, x axis, ticks []chartTick) changeRow {
	as := inMillis
	if c.Figure == experiment.Rate {
		as = inTokensPerSec
	}
	row := changeRow{
		Word: c.Figure.Name().In(string(l)), Before: as(c.Before), After: as(c.After),
		Sure: c.Resolution == experiment.Resolved, Change: l.say("resolution." + string(c.Resolution)),
		More: l.interval(c.Change, signed(as)),
		Plot: whisker{Ticks: ticks, Zero: percentAt(x.share(0)), Open: c.Resolution != experiment.Resolved},
	}
	share, ok := shareOf(c)
	if !ok {
		if row.Sure {
			row.Change = signed(as)(c.Change.At)
		}
		return row
	}
	if row.Sure {
		row.Change = signed(percent)(share.At)
	}
	row.Range = l.interval(share, signed(percent))
	row.Plot.place(x, share, hundredths)
	row.Plot.Alt = row.Change + " " + row.Range
	return row
}

// percent is a change, which may be more than the whole and less than nothing.
func percent(share float64) string {
	if math.Abs(share) < 0.0995 {
		return figure.Decimal(100*share, 1) + " %"
	}
	return figure.Decimal(100*share, 0) + " %"
}

// signed writes a difference, its sign told even where it is a plus.
func signed(as func(float64) string) func(float64) string {
	return func(v float64) string {
		text := as(v)
		if v > 0 && strings.ContainsAny(text, "123456789") {
			return "+" + text
		}
		return text
	}
}
