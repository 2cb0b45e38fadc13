package web

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// logView is the request log.
type logView struct {
	page
	Empty bool  // nothing was ever recorded
	Steps steps // what to do about it

	Summary summary
	Filters filters
	Band    *chartBand // nil where there is nothing to draw
	Columns []column
	Extra   []string // columns besides, by the CSV's names
	Chooser chooser
	Scale   scale
	Rows    []row
	Signs   []sign
	Shown   string
	Older   string // address of the next page, "" on the last
	Newest  string // address of the first page, "" on it
	Refresh string
	API     string
	JSONL   string
}

// column is a column's head.
type column struct {
	Name, Word, Title, Aside string
	URL                      string // sorts by it; "" if it cannot be sorted by
	Sorted                   string // ascending or descending; "" neither
}

// sorts are the columns in their order, and what each is sorted by.
var sorts = []struct{ column, key string }{
	{"time", "time"}, {"status", ""}, {"model", ""}, {"bound", ""}, {"timeline", ""}, {"ttft", "first_token_ms"},
	{"rate", "tokens_per_sec"}, {"prompt", "prompt_tokens"}, {"output", "output_tokens"}, {"total", "total_ms"},
}

// runningMost is how many exchanges under way are shown.
const runningMost = 20

// log is the view's http.Handler.
func (s *site) log(w http.ResponseWriter, r *http.Request) error {
	if to, ok := tidied(r); ok {
		http.Redirect(w, r, to, http.StatusFound)
		return nil
	}
	v := logView{page: s.page(w, r, "log.title")}
	if err := s.fillLog(r, &v); err != nil {
		return err
	}
	return v.render(w, http.StatusOK, "log", v)
}

func (s *site) fillLog(r *http.Request, v *logView) error {
	position := s.hub.position() // before anything is read: what comes meanwhile is told of then
	f, q, problems := s.parseQuery(r)
	c := newCharting(s.Now().Location(), false)
	o, err := s.overview(r.Context(), f, c.add)
	if err != nil {
		return err
	}
	found, err := s.Store.List(r.Context(), o.Filter)
	if err != nil {
		return err
	}
	s.byNow(found.Exchanges...)
	running := s.running(f)
	if v.Empty, err = s.empty(r, len(running)+len(found.Exchanges)); v.Empty || err != nil {
		v.Steps = s.steps(r.Context(), v.Language)
		v.Live, v.Reload = liveURL(q, v.Language, scale{}, position), "started finished"
		return err
	}
	v.Summary = o.summary(v.Language, q)
	v.Filters = newFilters(v.Language, q, o)
	v.Filters.Problems = complain(v.Language, problems)
	v.fill(sheetOf(v.Language, q, s.Now(), o), q, slices.Concat(running, found.Exchanges))
	if o.figured > 0 {
		v.Band = new(c.band(s.canvas(v.Language, q)))
	}
	v.Shown = v.Language.say("pages.shown", countOf(len(found.Exchanges)), o.found(v.Language))
	v.links(q, found.Next)
	if isNewest(f) {
		v.Live = liveURL(q, v.Language, v.Scale, position)
	}
	if o.figured == 0 { // with the first one come charts, lists to choose from, and a scale
		v.Reload = "finished"
	}
	return nil
}

// isNewest says whether f begins with the newest exchange, so that the next one
// comes on top.
func isNewest(f store.Filter) bool { return f.Cursor == "" && f.Sort == "" && f.Order == "" }

// running are those under way that fit a filter, for its first page, the newest
// first: none where it asks for them itself.
func (s *site) running(f store.Filter) (found []*exchange.Exchange) {
	if s.UnderWay == nil || f.Cursor != "" || f.Outcome == exchange.Open {
		return nil
	}
	f.IncludeOpen = true
	misfit := f.Misfit()
	for _, x := range slices.Backward(s.UnderWay()) {
		subject := store.SubjectOf(x)
		if n, _ := misfit(&subject); n == 0 && len(found) < runningMost {
			found = append(found, x)
		}
	}
	return found
}

// empty says whether the log has nothing at all, shown rows being what a view of
// it has.
func (s *site) empty(r *http.Request, shown int) (bool, error) {
	if shown > 0 {
		return false, nil
	}
	n, _, err := s.Store.CountTo(r.Context(), store.Filter{IncludeOpen: true}, 1)
	return n == 0, err
}

// fill lays the exchanges out as rows on one scale.
func (v *logView) fill(sh sheet, q query, exchanges []*exchange.Exchange) {
	sh.suit(exchanges)
	v.Columns = columns(sh.l, q, sh.now)
	v.Scale, v.Extra = sh.scale, sh.extra
	v.Chooser = newChooser(sh.l, q)
	byTime := q.get("sort") == "" && q.get("order") == ""
	var newer *exchange.Exchange
	for _, x := range exchanges {
		row := sh.row(x)
		if byTime {
			row.Break = breakBefore(sh.l, x, newer, sh.now)
		}
		v.Rows = append(v.Rows, row)
		newer = x
	}
	v.Signs = signsOf(sh.l, v.Rows)
}

// links makes the addresses around the table.
func (v *logView) links(q query, next string) {
	v.Refresh = q.with()
	v.API = q.export("/-/api/requests")
	v.JSONL = q.export("/-/export.jsonl")
	if q.get("cursor") != "" {
		v.Newest = q.with()
	}
	if next != "" {
		v.Older = q.with("cursor", next)
	}
}

func columns(l language, q query, now time.Time) []column {
	var all []column
	for _, s := range sorts {
		c := column{Name: s.column, Word: l.say("column." + s.column), Title: l.about("column." + s.column)}
		if s.key != "" {
			c.URL, c.Sorted = sortedBy(q, s.key)
		}
		all = append(all, c)
	}
	all[0].Aside = zone(now)
	return all
}

// sortedBy is the address of the log sorted by a key, the other way round if it
// is that already. Time, the newest first, is the default.
func sortedBy(q query, key string) (to, sorted string) {
	set := key
	if key == "time" {
		set = ""
	}
	switch {
	case cmp.Or(q.get("sort"), "time") != key:
		return q.with("sort", set, "order", ""), ""
	case q.get("order") == "asc":
		return q.with("sort", set, "order", ""), "ascending"
	}
	return q.with("sort", set, "order", "asc"), "descending"
}
