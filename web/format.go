package web

import (
	"math"
	"strconv"
	"time"

	"github.com/dustin/go-humanize"
)

// nothing stands for a value that did not happen or was not reported.
const nothing = "–"

// quantity is a figure as it is shown: at most three digits and their unit, the
// whole of it in the title. Its zero value is an unknown one.
type quantity struct {
	Value string // "" unknown
	Unit  string
	Title string
	Faint bool // to be taken with care
}

// seconds is a duration for a column of durations.
func seconds(d *time.Duration) quantity {
	if d == nil {
		return quantity{}
	}
	v, unit := shortDuration(*d)
	return quantity{Value: v, Unit: unit, Title: milliseconds(*d) + " ms"}
}

// shortDuration has at most three significant digits.
func shortDuration(d time.Duration) (value, unit string) {
	s := d.Seconds()
	switch {
	case d < 0:
		value, unit = shortDuration(-d)
		return "−" + value, unit
	case s < 0.0995:
		return threeDigits(s * 1e3), "ms"
	case s < 999.5:
		return threeDigits(s), "s"
	case s < 999.5*60:
		return threeDigits(s / 60), "min"
	}
	return threeDigits(s / 3600), "h"
}

// threeDigits has two decimals below 10, one below 100, none above.
func threeDigits(v float64) string {
	switch {
	case v < 9.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 99.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// inWords is a duration with its unit.
func inWords(d time.Duration) string {
	v, unit := shortDuration(d)
	return v + " " + unit
}

// milliseconds to the microsecond, digits grouped.
func milliseconds(d time.Duration) string {
	return humanize.FormatFloat("#,###.###", float64(d.Microseconds())/1e3)
}

// toTheMillisecond is a duration in seconds, for a column of them.
func toTheMillisecond(d time.Duration) string {
	return strconv.FormatFloat(d.Seconds(), 'f', 3, 64)
}

// tokens is a count for a column of counts.
func tokens(n *int64) quantity {
	if n == nil {
		return quantity{}
	}
	v, unit := shortCount(*n)
	return quantity{Value: v, Unit: unit, Title: humanize.Comma(*n)}
}

// shortCount has at most three significant digits.
func shortCount(n int64) (value, unit string) {
	f := float64(n)
	switch {
	case f < 999.5:
		return strconv.FormatInt(n, 10), ""
	case f < 999.5e3:
		return threeDigits(f / 1e3), "k"
	case f < 999.5e6:
		return threeDigits(f / 1e6), "M"
	}
	return threeDigits(f / 1e9), "G"
}

// rate is tokens a second; one of few tokens is marked as rough.
func rate(perSec *float64, quality string) quantity {
	if perSec == nil {
		return quantity{}
	}
	digits := 0
	if *perSec < 9.95 {
		digits = 1
	}
	q := quantity{
		Value: strconv.FormatFloat(*perSec, 'f', digits, 64),
		Unit:  "t/s",
		Title: strconv.FormatFloat(*perSec, 'f', 3, 64) + " tokens/s",
	}
	if quality == "noisy" {
		q.Value, q.Faint = "~"+q.Value, true
	}
	return q
}

// percent of a share between 0 and 1. Only nothing is 0 % and only all 100 %.
func percent(share float64) string {
	p := math.Round(share * 100)
	if share > 0 && share < 1 {
		p = min(max(p, 1), 99)
	}
	return strconv.FormatFloat(p, 'f', 0, 64) + " %"
}

// count is a whole number with its digits grouped, or the dash.
func count(n *int64) string {
	if n == nil {
		return nothing
	}
	return humanize.Comma(*n)
}

// millisecondsOr is a duration to the microsecond, or the dash.
func millisecondsOr(d *time.Duration) string {
	if d == nil {
		return nothing
	}
	return milliseconds(*d)
}
