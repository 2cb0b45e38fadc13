package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// How much of a stranger's text one exchange's view shows; the JSON has it all.
const (
	nameRunes  = 160
	proseRunes = 2000
	usageRunes = 8000
)

// exchangeView is one exchange.
type exchangeView struct {
	page
	When, UTC  string // of the start
	Tag        tag
	Tone       string
	Status     string
	Under      string // the request in one line
	Why        why
	Waterfall  *waterfall  // nil where the end is not written
	Prompt     *promptView // nil where it was not read
	Delivery   []string
	Notes      []string
	Server     *serverTimings // nil where the upstream told none
	Instants   []instant
	Lists      []list
	Usage      string
	JSON       string
	SessionURL string
	Older      string // address of the exchange before; "" for none
	Newer      string
}

// why is the verdict, or what went wrong, in words.
type why struct {
	Title      string
	Paragraphs []string
}

func (s *site) exchange(w http.ResponseWriter, r *http.Request) error {
	x, err := s.Store.Exchange(r.Context(), idOf(r))
	if err != nil {
		return err
	}
	v := exchangeView{page: s.page(w, r, "exchange.title")}
	v.fill(x, s.Now())
	older := store.Filter{To: store.When{Time: x.StartedAt}}
	newer := store.Filter{From: store.When{Time: x.StartedAt.Add(1)}, Order: "asc"}
	if v.Older, err = s.first(r.Context(), older); err != nil {
		return err
	}
	if v.Newer, err = s.first(r.Context(), newer); err != nil {
		return err
	}
	return v.render(w, http.StatusOK, "exchange", v)
}

// idOf is the id in a request's path, which chi leaves escaped where the path has
// escapes that matter.
func idOf(r *http.Request) string {
	id := chi.URLParam(r, "id")
	if unescaped, err := url.PathUnescape(id); r.URL.RawPath != "" && err == nil {
		return unescaped
	}
	return id
}

// first is the address of the first exchange that a filter has, "" for none.
func (s *site) first(ctx context.Context, f store.Filter) (string, error) {
	f.Limit = 1
	found, err := s.Store.List(ctx, f)
	if err != nil || len(found.Exchanges) == 0 {
		return "", err
	}
	return exchangeURL(found.Exchanges[0]), nil
}

func (v *exchangeView) fill(x *exchange.Exchange, now time.Time) {
	l := v.Language
	v.Title = headline(l, x)
	v.Under = underline(l, x)
	v.When = x.StartedAt.In(now.Location()).Format("2006-01-02 15:04:05.000 -07:00")
	v.UTC = utc(x.StartedAt)
	v.Tag, v.Tone, v.Status = tagOf(l, x), tone(x), status(x)
	v.Why = whyOf(l, x, now)
	v.Waterfall = waterfallOf(l, x)
	v.Prompt = promptOf(l, x)
	v.Delivery = deliveryOf(l, x)
	v.Notes = notesOf(l, x)
	v.Server = serverTimingsOf(l, x)
	v.Instants = instantsOf(l, x)
	v.Lists = slices.DeleteFunc([]list{tokenList(l, x), rateList(l, x), idList(l, x), routeList(l, x)}, list.empty)
	v.Usage = indented(x.UsageRaw)
	v.JSON = "/-/api/requests/" + url.PathEscape(x.ID)
	v.SessionURL = rowsWith("session", x.SessionID)
}

// headline is the exchange in a few words and numbers.
func headline(l language, x *exchange.Exchange) string {
	parts := []string{plain(cmp.Or(x.Model(), x.Path), nameRunes)}
	if x.PromptTokens != nil {
		parts = append(parts, l.say("part.in", figure.Count(x.PromptTokens)))
	}
	if x.OutputTokens != nil {
		parts = append(parts, l.say("part.out", figure.Count(x.OutputTokens)))
	}
	if x.End != nil {
		parts = append(parts, l.say("part.total", figure.Duration(x.End)))
	}
	return l.list(parts)
}

// underline is what was asked for, by whom and of whom.
func underline(l language, x *exchange.Exchange) string {
	parts := []string{plain(x.Method+" "+x.Path, 2*nameRunes)}
	if x.Transport != "" {
		parts = append(parts, l.value("transport.", x.Transport))
	}
	parts = append(parts, l.say("part.upstream", plain(x.Upstream, nameRunes)))
	if x.Client != "" {
		parts = append(parts, l.say("part.client", plain(x.Client, nameRunes)))
	}
	if x.KeyID != "" {
		parts = append(parts, l.say("part.key", plain(x.KeyID, nameRunes)))
	}
	if retried(x) {
		parts = append(parts, l.say("part.attempt", figure.Count(x.Attempt)))
	}
	return l.list(parts)
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

func notesOf(l language, x *exchange.Exchange) []string {
	var notes []string
	if x.UnreadEvents != nil {
		notes = append(notes, l.say("notes.unread", figure.Count(x.UnreadEvents)))
	}
	if x.Note != "" {
		notes = append(notes, plain(x.Note, proseRunes))
	}
	return notes
}

// indented lays out a usage object; what is no JSON is shown as it came.
func indented(raw string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(raw), "", "  ") != nil {
		return lines(raw, usageRunes)
	}
	return lines(b.String(), usageRunes)
}

// utc is a time as the CSV writes it.
func utc(t time.Time) string {
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}
