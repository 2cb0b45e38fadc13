package web

import (
	"strings"

	"github.com/chromedp/chromedp"
)

// readsExperiments goes from the list to a report, to its rows and back, and
// compares two, all without script.
func readsExperiments(b *browser) {
	b.visit("/-/experiments")
	b.follow(chromedp.Click(chromedp.CSS(`td.c-kind a[href$="` + ladderID + `"]`)))
	if at := b.at(); at != "/-/experiments/"+ladderID {
		b.Fatalf("the report is at %s", at)
	}
	if lanes := in[[]float64](b, `[...document.querySelectorAll(".chart-strips_ttft .m-median line")].map(l => l.getBoundingClientRect().x)`); len(lanes) != 3 ||
		lanes[0] >= lanes[1] || lanes[1] >= lanes[2] {
		b.Errorf("the medians of longer prompts lie at %v", lanes)
	}
	b.must(chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(".ids summary"))))
	b.follow(chromedp.Click(chromedp.CSS(".ids tbody th a")))
	if at := b.at(); at != "/-/requests/"+ladderID[20:]+"-00" {
		b.Errorf("its first request is at %s", at)
	}
	b.follow(chromedp.Click(chromedp.CSS(`.facts a[href="/-/experiments/` + ladderID + `"]`)))
	b.follow(chromedp.Click(chromedp.CSS(".crumbs .push a")))
	if at := b.at(); at != "/-/?experiment="+ladderID || b.rows() != 24 {
		b.Errorf("its requests are %d at %s", b.rows(), at)
	}
	b.follow(chromedp.Click(chromedp.CSS(".chip .names")))
	if at := b.at(); at != "/-/experiments/"+ladderID {
		b.Errorf("the chip leads to %s", at)
	}

	b.visit("/-/experiments")
	b.must(chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(`[name=a][value="`+ladderID+`"]`))))
	b.must(chromedp.Do(b.ctx, chromedp.Click(chromedp.CSS(`[name=b][value="`+laterID+`"]`))))
	b.follow(chromedp.Click(chromedp.CSS(".choose-two button")))
	slower := in[string](b, `document.querySelector("h1").textContent`)
	b.follow(chromedp.Click(chromedp.CSS(".crumbs .push a")))
	faster := in[string](b, `document.querySelector("h1").textContent`)
	if !strings.Contains(slower, `"B" (2.16 s) is higher than "A" (1.26 s)`) || !strings.Contains(faster, `"B" (1.26 s) is lower than "A" (2.16 s)`) {
		b.Errorf("compared: %q; swapped: %q", slower, faster)
	}
	for name, target := range map[string]string{"list": "", "ladder": "/" + ladderID, "running": "/" + runningID, "hostile": "/" + hostileID} {
		b.everywhere("experiment-"+name, "/-/experiments"+target)
	}
	b.everywhere("experiment-compare", experimentPairURL(ladderID, laterID))
	b.quiet()
}
