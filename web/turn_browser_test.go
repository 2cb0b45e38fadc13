package web

import (
	"fmt"
	"strings"

	"github.com/chromedp/chromedp"
)

// sumsATurn goes from an exchange to its turn, along its rows and back.
func sumsATurn(b *browser) {
	b.visit("/-/requests/agent-3")
	b.follow(chromedp.Click(chromedp.CSS(`a[href="/-/turns/turn-9"]`)))
	if heading := in[string](b, `document.querySelector("h1").textContent`); !strings.HasPrefix(heading, "This turn took 56.3 s in 4 requests") {
		b.Errorf("at %s the heading is %q", b.at(), heading)
	}
	if tab := in[string](b, `document.querySelector("nav a[aria-current]").textContent`); tab != "Requests" {
		b.Errorf("the current tab is %q", tab)
	}
	if n := b.rows(); n != 4 {
		b.Errorf("%d rows", n)
	}
	b.fits(".split")
	b.follow(chromedp.Click(chromedp.CSS("tr.exchange td.c-time a")))
	if at := b.at(); at != "/-/requests/agent-1" {
		b.Errorf("the first row leads to %s", at)
	}
	b.looks("turn", "/-/turns/turn-9", "/-/turns/turn-crew")
	b.quiet()
}

// choosesAndCompares chooses two exchanges and swaps them.
func choosesAndCompares(b *browser) {
	b.visit("/-/compare?b=")
	b.must(chromedp.Do(b.ctx, chromedp.SendKeys(chromedp.CSS("input[name=a]"), "agent-4")))
	b.must(chromedp.Do(b.ctx, chromedp.SendKeys(chromedp.CSS("input[name=b]"), "agent-4")))
	b.follow(chromedp.Click(chromedp.CSS("form.choose button")))
	if alert := in[string](b, `document.querySelector("[role=alert]").textContent`); !strings.HasPrefix(alert, "A and B are the same request") {
		b.Errorf("told: %q", alert)
	}
	b.follow(chromedp.Click(chromedp.CSS(`td.c-time a[href$="b=agent-1"]`)))
	if at := b.at(); at != "/-/compare?a=agent-4&b=agent-1" {
		b.Errorf("chosen: %s", at)
	}
	b.fits(".versus .bar")
	b.follow(chromedp.Click(chromedp.CSS(".crumbs .push a")))
	if at := b.at(); at != "/-/compare?a=agent-1&b=agent-4" {
		b.Errorf("swapped: %s", at)
	}
	b.looks("compare", "/-/compare?a=agent-1&b=agent-4", "/-/compare?a=agent-1&b=crew-lost", "/-/compare?a=agent-4")
	b.quiet()
}

// fits fails the test if a piece of a bar lies beyond it.
func (b *browser) fits(bars string) {
	b.Helper()
	beyond := in[int](b, fmt.Sprintf(`[...document.querySelectorAll(%q)].flatMap(bar => [...bar.querySelectorAll("rect")].
		filter(r => r.getBoundingClientRect().right > bar.getBoundingClientRect().right + 1)).length`, bars))
	if n := in[int](b, fmt.Sprintf(`document.querySelectorAll("%s rect").length`, bars)); beyond > 0 || n < 3 {
		b.Errorf("%d of %d pieces of %s lie beyond it", beyond, n, bars)
	}
}

// looks looks at views in both languages, each in a theme, and at two widths: none
// may scroll sideways.
func (b *browser) looks(name string, targets ...string) {
	b.Helper()
	for i, target := range targets {
		for _, l := range []language{english, chinese} {
			b.prefer(map[language]string{english: "light", chinese: "dark"}[l])
			for _, width := range []int64{390, 1280} {
				b.viewport(width, 900)
				b.visit(withLang(target, l))
				if over := in[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
					b.Errorf("%s in %s is %d px too wide at %d", target, l, over, width)
				}
				b.picture(fmt.Sprintf("%s-%d-%s-%d", name, i, l, width))
			}
		}
	}
}
