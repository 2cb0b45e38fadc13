package web

import (
	"strconv"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// quantity is a figure as it is shown: at most three digits and their unit, the
// whole of it in the title. Its zero value is an unknown one.
type quantity struct {
	Value  string // "" unknown
	Unit   string
	Title  string
	Faint  bool // to be taken with care
	Strong bool // stands out from the others of the view
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
	case s < 0.09995:
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
		return figure.Decimal(v, 2)
	case v < 99.95:
		return figure.Decimal(v, 1)
	}
	return figure.Decimal(v, 0)
}

// milliseconds to the microsecond, digits grouped.
func milliseconds(d time.Duration) string {
	return figure.Decimal(d.Round(time.Microsecond).Seconds()*1e3, 3)
}

// toTheMillisecond is a duration in seconds, for a column of them.
func toTheMillisecond(d time.Duration) string {
	return figure.Decimal(d.Seconds(), 3)
}

// tokens is a count for a column of counts.
func tokens(n *int64) quantity {
	if n == nil {
		return quantity{}
	}
	v, unit := shortCount(*n)
	return quantity{Value: v, Unit: unit, Title: figure.Count(n)}
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
		Value: figure.Decimal(*perSec, digits),
		Unit:  "t/s",
		Title: figure.Decimal(*perSec, 3) + " tokens/s",
	}
	if quality == exchange.NoisyRate {
		q.Value, q.Faint = "~"+q.Value, true
	}
	return q
}

// millisecondsOr is a duration to the microsecond, or the dash.
func millisecondsOr(d *time.Duration) string {
	if d == nil {
		return figure.Unknown
	}
	return milliseconds(*d)
}
