package web

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	traffic "github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// browser is a tab of a real browser, and what it complained of and asked for.
type browser struct {
	*testing.T
	ctx  context.Context
	base string

	mu         sync.Mutex
	complaints []string
	requests   []string
}

// TestInABrowser looks at the page as a person does. Where there is no browser it
// is skipped, unless TTFTAP_NO_SKIP says that there must be one.
func TestInABrowser(t *testing.T) {
	path, err := exec.LookPath(cmp.Or(os.Getenv("TTFTAP_CHROMIUM"), "chromium"))
	if err != nil {
		if os.Getenv("TTFTAP_NO_SKIP") != "" {
			t.Fatal(err)
		}
		t.Skip("SKIPPED: no chromium here, so nothing is known of the page in a real browser")
	}
	ctx := startBrowser(t, path)
	full := newConfig(t, telling()...)
	locked := full
	locked.Token = "open sesame"
	long := newConfig(t, append(telling(), overlong())...)
	routed := newConfig(t, append(telling(), longWinded())...)
	routed.Upstreams = []Upstream{{"default", "https://chatgpt.com/backend-api/codex"}, {"a-rather-long-name", "https://gateway.example.com/some/path/v1"}}
	talk := newConfig(t, conversation()...)
	judged := newConfig(t)
	judged.Models = usualModels()
	for _, test := range []struct {
		name string
		c    Config
		look func(*browser)
	}{
		{"the page filters, sorts and opens without script", full, filtersSortsAndOpens},
		{"the page speaks Chinese and remembers", full, speaksChinese},
		{"the page is dark where the system is", full, isDark},
		{"no view scrolls sideways on a telephone", long, fitsATelephone},
		{"nothing is cut off in a narrow window", routed, isWholeInANarrowWindow},
		{"the token opens the page", locked, opensByToken},
		{"an empty log shows what to paste", newConfig(t), showsWhatToPaste},
		{"one exchange is drawn among its neighbours", talk, showsOneExchange},
		{"an exchange under way is looked at anew without script", talk, looksAnewByItself(talk.Store)},
		{"the connect page leads to each client and upstream", routed, connectsClients},
		{"the models page tells what is usual", judged, tellsWhatIsUsual},
		{"a turn is summed and leads to its requests", newConfig(t, append(agent(), crew()...)...), sumsATurn},
		{"experiments are read, followed and compared", newLab(t, everyTrial()...), readsExperiments},
		{"a console's export is compared, filtered and kept", newConfig(t, billedOnce()...), comparesAnExport},
		{"two requests are chosen, compared and swapped", newConfig(t, append(agent(), crew()...)...), choosesAndCompares},
	} {
		t.Run(test.name, func(t *testing.T) { test.look(newTab(t, ctx, test.c)) })
	}
}

func startBrowser(t *testing.T, path string) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// newTab opens a page without its script in a tab that shares no cookies with the
// others.
func newTab(t *testing.T, ctx context.Context, c Config) *browser {
	t.Helper()
	b := newScriptedTab(t, ctx, newServer(t, c))
	_, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.must(err)
	return b
}

// newScriptedTab is the same for a page at some address, with its script.
func newScriptedTab(t *testing.T, ctx context.Context, base string) *browser {
	t.Helper()
	ctx, cancel := chromedp.NewContext(ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	b := &browser{T: t, ctx: ctx, base: base}
	b.must(chromedp.Listen(ctx, b.listen))
	b.viewport(1280, 900)
	return b
}

func (b *browser) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *log.EventEntryAdded:
		b.complaints = append(b.complaints, e.Entry.Text+" "+e.Entry.URL)
	case *runtime.EventConsoleAPICalled, *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, fmt.Sprintf("%+v", e))
	case *traffic.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	}
}

func (b *browser) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *browser) visit(target string) {
	b.Helper()
	b.must(chromedp.Do(b.ctx, chromedp.Navigate(b.base+target)))
}

// follow does something that leads to another page.
func (b *browser) follow(action chromedp.Action[chromedp.Void]) {
	b.Helper()
	_, err := chromedp.RunResponse(b.ctx, action)
	b.must(err)
}

// at is the address of the page, without the host.
func (b *browser) at() string {
	b.Helper()
	at, err := chromedp.Run(b.ctx, chromedp.Location())
	b.must(err)
	return strings.TrimPrefix(at, b.base)
}

// in evaluates an expression as the developer's tools do, which scripts
// switched off do not hinder.
func in[T any](b *browser, expression string) T {
	b.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.EvaluateAsDevTools[T](expression))
	b.must(err)
	return v
}

func (b *browser) rows() int { return in[int](b, `document.querySelectorAll("tr.exchange").length`) }

func (b *browser) viewport(width, height int64) {
	b.Helper()
	b.must(chromedp.Do(b.ctx, chromedp.EmulateViewport(width, height)))
}

func (b *browser) prefer(scheme string) {
	b.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	b.must(err)
}

// picture saves what the page looks like, if TTFTAP_PICTURES names a folder.
func (b *browser) picture(name string) {
	b.Helper()
	dir := os.Getenv("TTFTAP_PICTURES")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	b.must(err)
	b.must(os.MkdirAll(dir, 0o755))
	b.must(os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
}

// quiet fails the test if the browser complained, or asked another host.
func (b *browser) quiet() {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.complaints) > 0 {
		b.Errorf("the browser complains: %q", b.complaints)
	}
	if len(b.requests) == 0 {
		b.Error("no request was seen")
	}
	for _, r := range b.requests {
		if !strings.HasPrefix(r, b.base+"/-/") {
			b.Errorf("the page asked for %s", r)
		}
	}
}

func filtersSortsAndOpens(b *browser) {
	b.visit("/-/")
	if n := b.rows(); n != 14 {
		b.Fatalf("%d rows", n)
	}
	b.picture("log")

	b.must(chromedp.Do(b.ctx, chromedp.SetValue(chromedp.CSS("select[name=from]"), "-1h")))
	b.must(chromedp.Do(b.ctx, chromedp.SetValue(chromedp.CSS("input[name=min_first_token_ms]"), "1000")))
	b.follow(chromedp.Click(chromedp.CSS("form.filters button")))
	if at := b.at(); at != "/-/?from=-1h&min_first_token_ms=1000" || b.rows() != 8 {
		b.Errorf("filtered: at %s, %d rows", at, b.rows())
	}
	b.follow(chromedp.Click(chromedp.CSS("th.c-total a")))
	if at := b.at(); at != "/-/?from=-1h&min_first_token_ms=1000&sort=total_ms" {
		b.Errorf("sorted: at %s", at)
	}
	b.follow(chromedp.Click(chromedp.CSS(".chip a")))
	if at := b.at(); at != "/-/?min_first_token_ms=1000&sort=total_ms" {
		b.Errorf("without the first chip: at %s", at)
	}
	b.follow(chromedp.Click(chromedp.CSS("tr.exchange td.c-time a")))
	if at := b.at(); at != "/-/requests/hidden" {
		b.Errorf("the slowest is at %s", at)
	}
	if n := in[int](b, `document.querySelectorAll(".waterfall tbody tr").length`); n != 8 {
		b.Errorf("the waterfall has %d lines", n)
	}
	b.picture("exchange")
	b.quiet()
}

func speaksChinese(b *browser) {
	b.visit("/-/?bound=decode")
	b.follow(chromedp.Click(chromedp.CSS(".corner a[hreflang]")))
	if at := b.at(); at != "/-/?bound=decode&lang=zh" || b.rows() != 3 {
		b.Errorf("at %s with %d rows", at, b.rows())
	}
	b.visit("/-/")
	if heading := in[string](b, `document.documentElement.lang + " " + document.querySelector("h1").textContent`); heading != "zh-CN 请求日志" {
		b.Errorf("heading %q", heading)
	}
	b.picture("log-zh")
	b.visit("/-/requests/cut")
	b.picture("exchange-zh")
	b.quiet()
}

func isDark(b *browser) {
	ground := map[string]string{}
	for _, scheme := range []string{"light", "dark"} {
		b.prefer(scheme)
		b.visit("/-/")
		ground[scheme] = in[string](b, `getComputedStyle(document.body).backgroundColor`)
		b.picture("log-" + scheme)
		b.visit("/-/requests/prefill")
		b.picture("exchange-" + scheme)
	}
	if ground["light"] != "rgb(251, 251, 250)" || ground["dark"] != "rgb(16, 18, 20)" {
		b.Errorf("backgrounds %v", ground)
	}
	b.quiet()
}

// overlong is an exchange with texts that fit no line.
func overlong() *exchange.Exchange {
	return seeded("long", 2*time.Second, func(x *exchange.Exchange) {
		x.ModelRequested, x.Path = strings.Repeat("model-", 30), "/"+strings.Repeat("x", 400)
		x.RequestID, x.UsageRaw = strings.Repeat("9", 150), strings.Repeat("u", 3000)
	})
}

func fitsATelephone(b *browser) {
	b.viewport(390, 844)
	for _, l := range []language{english, chinese} {
		for name, target := range map[string]string{
			"log": "/-/", "charts": "/-/charts", "exchange": "/-/requests/prefill", "failed": "/-/requests/cut", "long": "/-/requests/long",
			"connect": "/-/connect", "missing": "/-/requests/" + strings.Repeat("y", 200),
			"filtered": "/-/?q=" + strings.Repeat("z", 200) + "&from=-1h&colour=" + strings.Repeat("r", 200),
		} {
			b.visit(withLang(target, l))
			if over := in[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
				b.Errorf("%s in %s is %d px too wide", name, l, over)
			}
			b.picture("narrow-" + name + "-" + string(l))
		}
	}
}

// longWinded is an exchange with as long lines in its waterfall as there are.
func longWinded() *exchange.Exchange {
	return seeded("long-winded", 3*time.Second, func(x *exchange.Exchange) {
		answered(x, 1000, 2000, 90)
		x.ConnReused, x.DNS, x.Connect, x.TLS = new(false), span(12.5), span(120), span(241)
		x.ServerPrefill, x.ServerDecode, x.ServerSource = span(400), span(990), "timings"
	})
}

// isWholeInANarrowWindow looks at widths between a telephone's and a desktop's.
func isWholeInANarrowWindow(b *browser) {
	for _, width := range []int64{1000, 1100} {
		b.viewport(width, 800)
		for name, target := range map[string]string{
			"connect": "/-/connect", "exchange": "/-/requests/prefill", "open": "/-/requests/under-way",
			"stalled": "/-/requests/stalled", "visible": "/-/requests/visible", "long-winded": "/-/requests/long-winded",
		} {
			b.visit(target)
			cut := in[[]string](b, `[...document.querySelectorAll("pre, .waterfall th, .facts > *, .routes > *, .grid td")].
				filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent)`)
			if len(cut) > 0 {
				b.Errorf("%s at %d px cuts off %q", name, width, cut)
			}
			broken := in[[]string](b, `[...document.querySelectorAll(".routes code, .routes bdi")].
				filter(e => e.getClientRects().length > 1).map(e => e.textContent)`)
			if len(broken) > 0 {
				b.Errorf("%s at %d px breaks %q", name, width, broken)
			}
			b.picture(fmt.Sprintf("%s-%d", name, width))
		}
	}
	b.quiet()
}

func withLang(target string, l language) string {
	u, err := url.Parse(target)
	if err != nil {
		panic(err)
	}
	q := u.Query()
	q.Set("lang", string(l))
	u.RawQuery = q.Encode()
	return u.String()
}

func opensByToken(b *browser) {
	b.visit("/-/?bound=decode")
	b.picture("login")
	b.must(chromedp.Do(b.ctx, chromedp.SendKeys(chromedp.CSS("#token"), "open sesame")))
	b.follow(chromedp.Click(chromedp.CSS("form.login button")))
	if at := b.at(); at != "/-/?bound=decode" || b.rows() != 3 {
		b.Errorf("at %s with %d rows", at, b.rows())
	}
}

func showsWhatToPaste(b *browser) {
	b.visit("/-/")
	want := CodexBlock("http://localhost:8838", "https://api.example.com/v1")
	if got := in[string](b, `document.querySelector("pre").textContent`); got != want {
		b.Errorf("got %q, want %q", got, want)
	}
	b.picture("empty")
	b.quiet()
}
