package web

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// promptChart is TTFT over the tokens that no cache had, by bound, with what is
// usual for the models.
func (c *charting) promptChart(cv canvas) chart {
	ch := cv.newChart("prompt")
	if c.prompts.len() > 0 {
		d := &drawing{
			canvas: cv, cloud: &c.prompts, xUnit: inTokens, yUnit: inSeconds,
			x: newAxis(c.prompts.xs, inTokens.least), y: newAxis(c.prompts.ys, inSeconds.least),
		}
		d.rows = d.atLeast
		d.tellBounds()
		ch = d.chart("prompt")
		c.usual(d, &ch)
	}
	ch.Notes = append(ch.Notes, c.leftOut(cv.l)...)
	ch.Rows = chartRows{cv.l.say("chart.rows"), cv.q.with("sort", "first_token_ms", "order", "")}
	return ch
}

// tellBounds gives each of the bounds that occur the shape of its tag.
func (d *drawing) tellBounds() {
	d.place = map[int32]int{}
	for i, b := range exchange.Bounds {
		if name := string(b); slices.Contains(d.cloud.kinds, int32(i)) {
			d.place[int32(i)] = len(d.kinds)
			d.kinds = append(d.kinds, markKind{name, d.l.say("bound." + name), d.q.with("bound", name)})
		}
	}
}

// atLeast chooses the exchanges that are at least as long and as slow as those of
// a bin. Filters know no more of it, and of prompts the whole length alone.
func (d *drawing) atLeast(left, bottom int64) query {
	q := d.q
	if left > d.x.lo {
		q = q.atLeast("min_prompt_tokens", float64(left))
	}
	if bottom > d.y.lo {
		q = q.atLeast("min_first_token_ms", float64(bottom)/1e6)
	}
	return q
}

// leftOut says which exchanges are not among the prompts.
func (c *charting) leftOut(l language) []string {
	var whys []string
	for _, why := range leftOuts {
		if n := c.left[why]; n > 0 {
			whys = append(whys, l.say("chart.left."+why, countOf(n)))
		}
	}
	if len(whys) == 0 {
		return nil
	}
	return []string{l.say("chart.left", l.list(whys))}
}

const (
	usualMost  = 3  // lines
	usualShare = 10 // a model with fewer than one in so many marks has none
)

// usualLine is what a model's prompts cost when nothing delays them.
type usualLine struct {
	*diagnosis.Baseline
	network time.Duration // its usual time, which a TTFT has and a baseline has not
}

// fixed is what the shortest prompt costs.
func (u usualLine) fixed() time.Duration { return u.Curve.Floor + u.network }

// usual draws what is usual for the models of the chart, or says why that cannot
// be told.
func (c *charting) usual(d *drawing, ch *chart) {
	lines, why := c.usualLines(d)
	for i, u := range lines {
		class := "usual " + lineClass(i)
		ch.Keys = append(ch.Keys, chartKey{
			Line: class,
			Word: d.l.say("chart.usual", plain(u.Model, nameRunes), u.formula(), countOf(u.Rows)),
			URL:  d.rowsOf("model", u.Model),
		})
		if d.full {
			ch.Notes = append(ch.Notes, d.l.say("chart.told", plain(u.Model, nameRunes), u.Words(string(d.l)), trimmed(u.network)))
		}
		if line := clip(envelope(u.Curve, u.fixed()), d.x, d.y); len(line) > 1 {
			text := u.formula()
			if len(lines) > 1 {
				text = plain(u.Model, labelRunes)
			}
			ch.Picture.Lines = append(ch.Picture.Lines, chartLine{class, d.outline(line)})
			ch.Picture.Labels = append(ch.Picture.Labels, d.label(line, i, text))
		}
	}
	if why != "" {
		ch.Notes = append(ch.Notes, d.l.say("chart.unusual", why))
	}
}

// labelRunes is how long a name in a picture is.
const labelRunes = 18

// usualLines are those of the models with the most marks, or why there is none.
func (c *charting) usualLines(d *drawing) (lines []usualLine, why string) {
	models := slices.SortedFunc(maps.Keys(c.networks), func(a, b served) int {
		return cmp.Or(cmp.Compare(len(c.networks[b]), len(c.networks[a])), cmp.Compare(a.model, b.model), cmp.Compare(a.upstream, b.upstream))
	})
	for i, m := range models[:min(len(models), usualMost)] {
		networks := c.networks[m]
		b := usualOf(d.canvas.usual, m)
		if b != nil && b.Curve != nil && (i == 0 || len(networks)*usualShare >= d.len()) {
			lines = append(lines, usualLine{b, time.Duration(*quantileOf(networks, 0.5))})
		} else if i == 0 {
			why = missing(d.l, b)
		}
	}
	if len(lines) > 0 {
		why = ""
	}
	return lines, why
}

// usualOf is a model's baseline, that of the service tier with the most
// exchanges, which come first; nil where there is none.
func usualOf(all []*diagnosis.Baseline, m served) *diagnosis.Baseline {
	for _, b := range all {
		if b.Upstream == m.upstream && b.Model == m.model {
			return b
		}
	}
	return nil
}

// missing says what a baseline lacks for a line.
func missing(l language, b *diagnosis.Baseline) string {
	if b == nil {
		return l.say("chart.unusual.unknown")
	}
	return inSentences(b.Words(string(l))).Lead
}

// formula is the line in short: its start and what a thousand tokens cost, the
// first of them and the last.
func (u usualLine) formula() string {
	knots := u.Curve.Knots
	n := len(knots)
	return trimmed(u.fixed()) + " + " + both(costOf1000(knots[0], knots[1]), costOf1000(knots[n-2], knots[n-1])) + " / 1k"
}

// both are two costs with one unit, or one where they are told alike.
func both(least, most time.Duration) string {
	a, b := cost(least), cost(most)
	if a == b {
		return a
	}
	_, unit, _ := strings.Cut(b, " ")
	return strings.TrimSuffix(a, " "+unit) + "–" + b
}

// cost is a duration in milliseconds up to a second.
func cost(d time.Duration) string {
	switch ms := d.Seconds() * 1e3; {
	case ms < 9.95:
		return short(ms, 1) + " ms"
	case ms < 999.5:
		return short(ms, 0) + " ms"
	}
	return trimmed(d)
}

// trimmed is a duration with at most three digits and no zeros at their end.
func trimmed(d time.Duration) string {
	switch s := d.Seconds(); {
	case s < 0.0995:
		return cost(d)
	case s < 9.995:
		return short(s, 2) + " s"
	default:
		return short(s, 1) + " s"
	}
}

// label is beside a line: on the upper side of a long one, behind the end of a
// short one.
func (d *drawing) label(line []vertex, i int, text string) chartLabel {
	at, class, lift := line[len(line)-1], "key", -4.0
	if d.x.share(at.x) > 0.45 {
		at, class, lift = along(line, 0.62-0.18*float64(i)), "key before", -6
	}
	return chartLabel{X: percentAt(d.x.share(at.x)), Y: short(d.up(at.y)+lift, 1), Text: text, Class: class}
}
