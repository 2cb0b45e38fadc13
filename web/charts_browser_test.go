package web

import (
	"cmp"
	"os"
	"os/exec"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestChartsInABrowser looks at the charts as a person does, with scripts off.
func TestChartsInABrowser(t *testing.T) {
	path, err := exec.LookPath(cmp.Or(os.Getenv("TTFTAP_CHROMIUM"), "chromium"))
	if err != nil {
		if os.Getenv("TTFTAP_NO_SKIP") != "" {
			t.Fatal(err)
		}
		t.Skip("SKIPPED: no chromium here, so nothing is known of the charts in a real browser")
	}
	ctx := startBrowser(t, path)
	c := newConfig(t, telling()...)
	c.Models = usualModels()
	for _, test := range []struct {
		name string
		look func(*browser)
	}{
		{"a mark leads to its request", followsAMark},
		{"percentiles and the table lead to rows", followsFigures},
		{"charts fit any window", fitAnyWindow},
		{"charts are below the rows on a telephone", areBelowOnATelephone},
		{"a mark is where its figures are", isWhereItsFiguresAre},
		{"all can be seen in the dark", areSeenInTheDark},
	} {
		t.Run(test.name, func(t *testing.T) { test.look(newTab(t, ctx, c)) })
	}
}

func followsAMark(b *browser) {
	for _, view := range []string{"/-/", "/-/charts?lang=zh"} {
		b.visit(view)
		b.follow(chromedp.Click(chromedp.CSS(`.chart-prompt a[href="/-/requests/prefill"] use`)))
		if at := b.at(); at != "/-/requests/prefill" {
			b.Errorf("from %s to %s", view, at)
		}
	}
	b.quiet()
}

func followsFigures(b *browser) {
	b.visit("/-/charts?from=-3h")
	b.follow(chromedp.Click(chromedp.CSS(`.chart-percentile .range .name`)))
	if at := b.at(); at != "/-/?from=-3h&model=gpt-5-codex" || b.rows() == 0 {
		b.Errorf("percentiles lead to %s with %d rows", at, b.rows())
	}
	b.visit("/-/charts")
	b.follow(chromedp.Click(chromedp.CSS(`.groups td.failed a`)))
	if at := b.at(); b.rows() == 0 {
		b.Errorf("failures lead to %s without rows", at)
	}
	b.quiet()
}

func fitAnyWindow(b *browser) {
	for _, width := range []int64{390, 700, 1280, 2560} {
		b.viewport(width, 900)
		for _, l := range []language{english, chinese} {
			for _, view := range []string{"/-/", "/-/charts"} {
				b.visit(withLang(view, l))
				if over := in[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
					b.Errorf("%s in %s is %d px too wide for %d", view, l, over, width)
				}
				out := in[[]string](b, `[...document.querySelectorAll(".chart")].flatMap(f => [...f.querySelectorAll("text, use, circle, rect, .nothing")].
					filter(e => !e.closest(".key")).filter(e => { const r = e.getBoundingClientRect(), w = f.getBoundingClientRect();
						return r.left < w.left - 8 || r.right > w.right + 8 || r.bottom > w.bottom }).map(e => f.className + " " + (e.textContent || e.outerHTML)))`)
				if len(out) > 0 {
					b.Errorf("%s in %s at %d px: outside of its chart is %q", view, l, width, out)
				}
			}
		}
		b.visit("/-/charts")
		b.picture("charts-" + string(rune('0'+width/700)))
	}
}

func areBelowOnATelephone(b *browser) {
	const below = `document.querySelector(".band").getBoundingClientRect().top > [...document.querySelectorAll("tr.exchange")].pop().getBoundingClientRect().top`
	for width, want := range map[int64]bool{390: true, 1280: false} {
		b.viewport(width, 900)
		b.visit("/-/")
		if got := in[bool](b, below); got != want {
			b.Errorf("at %d px the charts are below: %v", width, got)
		}
	}
}

// isWhereItsFiguresAre compares a mark's place with the ticks about it: 96,210
// tokens and 9.28 s, on axes to 100,000 and 10 s.
func isWhereItsFiguresAre(b *browser) {
	b.visit("/-/charts?bound=prefill")
	at := in[[]float64](b, `(() => { const svg = document.querySelector(".chart-prompt .area svg"), w = svg.getBoundingClientRect();
		const m = svg.querySelector('a[href="/-/requests/prefill"] use').getBoundingClientRect();
		return [(m.left + m.width / 2 - w.left) / w.width, (m.top + m.height / 2 - w.top) / w.height] })()`)
	if x, y := at[0], at[1]; x < 0.95 || x > 0.975 || y < 0.05 || y > 0.09 {
		b.Errorf("the mark is at %.3f, %.3f of the area", x, y)
	}
}

// areSeenInTheDark finds a mark whose colour is that of the ground.
func areSeenInTheDark(b *browser) {
	for _, scheme := range []string{"light", "dark"} {
		b.prefer(scheme)
		b.visit("/-/charts")
		hidden := in[[]string](b, `[...document.querySelectorAll(".area .m, .area .lines path, .area text")].filter(e => {
			const s = getComputedStyle(e), none = ["none", getComputedStyle(document.body).backgroundColor];
			return none.includes(s.fill) && none.includes(s.stroke) }).map(e => e.getAttribute("class"))`)
		if len(hidden) > 0 {
			b.Errorf("in %s: %v", scheme, hidden)
		}
		b.picture("charts-" + scheme)
	}
}
