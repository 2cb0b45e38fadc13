package main

import (
	"context"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
	"github.com/ttftap/ttftap/store/audit"
)

// auditScope says which part of the log a console is compared with.
type auditScope struct {
	From     string `help:"Earliest start: an RFC 3339 time, or a span before now as in --from=-2h or --from=-30d." placeholder:"TIME"`
	To       string `help:"Start before: likewise." placeholder:"TIME"`
	Upstream string `help:"Name of the upstream." placeholder:"NAME" env:"-"`
	Key      string `help:"Key id, as the log shows it." placeholder:"ID"`
	Model    string `help:"Model served, else asked for." placeholder:"NAME"`
	Client   string `help:"Beginning of the client's name." placeholder:"NAME"`
	Session  string `help:"Session id." placeholder:"ID"`
	Turn     string `help:"Turn id." placeholder:"ID"`
}

// isPart says whether the scope leaves requests out that a console has, so that
// rows without one are no difference.
func (s auditScope) isPart() bool {
	return s.Model != "" || s.Client != "" || s.Session != "" || s.Turn != ""
}

func (s auditScope) filter() (store.Filter, error) {
	f, err := filters{From: s.From, To: s.To, Upstream: s.Upstream, Key: s.Key, Model: s.Model, Client: s.Client, Session: s.Session, Turn: s.Turn}.filter()
	f.IncludeOpen = true // what a killed proxy left open was billed all the same
	return f, err
}

// attempts reads what the log has of the time of the files, and what it covers:
// what is missing beyond that is nobody's fault.
func (s auditScope) attempts(ctx context.Context, log *store.Store, files []audit.File) (list []audit.Attempt, covered audit.Span, err error) {
	f, err := s.filter()
	if err != nil {
		return nil, covered, err
	}
	if covered, err = coverage(ctx, log, f); err != nil {
		return nil, covered, err
	}
	narrow(&f, files)
	f.Order = "asc"
	err = log.Each(ctx, f, func(x *exchange.Exchange) error {
		list = append(list, audit.AttemptOf(x))
		return nil
	})
	return list, covered, err
}

// coverage is the time from the first exchange to the last, whatever else the
// filter leaves out.
func coverage(ctx context.Context, log *store.Store, f store.Filter) (span audit.Span, err error) {
	all := store.Filter{From: f.From, To: f.To, Limit: 1, IncludeOpen: true}
	for _, order := range []string{"asc", "desc"} {
		all.Order = order
		err = log.Each(ctx, all, func(x *exchange.Exchange) error {
			if order == "asc" {
				span.From = x.StartedAt
			}
			if span.To = x.StartedAt; x.End != nil {
				span.To = x.EndedAt()
			}
			return nil
		})
		if err != nil {
			return span, err
		}
	}
	if !f.From.IsZero() && !span.From.IsZero() {
		span.From = f.From.Time
	}
	return span, nil
}

// narrow leaves out what no file can tell of.
func narrow(f *store.Filter, files []audit.File) {
	around := audit.Around(files)
	if around.From.IsZero() {
		return
	}
	if around.From.After(f.From.Time) {
		f.From = store.When{Time: around.From}
	}
	if f.To.IsZero() || around.To.Before(f.To.Time) {
		f.To = store.When{Time: around.To}
	}
}
