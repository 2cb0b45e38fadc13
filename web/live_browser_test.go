package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// drive is a page in a tab that runs its script, over a log that is being
// recorded.
type drive struct {
	*browser
	server *httptest.Server
	down   atomic.Bool // the server answers nobody
	page   atomic.Pointer[http.Handler]
	config Config
	store  *store.Store
	state  atomic.Pointer[store.State]

	mu       sync.Mutex
	follow   []func([]*exchange.Exchange)
	underWay []*exchange.Exchange
}

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

// past are n quick answers, the newest first, of a few minutes ago.
func past(n int) []*exchange.Exchange {
	var all []*exchange.Exchange
	for i := range n {
		all = append(all, finished(fmt.Sprintf("past-%03d", i), time.Minute+time.Duration(i)*time.Second))
	}
	return all
}

// finished is an answer that began so long ago.
func finished(id string, ago time.Duration) *exchange.Exchange {
	x := seeded(id, 0, func(x *exchange.Exchange) {
		answered(x, 600, 2100, 60)
		x.Bound, x.Cause = exchange.DecodeBound, "long_output"
		x.RequestID = "req-" + id
	})
	x.StartedAt = time.Now().Add(-ago)
	return x
}

// running is one under way since so long.
func running(id string, ago time.Duration) *exchange.Exchange {
	x := seeded(id, 0, begun)
	x.StartedAt, x.Outcome, x.GotConn, x.Sent = time.Now().Add(-ago), exchange.Open, span(20), span(31)
	return x
}

func newDrive(t *testing.T, ctx context.Context, rows []*exchange.Exchange) *drive {
	c := newConfig(t, rows...)
	d := &drive{store: c.Store}
	c.Now = nil
	c.Follow = func(fn func([]*exchange.Exchange)) { d.follow = append(d.follow, fn) }
	c.UnderWay = func() []*exchange.Exchange {
		d.mu.Lock()
		defer d.mu.Unlock()
		return slices.Clone(d.underWay)
	}
	c.State = func() store.State { return *d.state.Load() }
	d.state.Store(new(store.State))
	d.config = c
	d.restart()
	d.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.down.Load() {
			panic(http.ErrAbortHandler)
		}
		(*d.page.Load()).ServeHTTP(w, r)
	}))
	t.Cleanup(func() { d.server.CloseClientConnections(); d.server.Close() })
	d.browser = newScriptedTab(t, ctx, d.server.URL)
	return d
}

// restart replaces the page, as if the program had been stopped and started.
func (d *drive) restart() {
	page := New(d.config)
	d.page.Store(&page)
}

// record commits an exchange as the recorder does.
func (d *drive) record(xs ...*exchange.Exchange) {
	d.Helper()
	d.must(d.store.Save(context.Background(), xs))
	for _, follow := range d.follow {
		follow(xs)
	}
}

// goOn says what is under way from now on.
func (d *drive) goOn(xs ...*exchange.Exchange) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.underWay = xs
}

// becomes waits until an expression is true, be it on another page.
func (d *drive) becomes(expression string) {
	d.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); <-time.After(30 * time.Millisecond) {
		if ok, err := chromedp.Run(d.ctx, chromedp.EvaluateAsDevTools[bool]("!!("+expression+")")); ok && err == nil {
			return
		}
	}
	d.Fatalf("it never became so: %s\nat %s the page says %q", expression, d.at(), in[string](d.browser, `document.body.innerText.slice(0, 1500)`))
}

// is fails the test unless an expression is true.
func (d *drive) is(expression string) {
	d.Helper()
	if !in[bool](d.browser, expression) {
		d.Errorf("it is not so: %s", expression)
	}
}

func (d *drive) press(keys ...string) {
	d.Helper()
	for _, k := range keys {
		d.must(chromedp.Do(d.ctx, chromedp.KeyEvent(k)))
	}
}

func (d *drive) click(selector string) {
	d.Helper()
	d.must(chromedp.Do(d.ctx, chromedp.Click(chromedp.CSS(selector))))
}

// live opens a view and waits until it is followed.
func (d *drive) live(target string) {
	d.Helper()
	d.visit(target)
	d.becomes(`document.querySelector("#pulse").dataset.is === "live"`)
}

// ids are those of the rows, from the top.
func (d *drive) ids() string {
	d.Helper()
	return in[string](d.browser, `[...document.querySelectorAll("tr.exchange")].map(r => r.dataset.id).join(" ")`)
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

// mark makes this page different from the same one loaded anew.
func (d *drive) mark() {
	d.Helper()
	d.must(chromedp.Do(d.ctx, chromedp.Evaluate[chromedp.Void](`window.marked = true`)))
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
