package web

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// why is the verdict, or what went wrong, in words.
type why struct {
	Title      string
	Paragraphs []string
	Similar    *comparison // nil where none is worth a word
}

// comparison sets an exchange beside another.
type comparison struct {
	Text    string
	URL     string // of the other
	Compare string // address of the two side by side
}

func whyOf(l language, x *exchange.Exchange, now time.Time) why {
	w := why{Title: l.say("why." + cmp.Or(string(x.Bound), "open"))}
	if x.Outcome == exchange.Open {
		w.add(l.say("why.since", x.StartedAt.In(now.Location()).Format(time.DateTime), soFar(x, now)))
		return w
	}
	if failed(x) {
		w.Title = l.say("why.failed")
		w.add(diagnosis.ErrorWords(x, string(l)))
	}
	w.add(diagnosis.Reason(x, string(l)))
	w.add(saidBy(l, x))
	w.add(againstUsual(l, x))
	return w
}

// add adds a paragraph. It takes the place of one that it begins with.
func (w *why) add(paragraph string) {
	p := plain(paragraph, proseRunes)
	w.Paragraphs = slices.DeleteFunc(w.Paragraphs, func(said string) bool { return strings.HasPrefix(p, said) })
	if p != "" {
		w.Paragraphs = append(w.Paragraphs, p)
	}
}

// againstUsual says how long the whole took against what is usual for the model,
// "" where nobody knows.
func againstUsual(l language, x *exchange.Exchange) string {
	if x.Excess == nil || x.End == nil || x.UsualRows == nil {
		return ""
	}
	rows := figure.Count(x.UsualRows)
	beyond := max(*x.End/10, or0(x.EstimateError), 200*time.Millisecond)
	switch {
	case *x.Excess > beyond:
		return l.say("why.slower", figure.Duration(x.Excess), rows)
	case -*x.Excess > beyond:
		return l.say("why.faster", figure.Duration(new(-*x.Excess)), rows)
	}
	return l.say("why.usual", rows)
}

// similarAmong is how many of the model's exchanges before one are looked at for
// a similar one, by these columns.
const similarAmong = 500

var similarColumns = []string{"id", "outcome", "bound", "uncached_tokens", "first_token_ms"}

// similar is the earlier exchange of the model whose prompt made about as much
// work, nil where there is none or where the wait was not what mattered.
func (s *site) similar(ctx context.Context, x *exchange.Exchange) (*exchange.Exchange, error) {
	if !waited(x) || x.Model() == "" || x.Bound == exchange.DecodeBound || x.Bound == exchange.Stalled {
		return nil, nil
	}
	f := store.Filter{Model: x.Model(), Upstream: x.Upstream, To: store.When{Time: x.StartedAt}}
	nearest, best := "", max(*x.UncachedTokens/4, 256)
	err := s.Store.Newest(ctx, f, store.Part{Columns: similarColumns, Rows: similarAmong}, func(other *exchange.Exchange) {
		if !waited(other) {
			return
		}
		if off := max(*other.UncachedTokens-*x.UncachedTokens, *x.UncachedTokens-*other.UncachedTokens); off < best {
			nearest, best = other.ID, off
		}
	})
	if err != nil || nearest == "" {
		return nil, err
	}
	return s.still(ctx, nearest)
}

// waited says whether an exchange has a wait that another's can be set beside.
func waited(x *exchange.Exchange) bool {
	return x.FirstToken != nil && x.UncachedTokens != nil && !failed(x) && x.Outcome != exchange.Open &&
		x.Bound != exchange.Unknown && x.Bound != ""
}

// still is an exchange that was in the log a moment ago, nil where it has been
// deleted since.
func (s *site) still(ctx context.Context, id string) (*exchange.Exchange, error) {
	x, err := s.Store.Exchange(ctx, id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return x, err
}

// beside sets an exchange beside a similar one by their first tokens, or by their
// waits where decode that nobody saw comes before a first token.
func beside(l language, x, other *exchange.Exchange, now time.Time) *comparison {
	if other == nil {
		return nil
	}
	key, theirs, ours := "why.similar.first", other.FirstToken, x.FirstToken
	if p, q := diagnosis.Weigh(other), diagnosis.Weigh(x); p.Hidden+p.Unseen+q.Hidden+q.Unseen > 0 {
		key, theirs, ours = "why.similar.wait", &p.Wait, &q.Wait
	}
	return &comparison{
		Text:    l.say(key, clockOf(other, x.StartedAt, now), figure.Count(other.UncachedTokens), figure.Duration(theirs), figure.Duration(ours)),
		URL:     exchangeURL(other),
		Compare: compareURL(other, x),
	}
}

// clockOf is when an exchange began, with its date where that is another than a
// reader would take it for.
func clockOf(x *exchange.Exchange, day, now time.Time) string {
	at, zone := x.StartedAt.In(now.Location()), now.Location()
	if at.Format(time.DateOnly) == day.In(zone).Format(time.DateOnly) {
		return at.Format(time.TimeOnly)
	}
	return at.Format(time.DateTime)
}

// compareURL is the address of two exchanges side by side.
func compareURL(a, b *exchange.Exchange) string {
	return "/-/compare?" + url.Values{"a": {a.ID}, "b": {b.ID}}.Encode()
}
