package web

import (
	"context"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// How much of a turn is looked at. A client that never ends one must not keep
// the page busy.
const (
	turnMost  = 5_000 // exchanges that are summed, from the first on
	turnDrawn = 500   // of them, as rows
)

var errNoSuchTurn = fmt.Errorf("no such turn: %w", fs.ErrNotExist)

// turnView is one turn: its exchanges and the silences between them.
type turnView struct {
	page
	ID         string
	When, UTC  string // of its start
	Say        template.HTML
	Under      string
	Scale      scale
	Split      []stretch
	Alt        string // the split in words
	Numbers    []number
	Notes      []note
	Exchanges  listing
	RowsURL    string // addresses; "" for an id that none should be made of
	SessionURL string
	CSV, JSON  string
	Open       bool // some of it is under way
}

func (s *site) turn(w http.ResponseWriter, r *http.Request) error {
	id := idOf(r)
	exchanges, err := s.exchangesOf(r.Context(), id)
	if err != nil {
		return err
	}
	v := turnView{page: s.page(w, r, "turn.title"), ID: plain(id, nameRunes)}
	v.Title += " " + v.ID
	v.links(id)
	v.fill(exchanges, s.Now())
	return v.render(w, http.StatusOK, "turn", v)
}

// exchangesOf are those of a turn from its first on, turnMost and one at most.
func (s *site) exchangesOf(ctx context.Context, id string) ([]*exchange.Exchange, error) {
	if id == "" {
		return nil, errNoSuchTurn // rather than every exchange of none
	}
	var all []*exchange.Exchange
	f := store.Filter{Turn: id, IncludeOpen: true, Order: "asc", Limit: turnMost + 1}
	err := s.Store.Each(ctx, f, func(x *exchange.Exchange) error {
		all = append(all, new(*x))
		return nil
	})
	s.byNow(all...)
	if err == nil && len(all) == 0 {
		err = errNoSuchTurn
	}
	return all, err
}

func (v *turnView) links(id string) {
	if v.RowsURL = rowsWith("turn", id); v.RowsURL == "" {
		return
	}
	q := query{"turn": {id}, "order": {"asc"}}
	v.CSV, v.JSON = q.export("/-/export.csv"), q.export("/-/api/requests")
}

func (v *turnView) fill(exchanges []*exchange.Exchange, now time.Time) {
	l := v.Language
	summed := exchanges[:min(len(exchanges), turnMost)]
	t, sums := timeOf(summed, now), sumsOf(summed)
	t.Cut = len(exchanges) > turnMost
	v.When, v.UTC = t.Start.In(now.Location()).Format("2006-01-02 15:04:05.000 -07:00"), utc(t.Start)
	v.Say, v.Open = t.say(l), t.Open
	v.Under = turnUnder(l, summed)
	v.Scale = newScale(t.Length)
	v.Split, v.Alt = t.split(l, v.Scale)
	v.Numbers = sums.numbers(l, v.RowsURL, int64(len(summed)))
	v.Notes = t.notes(l, v.RowsURL)
	if sums.partial() {
		v.Notes = append(v.Notes, note{Text: l.say("turn.partial")})
	}
	v.Exchanges = t.listing(l, v.Scale, now)
	if sessions := distinct(summed, sessionOf); len(sessions) == 1 {
		v.SessionURL = rowsWith("session", sessions[0])
	}
}

// turnUnder is whose turn it was.
func turnUnder(l language, exchanges []*exchange.Exchange) string {
	var parts []string
	if models := namesOf(exchanges, (*exchange.Exchange).Model); models != "" {
		parts = append(parts, models)
	}
	say := func(key string, of func(*exchange.Exchange) string) {
		if names := namesOf(exchanges, of); names != "" {
			parts = append(parts, l.say(key, names))
		}
	}
	say("part.upstream", func(x *exchange.Exchange) string { return x.Upstream })
	say("part.client", func(x *exchange.Exchange) string { return x.Client })
	say("part.key", func(x *exchange.Exchange) string { return x.KeyID })
	say("turn.session", sessionOf)
	return l.list(parts)
}

// namesMost is how many models, upstreams and so on of one turn are named.
const namesMost = 3

// namesOf are the values that exchanges have, the first few of them.
func namesOf(exchanges []*exchange.Exchange, of func(*exchange.Exchange) string) string {
	names := distinct(exchanges, of)
	if len(names) > namesMost {
		names = append(names[:namesMost], "…")
	}
	for i, name := range names {
		names[i] = plain(name, nameRunes)
	}
	return strings.Join(names, " / ")
}

func sessionOf(x *exchange.Exchange) string { return x.SessionID }

// distinct are the values that exchanges have, in their order, "" left out.
func distinct(exchanges []*exchange.Exchange, of func(*exchange.Exchange) string) []string {
	var all []string
	seen := map[string]bool{"": true}
	for _, x := range exchanges {
		if v := of(x); !seen[v] {
			seen[v] = true
			all = append(all, v)
		}
	}
	return all
}
