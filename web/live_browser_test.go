package web

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// TestInABrowserWithItsScript is what the script adds to the page.
func TestInABrowserWithItsScript(t *testing.T) {
	path, err := exec.LookPath(cmp.Or(os.Getenv("TTFTAP_CHROMIUM"), "chromium"))
	if err != nil {
		if os.Getenv("TTFTAP_NO_SKIP") != "" {
			t.Fatal(err)
		}
		t.Skip("SKIPPED: no chromium here, so nothing is known of the script in a real browser")
	}
	ctx := startBrowser(t, path)
	for _, test := range []struct {
		name string
		rows []*exchange.Exchange
		look func(*drive)
	}{
		{"a request appears, goes on and ends without being asked for", past(3), seesARequestLive},
		{"the first request replaces an empty log", nil, seesTheFirstRequest},
		{"the connect page is copied from, and sees the first request", nil, connectsLive},
		{"a request's own view tells its end", past(1), seesTheEnd},
		{"what is new waits while the page is paused", past(3), pauses},
		{"what is new waits for who reads further down", past(100), readsOn},
		{"what is new waits while text is selected", past(3), selectsText},
		{"the summary is renewed, but not under the reader's hands", past(30), renewsTheSummary},
		{"the table grows to a limit", past(100), keepsToALimit},
		{"a page comes back when its server does", past(3), comesBack},
		{"a page of a program that was started anew is loaded anew", past(3), isRenewed},
		{"trouble with recording shows at once", past(3), tellsTrouble},
		{"keys lead through the log", past(5), followsKeys},
		{"keys can be switched off, and are not taken from a form", past(5), leavesKeysAlone},
		{"two requests are picked to be compared", past(5), comparesTwo},
		{"ids are copied", past(2), copiesIDs},
		{"the theme is the reader's choice and kept", past(2), choosesATheme},
		{"times are told in the browser's zone", past(2), tellsLocalTimes},
		{"the live page speaks Chinese", past(2), isLiveInChinese},
		{"nothing of it shows where a telephone is too narrow", past(20), isLiveOnATelephone},
	} {
		t.Run(test.name, func(t *testing.T) { test.look(newDrive(t, ctx, test.rows)) })
	}
}

func seesARequestLive(d *drive) {
	d.live("/-/?scale=60")
	d.goOn(running("new", 2*time.Second))
	d.becomes(`document.querySelector("tr.running[data-id=new]")`)
	if ids := d.ids(); ids != "new past-000 past-001 past-002" {
		d.Errorf("rows %s", ids)
	}
	d.is(`document.querySelector("tr.running").textContent.includes("no token yet")`)
	d.picture("live-waiting")
	d.becomes(`parseFloat(document.querySelector("[data-clock]").textContent) >= 3`) // it grows by itself
	width := in[float64](d.browser, `parseFloat(document.querySelector("tr.running .bar rect:last-of-type").getAttribute("width"))`)
	d.becomes(fmt.Sprintf(`parseFloat(document.querySelector("tr.running .bar rect:last-of-type").getAttribute("width")) > %f`, width))

	x := running("new", 4*time.Second)
	x.Status, x.FirstToken, x.AnswerStart, x.OutputEvents = new(int64(200)), span(2500), span(2500), new(int64(7))
	d.goOn(x)
	d.becomes(`document.querySelector("tr.running").textContent.includes("Answering")`)
	d.picture("live-answering")
	d.must(chromedp.Do(d.ctx, chromedp.Focus(chromedp.CSS("tr.running a"))))

	d.goOn()
	d.record(finished("new", 5*time.Second))
	d.becomes(`!document.querySelector("tr.running")`)
	if ids := d.ids(); ids != "new past-000 past-001 past-002" {
		d.Errorf("rows %s", ids)
	}
	d.is(`document.activeElement.closest("tr")?.dataset.id === "new"`)
	d.becomes(`document.querySelector("[data-part=csv]").textContent.includes("4 rows")`)
	d.picture("live-ended")
	d.quiet()
}

func seesTheFirstRequest(d *drive) {
	d.visit("/-/")
	d.becomes(`document.querySelector("#pulse").dataset.is === "waiting"`)
	d.picture("live-empty")
	x := running("first", 0)
	d.record(x)
	d.goOn(x)
	d.becomes(`document.querySelector("tr.running[data-id=first]")`)
	d.becomes(`document.querySelector("#pulse").dataset.is === "live"`)
	d.quiet()
}

func seesTheEnd(d *drive) {
	x := running("one", 2*time.Second)
	d.record(x)
	d.goOn(x)
	d.visit("/-/requests/one")
	d.becomes(`document.querySelector("#pulse").dataset.is === "waiting" && document.querySelector(".tag-running")`)
	d.goOn()
	d.record(finished("one", 3*time.Second))
	d.becomes(`document.querySelector(".tag-decode") && !document.querySelector("#pulse")`)
	d.quiet()
}

func pauses(d *drive) {
	d.live("/-/")
	d.press("p")
	d.is(`document.querySelector("#pulse").textContent === "Paused" && document.querySelector("#pause").ariaPressed === "true"`)
	d.record(finished("a", 3*time.Second), finished("b", 2*time.Second))
	d.goOn(running("c", 0))
	d.becomes(`document.querySelector("#fresh").textContent === "2 new"`)
	if ids := d.ids(); ids != "past-000 past-001 past-002" {
		d.Errorf("rows %s", ids)
	}
	d.picture("live-paused")
	d.click("#fresh") // shows them, and pauses on
	d.becomes(`document.querySelector("#fresh").hidden`)
	d.is(`document.querySelector("#pulse").textContent === "Paused"`)
	d.record(finished("e", time.Second))
	d.becomes(`document.querySelector("#fresh").textContent === "1 new"`)
	d.click("#pause")
	d.becomes(`document.querySelector("#pulse").textContent === "Live"`)
	if ids := d.ids(); ids != "c e b a past-000 past-001 past-002" {
		d.Errorf("rows %s", ids)
	}
	d.quiet()
}

func readsOn(d *drive) {
	d.live("/-/")
	d.must(chromedp.Do(d.ctx, chromedp.Focus(chromedp.CSS("tr.exchange:nth-of-type(90) a"))))
	at := in[float64](d.browser, `scrollY`)
	var xs []*exchange.Exchange
	for i := range 12 {
		xs = append(xs, finished(fmt.Sprintf("new-%02d", i), time.Duration(20-i)*time.Second))
	}
	d.record(xs...)
	d.becomes(`document.querySelector("#fresh").textContent === "12 new"`)
	d.is(fmt.Sprintf(`scrollY > 500 && scrollY === %f && document.querySelectorAll("tr.exchange").length === 100`, at))
	d.is(`document.activeElement.closest("tr") !== null`)
	d.picture("live-12-new")
	d.click("#fresh")
	d.becomes(`scrollY === 0 && document.querySelectorAll("tr.exchange").length === 112`)
	if ids := d.ids(); !strings.HasPrefix(ids, "new-11 new-10") {
		d.Errorf("rows %s", ids)
	}

	d.must(chromedp.Do(d.ctx, chromedp.Evaluate[chromedp.Void](`scrollTo(0, 2000)`)))
	d.record(finished("next", 0))
	d.becomes(`!document.querySelector("#fresh").hidden`)
	d.must(chromedp.Do(d.ctx, chromedp.Evaluate[chromedp.Void](`scrollTo(0, 0)`))) // by hand
	d.becomes(`document.querySelector("tr.exchange").dataset.id === "next" && document.querySelector("#fresh").hidden`)
	d.quiet()
}

func selectsText(d *drive) {
	d.live("/-/")
	d.must(chromedp.Do(d.ctx, chromedp.Evaluate[chromedp.Void](`getSelection().selectAllChildren(document.querySelector("tr.exchange td.c-model"))`)))
	d.record(finished("new", 2*time.Second))
	d.becomes(`document.querySelector("#fresh").textContent === "1 new"`)
	d.must(chromedp.Do(d.ctx, chromedp.Evaluate[chromedp.Void](`getSelection().empty()`)))
	d.becomes(`document.querySelector("tr.exchange").dataset.id === "new"`)
	d.quiet()
}

func renewsTheSummary(d *drive) {
	d.live("/-/?bound=decode")
	d.is(`document.querySelector(".numbers .value").textContent === "30"`)
	d.must(chromedp.Do(d.ctx, chromedp.SetValue(chromedp.CSS("select[name=outcome]"), "ok")))
	d.must(chromedp.Do(d.ctx, chromedp.Focus(chromedp.CSS(".segments a:nth-child(2)"))))
	d.record(finished("new", time.Second))
	d.becomes(`document.querySelector(".numbers .value").textContent === "31"`)
	d.is(`document.querySelector("[data-part=csv]").textContent.includes("31 rows")`)
	d.is(`document.activeElement.matches(".segments a:nth-child(2)") && document.querySelector("select[name=outcome]").value === "ok"`)
	d.becomes(`document.querySelector("[data-part=csv]").href.endsWith("/-/export.csv?bound=decode")`)
	d.quiet()
}

func keepsToALimit(d *drive) {
	d.live("/-/")
	for range 5 {
		var xs []*exchange.Exchange
		for range rowsMost {
			xs = append(xs, finished(fmt.Sprintf("new-%d", time.Now().UnixNano()), 0))
		}
		d.record(xs...)
		d.becomes(fmt.Sprintf(`document.querySelector("[data-id='%s']") || document.querySelectorAll("tr.exchange").length === 500`, xs[len(xs)-1].ID))
	}
	d.becomes(`document.querySelectorAll("tr.exchange").length === 500`)
	d.quiet()
}

func comesBack(d *drive) {
	d.live("/-/")
	d.down.Store(true)
	d.server.CloseClientConnections()
	d.becomes(`document.querySelector("#pulse").textContent === "Disconnected"`)
	d.picture("live-disconnected")
	d.record(finished("missed", 2*time.Second))
	d.down.Store(false)
	d.becomes(`document.querySelector("#pulse").textContent === "Live"`)
	d.becomes(`document.querySelector("tr.exchange").dataset.id === "missed"`)
}

func isRenewed(d *drive) {
	d.live("/-/")
	d.mark()
	d.restart()
	d.server.CloseClientConnections()
	d.becomes(`!window.marked && document.querySelector("#pulse").dataset.is === "live"`)

	d.mark()
	d.press("p")
	d.restart()
	d.server.CloseClientConnections()
	d.becomes(`!document.querySelector("#fresh").hidden`)
	d.is(`window.marked && document.querySelector("#fresh").textContent === "Refresh"`) // the reader is reading
	d.click("#fresh")
	d.becomes(`!window.marked && document.querySelector("#pulse")?.dataset.is === "live"`)
}

func tellsTrouble(d *drive) {
	d.live("/-/")
	d.is(`getComputedStyle(document.querySelector(".recorder")).display === "none"`)
	d.state.Store(&store.State{Error: "the disk is full", Since: time.Now()})
	d.becomes(`document.querySelector(".recorder.trouble")?.textContent === "The log cannot be written"`)
	d.is(`getComputedStyle(document.querySelector(".recorder")).display !== "none"`)
	d.picture("live-trouble")
	d.state.Store(new(store.State))
	d.becomes(`!document.querySelector(".recorder.trouble")`)
	d.quiet()
}

func isLiveInChinese(d *drive) {
	d.live("/-/?lang=zh")
	d.is(`document.querySelector("#pulse").textContent === "实时"`)
	d.goOn(running("new", time.Second))
	d.becomes(`document.querySelector("tr.running")?.textContent.includes("还没有首 token")`)
	d.press("p")
	d.record(finished("a", 0))
	d.becomes(`document.querySelector("#fresh").textContent === "1 条新请求"`)
	d.is(`document.querySelector("#pulse").textContent === "已暂停"`)
	d.press("?")
	d.picture("live-zh")
	d.is(`document.querySelector("#help").textContent.includes("快捷键")`)
	d.quiet()
}

func isLiveOnATelephone(d *drive) {
	d.viewport(390, 844)
	for _, l := range []language{english, chinese} {
		d.live(withLang("/-/", l))
		d.goOn(running("new", 3*time.Second))
		d.becomes(`document.querySelector("tr.running")`)
		d.must(chromedp.Do(d.ctx, chromedp.Evaluate[chromedp.Void](`document.querySelector(".pick").click()`)))
		if over := in[int](d.browser, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
			d.Errorf("it is %d px too wide", over)
		}
		d.picture("live-narrow-" + string(l))
		d.press("?")
		d.picture("keys-narrow-" + string(l))
		d.press(kb.Escape)
		d.goOn()
	}
	d.quiet()
}
