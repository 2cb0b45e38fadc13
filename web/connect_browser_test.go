package web

import (
	"strings"

	"github.com/chromedp/chromedp"
)

// connectsClients has an upstream of ChatGPT, and one of another name.
func connectsClients(b *browser) {
	b.visit("/-/connect")
	if first := in[string](b, `document.querySelector("pre").id`); first != "codex-chatgpt-text" {
		b.Errorf("the first block is %s", first)
	}
	if got := in[string](b, `document.querySelector("#codex-chatgpt-text").textContent`); got != CodexBlock("http://localhost:8838", "https://chatgpt.com/backend-api/codex") {
		b.Errorf("to be pasted: %q", got)
	}
	if shown := in[int](b, `[...document.querySelectorAll(".copy")].filter(e => e.offsetParent).length`); shown != 0 {
		b.Errorf("without script %d buttons show that do nothing", shown)
	}
	b.must(chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(`.jump a[href="#claude"]`))))
	if top := in[float64](b, `document.querySelector("#claude h2").getBoundingClientRect().top`); top < 0 || top > 200 {
		b.Errorf("the client that was jumped to is at %v px", top)
	}
	b.follow(chromedp.Click(chromedp.CSS(`.choices a[href$="a-rather-long-name"]`)))
	if got := in[string](b, `document.querySelector("pre").textContent`); !strings.Contains(got, `base_url = "http://localhost:8838/to/a-rather-long-name"`) {
		b.Errorf("at %s: %q", b.at(), got)
	}
	b.everywhere("connect", "/-/connect?upstream=a-rather-long-name")
	b.quiet()
}

func tellsWhatIsUsual(b *browser) {
	b.visit("/-/models")
	b.must(chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(`.models tr:nth-child(2) a`))))
	if at := b.at(); !strings.HasPrefix(at, "/-/models#model-") {
		b.Errorf("at %s", at)
	}
	drawn := in[[]float64](b, `[...document.querySelectorAll(".curve-knot")].map(e => e.getBoundingClientRect().left)`)
	if len(drawn) < 3 || drawn[0] >= drawn[1] || drawn[1] >= drawn[2] {
		b.Errorf("the knots are at %v", drawn)
	}
	b.follow(chromedp.Click(chromedp.CSS(".model .facts a")))
	if at := b.at(); !strings.HasPrefix(at, "/-/?from=-7d&model=") {
		b.Errorf("its rows are at %s", at)
	}
	b.everywhere("models", "/-/models")
	b.quiet()
}

// everywhere looks at a view in both languages, in the dark and on a telephone.
func (b *browser) everywhere(name, target string) {
	b.Helper()
	for _, width := range []int64{1280, 390} {
		b.viewport(width, 900)
		for _, l := range []language{english, chinese} {
			b.prefer(map[language]string{english: "light", chinese: "dark"}[l])
			b.visit(withLang(target, l))
			if over := in[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
				b.Errorf("%s in %s at %d px is %d px too wide", name, l, width, over)
			}
			b.picture(name + map[int64]string{1280: "-", 390: "-narrow-"}[width] + string(l))
		}
	}
}

// connectsLive is the page for a newcomer: a block is copied, and the first
// request is told of when it has come.
func connectsLive(d *drive) {
	d.visit("/-/connect")
	d.is(`getComputedStyle(document.querySelector(".unscripted")).display === "none"`)
	d.must(chromedp.Do(d.ctx, chromedp.Evaluate[chromedp.Void](
		`Object.defineProperty(navigator, "clipboard", {value: {writeText: async text => { window.copied = text }}})`)))
	d.click("[data-copy-from=claude-text]")
	d.becomes(`window.copied === document.querySelector("#claude-text").textContent`)
	d.becomes(`document.querySelector("#pulse").dataset.is === "waiting"`)
	x := running("first", 0)
	d.record(x)
	d.goOn(x)
	d.becomes(`document.querySelector(".waiting").dataset.state === "arrived"`)
	d.is(`document.querySelector("[data-when=waiting]").hidden && !document.querySelector("[data-when=arrived]").hidden`)
	d.quiet()
}
