package console

import (
	"slices"
	"strings"
	"time"
)

// A source is a shape of header, and how its rows are read. To add one is to add
// an entry to the table, and a file to testdata.
type source struct {
	name  string
	needs string // columns that it cannot be without, "a b", in their normal form; "a|b" is either
	lacks string // columns that only a similar source has
	mapping
	width time.Duration // usual width of its buckets, where it does not tell it; 0: it does
}

// sources are all that are known.
var sources = slices.Concat(gateways, observers, vendors)

// sourceOf is the source with the most columns of those that the header has all
// columns of. Nil: there is none.
func sourceOf(has map[string]bool) (best *source) {
	for i, s := range sources {
		if s.fits(has) && (best == nil || len(strings.Fields(s.needs)) > len(strings.Fields(best.needs))) {
			best = &sources[i]
		}
	}
	return best
}

func (s *source) fits(has map[string]bool) bool {
	for columns := range strings.FieldsSeq(s.needs) {
		if !slices.ContainsFunc(strings.Split(columns, "|"), func(c string) bool { return has[c] }) {
			return false
		}
	}
	return !slices.ContainsFunc(strings.Fields(s.lacks), func(c string) bool { return has[c] })
}

// beijing is the zone of consoles whose days are China's.
var beijing = time.FixedZone("UTC+8", 8*60*60)
