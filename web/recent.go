package web

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

const (
	recentMost = 50_000  // exchanges that figures over many are made from at most
	sampleMost = 3_000   // the same where they have to be read from the log each time
	countMost  = 200_000 // how far the exchanges of a view are counted
)

// recent holds the newest ended exchanges in short, the oldest first. It is read
// from the log when it is first asked for, and follows the recorder from then on.
// The recorder never waits for those who read it: what it recorded lies in
// arrived until one of them takes it in.
type recent struct {
	most int                                                            // exchanges that are held
	load func(ctx context.Context, each func(*exchange.Exchange)) error // the newest first

	era func(context.Context) (store.Era, *time.Time, error) // the log's; nil for one in which nothing is deleted

	mu   sync.Mutex // one reads at a time: streams need the other processors
	rows []brief
	more bool      // the log has older ones
	of   store.Era // what is held is of

	arriving sync.Mutex
	arrived  []brief
	asked    bool // somebody reads it: what is recorded has to be kept
	loaded   bool
}

func newRecent(s *store.Store) *recent {
	r := &recent{most: recentMost, era: s.Era}
	r.load = func(ctx context.Context, each func(*exchange.Exchange)) error {
		return s.Newest(ctx, store.Filter{}, store.Part{Columns: briefColumns, Rows: r.most + 1}, each)
	}
	return r
}

// follow takes what the recorder has committed. Nobody who reads makes it wait.
func (r *recent) follow(batch []*exchange.Exchange) {
	r.arriving.Lock()
	defer r.arriving.Unlock()
	if !r.asked {
		return
	}
	for _, x := range batch {
		if x.Outcome != exchange.Open {
			r.arrived = append(r.arrived, briefOf(x))
		}
	}
	if len(r.arrived) > r.most { // nobody has looked for long: read the log again when somebody does
		r.arrived, r.asked, r.loaded = nil, false, false
	}
}

// each calls fn with all that is held, the oldest first, and says whether the log
// has older ones. fn must keep none of the pointers that it is given.
func (r *recent) each(ctx context.Context, fn func(b *brief)) (more bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.refresh(ctx); err != nil {
		return false, err
	}
	for i := range r.rows {
		fn(&r.rows[i])
	}
	return r.more, nil
}

// refresh takes in what has arrived, and lets go of what was deleted. The mutex is
// held, as by what follows.
func (r *recent) refresh(ctx context.Context) error {
	arrived, loaded := r.take()
	changed, oldest, err := r.turned(ctx)
	if err != nil {
		return err
	}
	if changed || !loaded {
		if err := r.reload(ctx); err != nil {
			return err
		}
		arrived, _ = r.take() // what came while it was read may have been read, too
	} else if r.era != nil {
		r.begin(oldest)
	}
	for _, b := range arrived {
		r.insert(b)
	}
	r.limit()
	return nil
}

// turned says whether what is held is of an era that has ended, and where the log
// begins now: nil without an exchange.
func (r *recent) turned(ctx context.Context) (changed bool, oldest *time.Time, err error) {
	if r.era == nil {
		return false, nil, nil
	}
	was := r.of
	r.of, oldest, err = r.era(ctx)
	return r.of != was, oldest, err
}

// begin lets go of what began before the log does.
func (r *recent) begin(oldest *time.Time) {
	gone := len(r.rows)
	if oldest != nil {
		gone, _ = slices.BinarySearchFunc(r.rows, *oldest, func(b brief, at time.Time) int { return b.StartedAt.Compare(at) })
	}
	if gone > 0 {
		r.rows, r.more = slices.Delete(r.rows, 0, gone), false
	}
}

func (r *recent) take() (arrived []brief, loaded bool) {
	r.arriving.Lock()
	defer r.arriving.Unlock()
	arrived, r.arrived, r.asked = r.arrived, nil, true
	return arrived, r.loaded
}

func (r *recent) reload(ctx context.Context) error {
	r.rows, r.more = r.rows[:0], false
	if err := r.load(ctx, func(x *exchange.Exchange) { r.rows = append(r.rows, briefOf(x)) }); err != nil {
		return err
	}
	slices.Reverse(r.rows)
	r.arriving.Lock()
	defer r.arriving.Unlock()
	r.loaded = true
	return nil
}

// insert puts an exchange in its place, which is near the end. One that is older
// than all that are held of a longer log is not among the newest.
func (r *recent) insert(b brief) {
	at, found := slices.BinarySearchFunc(r.rows, b, func(a, b brief) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.ID, b.ID))
	})
	if found {
		r.rows[at] = b
		return
	}
	if at == 0 && r.more {
		return
	}
	r.rows = slices.Insert(r.rows, at, b)
}

// limit lets the oldest go, many at a time.
func (r *recent) limit() {
	if over := len(r.rows) - r.most; over > 0 && (over > r.most/10 || !r.more) {
		r.rows = slices.Clone(r.rows[over:])
		r.more = true
	}
}
