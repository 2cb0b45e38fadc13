package web

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// filters is the form over the log, and what it is set to.
type filters struct {
	Action   string  // address of the view that it chooses for
	Kept     []field // what the form has no control for
	Bounds   []choice
	Selects  []selection
	MinTTFT  string
	Query    string
	CSV      string // address
	CSVRows  string // how many rows it will have
	Problems []string
	Chips    []chip
	Clear    string
}

// field is a name and its value, as a form sends them.
type field struct{ Name, Value string }

// choice is one of several that exclude each other: a link or an option.
type choice struct {
	Word, Value, URL string
	Kind             string // its shape, "" for none
	Current          bool
	Count            string // of the exchanges that it would show; "" where they are not counted
}

// selection is a list to choose one from.
type selection struct {
	Name, Label string
	Options     []choice
}

// chip is a filter that is on, with the address of the view without it and how
// many exchanges that has, "" where they are not counted.
type chip struct {
	Name, Value, Remove, Count string
	URL                        string // of what the value names; "" for none
}

// periods are the times that the form offers.
var periods = []string{"-15m", "-1h", "-3h", "-24h", "-7d"}

// optionsMost is how many values of a filter the form lists.
const optionsMost = 100

// newFilters makes the form for a query and what it finds.
func newFilters(l language, q query, o *overview) filters {
	f := filters{
		Action:  "/-/",
		Bounds:  boundChoices(l, q, o.facets),
		MinTTFT: q.get("min_first_token_ms"),
		Query:   q.get("q"),
		CSV:     o.export(q, "/-/export.csv"),
		CSVRows: o.csvRows(l),
		Clear:   q.cleared(),
	}
	f.Selects = append(f.Selects, newSelection(l, q, "from", periods))
	for _, name := range []string{"model", "upstream", "client", "key", "session"} {
		if values := o.facets.values(name, optionsMost); len(values) > 1 || q.get(name) != "" {
			f.Selects = append(f.Selects, newSelection(l, q, name, values).counted(o.facets))
		}
	}
	f.Selects = append(f.Selects, newSelection(l, q, "outcome", outcomes(o.facets)).counted(o.facets))
	f.keep(q)
	f.chip(l, q, o.facets)
	return f
}

// csvRows says how many rows an export of the view has.
func (o *overview) csvRows(l language) string {
	if o.more {
		return l.say("filter.csv.many", o.found(l))
	}
	return l.number("filter.csv", o.rows)
}

// export is the address of the rows that the view has found.
func (sc scope) export(q query, path string) string {
	if !sc.confined {
		return q.export(path)
	}
	confined := query(maps.Clone(q))
	url.Values(confined).Set("from", sc.From.UTC().Format(time.RFC3339Nano))
	return confined.export(path)
}

// boundChoices are links rather than a list: it is the question most asked.
func boundChoices(l language, q query, f facets) []choice {
	all := []choice{{Word: l.say("filter.any.bound"), URL: q.with("bound", ""), Current: q.get("bound") == "", Count: countOf(f.all("bound"))}}
	for _, b := range exchange.Bounds {
		all = append(all, choice{
			Word:    l.say("bound." + string(b)),
			URL:     q.with("bound", string(b)),
			Kind:    string(b),
			Current: q.get("bound") == string(b),
			Count:   countOf(f["bound"][string(b)]),
		})
	}
	return all
}

// outcomes are those that occur, in the order of all.
func outcomes(f facets) []string {
	var all []string
	for _, o := range exchange.Outcomes {
		if f["outcome"][string(o)] > 0 {
			all = append(all, string(o))
		}
	}
	return all
}

// newSelection lists the values of a filter, the one that is set among them, and
// none.
func newSelection(l language, q query, name string, values []string) selection {
	set := q.get(name)
	if set != "" && !slices.Contains(values, set) {
		values = append([]string{set}, values...)
	}
	s := selection{Name: name, Label: l.say("filter." + name)}
	s.Options = append(s.Options, choice{Word: l.say("filter.any." + name), Current: set == ""})
	for _, v := range values {
		s.Options = append(s.Options, choice{Word: l.value(name+".", v), Value: v, Current: v == set})
	}
	return s
}

// counted says of each option how many exchanges it would show.
func (s selection) counted(f facets) selection {
	for i, o := range s.Options {
		if o.Value != "" {
			s.Options[i].Count = countOf(f.count(s.Name, o.Value))
		}
	}
	return s
}

// keep carries on what the form does not ask for.
func (f *filters) keep(q query) {
	asked := []string{"min_first_token_ms", "q", "cursor"}
	for _, s := range f.Selects {
		asked = append(asked, s.Name)
	}
	for name, values := range q {
		if !slices.Contains(asked, name) {
			f.Kept = append(f.Kept, field{name, values[0]})
		}
	}
	slices.SortFunc(f.Kept, func(a, b field) int { return strings.Compare(a.Name, b.Name) })
}

// chip lists the filters that are on.
func (f *filters) chip(l language, q query, all facets) {
	for _, name := range q.filters() {
		c := chip{Name: l.say("filter." + name), Value: l.value(name+".", q.get(name)), Remove: q.with(name, "")}
		if name == "experiment" {
			c.URL = experimentURL(q.get(name))
		}
		if all[name] != nil {
			c.Count = countOf(all.all(name))
		}
		f.Chips = append(f.Chips, c)
	}
}

// complain names what could not be read of the query.
func complain(l language, problems []store.Problem) []string {
	var all []string
	for _, p := range problems {
		all = append(all, l.say("filter.broken", plain(p.Name, nameRunes), plain(p.Value, nameRunes), plain(p.Reason, nameRunes)))
	}
	return all
}
