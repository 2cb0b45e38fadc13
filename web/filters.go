package web

import (
	"context"
	"slices"
	"strings"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// filters is the form over the log, and what it is set to.
type filters struct {
	Kept     []field // what the form has no control for
	Bounds   []choice
	Selects  []selection
	MinTTFT  string
	Session  string
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
}

// selection is a list to choose one from.
type selection struct {
	Name, Label string
	Options     []choice
}

// chip is a filter that is on, with the address of the view without it.
type chip struct{ Name, Value, Remove string }

// periods are the times that the form offers.
var periods = []string{"-15m", "-1h", "-3h", "-24h", "-7d"}

// optionsMost is how many models or upstreams the form lists.
const optionsMost = 100

// filters makes the form for a query that finds n exchanges.
func (s *site) filters(ctx context.Context, l language, q query, n int64) (filters, error) {
	f := filters{
		Bounds:  boundChoices(l, q),
		MinTTFT: q.get("min_first_token_ms"),
		Session: q.get("session"),
		Query:   q.get("q"),
		CSV:     q.export("/-/export.csv"),
		CSVRows: l.number("filter.csv", n),
		Clear:   q.cleared(),
	}
	f.Selects = append(f.Selects, newSelection(l, q, "from", periods))
	for _, name := range []string{"model", "upstream"} {
		values, err := s.Store.Values(ctx, name, optionsMost)
		if err != nil {
			return filters{}, err
		}
		if len(values) > 1 || q.get(name) != "" {
			f.Selects = append(f.Selects, newSelection(l, q, name, values))
		}
	}
	f.Selects = append(f.Selects, newSelection(l, q, "outcome", outcomes()))
	f.keep(q)
	f.chip(l, q)
	return f, nil
}

// boundChoices are links rather than a list: it is the question most asked.
func boundChoices(l language, q query) []choice {
	all := []choice{{Word: l.say("filter.any.bound"), URL: q.with("bound", ""), Current: q.get("bound") == ""}}
	for _, b := range exchange.Bounds {
		all = append(all, choice{
			Word:    l.say("bound." + string(b)),
			URL:     q.with("bound", string(b)),
			Kind:    string(b),
			Current: q.get("bound") == string(b),
		})
	}
	return all
}

func outcomes() []string {
	var all []string
	for _, o := range exchange.Outcomes {
		all = append(all, string(o))
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

// keep carries on what the form does not ask for.
func (f *filters) keep(q query) {
	asked := []string{"min_first_token_ms", "session", "q", "cursor"}
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
func (f *filters) chip(l language, q query) {
	for _, name := range q.filters() {
		f.Chips = append(f.Chips, chip{
			Name:   l.say("filter." + name),
			Value:  l.value(name+".", q.get(name)),
			Remove: q.with(name, ""),
		})
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
