package store

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// Filter says which exchanges to show and in what order. The zero value is the
// whole log, newest first. It is the query of the page, of the exports and of
// the API, and the flags of the commands.
type Filter struct {
	From, To        When // from is included, to is not
	Upstream        string
	Model           string // the one that served, else the one asked for
	Bound           exchange.Bound
	Cause           string
	Outcome         exchange.Outcome
	Session, Turn   string
	Client          string // by prefix
	Key             string
	Experiment      string
	MinFirstTokenMS *float64 // nil: no condition, as with the next two
	MinPromptTokens *float64
	MinExcessMS     *float64
	Search          string // ids by prefix, error text anywhere: "q" in the query

	Sort   string // time, or a numeric column's name; "" is time
	Order  string // asc or desc; "" is desc
	Limit  int    // 0: 100 for a page, none for exports
	Cursor string // where the page before ended; from Page.Next

	// IncludeOpen takes in the exchanges that are still under way. They are left
	// out otherwise, unless Outcome asks for them.
	IncludeOpen bool
}

// When is a point in time of a filter.
type When struct {
	time.Time        // zero: no condition
	Text      string // as asked for, so that "-2h" in a link moves with the clock
}

// Problem is something that ParseFilter left out of a filter, and why.
type Problem struct {
	Name, Value, Reason string
}

// ParseFilter reads a filter from a query. What it cannot use it leaves out and
// reports, unknown names too: a caller takes its own names out of q before.
// Relative times count back from now.
func ParseFilter(q url.Values, now time.Time) (Filter, []Problem) {
	var f Filter
	var problems []Problem
	known := map[string]bool{}
	for _, t := range f.terms(now) {
		known[t.name] = true
		value := strings.TrimSpace(q.Get(t.name))
		if value == "" {
			continue
		}
		if err := t.set(value); err != nil {
			problems = append(problems, Problem{t.name, value, err.Error()})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(q)) {
		switch {
		case !known[name]:
			problems = append(problems, Problem{name, q.Get(name), "there is no such filter"})
		case len(q[name]) > 1:
			problems = append(problems, Problem{name, q[name][1], "is the second of its name; the first counts"})
		}
	}
	return f, append(problems, f.repair()...)
}

// repair drops what does not go together.
func (f *Filter) repair() (problems []Problem) {
	if !f.From.IsZero() && !f.To.IsZero() && !f.From.Before(f.To.Time) {
		problems = append(problems, Problem{"to", f.To.Text, "is not after from"})
		f.To = When{}
	}
	if _, err := f.position(); err != nil {
		problems = append(problems, Problem{"cursor", f.Cursor, err.Error()})
		f.Cursor = ""
	}
	return problems
}

// indexes are the names of a filter for which the log has an index by time.
var indexes = []string{"model", "session", "turn", "bound", "outcome", "experiment"}

// Indexed says whether an index leads to the rows of f in their order, however
// long the log is. One condition besides the time can have that.
func (f Filter) Indexed() bool {
	others := 0
	for _, t := range f.terms(time.Time{}) {
		switch {
		case t.text == "" || t.where == "" || t.name == "from" || t.name == "to":
		case slices.Contains(indexes, t.name):
			others++
		default:
			return false
		}
	}
	return others <= 1 && f.sortColumn() == byTime
}

// Query is the query that ParseFilter reads f from; defaults are left out.
func (f Filter) Query() url.Values {
	q := url.Values{}
	for _, t := range f.terms(time.Time{}) {
		if t.text != "" {
			q.Set(t.name, t.text)
		}
	}
	return q
}

// statement reads limit rows of f from its cursor on.
func (f Filter) statement(selected string, limit int) (string, []any) {
	where, args := f.where()
	position, _ := f.position()
	after, place := position.after()
	return selected + " WHERE " + where + " AND " + after + f.orderBy() + " LIMIT ?",
		slices.Concat(args, place, []any{limit})
}

// where is the SQL condition of f with its values, the cursor left aside.
func (f Filter) where() (string, []any) {
	conditions, args := []string{"TRUE"}, []any(nil)
	for _, t := range f.terms(time.Time{}) {
		if t.text != "" && t.where != "" {
			conditions = append(conditions, t.where)
			args = append(args, t.args...)
		}
	}
	return strings.Join(conditions, " AND "), args
}

// everywhere are the exchanges that have ended and those under way.
var everywhere = "(" + selectAll + " FROM exchange UNION ALL " + selectAll + " FROM aloft)"

// table is where the exchanges of f are, those under way being apart.
func (f Filter) table() string {
	switch {
	case f.Outcome == exchange.Open:
		return "aloft"
	case f.Outcome == "" && f.IncludeOpen:
		return everywhere
	}
	return "exchange"
}
