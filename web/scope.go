package web

import (
	"context"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// scope is what a view of the log looks at: its rows, and the exchanges that its
// figures are made from.
type scope struct {
	store.Filter      // of the rows; confined where no index leads to them
	confined     bool // the rows are searched back to From and no further
	facets       facets
	partly       bool  // the facets count but the newest of the log
	figured      int   // exchanges that the figures are made from
	sampled      bool  // the filter has more than these
	rows         int64 // how many the filter has
	more         bool  // than rows: no more were counted
	most         int   // exchanges that are held in memory, and searched where no index leads
}

// look calls fn with the exchanges that figures over f are made from, in no
// order, and tells what the view looks at. fn may keep of an exchange all but the
// pointer to it.
func (s *site) look(ctx context.Context, f store.Filter, fn func(b *brief)) (scope, error) {
	sc := scope{Filter: f, facets: newFacets(), most: s.recent.most}
	var oldest time.Time
	misfit := f.Misfit()
	more, err := s.recent.each(ctx, func(b *brief) {
		if oldest.IsZero() {
			oldest = b.StartedAt
		}
		n, name := misfit(&b.Subject)
		sc.facets.add(b, n, name)
		if n == 0 {
			sc.figured++
			fn(b)
		}
	})
	switch {
	case err != nil:
		return sc, err
	case f.Outcome == exchange.Open: // which are not held in memory
		sc.rows, err = s.Store.Count(ctx, f)
		return sc, err
	case !more:
		sc.rows = int64(sc.figured)
		return sc, nil
	}
	sc.partly = true
	return sc, s.lookFurther(ctx, &sc, oldest, fn)
}

// lookFurther goes behind the exchanges that are held in memory: along an index,
// if there is one for the filter; otherwise as far back as is bearable.
func (s *site) lookFurther(ctx context.Context, sc *scope, oldest time.Time, fn func(b *brief)) (err error) {
	f := sc.Filter
	switch {
	case f.From.After(oldest): // all that it may have is held
		sc.rows = int64(sc.figured)
		return nil
	case !f.Indexed() && f.To.IsZero():
		sc.From, sc.confined, sc.rows = store.When{Time: oldest}, true, int64(sc.figured)
		return nil
	case !f.Indexed():
		if sc.From, sc.confined, err = s.Store.Reach(ctx, f, s.recent.most); err != nil {
			return err
		}
	}
	if all, err := s.sample(ctx, sc, oldest, fn); all || err != nil {
		sc.rows = int64(sc.figured)
		return err
	}
	sc.rows, sc.more, err = s.Store.CountTo(ctx, sc.Filter, countMost)
	sc.sampled = sc.more || sc.rows > int64(sc.figured)
	return err
}

// sample takes in some of the exchanges that are not held, and says whether these
// were all.
func (s *site) sample(ctx context.Context, sc *scope, oldest time.Time, fn func(b *brief)) (all bool, err error) {
	left := sampleMost - sc.figured
	if left <= 0 {
		return false, nil
	}
	older := sc.Filter
	if older.To.IsZero() || older.To.After(oldest) {
		older.To = store.When{Time: oldest}
	}
	taken := 0
	err = s.Store.Newest(ctx, older, store.Part{Columns: briefColumns, Rows: left}, func(x *exchange.Exchange) {
		taken++
		b := briefOf(x)
		fn(&b)
	})
	sc.figured += taken
	return taken < left, err
}

// found is how many exchanges the filter has, as far as they are counted.
func (sc scope) found(l language) string {
	if sc.more {
		return l.say("scope.more", countOf(sc.rows))
	}
	return countOf(sc.rows)
}
