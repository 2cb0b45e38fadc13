package web

import (
	"slices"

	"github.com/chromedp/chromedp"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

func showsOneExchange(b *browser) {
	b.visit("/-/requests/talk-4")
	if shown := in[int](b, `[...document.querySelectorAll(".copy")].filter(e => e.offsetParent).length`); shown != 0 {
		b.Errorf("without script %d buttons show that do nothing", shown)
	}
	bars := in[[]float64](b, `[...document.querySelectorAll(".plot g rect")].map(e => e.getBoundingClientRect().left)`)
	if len(bars) != 20 || !slices.IsSorted(bars) {
		b.Errorf("%d bars at %v", len(bars), bars)
	}
	if in := in[int](b, `(p => [...document.querySelectorAll(".plot rect")].map(e => e.getBoundingClientRect()).
		filter(r => r.left > p.left - 1 && r.right < p.right + 1 && r.top > p.top && r.bottom < p.bottom).length)
		(document.querySelector(".plot").getBoundingClientRect())`); in != 21 {
		b.Errorf("%d of 20 bars and a gap are inside of the picture", in)
	}
	b.follow(chromedp.Click(chromedp.CSS(`.near a[href$="talk-2"]`)))
	b.follow(chromedp.Click(chromedp.CSS(`.crumbs a[rel="prev"]`)))
	if at := b.at(); at != "/-/requests/talk-3" {
		b.Errorf("at %s", at)
	}
	b.everywhere("exchange-queued", "/-/requests/talk-4")
	b.visit("/-/requests/talk-5")
	b.picture("exchange-hidden")
	b.quiet()
}

// looksAnewByItself ends an exchange while its view is open.
func looksAnewByItself(log *store.Store) func(*browser) {
	return func(b *browser) {
		b.visit("/-/requests/talk-6")
		b.picture("exchange-open")
		b.follow(chromedp.Click(chromedp.CSS(`.ways a[href$="?refresh=3"]`)))
		ended := conversation()[4]
		ended.ID, ended.StartedAt = "talk-6", conversation()[5].StartedAt
		b.must(log.Save(b.ctx, []*exchange.Exchange{ended}))
		b.must(chromedp.Do(b.ctx, chromedp.WaitVisible(chromedp.CSS(".plot"))))
		if at := b.at(); at != "/-/requests/talk-6?refresh=3" {
			b.Errorf("at %s", at)
		}
	}
}
