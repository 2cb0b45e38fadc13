package console

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/ttftap/ttftap/store/audit"
)

// A bucketKey is what the rows of one bucket have in common. A console may write
// a row for each kind of token, price, user or project; they are added up.
type bucketKey struct {
	from, to   time.Time
	model, key string
}

// bucket adds a row to its bucket. A row that counts nothing says that there was
// nothing, and that the file covers its time.
func (im *importing) bucket(rec *audit.Record) {
	im.cover(rec.From, rec.To)
	if rec.Requests == nil && rec.Counts == (audit.Counts{}) && rec.Money == nil {
		return
	}
	key := bucketKey{rec.From, rec.To, rec.Model, rec.Key}
	i, ok := im.buckets[key]
	if !ok {
		im.buckets[key] = len(im.file.Records)
		im.file.Records = append(im.file.Records, *rec)
		return
	}
	sum := &im.file.Records[i]
	for _, c := range []struct{ to, add **int64 }{
		{&sum.Requests, &rec.Requests}, {&sum.Input, &rec.Input}, {&sum.Cached, &rec.Cached},
		{&sum.CacheWrite, &rec.CacheWrite}, {&sum.Output, &rec.Output}, {&sum.Reasoning, &rec.Reasoning},
	} {
		*c.to = plus(*c.to, *c.add)
	}
	im.addMoney(i, rec)
}

// addMoney adds an amount to that of a bucket, or gives one in another currency
// a record of its own.
func (im *importing) addMoney(i int, rec *audit.Record) {
	sum := im.file.Records[i].Money
	switch {
	case rec.Money == nil:
	case sum == nil:
		im.file.Records[i].Money = rec.Money
	case sum.Currency == rec.Money.Currency && sum.Kind == rec.Money.Kind && fits(sum.Nano, rec.Money.Nano):
		sum.Nano += rec.Money.Nano
	default:
		rec.Counts, rec.Requests = audit.Counts{}, nil
		im.file.Records = append(im.file.Records, *rec)
	}
}

// fits says whether a sum of amounts is one.
func fits(a, b int64) bool { return math.Abs(float64(a)+float64(b)) < 1<<62 }

// plus adds what is known.
func plus(a, b *int64) *int64 {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	sum := *a + *b
	return &sum
}

// cover widens what the file says that it covers.
func (im *importing) cover(from, to time.Time) {
	if im.file.From.IsZero() || from.Before(im.file.From) {
		im.file.From = from
	}
	if to.After(im.file.To) {
		im.file.To = to
	}
}

// endBuckets gives buckets their width where the source does not tell it: the
// least distance between two of them, by whole minutes, hours or days. One
// bucket alone has the width that is usual.
func (im *importing) endBuckets() {
	if im.source == nil || im.source.width == 0 {
		return
	}
	var starts []time.Time
	for _, r := range im.file.Records {
		starts = append(starts, r.From)
	}
	slices.SortFunc(starts, time.Time.Compare)
	width := time.Duration(0)
	for i := 1; i < len(starts); i++ {
		if d := starts[i].Sub(starts[i-1]); d > 0 && (width == 0 || d < width) {
			width = d
		}
	}
	width = grain(cmp.Or(width, im.source.width))
	for i := range im.file.Records {
		r := &im.file.Records[i]
		r.To = r.From.Add(width)
		im.cover(r.From, r.To)
	}
}

// grain is the unit of consoles that a distance is a multiple of.
func grain(d time.Duration) time.Duration {
	switch {
	case d >= 24*time.Hour:
		return 24 * time.Hour
	case d >= time.Hour:
		return time.Hour
	}
	return time.Minute
}
