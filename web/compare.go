package web

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"slices"
	"strings"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// compareView is two exchanges side by side, or the choice of them.
type compareView struct {
	page
	A, B     string // the ids, as the form has them
	Problems []string
	Pair     *pair // nil until there are two
	Choose   string
	Others   listing // to choose from; without rows before there is one
}

// comparableEach is how many exchanges before one, and how many after it, are
// offered to be compared with it.
const comparableEach = 6

func (s *site) compare(w http.ResponseWriter, r *http.Request) error {
	if to, ok := tidied(r); ok {
		http.Redirect(w, r, to, http.StatusFound)
		return nil
	}
	v := compareView{page: s.page(w, r, "compare.title")}
	a, errA := s.wanted(r, "a", &v.A)
	b, errB := s.wanted(r, "b", &v.B)
	for _, err := range []error{errA, errB} {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	status := http.StatusOK
	if errA != nil || errB != nil {
		status = http.StatusNotFound
	}
	if a != nil && b != nil && a.ID != b.ID {
		v.Pair = newPair(v.Language, contestant{a, "A"}, contestant{b, "B"}, s.Now())
		return v.render(w, status, "compare", v)
	}
	v.complain(a, b)
	if err := s.offer(r.Context(), &v, a, b); err != nil {
		return err
	}
	return v.render(w, status, "compare", v)
}

// wanted is the exchange of an id in the query, nil where none is asked for. It
// fills in the form's field.
func (s *site) wanted(r *http.Request, name string, field *string) (*exchange.Exchange, error) {
	id := strings.TrimSpace(r.URL.Query().Get(name))
	if id == "" {
		return nil, nil
	}
	*field = plain(id, nameRunes)
	x, err := s.Store.Exchange(r.Context(), id)
	if err != nil {
		return nil, err
	}
	*field = plain(x.ID, nameRunes) // which "last" is not
	s.byNow(x)
	return x, nil
}

// complain says why there are no two exchanges to compare.
func (v *compareView) complain(a, b *exchange.Exchange) {
	if a != nil && b != nil {
		v.Problems = append(v.Problems, v.Language.say("compare.itself"))
		v.B = ""
		return
	}
	if a == nil && v.A != "" {
		v.Problems = append(v.Problems, v.Language.say("compare.missing", v.A))
	}
	if b == nil && v.B != "" {
		v.Problems = append(v.Problems, v.Language.say("compare.missing", v.B))
	}
}

// offer lists what the one exchange that is known can be compared with.
func (s *site) offer(ctx context.Context, v *compareView, a, b *exchange.Exchange) error {
	l := v.Language
	one := cmp.Or(a, b)
	if one == nil {
		v.Choose = l.say("compare.choose.two")
		return nil
	}
	letter := "A"
	if a == nil {
		letter = "B"
	}
	v.Choose = l.say("compare.choose", letter, headline(l, one))
	others, err := s.comparable(ctx, one)
	if err != nil {
		return err
	}
	if len(others) == 0 {
		v.Choose += " " + l.say("compare.none")
	}
	sh := sheet{l: l, now: s.Now(), scale: scaleOf(others, s.Now())}
	var rows []row
	for _, x := range others {
		row := sh.row(x)
		if row.URL = compareURL(one, x); a == nil {
			row.URL = compareURL(x, one)
		}
		rows = append(rows, row)
	}
	v.Others = sh.listing(rows)
	return nil
}

// comparable are the ended exchanges of the same session, or without one of the
// same model, before and after one, the newest first.
func (s *site) comparable(ctx context.Context, x *exchange.Exchange) ([]*exchange.Exchange, error) {
	older := store.Filter{Session: x.SessionID, To: store.When{Time: x.StartedAt}, Limit: comparableEach}
	if x.SessionID == "" {
		older.Upstream, older.Model = x.Upstream, x.Model()
	}
	newer := older
	newer.To, newer.From, newer.Order = store.When{}, store.When{Time: x.StartedAt.Add(1)}, "asc"
	before, err := s.Store.List(ctx, older)
	if err != nil {
		return nil, err
	}
	after, err := s.Store.List(ctx, newer)
	slices.Reverse(after.Exchanges)
	return slices.Concat(after.Exchanges, before.Exchanges), err
}
