package web

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/chromedp/chromedp"
)

// comparesAnExport sends a file, looks at its findings and keeps them, all
// without script; then a file whose header nobody knows.
func comparesAnExport(b *browser) {
	file := filepath.Join(b.TempDir(), "export.csv")
	if err := os.WriteFile(file, []byte(billOf(billedOnce())), 0o600); err != nil {
		b.Fatal(err)
	}
	b.visit("/-/audit")
	b.sendFile(file)
	result := b.at()
	if said := in[string](b, `document.querySelector("h1").textContent`); !strings.HasPrefix(result, "/-/audit/") || !strings.Contains(said, "4 of 9 rows differ") {
		b.Fatalf("%s says %q", result, said)
	}
	b.follow(chromedp.Click(chromedp.CSS(`.classes a[href$="class=tokens_differ"]`)))
	if rows := in[int](b, `document.querySelectorAll(".findings tbody tr").length`); rows != 1 {
		b.Errorf("%d rows of one class", rows)
	}
	b.follow(chromedp.Click(chromedp.CSS(".findings .c-details a")))
	if at := b.at(); at != "/-/requests/audit-other" {
		b.Errorf("the finding leads to %s", at)
	}
	b.visit(result)
	b.follow(chromedp.Click(chromedp.CSS(`form[action$="/keep"] button`)))
	b.visit("/-/requests/audit-other")
	if there := in[string](b, `document.querySelector("td.differ").textContent`); there != "2,917" {
		b.Errorf("kept: %q", there)
	}
	b.everywhere("audit-kept", "/-/requests/audit-other")
	b.everywhere("audit-result", result)
	b.everywhere("audit-matched", result+"?class=matched")
	b.everywhere("audit", "/-/audit")

	if err := os.WriteFile(file, []byte("when,which,asked,told\n2026-03-14T03:00:00Z,m,1,2\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	b.visit("/-/audit")
	b.sendFile(file)
	if fields := in[int](b, `document.querySelectorAll(".mapping select").length`); fields != 16 {
		b.Errorf("%d columns to choose", fields)
	}
	if over := in[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
		b.Errorf("the mapping is %d px too wide", over)
	}
	b.picture("audit-mapping")
	b.quiet()
}

func (b *browser) sendFile(path string) {
	b.Helper()
	b.must(chromedp.Do(b.ctx, chromedp.SetUploadFiles(chromedp.CSS("input[type=file]"), []string{path})))
	b.follow(chromedp.Click(chromedp.CSS("form.audit button")))
}

// auditsFindings looks at the accessibility of what a comparison found, and of a
// request that it was kept with.
func (b *browser) auditsFindings(axe string) {
	b.Helper()
	file := filepath.Join(b.TempDir(), "export.csv")
	b.must(os.WriteFile(file, []byte(billOf(billedOnce())), 0o600))
	b.visit("/-/audit")
	b.sendFile(file)
	result := b.at()
	b.audit(axe, "audited", result)
	b.follow(chromedp.Click(chromedp.CSS(`form[action$="/keep"] button`)))
	b.audit(axe, "audited", "/-/requests/audit-other")
}
