package main

import (
	"context"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// What of the log is remembered after a start.
const (
	recalledPrompts = 1000
	recalledRows    = 5000
	recalledSpan    = 7 * 24 * time.Hour
)

// recallPrompts remembers the prompts of before the start. Without them, prompts
// count as new.
func (i *instance) recallPrompts(ctx context.Context) *diagnosis.Prefixes {
	known := new(diagnosis.Prefixes)
	if err := i.store.EachPrompt(ctx, recalledPrompts, known.Remember); err != nil {
		i.log.Warn("prompts of before the start count as new", "error", err)
	}
	return known
}

// recallModels learns what is usual for each model from the rows of before the
// start.
func (i *instance) recallModels(ctx context.Context) *diagnosis.Book {
	recent := store.Filter{From: store.When{Time: time.Now().Add(-recalledSpan)}, Limit: recalledRows}
	book, err := learned(ctx, i.store, recent)
	if err != nil {
		i.log.Warn("what was usual for the models before the start is not known", "error", err)
	}
	return book
}

// learned is what is usual for the models by the exchanges of a filter.
func learned(ctx context.Context, log *store.Store, f store.Filter) (*diagnosis.Book, error) {
	book := new(diagnosis.Book)
	err := log.Each(ctx, f, func(x *exchange.Exchange) error {
		book.Add(x)
		return nil
	})
	return book, err
}

// judgeInterrupted gives the exchanges that an earlier process left open their
// verdict, as every exchange that has ended has one.
func (i *instance) judgeInterrupted(ctx context.Context) error {
	var rows []*exchange.Exchange
	err := i.store.Each(ctx, store.Filter{Outcome: exchange.Interrupted}, func(x *exchange.Exchange) error {
		if x.Bound == "" {
			kept := *x
			diagnosis.Judge(&kept, nil)
			rows = append(rows, &kept)
		}
		return nil
	})
	if err != nil || len(rows) == 0 {
		return err
	}
	return i.store.Save(ctx, rows)
}
