package web

import (
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// crowd is n exchanges of a long log in short: four models, an hour of silence in
// each six, and long tails.
func crowd(n int) []brief {
	random := rand.New(rand.NewPCG(1, 2))
	all := make([]brief, n)
	for i := range all {
		uncached := int64(200 + random.ExpFloat64()*4000)
		first := time.Duration(float64(800+uncached/12)*(1+random.ExpFloat64()/4)) * time.Millisecond
		output := int64(20 + random.ExpFloat64()*400)
		perSec := 40 + 10*random.NormFloat64()
		span := time.Duration(float64(output) / perSec * float64(time.Second))
		all[i] = brief{Total: new(first + span), Uncached: &uncached, Output: &output, Rate: &perSec, RateQuality: "fair", Delivery: exchange.Streamed}
		b := &all[i]
		b.ID, b.Model, b.Upstream = fmt.Sprintf("01JZ%022d", i), fmt.Sprintf("model-%d", min(3, i%7)), "default"
		b.StartedAt = noon.Add(-time.Duration(n-i) * 15 * time.Second).UTC()
		b.Bound, b.Outcome = exchange.Bounds[i%len(exchange.Bounds)], exchange.OK
		b.FirstToken, b.PromptTokens, b.Excess = &first, new(uncached+8000), new(first-time.Second)
		b.spent[networkAt], b.spent[decodeAt] = 50*time.Millisecond, span
	}
	return all
}

// BenchmarkCharts is the band over the log, and the charts' own view.
func BenchmarkCharts(b *testing.B) {
	for _, n := range []int{marksMost, recentMost} {
		all := crowd(n)
		for _, full := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d/full=%v", n, full), func(b *testing.B) {
				cv := canvas{l: english, q: query{}, now: noon, full: full, usual: []*diagnosis.Baseline{steep("model-3")}}
				for b.Loop() {
					c := newCharting(noon.Location(), full)
					for i := range all {
						c.add(&all[i])
					}
					c.charts(cv)
					if full {
						c.table(cv)
					}
				}
			})
		}
	}
}

// BenchmarkChartsAsHTML is writing the charts with the most marks.
func BenchmarkChartsAsHTML(b *testing.B) {
	c := newCharting(noon.Location(), false)
	for _, one := range crowd(marksMost) {
		c.add(&one)
	}
	charts := c.charts(canvas{l: english, q: query{}, now: noon})
	view := readPages(readAssets())[english]()["charts"]
	for b.Loop() {
		if err := view.ExecuteTemplate(io.Discard, "charts", charts); err != nil {
			b.Fatal(err)
		}
	}
}

// steep is the baseline of a model each token of whose long prompts costs more.
func steep(model string) *diagnosis.Baseline {
	return &diagnosis.Baseline{
		Upstream: "default", Model: model, Rows: 40,
		Curve: &diagnosis.Curve{
			Floor: 800 * time.Millisecond, Least: 200, Most: 40_000, Fast: 30, Error: 0.1,
			Knots: []diagnosis.Knot{{}, {Tokens: 10_000, Prefill: 800 * time.Millisecond}, {Tokens: 40_000, Prefill: 4 * time.Second}},
		},
	}
}
