package web

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// anyBriefs are exchanges that some figures of may be unknown, and their charts.
func anyBriefs(t *rapid.T) []brief {
	maybe := func(name string, n int64) *int64 {
		if rapid.IntRange(0, 9).Draw(t, name+"?") == 0 {
			return nil
		}
		v := rapid.Int64Range(0, n).Draw(t, name)
		if rapid.IntRange(0, 60).Draw(t, name+"!") == 0 {
			v *= 1000
		}
		return &v
	}
	all := make([]brief, rapid.IntRange(1, 60).Draw(t, "n"))
	for i := range all {
		b := &all[i]
		b.ID = fmt.Sprintf("id-%02d", i)
		b.StartedAt = noon.Add(-time.Duration(rapid.Int64Range(0, int64(3*day)).Draw(t, "ago")))
		b.Model = rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", ""}).Draw(t, "model")
		b.Bound = rapid.SampledFrom(exchange.Bounds).Draw(t, "bound")
		b.Delivery = rapid.SampledFrom([]exchange.Delivery{exchange.Streamed, exchange.Streamed, exchange.Pseudo}).Draw(t, "delivery")
		b.Outcome = exchange.OK
		b.Uncached, b.FirstToken = maybe("uncached", 90_000), (*time.Duration)(maybe("first", int64(9*time.Second)))
		if b.Uncached != nil {
			b.PromptTokens = new(*b.Uncached + 500)
		}
		if b.FirstToken != nil {
			b.Excess = new(*b.FirstToken - 4*time.Second)
			b.Total = new(2 * *b.FirstToken)
		}
		if n := maybe("output", 900); n != nil {
			b.Output, b.Rate = n, new(float64(*n)/7)
		}
	}
	return all
}

func gathered(all []brief) *charting {
	c := newCharting(noon.Location(), true)
	for i := range all {
		c.add(&all[i])
	}
	return c
}

func onCanvas(q query) canvas { return canvas{l: english, q: q, now: noon, full: true} }

var linkTo = regexp.MustCompile(`<a href="([^"]*)"`)

// linksOf are the addresses of a picture's marks or bins.
func linksOf(p *picture) (all []string) {
	if p == nil {
		return nil
	}
	text := string(p.Bins)
	for _, g := range p.Groups {
		text += string(g.Marks)
	}
	for _, m := range linkTo.FindAllStringSubmatch(text, -1) {
		all = append(all, html.UnescapeString(m[1]))
	}
	return all
}

func TestEveryExchangeIsOneMarkOrSaidToBeLeftOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := anyBriefs(t)
		c := gathered(all)
		left := 0
		for _, n := range c.left {
			left += n
		}
		charts := c.charts(onCanvas(query{}))
		for _, ch := range charts[:4] {
			links := linksOf(ch.Picture)
			seen := map[string]bool{}
			for _, l := range links {
				seen[l] = true
			}
			if len(seen) != len(links) {
				t.Fatalf("%s has two marks of one exchange: %v", ch.Name, links)
			}
			if ch.Name == "prompt" && len(links)+left != len(all) {
				t.Fatalf("%d marks and %d left out of %d", len(links), left, len(all))
			}
			if ch.Name == "first" && len(links) != c.firsts.len() || ch.Name == "excess" && len(links) != c.excess.len() || ch.Name == "rate" && len(links) != c.rates.len() {
				t.Fatalf("%s has %d marks", ch.Name, len(links))
			}
		}
	})
}

func TestEveryMarkIsInOneBinWhichCountsIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := gathered(anyBriefs(t))
		for _, marks := range []*cloud{&c.prompts, &c.firsts, &c.excess, &c.rates} {
			if marks.len() == 0 {
				continue
			}
			x, y := newAxis(marks.xs, 10), newAxis(marks.ys, 1)
			g := marks.count(x, y, 60, 25)
			counts := map[[2]int64]int{}
			for i := range marks.xs {
				counts[[2]int64{x.cell(marks.xs[i], g.width), y.cell(marks.ys[i], g.height)}]++
			}
			for _, b := range g.bins {
				if counts[[2]int64{b.column, b.row}] != b.n || b.n > g.most || g.shade(b) < 1 || g.shade(b) > binShades {
					t.Fatalf("bin %+v in shade %d of %v", b, g.shade(b), counts)
				}
			}
			if len(counts) != len(g.bins) {
				t.Fatalf("%d bins for %d cells", len(g.bins), len(counts))
			}
		}
	})
}

// marksOf are the marks that lie in a bin, by number.
func marksOf(d *drawing, g grid, b bin) (numbers []int) {
	for i := range d.xs {
		if d.x.cell(d.xs[i], g.width) == b.column && d.y.cell(d.ys[i], g.height) == b.row {
			numbers = append(numbers, i)
		}
	}
	return numbers
}

func TestABinLeadsToEachOfItsExchanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := anyBriefs(t)
		byID := map[string]*store.Subject{}
		for i := range all {
			byID[all[i].ID] = &all[i].Subject
		}
		c := gathered(all)
		q := query{"min_first_token_ms": {"0"}}
		prompts := &drawing{canvas: onCanvas(q), cloud: &c.prompts, x: newAxis(c.prompts.xs, 10), y: newAxis(c.prompts.ys, inSeconds.least)}
		prompts.rows = prompts.atLeast
		firsts := &drawing{canvas: onCanvas(q), cloud: &c.firsts, x: newTimeAxis(c.firsts.xs, c.zone), y: newAxis(c.firsts.ys, inSeconds.least)}
		firsts.rows = func(left, bottom int64) query { return firsts.since(left, bottom, "min_first_token_ms") }
		excess := &drawing{canvas: onCanvas(q), cloud: &c.excess, x: newTimeAxis(c.excess.xs, c.zone), y: newAxis(c.excess.ys, inSeconds.least)}
		excess.rows = func(left, bottom int64) query { return excess.since(left, bottom, "min_excess_ms") }
		for name, d := range map[string]*drawing{"prompts": prompts, "firsts": firsts, "excess": excess} {
			columns, rows := d.cells()
			g := d.count(d.x, d.y, columns, rows)
			for _, b := range g.bins {
				left, _ := d.x.edges(b.column, g.width)
				bottom, _ := d.y.edges(b.row, g.height)
				asked, err := url.Parse(d.rows(left, bottom).with())
				if err != nil {
					t.Fatal(err)
				}
				f, problems := store.ParseFilter(asked.Query(), noon)
				if problems != nil {
					t.Fatalf("%s: %v", asked, problems)
				}
				misfit := f.Misfit()
				for _, i := range marksOf(d, g, b) {
					if n, why := misfit(byID[d.origins[i].id]); n > 0 {
						t.Fatalf("%s: %s leaves out one of its bin by %s", name, asked, why)
					}
				}
			}
		}
	})
}

func TestAViewIsNeverWidenedByABin(t *testing.T) {
	q := query{"min_prompt_tokens": {"5000"}, "min_first_token_ms": {"10"}}
	d := &drawing{canvas: onCanvas(q), x: axis{hi: 100_000}, y: axis{hi: int64(time.Second)}}
	got := d.atLeast(2000, int64(500*time.Millisecond))
	if got.get("min_prompt_tokens") != "5000" || got.get("min_first_token_ms") != "500" {
		t.Errorf("%v", got)
	}
}

func TestTooManyMarksAreCountedByCells(t *testing.T) {
	for _, n := range []int{marksMost, marksMost + 1} {
		all := crowd(n)
		for i := range all {
			all[i].RateQuality, all[i].Output = "fair", new(int64(100))
		}
		charts := gathered(all).charts(onCanvas(query{}))
		for _, ch := range charts[:4] {
			binned := n > marksMost
			if (ch.Picture.Bins != "") != binned || (ch.Picture.Groups != nil) == binned {
				t.Errorf("%d: %s has bins %v, marks %v", n, ch.Name, ch.Picture.Bins != "", ch.Picture.Groups != nil)
			}
			if said := strings.Contains(strings.Join(ch.Notes, " "), "Too many for marks"); said != binned {
				t.Errorf("%d: %s says that there are too many: %v", n, ch.Name, said)
			}
			sum := 0
			for _, m := range regexp.MustCompile(`<title>([0-9,]+) requests? ·`).FindAllStringSubmatch(string(ch.Picture.Bins), -1) {
				var k int
				fmt.Sscan(strings.ReplaceAll(m[1], ",", ""), &k)
				sum += k
			}
			if binned && sum != n {
				t.Errorf("the bins of %s count %d of %d", ch.Name, sum, n)
			}
		}
	}
}

func TestOneAndAllEqualMarksAreDrawn(t *testing.T) {
	for _, n := range []int{1, 12} {
		all := crowd(n)
		for i := range all {
			b := &all[i]
			b.Output, b.StartedAt, b.FirstToken, b.Uncached, b.Excess, b.Total = new(int64(100)), noon, new(time.Duration(0)), new(int64(0)), new(time.Duration(0)), new(time.Duration(0))
		}
		for _, ch := range gathered(all).charts(onCanvas(query{})) {
			text := fmt.Sprintf("%+v", ch.Picture)
			if ch.Picture == nil || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
				t.Errorf("%d: %s is %s", n, ch.Name, text)
			}
		}
	}
}

func TestWhatIsCutIsSaid(t *testing.T) {
	all := crowd(100)
	for i := range all {
		all[i].FirstToken, all[i].Uncached = new(time.Second), new(int64(1000))
	}
	all[7].FirstToken = new(10 * time.Minute)
	ch := gathered(all).charts(onCanvas(query{}))[0]
	if want := "1 beyond the scale, drawn at its edge: up to 600.0 s."; !strings.Contains(strings.Join(ch.Notes, "\n"), want) {
		t.Errorf("%q, want %q", ch.Notes, want)
	}
	if n := len(linksOf(ch.Picture)); n != 100 {
		t.Errorf("%d marks", n)
	}
}

func TestABinAtTheEdgeSaysThatItHasWhatLiesBeyond(t *testing.T) {
	all := crowd(marksMost + 1)
	for i := range all {
		all[i].FirstToken, all[i].Uncached = new(time.Second), new(int64(1000))
	}
	all[7].FirstToken, all[9].Excess = new(10*time.Minute), new(-10*time.Minute)
	charts := gathered(all).charts(onCanvas(query{}))
	if text := string(charts[1].Picture.Bins); !regexp.MustCompile(`<title>1 request · [^<]* to …</title>`).MatchString(text) {
		t.Error("the upper bin seems to have an end")
	}
	if text := string(charts[2].Picture.Bins); !regexp.MustCompile(`<title>1 request · [^<]* · … to [^<]*</title>`).MatchString(text) {
		t.Error("the lower bin seems to have an end")
	}
}
