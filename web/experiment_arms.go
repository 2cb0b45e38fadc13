package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// armShapes are the marks of the arms, in their order. With more arms they come
// round again: names stand beside them wherever that matters.
var armShapes = []string{"s3", "s0", "s2", "mixed", "s1", "s4"}

func armShape(arm int) string { return armShapes[arm%len(armShapes)] }

// armLine says what an arm is.
type armLine struct{ Shape, Name, Words string }

// armTable is what each arm came to, the first token on one axis.
type armTable struct {
	Ticks []chartTick
	Rows  []armRow
}

// armRow is the medians of an arm.
type armRow struct {
	Shape, Name string
	Answered    string // of those sent
	TTFT        armCell
	Plot        whisker
	Cells       []armCell
}

// armCell is a median and its interval.
type armCell struct {
	Word, Value string
	Range       string // "" with too few to tell
}

// whisker is a figure and its interval on an axis.
type whisker struct {
	Ticks         []chartTick
	At, Low, High string // places; At is "" for an unknown figure, the others with it and with too few to tell
	Open          bool   // nothing is settled by it
	Zero          string // place of a mark; "" for none
	Alt           string
}

// failureRow is one way in which requests of an arm failed.
type failureRow struct {
	Shape, Name string
	Outcome     string
	Status      string // "" where there was none
	Count       string
	URL         string // of those in the log
}

// arms say in words what is compared.
func (e reported) arms() (all []armLine) {
	for i, a := range e.Arms {
		var parts []string
		if len(e.Models) > 1 {
			parts = append(parts, plain(a.Model, nameRunes))
		}
		if len(e.Upstreams) > 1 {
			parts = append(parts, e.l.say("part.upstream", plain(a.Upstream, nameRunes)))
		}
		parts = append(parts, e.l.say("experiment.arm", figure.Count(&a.PromptTokens), figure.Count(&a.OutputTokens)))
		if a.AtOnce > 1 {
			parts = append(parts, e.l.say("experiment.at_once", strconv.Itoa(a.AtOnce)))
		}
		all = append(all, armLine{armShape(i), e.name(i), e.l.list(parts)})
	}
	return all
}

// result is the medians of the arms. The axis begins at 0.
func (e reported) result() (t armTable) {
	most := int64(0)
	for _, a := range e.Arms {
		if a.TTFT != nil {
			most = max(most, fromMS(a.TTFT.At))
		}
		if a.TTFT != nil && a.TTFT.High != nil {
			most = max(most, fromMS(*a.TTFT.High))
		}
	}
	x := newAxis([]int64{0, most}, inSeconds.least)
	t.Ticks = ticksOn(x, inSeconds)
	for i, a := range e.Arms {
		t.Rows = append(t.Rows, e.armRow(i, a, x, t.Ticks))
	}
	return t.without()
}

func (e reported) armRow(i int, a experiment.ArmReport, x axis, ticks []chartTick) armRow {
	row := armRow{
		Shape: armShape(i), Name: e.name(i), Answered: e.l.say("experiment.of", strconv.Itoa(a.Answered), strconv.Itoa(a.Sent)),
		TTFT: e.cell("column.ttft", a.TTFT, inMillis),
	}
	row.Plot = whisker{Ticks: ticks, Alt: row.TTFT.Value + " " + row.TTFT.Range}
	if a.TTFT != nil {
		row.Plot.place(x, *a.TTFT, fromMS)
	}
	for _, c := range []struct {
		word string
		of   *experiment.Estimate
		as   func(float64) string
	}{
		{"phase.wait", a.Wait, inMillis}, {"phase.network", a.Network, inMillis}, {"phase.queue", a.Queue, inMillis}, {"phase.prefill", a.Prefill, inMillis},
		{"column.total", a.Total, inMillis}, {"column.rate", a.Rate, inTokensPerSec},
		{"column.prompt", a.Prompt, inCount}, {"column.cached", a.Cached, inCount}, {"column.output", a.Output, inCount},
	} {
		row.Cells = append(row.Cells, e.cell(c.word, c.of, c.as))
	}
	return row
}

func (e reported) cell(word string, of *experiment.Estimate, as func(float64) string) armCell {
	c := armCell{Word: e.l.say(word)}
	if of != nil {
		c.Value, c.Range = as(of.At), e.l.interval(*of, as)
	}
	return c
}

// without leaves out the columns that no arm has a figure for.
func (t armTable) without() armTable {
	for c := len(t.Rows[0].Cells) - 1; c >= 0; c-- {
		if slices.ContainsFunc(t.Rows, func(r armRow) bool { return r.Cells[c].Value != "" }) {
			continue
		}
		for i := range t.Rows {
			t.Rows[i].Cells = slices.Delete(t.Rows[i].Cells, c, c+1)
		}
	}
	return t
}

// place sets a figure and its interval on an axis.
func (w *whisker) place(x axis, of experiment.Estimate, unit func(float64) int64) {
	at := func(v float64) string { return percentAt(x.share(unit(v))) }
	w.At = at(of.At)
	if of.Low != nil {
		w.Low, w.High = at(*of.Low), at(*of.High)
	}
}

// ticksOn are the marks of an axis from left to right, the last with its unit.
func ticksOn(x axis, u unit) (all []chartTick) {
	for _, v := range x.ticks(x.step(u.ticks)) {
		at := percentAt(x.share(v))
		all = append(all, chartTick{at, at, u.tick(v, x)})
	}
	if n := len(all); n > 0 {
		all[n-1].Label += u.sign(x)
	}
	return all
}

// interval is that of an estimate in words, one unit for both ends where it is one,
// "" with too few to tell.
func (l language) interval(of experiment.Estimate, as func(float64) string) string {
	if of.Low == nil {
		return ""
	}
	low, high := as(*of.Low), as(*of.High)
	if _, unit, ok := strings.Cut(high, " "); ok {
		low = strings.TrimSuffix(low, " "+unit)
	}
	return l.say("experiment.range", low, high)
}

func fromMS(ms float64) int64 { return int64(ms * float64(time.Millisecond)) }

func inMillis(ms float64) string { return figure.Duration(new(milli(ms))) }

func inTokensPerSec(v float64) string { return figure.Rate(&v, "") }

func inCount(v float64) string { return figure.Decimal(v, 0) }

// failures are what went wrong, arm by arm. A rate limit is told apart.
func (e reported) failures() (all []failureRow) {
	for i, a := range e.Arms {
		of := a.Failures
		if a.RateLimited > 0 {
			limited := experiment.Failure{Outcome: exchange.UpstreamError, Status: new(int64(http.StatusTooManyRequests)), Count: a.RateLimited}
			of = append(slices.Clone(of), limited)
		}
		for _, f := range of {
			all = append(all, e.failure(i, f))
		}
	}
	return all
}

func (e reported) failure(arm int, f experiment.Failure) failureRow {
	row := failureRow{
		Shape: armShape(arm), Name: e.name(arm), Outcome: e.l.value("outcome.", string(f.Outcome)), Count: strconv.Itoa(f.Count),
		URL: query(url.Values{"experiment": {e.ID}}).with("outcome", string(f.Outcome)),
	}
	if f.Status != nil {
		row.Status = strconv.FormatInt(*f.Status, 10)
		if *f.Status == http.StatusTooManyRequests {
			row.Outcome = e.l.say("experiment.limited")
		}
	}
	return row
}
