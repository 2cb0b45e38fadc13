package console

import (
	"math"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"
)

// An interval is what a text of a time leaves open: a second if it tells
// seconds, a day if it is a date.
type interval struct {
	from, to time.Time
	zoneless bool // it was read in the zone that was given
}

// layouts are how times without an offset are written, with what each leaves
// open; days are days of the calendar.
var layouts = []struct {
	layout string
	open   time.Duration // 0: a day
}{
	{"2006-01-02 15:04:05", time.Second},
	{"2006-01-02T15:04:05", time.Second},
	{"2006/1/2 15:04:05", time.Second},
	{"2006-1-2 15:04", time.Minute},
	{"2006/1/2 15:04", time.Minute},
	{"2006-1-2T15:04", time.Minute},
	{"2006-01-02", 0},
	{"2006/1/2", 0},
	{"20060102", 0},
	{"2006年1月2日", 0},
}

// offsets are how times with one are written.
var offsets = []string{time.RFC3339, "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05 -07:00", "2006-01-02 15:04:05 -0700 MST"}

// clock reads a time. Times without an offset are of zone.
func clock(s string, zone *time.Location) (interval, bool) {
	s = strings.TrimSpace(norm.NFKC.String(s))
	if begin, end, ok := strings.Cut(s, "~"); ok {
		a, okA := clock(begin, zone)
		b, okB := clock(end, zone)
		return interval{a.from, b.to, a.zoneless}, okA && okB && a.from.Before(b.to)
	}
	i, ok := unixTime(s)
	if !ok {
		i, ok = serialTime(s, zone)
	}
	if !ok {
		i, ok = writtenTime(s, zone)
	}
	year := i.from.Year()
	return i, ok && year >= 2015 && year < 2100
}

// unixTime reads a count since 1970, in units that its size tells.
func unixTime(s string) (interval, bool) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v < 1e9 {
		return interval{}, false
	}
	unit := time.Second
	for v >= 1e11 && unit > time.Nanosecond {
		v, unit = v/1e3, unit/1e3
	}
	if v >= 1e11 {
		return interval{}, false
	}
	open := unit
	if _, fraction, ok := strings.Cut(s, "."); ok && strings.Trim(fraction, "0") != "" {
		open = resolution(fraction)
	}
	from := time.UnixMicro(int64(v * 1e6)).UTC()
	return interval{from: from, to: from.Add(open)}, true
}

// serialTime reads the days since 1899 that spreadsheets keep times as, of the
// years from 2015 to 2099.
func serialTime(s string, zone *time.Location) (interval, bool) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v < 42_000 || v > 73_000 {
		return interval{}, false
	}
	days, fraction := math.Modf(v)
	from := time.Date(1899, 12, 30+int(days), 0, 0, int(math.Round(fraction*86400)), 0, zone)
	if fraction == 0 {
		return interval{from.UTC(), from.AddDate(0, 0, 1).UTC(), true}, true
	}
	return interval{from.UTC(), from.Add(time.Second).UTC(), true}, true
}

func writtenTime(s string, zone *time.Location) (interval, bool) {
	for _, utc := range []string{" UTC", " GMT"} {
		if before, ok := strings.CutSuffix(s, utc); ok {
			i, ok := writtenTime(before, time.UTC)
			i.zoneless = false
			return i, ok
		}
	}
	for _, l := range offsets {
		if t, err := time.Parse(l, s); err == nil {
			return interval{from: t.UTC(), to: t.UTC().Add(written(s))}, true
		}
	}
	for _, l := range layouts {
		t, err := time.ParseInLocation(l.layout, s, zone)
		if err != nil {
			continue
		}
		to := t.Add(l.open)
		switch l.open {
		case 0:
			to = t.AddDate(0, 0, 1)
		case time.Second:
			to = t.Add(written(s))
		}
		return interval{t.UTC(), to.UTC(), true}, true
	}
	return interval{}, false
}

// written is what a time of day leaves open that is told in seconds: the last of
// the digits after the point, if there are any.
func written(s string) time.Duration {
	_, fraction, _ := strings.Cut(s, ".")
	return resolution(fraction)
}

func resolution(fraction string) time.Duration {
	open := time.Second
	for _, c := range fraction {
		if c < '0' || c > '9' || open <= time.Nanosecond {
			break
		}
		open /= 10
	}
	return open
}
