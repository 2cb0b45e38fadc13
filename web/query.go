package web

import (
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/ttftap/ttftap/store"
)

// query is the part of an address that says which exchanges to show. Links are
// made from it, so that every state of a view has an address.
type query url.Values

// shaping are the names of a query that choose no exchanges.
var shaping = []string{"sort", "order", "limit", "cursor", "lang"}

// parseQuery reads the filter of a request, and the query that stands for what
// could be read of it.
func (s *site) parseQuery(r *http.Request) (store.Filter, query, []store.Problem) {
	asked := r.URL.Query()
	lang := asked.Get("lang")
	for _, name := range []string{"lang", "bom"} { // which are ours and no filters
		asked.Del(name)
	}
	f, problems := store.ParseFilter(asked, s.Now())
	q := f.Query()
	if lang != "" {
		q.Set("lang", lang)
	}
	return f, query(q), problems
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
	for _, name := range []string{"cursor", "limit", "lang"} {
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
