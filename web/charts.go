package web

import (
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// chartsView is the charts of what a query chooses, large.
type chartsView struct {
	page
	Filters filters
	Notes   []note
	Empty   bool // the query finds nothing
	Charts  []chart
	Table   []groupPart
}

// chartBand is the charts over the log.
type chartBand struct {
	Charts []chart
	Larger string // address of the charts' own view
}

// chart is a figure with its caption. Its words say what its picture shows and
// what it leaves out.
type chart struct {
	Name, Title, Unit string
	Keys              []chartKey
	Alt               string
	Picture           *picture // nil where there is nothing to draw
	Notes             []string
	Rows              chartRows // the same as rows of the log; zero where there is no such
}

type chartRows struct{ Word, URL string }

// chartKey explains a shape or a line, and leads to the rows that it stands for.
type chartKey struct {
	Shape, Line string // one of them, by its class
	Word        string
	URL         string // "" for none
}

// picture is an area with its axes. Widths are parts of that of the area, so that
// it fits any window and letters keep their size; heights are pixels.
type picture struct {
	Height  int
	Below   string // where the labels of the lower axis lie
	X, Y    []chartTick
	Upright bool // the ticks of the lower axis have lines
	Bins    template.HTML
	Groups  []markGroup
	Lines   []chartLine
	Labels  []chartLabel
	Ranges  []chartRange
}

// chartTick is a mark of an axis, and where its label lies.
type chartTick struct{ At, LabelAt, Label string }

type markGroup struct {
	Shape string
	Marks template.HTML
}

type chartLine struct{ Class, Path string }

type chartLabel struct{ X, Y, Text, Class string }

// charts is the view's http.Handler.
func (s *site) charts(w http.ResponseWriter, r *http.Request) error {
	if to, ok := tidied(r); ok {
		http.Redirect(w, r, to, http.StatusFound)
		return nil
	}
	v := chartsView{page: s.page(w, r, "charts.title")}
	f, q, problems := s.parseQuery(r)
	c := newCharting(s.Now().Location(), true)
	sc, err := s.look(r.Context(), f, c.add)
	if err != nil {
		return err
	}
	o := &overview{scope: sc}
	v.Filters, v.Notes = newFilters(v.Language, q, o).on("/-/charts"), o.notes(v.Language, q)
	v.Filters.Problems = complain(v.Language, problems)
	if v.Empty = sc.figured == 0; !v.Empty {
		cv := s.canvas(v.Language, q)
		cv.full = true
		v.Charts, v.Table = c.charts(cv), c.table(cv)
	}
	return v.render(w, http.StatusOK, "charts", v)
}

// on makes the form and its links lead to another view than the log.
func (f filters) on(path string) filters {
	f.Action = path
	to := func(address string) string { return path + strings.TrimPrefix(address, "/-/") }
	for i := range f.Bounds {
		f.Bounds[i].URL = to(f.Bounds[i].URL)
	}
	for i := range f.Chips {
		f.Chips[i].Remove = to(f.Chips[i].Remove)
	}
	f.Clear = to(f.Clear)
	return f
}

// canvas is for the band over the log.
func (s *site) canvas(l language, q query) canvas {
	return canvas{l: l, q: q, now: s.Now(), usual: s.baselines()}
}

// rowsOf is the address of the rows with such a name, "" where it is none to make
// an address of.
func (cv canvas) rowsOf(filter, name string) string {
	if name == "" || len(name) > 4*nameRunes {
		return ""
	}
	return cv.q.with(filter, name)
}

// band is drawn from what was gathered.
func (c *charting) band(cv canvas) chartBand {
	return chartBand{c.charts(cv), cv.q.choosing("/-/charts")}
}

// charts are those of the charts' own view, or of the band over the log.
func (c *charting) charts(cv canvas) []chart {
	rates := c.timeChart(cv, timed{"rate", &c.rates, inRates, ""})
	rates.Rows = chartRows{cv.l.say("chart.rows"), cv.q.with("sort", "tokens_per_sec", "order", "asc")}
	if c.rough > 0 {
		rates.Notes = append(rates.Notes, cv.l.number("chart.rough", int64(c.rough)))
	}
	prompts, percentiles := c.promptChart(cv), c.percentileChart(cv)
	if !cv.full {
		return []chart{prompts, rates, percentiles}
	}
	firsts := c.timeChart(cv, timed{"first", &c.firsts, inSeconds, "min_first_token_ms"})
	excess := c.timeChart(cv, timed{"excess", &c.excess, inSeconds, "min_excess_ms"})
	return []chart{prompts, firsts, excess, rates, percentiles}
}

func (cv canvas) newChart(name string) chart {
	return chart{Name: name, Title: cv.l.say("chart." + name), Unit: cv.l.say("chart." + name + ".unit")}
}

func below(height int) string { return strconv.Itoa(height + 15) }

// set is the query with a name set to a value.
func (q query) set(name, value string) query {
	changed := url.Values(maps.Clone(q))
	changed.Set(name, value)
	return query(changed)
}

// atLeast is the query narrowed to values from v on; it is never widened.
func (q query) atLeast(name string, v float64) query {
	if set, err := strconv.ParseFloat(q.get(name), 64); err == nil && set >= v {
		return q
	}
	return q.set(name, strconv.FormatFloat(v, 'f', -1, 64))
}
