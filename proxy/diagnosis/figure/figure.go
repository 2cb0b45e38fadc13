// Package figure writes figures for people to read, in one way wherever they
// stand: in a reason, on the page, on a terminal. Each comes with its unit. What
// programs read is not written by it, nor what has to fit a narrow column.
package figure

import (
	"math"
	"strconv"
	"time"

	"github.com/dustin/go-humanize"
)

// Unknown is the dash that stands for what is nil.
const Unknown = "–"

// Duration is in milliseconds below 100 ms, with one decimal; else in seconds,
// with two decimals below 10 s and one above.
func Duration(d *time.Duration) string {
	if d == nil {
		return Unknown
	}
	s := d.Seconds()
	switch length := math.Abs(s); {
	case length < 0.09995:
		return Decimal(s*1e3, 1) + " ms"
	case length < 9.995:
		return Decimal(s, 2) + " s"
	}
	return Decimal(s, 1) + " s"
}

// Pause is the length of a time in which nothing was asked for, where a long one
// need not be told exactly: in whole minutes from two minutes on, and in whole
// hours from two hours on.
func Pause(d *time.Duration) string {
	switch {
	case d == nil || *d < 2*time.Minute:
		return Duration(d)
	case *d < 2*time.Hour:
		return Decimal(d.Minutes(), 0) + " min"
	}
	return Decimal(d.Hours(), 0) + " h"
}

// Count is a whole number, its digits grouped.
func Count(n *int64) string {
	if n == nil {
		return Unknown
	}
	return humanize.Comma(*n)
}

// Output is a number of output tokens as reported, or else, with a tilde, as
// estimated.
func Output(reported, estimated *int64) string {
	if reported == nil && estimated != nil {
		return "~" + Count(estimated)
	}
	return Count(reported)
}

// Rate is of tokens, with one decimal. A tilde marks a noisy one; quality is that
// of an exchange's rate, "" where there is none to tell of.
func Rate(perSec *float64, quality string) string {
	switch {
	case perSec == nil:
		return Unknown
	case quality == "noisy":
		return "~" + Decimal(*perSec, 1) + " tokens/s"
	}
	return Decimal(*perSec, 1) + " tokens/s"
}

// Percent is a share between 0 and 1. Only nothing is 0 % and only all 100 %.
func Percent(share float64) string {
	p, _ := Percents(share)
	return p
}

// Percents are a share and the rest of the whole. However they are rounded, they
// make up 100 %.
func Percents(share float64) (part, rest string) {
	switch {
	case share > 0 && share < 0.01:
		return "< 1 %", "> 99 %"
	case share > 0.99 && share < 1:
		return "> 99 %", "< 1 %"
	}
	p := math.Round(share * 100)
	return Decimal(p, 0) + " %", Decimal(100-p, 0) + " %"
}

// Decimal is v to the nearest of so many decimals, its digits grouped. All that
// is no whole number is written by it, so that what stands in two places is the
// same in both.
func Decimal(v float64, decimals int) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(math.Abs(v), 'f', decimals, 64), 64) // a number, since v is one
	text := humanize.CommafWithDigits(rounded, decimals)
	if v < 0 && rounded > 0 {
		return "−" + text
	}
	return text
}
