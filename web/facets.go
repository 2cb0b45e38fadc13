package web

import (
	"cmp"
	"maps"
	"slices"

	"github.com/ttftap/ttftap/store"
)

// facets count, for each filter that the form offers as a list, how many
// exchanges each of its values would show, the other filters being as they are.
type facets map[string]map[string]int64

// facetValues are the values of an exchange by the filter that asks for them.
var facetValues = map[string]func(*brief) string{
	"bound":    func(b *brief) string { return string(b.Bound) },
	"model":    func(b *brief) string { return b.Model },
	"upstream": func(b *brief) string { return b.Upstream },
	"key":      func(b *brief) string { return b.Key },
	"client":   func(b *brief) string { return b.Client },
	"session":  func(b *brief) string { return b.Session },
	"outcome":  func(b *brief) string { return string(b.Outcome) },
}

func newFacets() facets {
	f := facets{}
	for name := range facetValues {
		f[name] = map[string]int64{}
	}
	return f
}

// add counts an exchange that does not meet n conditions, of which name is the
// first.
func (f facets) add(b *brief, n int, name string) {
	switch {
	case n == 0:
		for facet, value := range facetValues {
			f[facet][value(b)]++
		}
	case n == 1 && f[name] != nil:
		f[name][facetValues[name](b)]++
	}
}

// all is how many exchanges there would be without a filter.
func (f facets) all(name string) (n int64) {
	for _, count := range f[name] {
		n += count
	}
	return n
}

// count is how many exchanges a value would show. A client is asked for by how its
// name begins, all others by the whole.
func (f facets) count(name, value string) (n int64) {
	if name != "client" {
		return f[name][value]
	}
	for client, count := range f[name] {
		if store.Begins(client, value) {
			n += count
		}
	}
	return n
}

// values are a facet's, the most frequent first, so many at most.
func (f facets) values(name string, most int) []string {
	counts := f[name]
	all := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	all = slices.DeleteFunc(all, func(v string) bool { return v == "" })
	return all[:min(len(all), most)]
}
