package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/go-chi/chi/v5"

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
	Waterfall  *waterfall  // nil where only the start is known
	Arrivals   *arrivals   // nil where there was none
	Prompt     *promptView // nil where it was not read
	Near       *neighbours // nil where there are none
	Notes      []string
	Server     *serverTimings // nil where the upstream told none
	Instants   []instant
	Lists      []list
	Console    *consoleRow // what was kept of an audit; nil where nothing was
	Usage      string
	JSON       string
	CSV        string   // of its row
	Refresh    *refresh // nil once it has ended
	SessionURL string
	TurnURL    string // of its turn; "" without one
	Older      string // address of the exchange before; "" for none
	Newer      string
}

func (s *site) exchange(w http.ResponseWriter, r *http.Request) error {
	position := s.hub.position() // before it is read: what comes meanwhile is told of then
	x, err := s.Store.Exchange(r.Context(), idOf(r))
	if err != nil {
		return err
	}
	s.byNow(x)
	v := exchangeView{page: s.page(w, r, "exchange.title")}
	v.fill(x, s.Now())
	if x.Outcome == exchange.Open {
		v.Refresh = refreshing(w, r, exchangeURL(x))
		v.Live, v.Reload = liveURL(query(store.Filter{Search: x.ID}.Query()), v.Language, scale{}, position), "finished"
	}
	if err := s.surround(r.Context(), &v, x); err != nil {
		return err
	}
	kept, err := s.Store.ConsoleRow(r.Context(), x.ID)
	if err != nil {
		return err
	}
	v.Console = s.consoleRowOf(v.Language, x, kept)
	return v.render(w, http.StatusOK, "exchange", v)
}

// byNow puts in the place of those that are under way all that is known of them
// by now.
func (s *site) byNow(all ...*exchange.Exchange) {
	if s.UnderWay == nil || !slices.ContainsFunc(all, func(x *exchange.Exchange) bool { return x.Outcome == exchange.Open }) {
		return
	}
	known := map[string]*exchange.Exchange{}
	for _, x := range s.UnderWay() {
		known[x.ID] = x
	}
	for _, x := range all {
		if now := known[x.ID]; now != nil && x.Outcome == exchange.Open {
			prompt := x.Prompt
			*x = *now
			x.Prompt = prompt
		}
	}
}

// surround sets an exchange among the others of the log.
func (s *site) surround(ctx context.Context, v *exchangeView, x *exchange.Exchange) (err error) {
	older := store.Filter{To: store.When{Time: x.StartedAt}}
	newer := store.Filter{From: store.When{Time: x.StartedAt.Add(1)}, Order: "asc"}
	if v.Older, err = s.first(ctx, older); err != nil {
		return err
	}
	if v.Newer, err = s.first(ctx, newer); err != nil {
		return err
	}
	near, err := s.near(ctx, x)
	if err != nil {
		return err
	}
	v.Near = neighboursOf(v.Language, x, near, s.Now())
	similar, err := s.similar(ctx, x)
	v.Why.Similar = beside(v.Language, x, similar, s.Now())
	return err
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
	v.Waterfall = waterfallOf(l, x, now)
	v.Prompt = promptOf(l, x)
	v.Arrivals = arrivalsOf(l, x)
	v.Notes = notesOf(l, x)
	v.Server = serverTimingsOf(l, x)
	v.Instants = instantsOf(l, x)
	v.Lists = slices.DeleteFunc([]list{tokenList(l, x), rateList(l, x), usualList(l, x), idList(l, x), routeList(l, x)}, list.empty)
	v.Usage = indented(x.UsageRaw)
	v.JSON = "/-/api/requests/" + url.PathEscape(x.ID)
	v.CSV = csvRow(x)
	v.SessionURL, v.TurnURL = rowsWith("session", x.SessionID), turnURL(x)
}

// csvRow is the address of an exchange's row alone: its id, at the very time of
// its start, by which it is found at once.
func csvRow(x *exchange.Exchange) string {
	f := store.Filter{
		From: store.When{Time: x.StartedAt.UTC()}, To: store.When{Time: x.StartedAt.UTC().Add(1)}, Search: x.ID,
	}
	if x.Outcome == exchange.Open { // which exports leave out otherwise
		f.Outcome = exchange.Open
	}
	return address("/-/export.csv", f.Query())
}

// refresh is how to look again at what is under way, without a script.
type refresh struct {
	Once  string // address of the same view
	Each  string // of the one that does so by itself; "" in that
	Every string // seconds
}

const refreshEvery = "3"

// refreshing has the browser load the view anew, if its address asks for that.
func refreshing(w http.ResponseWriter, r *http.Request, once string) *refresh {
	v := &refresh{Once: once, Each: once + "?refresh=" + refreshEvery, Every: refreshEvery}
	if r.URL.Query().Get("refresh") == refreshEvery {
		v.Each = ""
		w.Header().Set("Refresh", refreshEvery)
	}
	return v
}

// headline is the exchange in a few words and numbers.
func headline(l language, x *exchange.Exchange) string {
	parts := []string{plain(cmp.Or(x.Model(), x.Path), nameRunes)}
	if x.PromptTokens != nil {
		parts = append(parts, l.say("part.in", figure.Count(x.PromptTokens)))
	}
	if x.OutputTokens != nil || x.EstimatedOutput != nil {
		parts = append(parts, l.say("part.out", figure.Output(x.OutputTokens, x.EstimatedOutput)))
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
