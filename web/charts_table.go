package web

import (
	"slices"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// groupPart is what the exchanges come to by model, by upstream or by hour.
type groupPart struct {
	Title string
	Rows  []groupRow
	Notes []string
}

type groupRow struct {
	canvas
	pairs     []string // of the filter that leads to it, nil for none
	Name, URL string
	Cells     []groupCell
	Failed    []groupCell // by outcome
}

// groupCell is a figure with the rows behind it, URL being "" where no filter
// leads to them.
type groupCell struct {
	Name string
	quantity
	URL string
}

// groupsMost is how many rows a part has.
const groupsMost = 24

func (c *charting) table(cv canvas) []groupPart {
	return []groupPart{
		{Rows: []groupRow{c.all.row(cv, cv.l.say("charts.all"), []string{})}},
		c.models.part(cv, "model"), c.upstreams.part(cv, "upstream"), c.hourPart(cv),
	}
}

// part is the groups that a filter of that name tells apart, the largest first.
func (gs groups) part(cv canvas, filter string) groupPart {
	p := groupPart{Title: cv.l.say("charts.by." + filter)}
	for _, g := range gs.most(groupsMost) {
		var pairs []string
		if cv.rowsOf(filter, g.name) != "" {
			pairs = []string{filter, g.name}
		}
		p.Rows = append(p.Rows, g.row(cv, plain(g.name, nameRunes), pairs))
	}
	if more := len(gs) - groupsMost; more > 0 {
		p.Notes = append(p.Notes, cv.l.number("chart.more", int64(more)))
	}
	return p
}

// hourPart is the hours of the day. One that occurs on several days has no filter
// that leads to it.
func (c *charting) hourPart(cv canvas) groupPart {
	p := groupPart{Title: cv.l.say("charts.by.hour", zone(cv.now))}
	for hour := range c.hours {
		g := &c.hours[hour]
		if g.n == 0 {
			continue
		}
		var pairs []string
		if begin := hourOf(g.oldest, c.zone); hourOf(g.newest, c.zone).Equal(begin) {
			pairs = []string{"from", begin.UTC().Format(time.RFC3339), "to", begin.Add(time.Hour).UTC().Format(time.RFC3339)}
		} else {
			p.Notes = []string{cv.l.say("charts.days")}
		}
		p.Rows = append(p.Rows, g.row(cv, begin(hour), pairs))
	}
	return p
}

// begin is when an hour of the day begins.
func begin(hour int) string { return time.Time{}.Add(time.Duration(hour) * time.Hour).Format("15:04") }

// hourOf is where the hour begins, by the clocks of a zone.
func hourOf(at time.Time, zone *time.Location) time.Time {
	at = at.In(zone)
	return at.Add(-time.Duration(at.Minute())*time.Minute - time.Duration(at.Second())*time.Second - time.Duration(at.Nanosecond()))
}

// row is a group's. The pairs are the filter that leads to it; nil for none.
func (g *group) row(cv canvas, name string, pairs []string) groupRow {
	r := groupRow{canvas: cv, pairs: pairs, Name: name}
	r.URL = r.to()
	r.add("requests", quantity{Value: countOf(g.n)})
	p95 := quantileOf(g.firsts, 0.95)
	r.add("ttft50", nanoseconds(quantileOf(g.firsts, 0.5)), "sort", "first_token_ms", "order", "")
	r.add("ttft95", nanoseconds(p95), slices.Concat(slower(cv.q, p95), []string{"sort", "first_token_ms", "order", ""})...)
	r.add("rate", rate(g.pooled.rate(), ""), "sort", "tokens_per_sec", "order", "asc")
	r.add("total50", nanoseconds(quantileOf(g.totals, 0.5)), "sort", "total_ms", "order", "")
	r.add("total95", nanoseconds(quantileOf(g.totals, 0.95)), "sort", "total_ms", "order", "")
	for _, o := range exchange.Outcomes {
		if n := g.failed[o]; n > 0 {
			r.Failed = append(r.Failed, groupCell{cv.l.say("tag." + ends[o]), quantity{Value: countOf(n)}, r.to("outcome", string(o))})
		}
	}
	return r
}

// add puts a figure beside the others; more leads from the group's rows to those
// behind it.
func (r *groupRow) add(name string, q quantity, more ...string) {
	c := groupCell{Name: name, quantity: q}
	if q.Value != "" {
		c.URL = r.to(more...)
	}
	r.Cells = append(r.Cells, c)
}

// to is the address of the group's rows, "" where no filter leads to them.
func (r *groupRow) to(more ...string) string {
	if r.pairs == nil {
		return ""
	}
	return r.q.with(slices.Concat(r.pairs, more)...)
}

// slower is the filter for those with such a TTFT or more.
func slower(q query, first *int64) []string {
	if first == nil {
		return nil
	}
	const name = "min_first_token_ms"
	return []string{name, q.atLeast(name, float64(*first)/1e6).get(name)}
}

func nanoseconds(n *int64) quantity {
	if n == nil {
		return quantity{}
	}
	return seconds(new(time.Duration(*n)))
}
