package main

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// replay judges a log anew, in the order in which its exchanges ended.
type replay struct {
	log      *store.Store
	save     bool
	progress *progress

	book    diagnosis.Book
	chosen  *choice
	flying  []candidate          // that had not ended when the last one read began, by their ends
	batch   []*exchange.Exchange // judged otherwise than before, and not yet saved
	result  rejudged
	changes map[change]int64 // their own counts are 0
}

// candidate is an exchange that may be judged anew.
type candidate struct {
	*exchange.Exchange
	chosen bool
}

// saveBatch is how many rows are saved at a time.
const saveBatch = 500

// run goes through all that ended, since baselines rest on all of it, and judges
// what f has. It holds no more than was under way at a time.
func (r *replay) run(ctx context.Context, f store.Filter) (*rejudged, error) {
	r.chosen, r.changes = choose(ctx, r.log, f), make(map[change]int64)
	defer r.chosen.close()
	all := store.Filter{To: f.To, Order: "asc"}
	n, err := r.log.Count(ctx, all)
	if err != nil {
		return nil, err
	}
	r.progress.of = n
	err = r.log.Each(ctx, all, func(x *exchange.Exchange) error {
		chosen, err := r.chosen.has(x)
		if err != nil {
			return err
		}
		kept := *x
		return r.begin(ctx, candidate{&kept, chosen})
	})
	if err != nil {
		return nil, err
	}
	if err := r.finish(ctx); err != nil {
		return nil, err
	}
	r.result.Changes = ranked(r.changes)
	return &r.result, nil
}

// begin ends what had ended by the start of x, and holds x until it ends itself.
func (r *replay) begin(ctx context.Context, x candidate) error {
	for len(r.flying) > 0 && !ended(r.flying[0].Exchange).After(x.StartedAt) {
		first := r.flying[0]
		r.flying = slices.Delete(r.flying, 0, 1)
		if err := r.end(ctx, first); err != nil {
			return err
		}
	}
	at := len(r.flying)
	for at > 0 && ended(r.flying[at-1].Exchange).After(ended(x.Exchange)) {
		at--
	}
	r.flying = slices.Insert(r.flying, at, x)
	return nil
}

// finish ends what is left.
func (r *replay) finish(ctx context.Context) error {
	for _, x := range r.flying {
		if err := r.end(ctx, x); err != nil {
			return err
		}
	}
	return r.flush(ctx)
}

// ended is when an exchange ended, the start where that is unknown.
func ended(x *exchange.Exchange) time.Time {
	if x.End == nil {
		return x.StartedAt
	}
	return x.EndedAt()
}

// end judges x, where it is one of those chosen, and learns from it.
func (r *replay) end(ctx context.Context, x candidate) error {
	defer r.book.Add(x.Exchange)
	r.progress.step()
	if !x.chosen {
		return nil
	}
	c := change{From: ruling(x.Exchange)}
	same, err := unchanged(x.Exchange, r.judge)
	if err != nil {
		return err
	}
	c.To = ruling(x.Exchange)
	r.count(c, same)
	if same {
		return nil
	}
	if r.batch = append(r.batch, x.Exchange); len(r.batch) < saveBatch {
		return nil
	}
	return r.flush(ctx)
}

// judge gives x the verdict that it would have got, had today's rules been there.
func (r *replay) judge(x *exchange.Exchange) {
	usual := r.usual(x)
	if x.PrefixSharedTokens != nil || x.PrefixIdle != nil { // else nothing is known to judge it by
		x.CacheOutcome = diagnosis.CacheOutcome(x, usual)
	}
	diagnosis.Judge(x, usual)
}

// usual is what was usual for the model of x by then. How long it had been idle was
// seen at the time: the log may hold no more of what came before.
func (r *replay) usual(x *exchange.Exchange) *diagnosis.Baseline {
	b := r.book.Baseline(x)
	if b == nil {
		b = new(diagnosis.Baseline)
	}
	if b.Idle == nil {
		b.Idle = x.ModelIdle
	}
	return b
}

func (r *replay) count(c change, same bool) {
	r.result.Judged++
	switch {
	case c.From != c.To:
		r.result.Changed++
		r.changes[c]++
	case !same:
		r.result.Refigured++
	}
}

func (r *replay) flush(ctx context.Context) error {
	if len(r.batch) == 0 || !r.save {
		r.batch = r.batch[:0]
		return nil
	}
	err := r.log.Save(ctx, r.batch)
	clear(r.batch)
	r.batch = r.batch[:0]
	return err
}

// unchanged does something to x and says whether all that is kept of it is as
// before.
func unchanged(x *exchange.Exchange, do func(*exchange.Exchange)) (bool, error) {
	before, err := store.MarshalExchange(x)
	if err != nil {
		return false, err
	}
	do(x)
	after, err := store.MarshalExchange(x)
	return bytes.Equal(before, after), err
}

// ruling is bound and cause as one word.
func ruling(x *exchange.Exchange) string {
	if x.Bound == "" {
		return "none"
	}
	return string(x.Bound) + "/" + x.Cause
}

// ranked are changes with their counts, the most frequent first.
func ranked(counts map[change]int64) []change {
	list := make([]change, 0, len(counts))
	for c, n := range counts {
		c.Count = n
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b change) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return list
}
