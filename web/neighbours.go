package web

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// neighbours are the exchanges around one: those of its session just before and
// after, and the other attempts at the same request.
type neighbours struct {
	Scale   scale
	Rows    []neighbour // the newest first
	Session string      // address of all of the session; "" without one
	Compare string      // address of it beside the one before; "" where there is none
}

// neighbour is a row of them.
type neighbour struct {
	URL, Clock, UTC string
	Tag             tag
	Attempt         *quantity // from the second on
	Bar             *bar      // nil where its duration is unknown
	TTFT            quantity
	Prompt, Output  quantity
	Meter           *meter
	This            bool
}

const (
	neighboursEach = 3                // of the session on each side
	attemptsWithin = 10 * time.Minute // on each side
	attemptsAmong  = 2000             // exchanges of the session, or of the key
	attemptsMost   = 8
)

var attemptColumns = []string{"id", "retry_group"}

// near are the exchanges around one, itself among them, the newest first.
func (s *site) near(ctx context.Context, x *exchange.Exchange) ([]*exchange.Exchange, error) {
	all := []*exchange.Exchange{x}
	for _, look := range []func(context.Context, *exchange.Exchange) ([]*exchange.Exchange, error){s.before, s.after, s.attempts} {
		found, err := look(ctx, x)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	s.byNow(all...)
	slices.SortFunc(all, func(a, b *exchange.Exchange) int {
		return cmp.Or(b.StartedAt.Compare(a.StartedAt), cmp.Compare(b.ID, a.ID))
	})
	return slices.CompactFunc(all, func(a, b *exchange.Exchange) bool { return a.ID == b.ID }), nil
}

// before are the exchanges of the session just before one, the newest first.
func (s *site) before(ctx context.Context, x *exchange.Exchange) ([]*exchange.Exchange, error) {
	return s.ofSession(ctx, x, store.Filter{To: store.When{Time: x.StartedAt}})
}

// after are those just after it.
func (s *site) after(ctx context.Context, x *exchange.Exchange) ([]*exchange.Exchange, error) {
	return s.ofSession(ctx, x, store.Filter{From: store.When{Time: x.StartedAt.Add(1)}, Order: "asc"})
}

func (s *site) ofSession(ctx context.Context, x *exchange.Exchange, f store.Filter) ([]*exchange.Exchange, error) {
	if x.SessionID == "" {
		return nil, nil
	}
	f.Session, f.Limit, f.IncludeOpen = x.SessionID, neighboursEach, true
	found, err := s.Store.List(ctx, f)
	return found.Exchanges, err
}

// attempts are the other attempts at the same request.
func (s *site) attempts(ctx context.Context, x *exchange.Exchange) ([]*exchange.Exchange, error) {
	if x.RetryGroup == "" {
		return nil, nil
	}
	f := store.Filter{
		Session: x.SessionID, Key: x.KeyID, IncludeOpen: true,
		From: store.When{Time: x.StartedAt.Add(-attemptsWithin)}, To: store.When{Time: x.StartedAt.Add(attemptsWithin)},
	}
	var ids []string
	err := s.Store.Newest(ctx, f, store.Part{Columns: attemptColumns, Rows: attemptsAmong}, func(other *exchange.Exchange) {
		if other.RetryGroup == x.RetryGroup && other.ID != x.ID && len(ids) < attemptsMost {
			ids = append(ids, other.ID)
		}
	})
	var all []*exchange.Exchange
	for _, id := range ids {
		other, err := s.still(ctx, id)
		if err != nil {
			return nil, err
		}
		if other != nil {
			all = append(all, other)
		}
	}
	return all, err
}

// neighboursOf lays out the exchanges around one on one scale; nil where there
// are none.
func neighboursOf(l language, x *exchange.Exchange, near []*exchange.Exchange, now time.Time) *neighbours {
	if len(near) < 2 {
		return nil
	}
	n := &neighbours{Scale: scaleFor(near, now, 1), Session: rowsWith("session", x.SessionID)}
	for i, other := range near {
		n.Rows = append(n.Rows, neighbourOf(l, other, n.Scale, now))
		row := &n.Rows[i]
		row.Clock = clockOf(other, x.StartedAt, now)
		if row.This = other.ID == x.ID; row.This && i+1 < len(near) {
			n.Compare = compareURL(near[i+1], x)
		}
	}
	return n
}

func neighbourOf(l language, x *exchange.Exchange, s scale, now time.Time) neighbour {
	n := neighbour{
		URL: exchangeURL(x), UTC: utc(x.StartedAt), Tag: tagOf(l, x),
		TTFT: seconds(x.FirstToken), Prompt: tokens(x.PromptTokens), Output: outputOf(l, x), Meter: meterOf(l, x),
	}
	if retried(x) {
		n.Attempt = &quantity{Value: figure.Count(x.Attempt), Title: l.say("row.attempt", figure.Count(x.Attempt))}
	}
	if total, ok := took(x, now); ok {
		b := s.barOf(l, x, total)
		n.Bar = &b
	}
	return n
}

// turnURL is the address of the turn that an exchange is of, "" without one.
func turnURL(x *exchange.Exchange) string {
	if x.TurnID == "" || len(x.TurnID) > 4*nameRunes {
		return ""
	}
	return "/-/turns/" + url.PathEscape(x.TurnID)
}
