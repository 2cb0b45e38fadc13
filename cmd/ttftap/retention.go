package main

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/ttftap/ttftap/store"
)

// retention are the flags that say what a log keeps.
type retention struct {
	Keep    keptSpan `help:"How long the log keeps a request, as in 30d or 12h. Older ones are deleted. Default: for ever." placeholder:"SPAN"`
	MaxRows keptRows `help:"How many requests the log keeps: the newest. Default: any number." placeholder:"N"`
}

func (r retention) keeps() store.Retention {
	return store.Retention{Keep: time.Duration(r.Keep), MaxRows: int64(r.MaxRows)}
}

// keptSpan is a duration that may be in days. Empty, as from an environment
// variable that is not used, is none.
type keptSpan time.Duration

// keepLeast guards against minutes where months are meant: what is deleted does
// not come back.
const keepLeast = time.Hour

// UnmarshalText reads 30d or 12h.
func (k *keptSpan) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	d, err := store.ParseSpan(string(text))
	if err == nil && d < keepLeast {
		err = errors.New("is less than an hour: m are minutes; want 30d, 12h or 1d12h")
	}
	*k = keptSpan(d)
	return err
}

// keptRows is a number of rows; empty is any.
type keptRows int64

// UnmarshalText reads a number.
func (k *keptRows) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n < 1 {
		return errors.New("is no number of rows: want a whole number from 1 on, as in 1000000")
	}
	*k = keptRows(n)
	return nil
}

// retain has the log deleted from what need not be kept, until stop is called.
func retain(s *store.Store, keeps store.Retention, log *slog.Logger) (stop func()) {
	if keeps == (store.Retention{}) {
		return func() {}
	}
	var kept []any
	if keeps.Keep > 0 {
		kept = append(kept, "keep", store.FormatSpan(keeps.Keep))
	}
	if keeps.MaxRows > 0 {
		kept = append(kept, "max_rows", keeps.MaxRows)
	}
	log.Info("older requests are deleted from the log", kept...)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Retain(ctx, keeps, log)
	}()
	return func() {
		cancel()
		<-ended
	}
}
