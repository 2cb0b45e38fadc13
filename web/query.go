package web

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ttftap/ttftap/store"
)

// query is the part of an address that says which exchanges to show. Links are
// made from it, so that every state of a view has an address.
type query url.Values

// shaping are the names of a query that choose no exchanges: the first ones are
// the page's own, the others those of a filter.
var shaping = slices.Concat(pageNames, []string{"sort", "order", "limit", "cursor"})

// pageNames are what the page alone is asked for: its language, the scale of its
// bars, its further columns.
var pageNames = []string{"lang", "scale", "cols"}

// parseQuery reads the filter of a request, and the query that stands for what
// could be read of it.
func (s *site) parseQuery(r *http.Request) (store.Filter, query, []store.Problem) {
	return s.parse(r.URL.Query())
}

func (s *site) parse(asked url.Values) (store.Filter, query, []store.Problem) {
	asked = maps.Clone(asked)
	ours := url.Values{}
	for _, name := range pageNames {
		if v := strings.Join(asked[name], ","); v != "" { // a form sends a name for each of its choices
			ours.Set(name, v)
		}
		asked.Del(name)
	}
	asked.Del("bom") // the exports'
	f, problems := store.ParseFilter(asked, s.Now())
	q := f.Query()
	maps.Copy(q, ours)
	return f, query(q), slices.Concat(problems, unshapely(ours))
}

// with is the address of the log with the names set to the values that follow
// them, "" for none, from its first page on.
func (q query) with(pairs ...string) string {
	changed := url.Values(maps.Clone(q))
	changed.Del("cursor")
	for i := 0; i+1 < len(pairs); i += 2 {
		if changed.Del(pairs[i]); pairs[i+1] != "" {
			changed.Set(pairs[i], pairs[i+1])
		}
	}
	return address("/-/", changed)
}

// export is the address of all that the query chooses, in its order.
func (q query) export(path string) string {
	changed := url.Values(maps.Clone(q))
	for _, name := range slices.Concat(pageNames, []string{"cursor", "limit"}) {
		changed.Del(name)
	}
	return address(path, changed)
}

// choosing is the address of another view of what the query chooses.
func (q query) choosing(path string) string {
	chosen := url.Values{}
	for _, name := range q.filters() {
		chosen.Set(name, q.get(name))
	}
	return address(path, chosen)
}

// filters are the names in it that choose exchanges, sorted.
func (q query) filters() []string {
	names := slices.Sorted(maps.Keys(q))
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(shaping, name) })
}

// cleared is the address of the log without a filter, its order kept.
func (q query) cleared() string {
	var pairs []string
	for _, name := range q.filters() {
		pairs = append(pairs, name, "")
	}
	return q.with(pairs...)
}

func (q query) get(name string) string { return url.Values(q).Get(name) }

func address(path string, values url.Values) string {
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

// tidied is the address of a request without the fields that a form has sent
// empty; ok is false if there is none.
func tidied(r *http.Request) (to string, ok bool) {
	values := r.URL.Query()
	n := len(values)
	maps.DeleteFunc(values, func(_ string, v []string) bool { return len(v) == 1 && v[0] == "" })
	return address(r.URL.Path, values), len(values) < n
}
