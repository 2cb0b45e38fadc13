package web

import (
	"strconv"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
)

// unit is what is measured along an axis.
type unit struct {
	least int64                        // the shortest axis
	ticks int64                        // of an axis at most
	tick  func(v int64, a axis) string // the number at a tick
	sign  func(a axis) string          // what stands behind the last number
	whole func(v int64) string         // a value by itself
	clock bool                         // it is points in time
}

var inSeconds = unit{
	least: int64(time.Millisecond), ticks: ticksMost,
	tick: func(v int64, a axis) string {
		if inMilliseconds(a) {
			return tickNumber(float64(v) / 1e6)
		}
		return tickNumber(float64(v) / 1e9)
	},
	sign: func(a axis) string {
		if inMilliseconds(a) {
			return " ms"
		}
		return " s"
	},
	whole: func(v int64) string { return figure.Duration(new(time.Duration(v))) },
}

// edge is a value at which a bin ends; at the end of an axis that cuts values off,
// the bin has these, too.
func (u unit) edge(v int64, a axis) string {
	if v >= a.hi && a.over || v <= a.lo && a.under {
		return "…"
	}
	return u.whole(v)
}

func inMilliseconds(a axis) bool { return max(a.hi, -a.lo) < int64(time.Second) }

var inTokens = unit{
	least: 10, ticks: ticksMost,
	tick:  func(v int64, _ axis) string { return roundCount(v) },
	sign:  func(axis) string { return "" },
	whole: func(v int64) string { return figure.Count(&v) + " tokens" },
}

// inRates has thousandths of a token a second.
var inRates = unit{
	least: 1000, ticks: ticksMost,
	tick:  func(v int64, _ axis) string { return short(float64(v)/1e3, 3) },
	sign:  func(axis) string { return " t/s" },
	whole: func(v int64) string { return figure.Rate(new(float64(v)/1e3), "") },
}

// inTime has nanoseconds since 1970, told by the clocks of a zone.
func inTime(zone *time.Location) unit {
	const ticks = 6
	return unit{
		ticks: ticks, clock: true,
		tick: func(v int64, a axis) string {
			return clockLabel(time.Unix(0, v).In(zone), time.Duration(a.step(ticks)))
		},
		sign:  func(axis) string { return "" },
		whole: func(v int64) string { return time.Unix(0, v).In(zone).Format("01-02 15:04:05") },
	}
}

// clockLabel tells a point in time as exactly as a step needs it.
func clockLabel(at time.Time, step time.Duration) string {
	midnight := at.Hour() == 0 && at.Minute() == 0 && at.Second() == 0 && at.Nanosecond() == 0
	switch {
	case step >= 28*day:
		return at.Format(time.DateOnly)
	case step >= day || midnight:
		return at.Format("01-02")
	case step >= time.Minute:
		return at.Format("15:04")
	case step >= time.Second:
		return at.Format("15:04:05")
	}
	return at.Format("05.000")
}

// tickNumber is a number with a minus as it is printed.
func tickNumber(v float64) string { return strings.Replace(short(v, 3), "-", "−", 1) }

// short is a number to so many decimals at most.
func short(v float64, decimals int) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'f', decimals, 64), 64) // a number, since v is one
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

func percentAt(share float64) string { return short(share*100, 2) + "%" }
