package web

import (
	"fmt"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func followsKeys(d *drive) {
	d.live("/-/")
	focused := func(id string) {
		d.Helper()
		if got := in[string](d.browser, `document.activeElement.closest("tr")?.dataset.id ?? ""`); got != id {
			d.Errorf("the focus is on %q, not %q", got, id)
		}
	}
	d.press("j")
	focused("past-000")
	d.press("j", "j", "k", kb.ArrowDown, kb.ArrowDown)
	focused("past-003")
	d.press("j", "j", "j")
	focused("past-004")
	d.picture("keys-row")
	d.press("x", "k", "x")
	d.is(`document.querySelectorAll(".pick:checked").length === 2 && !document.querySelector("#compare a").hidden`)
	d.press("x")
	d.is(`document.querySelectorAll(".pick:checked").length === 1 && document.querySelector("#compare a").hidden`)
	d.live("/-/?bound=decode")
	d.press("j", "j", "j", "j", kb.Enter)
	d.becomes(`location.pathname === "/-/requests/past-003" && document.readyState === "complete"`)
	d.press("u") // to the log as it was
	d.becomes(`location.pathname + location.search === "/-/?bound=decode" && document.readyState === "complete"`)
	d.visit("/-/")
	d.visit("/-/requests/past-003")
	d.press(kb.Escape)
	d.becomes(`location.pathname === "/-/" && document.readyState === "complete"`)

	d.press("?")
	d.is(`document.querySelector("#help").open && document.querySelector("#help").contains(document.activeElement)`)
	d.picture("keys-help")
	d.press("r", kb.Escape)
	d.is(`!document.querySelector("#help").open`)
	d.press("/", "a", "b")
	d.is(`document.activeElement.name === "q" && document.activeElement.value.endsWith("ab")`)
	d.press(kb.Escape)
	d.is(`document.activeElement === document.body`)

	d.press("f")
	d.becomes(`location.search === "?bound=prefill" && document.readyState === "complete"`)
	d.press("f")
	d.becomes(`location.search === "?bound=decode" && document.readyState === "complete"`)
	d.is(`document.querySelector("[data-key=e]").pathname === "/-/export.csv"`)
	d.must(chromedp.Do(d.ctx, chromedp.Evaluate[chromedp.Void](`document.querySelector("[data-key=e]").addEventListener("click", e => { e.preventDefault(); window.exported = true })`)))
	d.press("e")
	d.is(`window.exported`)
	d.press("r")
	d.becomes(`window.exported === undefined && document.readyState === "complete"`)
	d.press("g", "s")
	d.becomes(`location.pathname === "/-/connect" && document.readyState === "complete"`)
	d.press("g", "e")
	d.becomes(`location.pathname === "/-/experiments" && document.readyState === "complete"`)
	d.press("g", "l")
	d.becomes(`location.pathname === "/-/" && document.readyState === "complete"`)
	d.quiet()
}

func leavesKeysAlone(d *drive) {
	d.live("/-/")
	d.must(chromedp.Do(d.ctx, chromedp.Focus(chromedp.CSS("select[name=from]"))))
	d.press("p")
	d.is(`document.querySelector("#pulse").textContent === "Live"`)
	d.must(chromedp.Do(d.ctx, chromedp.Focus(chromedp.CSS("tr.exchange a"))))
	d.must(chromedp.Do(d.ctx, chromedp.KeyEvent("p", chromedp.KeyModifiers(kb.ModifierCtrl)))) // control
	d.is(`document.querySelector("#pulse").textContent === "Live"`)
	d.press("p")
	d.is(`document.querySelector("#pulse").textContent === "Paused"`)

	d.click("#keys")
	d.click("#shortcuts")
	d.click("#help button")
	d.is(`!document.querySelector("#help").open`)
	d.press("p")
	d.is(`document.querySelector("#pulse").textContent === "Paused"`)
	d.live("/-/")
	d.press("p")
	d.is(`document.querySelector("#pulse").textContent === "Live"`)
}

func comparesTwo(d *drive) {
	d.live("/-/")
	for _, id := range []string{"past-000", "past-001", "past-002"} {
		d.must(chromedp.Do(d.ctx, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector("[data-id=%s] .pick").click()`, id))))
	}
	d.is(`document.querySelectorAll(".pick:checked").length === 2`) // the first one is let go
	d.record(finished("new", time.Second))
	d.becomes(`document.querySelector("[data-id=new]")`)
	d.picture("picked")
	d.press("c")
	d.becomes(`location.pathname + location.search === "/-/compare?a=past-001&b=past-002"`)
}

func copiesIDs(d *drive) {
	d.visit("/-/requests/past-001")
	d.must(chromedp.Do(d.ctx, chromedp.Evaluate[chromedp.Void](
		`Object.defineProperty(navigator, "clipboard", {value: {writeText: async text => { window.copied = text }}})`)))
	d.must(chromedp.Do(d.ctx, chromedp.Focus(chromedp.CSS("[data-copy='req-past-001']"))))
	d.press(kb.Enter)
	d.becomes(`window.copied === "req-past-001" && document.querySelector("[data-copy='req-past-001']").textContent === "Copied"`)
	d.is(`document.querySelector("#said").textContent === "Copied"`)
	d.becomes(`document.querySelector("[data-copy='req-past-001']").textContent === "copy"`)
	d.press("y")
	d.becomes(`window.copied.split("\n").join(" ") === "req-past-001 past-001"`)

	d.must(chromedp.Do(d.ctx, chromedp.Evaluate[chromedp.Void](`navigator.clipboard.writeText = async () => { throw Error("no") };
		document.execCommand = command => { window.fallen = command + " " + getSelection(); return true }`)))
	d.press("y")
	d.becomes(`window.fallen?.startsWith("copy req-past-001")`)

	d.live("/-/")
	d.must(chromedp.Do(d.ctx, chromedp.Evaluate[chromedp.Void](
		`Object.defineProperty(navigator, "clipboard", {value: {writeText: async text => { window.copied = text }}})`)))
	d.press("j", "j", "y")
	d.becomes(`window.copied === "past-001"`)
	d.quiet()
}

func choosesATheme(d *drive) {
	d.prefer("light")
	ground := func() string {
		d.Helper()
		return in[string](d.browser, `getComputedStyle(document.body).backgroundColor`)
	}
	const light, dark = "rgb(251, 251, 250)", "rgb(16, 18, 20)"
	d.live("/-/")
	for _, want := range []struct{ word, ground string }{{"Light", light}, {"Dark", dark}} {
		d.click("#theme")
		if got := ground(); got != want.ground {
			d.Errorf("%s is %s", want.word, got)
		}
		d.is(fmt.Sprintf(`document.querySelector("#theme").textContent === %q`, want.word))
	}
	d.picture("theme-dark")
	d.visit("/-/connect")
	if got := ground(); got != dark {
		d.Errorf("it was not kept: %s", got)
	}
	d.click("#theme")
	if got := ground(); got != light {
		d.Errorf("the system's is %s", got)
	}
	d.prefer("dark")
	if got := ground(); got != dark {
		d.Errorf("the system's is %s", got)
	}
	d.quiet()
}

func tellsLocalTimes(d *drive) {
	_, err := chromedp.Call(d.ctx, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Asia/Kathmandu"})
	d.must(err)
	d.live("/-/")
	d.is(`document.querySelector("[data-zone-name]").textContent === "UTC+05:45"`)
	there := `(t => new Date(t.dateTime).toLocaleTimeString("en-GB") + "." + t.dateTime.slice(-4, -1) === t.textContent)`
	d.is(there + `(document.querySelector("tr.exchange time"))`)
	d.record(finished("new", 0))
	d.becomes(`document.querySelector("[data-id=new]")`)
	d.is(there + `(document.querySelector("[data-id=new] time"))`)
	d.visit("/-/requests/past-001")
	d.is(`document.querySelector(".crumbs time").textContent.endsWith(" +05:45")`)
	d.quiet()
}
