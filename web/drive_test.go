package web

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

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

// mark makes this page different from the same one loaded anew.
func (d *drive) mark() {
	d.Helper()
	d.must(chromedp.Do(d.ctx, chromedp.Evaluate[chromedp.Void](`window.marked = true`)))
}
