package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
)

// modelsView tells what is usual for each model.
type modelsView struct {
	page
	Say    string
	All    string      // address of all models where but some were asked for; "" else
	Lines  []modelLine // all of them side by side; nil for one
	Models []modelPart // the first ones, each at length
}

// modelLine is a model beside the others.
type modelLine struct {
	Name, URL     string // of what is told at length
	Upstream      string
	Floor         quantity
	Prefill       string // of 1,000 tokens, from the first to the last band; "" unknown
	Rate          quantity
	Rows, RowsURL string
}

// modelPart is what is usual for one model.
type modelPart struct {
	ID, Name string
	Under    string // upstream and service tier
	Words    string
	Curve    *curve // nil where too little is known
	Bands    []band
	Facts    []fact
	Rows     string // address of the rows that it was made from; "" for none, as of the next
	Slow     string // of those that took longer than is usual
	Charts   string // of their charts
}

// band is a stretch of prompts of which each token costs the same.
type band struct {
	Tokens string // from and to
	Cost   string // of 1,000
	Speed  string // tokens a second
	Wait   string // for a prompt at its end
}

// partsMost is how many models are told at length on one page.
const partsMost = 24

func (s *site) models(w http.ResponseWriter, r *http.Request) error {
	v := modelsView{page: s.page(w, r, "models.title")}
	_, q, _ := s.parseQuery(r)
	all := s.baselines()
	chosen := slices.DeleteFunc(slices.Clone(all), func(b *diagnosis.Baseline) bool {
		return q.get("model") != "" && q.get("model") != b.Model || q.get("upstream") != "" && q.get("upstream") != b.Upstream
	})
	if len(chosen) < len(all) {
		v.All = "/-/models"
	}
	v.fill(chosen)
	return v.render(w, http.StatusOK, "models", v)
}

// baselines are those of this moment, the one that rests on most first.
func (s *site) baselines() []*diagnosis.Baseline {
	if s.Models == nil {
		return nil
	}
	all := s.Models()
	slices.SortStableFunc(all, func(a, b *diagnosis.Baseline) int { return cmp.Compare(b.Rows, a.Rows) })
	return all
}

func (v *modelsView) fill(all []*diagnosis.Baseline) {
	l := v.Language
	v.Say = l.number("models.known", int64(len(all)))
	for i, b := range all {
		id := "model-" + strconv.Itoa(i+1)
		if len(all) > 1 {
			v.Lines = append(v.Lines, newModelLine(b, modelAddress(b, id, i)))
		}
		if i < partsMost {
			v.Models = append(v.Models, newModelPart(l, b, id))
		}
	}
}

// modelAddress leads to what is told of the model with this number at length.
func modelAddress(b *diagnosis.Baseline, id string, i int) string {
	if i < partsMost {
		return "#" + id
	}
	return address("/-/models", url.Values{"upstream": {b.Upstream}, "model": {b.Model}})
}

func newModelLine(b *diagnosis.Baseline, to string) modelLine {
	line := modelLine{
		Name: plain(b.Model, nameRunes), URL: to, Upstream: plain(b.Upstream, nameRunes),
		Rate: rate(medianRate(b), ""), Rows: strconv.Itoa(b.Rows), RowsURL: rowsURL(b),
	}
	if c := b.Curve; c != nil {
		line.Floor, line.Prefill = seconds(&c.Floor), costs(c)
	}
	return line
}

func newModelPart(l language, b *diagnosis.Baseline, id string) modelPart {
	p := modelPart{
		ID: id, Name: plain(b.Model, nameRunes), Under: l.say("part.upstream", plain(b.Upstream, nameRunes)),
		Words: b.Words(string(l)), Facts: modelFacts(l, b), Rows: rowsURL(b),
	}
	if q, ok := rowsOf(b); ok {
		p.Slow, p.Charts = q.with("min_excess_ms", "1000", "sort", "excess_ms"), q.choosing("/-/charts")
	}
	if b.ServiceTier != "" {
		p.Under = l.list([]string{p.Under, l.say("models.tier", plain(b.ServiceTier, nameRunes))})
	}
	if b.Curve != nil {
		p.Curve, p.Bands = newCurve(l, b.Curve), bandsOf(b.Curve)
	}
	return p
}

// rowsOf chooses a model's rows of the time that its baseline looks back to; ok is
// false for a name that no address should be made of.
func rowsOf(b *diagnosis.Baseline) (q query, ok bool) {
	return query{"from": {"-7d"}, "upstream": {b.Upstream}, "model": {b.Model}}, len(b.Model)+len(b.Upstream) <= 4*nameRunes
}

// rowsURL is their address, "" for none.
func rowsURL(b *diagnosis.Baseline) string {
	if q, ok := rowsOf(b); ok {
		return q.with()
	}
	return ""
}

func modelFacts(l language, b *diagnosis.Baseline) []fact {
	var all []fact
	add := func(name, value, aside string) {
		all = append(all, fact{Name: l.say("usual." + name), Value: value, Aside: aside})
	}
	if c := b.Curve; c != nil {
		add("floor", figure.Duration(&c.Floor), "")
		if c.PerCached != nil {
			add("cached", figure.Duration(new(1000**c.PerCached)), "")
		}
		add("error", "± "+figure.Percent(c.Error), "")
	}
	if r := medianRate(b); r != nil {
		add("rate", figure.Rate(r, ""), l.say("usual.median", strconv.Itoa(b.Rates)))
		add("tpot", figure.Duration(b.TPOT), "")
	}
	if b.TokensPerSec != nil {
		add("pooled", figure.Rate(b.TokensPerSec, ""), l.say("usual.all"))
	}
	add("rows", strconv.Itoa(b.Rows), fastRows(l, b.Curve))
	all[len(all)-1].URL = rowsURL(b)
	add("left", strconv.Itoa(leftOut(b)), "")
	return all
}

func fastRows(l language, c *diagnosis.Curve) string {
	if c == nil {
		return ""
	}
	return l.say("usual.fast", strconv.Itoa(c.Fast))
}

// leftOut is how many exchanges a baseline does not rest on, for any reason.
func leftOut(b *diagnosis.Baseline) int {
	n := 0
	for _, count := range b.LeftOut {
		n += count
	}
	return n
}

// medianRate is how many tokens a second are usual, nil where that is unknown.
func medianRate(b *diagnosis.Baseline) *float64 {
	if b.TPOT == nil || *b.TPOT <= 0 {
		return nil
	}
	return new(1 / b.TPOT.Seconds())
}

func bandsOf(c *diagnosis.Curve) []band {
	var all []band
	for i := 1; i < len(c.Knots); i++ {
		from, to := c.Knots[i-1], c.Knots[i]
		b := band{
			Tokens: figure.Count(&from.Tokens) + " – " + figure.Count(&to.Tokens),
			Cost:   figure.Duration(new(costOf1000(from, to))),
			Speed:  figure.Unknown,
			Wait:   figure.Duration(new(c.Floor + to.Prefill)),
		}
		if took := to.Prefill - from.Prefill; took > 0 {
			b.Speed = figure.Decimal(float64(to.Tokens-from.Tokens)/took.Seconds(), 0)
		}
		all = append(all, b)
	}
	return all
}

// costOf1000 is what 1,000 tokens between two knots cost.
func costOf1000(from, to diagnosis.Knot) time.Duration {
	return time.Duration(1000 * float64(to.Prefill-from.Prefill) / float64(to.Tokens-from.Tokens))
}

// costs are those of 1,000 tokens, of the cheapest and of the dearest.
func costs(c *diagnosis.Curve) string {
	bands := bandsOf(c)
	first, last := bands[0].Cost, bands[len(bands)-1].Cost
	if first == last {
		return first
	}
	return first + " – " + last
}
