package main

import (
	"context"
	"errors"
	"iter"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// choice tells which exchanges a filter has, to one who goes through the log in
// the order of time. It reads the log just as far as it is asked.
type choice struct {
	pull  func() (*exchange.Exchange, error, bool)
	close func()
	next  *exchange.Exchange // nil at the end
	begun bool
}

func choose(ctx context.Context, log *store.Store, f store.Filter) *choice {
	f.Order = "asc"
	c := new(choice)
	c.pull, c.close = iter.Pull2(found(ctx, log, f))
	return c
}

var errEnough = errors.New("nobody reads on")

// found yields the exchanges of f and, last of all, what went wrong.
func found(ctx context.Context, log *store.Store, f store.Filter) iter.Seq2[*exchange.Exchange, error] {
	return func(yield func(*exchange.Exchange, error) bool) {
		err := log.Each(ctx, f, func(x *exchange.Exchange) error {
			if !yield(x, nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, err)
		}
	}
}

// has says whether x is chosen.
func (c *choice) has(x *exchange.Exchange) (bool, error) {
	for !c.begun || c.next != nil && before(c.next, x) {
		var err error
		c.next, err, _ = c.pull() // nil at the end
		if c.begun = true; err != nil {
			return false, err
		}
	}
	return c.next != nil && c.next.ID == x.ID, nil
}

// before says whether a stands before b in the order of time.
func before(a, b *exchange.Exchange) bool {
	if a.StartedAt.Equal(b.StartedAt) {
		return a.ID < b.ID
	}
	return a.StartedAt.Before(b.StartedAt)
}
