package web

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

func TestTheLanguageIsTheAddressesThenTheCookiesThenTheBrowsers(t *testing.T) {
	page := New(newConfig(t))
	for _, test := range []struct {
		target, cookie, accept string
		want                   language
	}{
		{"/-/", "", "", english},
		{"/-/", "", "fr, de;q=0.8", english},
		{"/-/", "", "fr, zh-Hans-CN;q=0.9, en;q=0.8", chinese},
		{"/-/", "", "ZH", chinese},
		{"/-/", "", "zhuang", english},
		{"/-/", "en", "zh", english},
		{"/-/", "xx", "zh", chinese},
		{"/-/?lang=zh", "en", "en", chinese},
		{"/-/?lang=zh-TW", "", "", chinese},
		{"/-/?lang=%00", "", "", english},
	} {
		w := get(t, page, test.target, "Accept-Language", test.accept, "Cookie", tongue+"="+test.cookie)
		if !strings.Contains(w.Body.String(), `<html lang="`+test.want.Tag()+`">`) || w.Header().Get("Content-Language") != test.want.Tag() {
			t.Errorf("%+v: got %q", test, w.Header().Get("Content-Language"))
		}
	}
}

func TestTheSwitchKeepsTheViewAndIsRemembered(t *testing.T) {
	page := New(newConfig(t, telling()...))
	body := get(t, page, "/-/?bound=decode&from=-3h").Body.String()
	to := link(body, "中文")
	if want := "/-/?bound=decode&from=-3h&lang=zh"; to != want {
		t.Fatalf("the switch leads to %q, want %q", to, want)
	}
	w := get(t, page, to)
	cookies := w.Result().Cookies()
	if len(cookies) != 1 || cookies[0].Name != tongue || cookies[0].Value != "zh" {
		t.Fatalf("cookies %v", cookies)
	}
	if got := shown(w.Body.String()); len(got) != 3 {
		t.Errorf("the view in Chinese shows %v", got)
	}
	if w := get(t, page, "/-/connect", "Cookie", tongue+"=zh"); !strings.Contains(w.Body.String(), "接入客户端") || len(w.Result().Cookies()) != 0 {
		t.Error("the choice is not remembered, or set again without need")
	}
}

func TestStaticFilesAreKeptForGoodUnderTheirHash(t *testing.T) {
	page := New(newConfig(t))
	body := get(t, page, "/-/").Body.String()
	found := regexp.MustCompile(`/-/static/[a-z0-9-]+\.(css|svg)`).FindAllString(body, -1)
	if len(found) != 2 {
		t.Fatalf("static files of the page: %v", found)
	}
	for _, target := range found {
		w := get(t, page, target)
		if w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "public, max-age=31536000, immutable" {
			t.Errorf("%s: status %d, %q", target, w.Code, w.Header().Get("Cache-Control"))
		}
		if ct := w.Header().Get("Content-Type"); ct != "text/css; charset=utf-8" && ct != "image/svg+xml" {
			t.Errorf("%s is %q", target, ct)
		}
	}
	for _, target := range []string{"/-/static/ttftap.css", "/-/static/ttftap-000000000000.css", "/-/static/", "/-/static/../web.go"} {
		if w := get(t, page, target); w.Code != http.StatusNotFound {
			t.Errorf("%s: status %d", target, w.Code)
		}
	}
}

// TestEveryPageNamesItsIcon, since a browser asks the upstream for /favicon.ico
// otherwise.
func TestEveryPageNamesItsIcon(t *testing.T) {
	c := newConfig(t, telling()...)
	open := New(c)
	c.Token = "sesame"
	for name, page := range map[string]http.Handler{"open": open, "locked": New(c)} {
		pages := 0
		for _, target := range everywhere {
			w := get(t, page, target)
			if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
				continue
			}
			pages++
			m := regexp.MustCompile(`<link rel="icon" href="(/-/static/icon-[0-9a-f]+\.svg)" type="image/svg\+xml">`).FindStringSubmatch(w.Body.String())
			if m == nil || get(t, page, m[1]).Code != http.StatusOK {
				t.Errorf("%s %s: no icon", name, target)
			}
		}
		if pages < 5 {
			t.Errorf("%s: only %d pages", name, pages)
		}
	}
}

func TestHowManyRequestsCameIsTheLogsCount(t *testing.T) {
	c := newConfig(t, many(3)...)
	c.State = func() store.State { return store.State{Committed: 7} } // two writes each, and one under way
	if body := get(t, New(c), "/-/connect").Body.String(); !strings.Contains(body, "3 requests in the log.") {
		t.Error("the page counts something else than requests")
	}
}

func TestAMissingExchangeCanBeSearchedFor(t *testing.T) {
	page := New(newConfig(t, telling()...))
	w := get(t, page, "/-/requests/req_8d02")
	if w.Code != http.StatusNotFound {
		t.Errorf("status %d", w.Code)
	}
	search := link(w.Body.String(), "Search the log for it")
	if got := shown(get(t, page, search).Body.String()); len(got) != 1 || got[0] != "prefill" {
		t.Errorf("%s finds %v", search, got)
	}
}

func TestAnExchangesNeighboursAreOneStepAway(t *testing.T) {
	page := New(newConfig(t, many(3)...))
	body := get(t, page, "/-/requests/many-001").Body.String()
	if newer, older := link(body, "← newer"), link(body, "older →"); newer != "/-/requests/many-002" || older != "/-/requests/many-000" {
		t.Errorf("newer %q, older %q", newer, older)
	}
	if body := get(t, page, "/-/requests/many-002").Body.String(); link(body, "← newer") != "" {
		t.Error("the newest has a newer one")
	}
	if body := get(t, page, "/-/requests/last").Body.String(); !strings.Contains(body, `href="/-/api/requests/many-002"`) {
		t.Error("last is not the newest")
	}
}

func TestHealthTellsHowRecordingGoes(t *testing.T) {
	c := newConfig(t)
	since := noon.Add(-time.Minute)
	c.State = func() store.State {
		return store.State{Queued: 1, Committed: 22, Late: 3, Lost: 4, Error: "disk full\nno space", Since: since}
	}
	w := get(t, New(c), "/-/healthz")
	want := "ok\nqueued 1\ncommitted 22\nlate 3\nlost 4\nerror disk full\\u000ano space\nsince 2026-03-14T03:59:00Z\n"
	if w.Code != http.StatusOK || w.Body.String() != want {
		t.Errorf("status %d, body %q, want %q", w.Code, w.Body, want)
	}
}

func TestTroubleWithRecordingIsOnEveryView(t *testing.T) {
	for name, test := range map[string]struct {
		state store.State
		want  string
	}{
		"well":   {store.State{Committed: 3}, "Recording"},
		"lost":   {store.State{Lost: 1234}, "1,234 records lost"},
		"broken": {store.State{Error: "disk full"}, "The log cannot be written"},
	} {
		c := newConfig(t)
		c.State = func() store.State { return test.state }
		body := get(t, New(c), "/-/connect").Body.String()
		if !strings.Contains(body, test.want) || strings.Contains(body, "recorder trouble") == (name == "well") {
			t.Errorf("%s: not told", name)
		}
	}
}

func TestTheCodexBlockSuitsTheUpstream(t *testing.T) {
	for upstream, want := range map[string]string{
		"https://api.openai.com/v1":              `env_key = "OPENAI_API_KEY"`,
		"https://chatgpt.com/backend-api/codex":  "requires_openai_auth = true",
		"https://chatgpt.com/backend-api/codex/": "requires_openai_auth = true",
	} {
		block := CodexBlock("http://localhost:8838", upstream)
		for _, line := range []string{`model_provider = "ttftap"`, "[model_providers.ttftap]", `base_url = "http://localhost:8838"`, `wire_api = "responses"`, want} {
			if !strings.Contains(block, line+"\n") {
				t.Errorf("%s: the block lacks %s:\n%s", upstream, line, block)
			}
		}
	}
}

func TestAViewThatCannotBeMadeIsAnErrorNotHalfAPage(t *testing.T) {
	s := &site{Config: newConfig(t), pages: readPages(readAssets())}
	w := httptest.NewRecorder()
	p := page{Language: english, templates: s.pages[english]()}
	err := p.render(w, http.StatusOK, "log", struct{ page }{p})
	if err == nil || w.Body.Len() != 0 {
		t.Errorf("error %v, %d bytes written", err, w.Body.Len())
	}
}

// hostile is what a stranger may put into any text of an exchange.
const hostile = `"'><script>alert(1)</script><img src=x onerror=alert(1)>` + "{{.}}`javascript:x`\u2028\u202egnp.exe"

func TestHostileTextsAreShownAndDoNothing(t *testing.T) {
	x := seeded(hostile, time.Second, func(x *exchange.Exchange) {
		x.Upstream, x.KeyID, x.Client, x.SessionID, x.TurnID = hostile, hostile, hostile, hostile, hostile
		x.Method, x.Path, x.ModelRequested, x.ModelServed = hostile, hostile, hostile, hostile+"2"
		x.Error, x.FinishReason, x.RequestID, x.ResponseID = hostile, hostile, hostile, hostile
		x.GatewayRequestID, x.RetryGroup, x.Note, x.UsageRaw = hostile, hostile, hostile, hostile
		x.ServiceTier, x.ServerSource, x.RequestKind, x.Transport = hostile, hostile, hostile, hostile
		x.Outcome, x.Dialect, x.RateQuality, x.Reasoning = exchange.UpstreamCut, hostile, hostile, "summary"
	})
	page := New(newConfig(t, x))
	log := get(t, page, "/-/?q="+url.QueryEscape(hostile[:4])).Body.String()
	ids := shown(log)
	if len(ids) != 1 {
		t.Fatalf("rows: %v", ids)
	}
	for _, body := range []string{log, get(t, page, "/-/requests/"+ids[0]).Body.String()} {
		body = ownScript.ReplaceAllString(body, "")
		if !strings.Contains(body, "&lt;script&gt;alert(1)") {
			t.Error("the text is not shown")
		}
		for _, bad := range []string{"<script", "<img", "\u2028", "\u202e", `href="javascript:`, "onerror=alert(1)>"} {
			if strings.Contains(body, bad) {
				t.Errorf("the page has %q", bad)
			}
		}
	}
}

func TestTextsOfAnySizeLeaveThePageSmall(t *testing.T) {
	big := strings.Repeat("x", 100<<10)
	x := seeded("big", time.Second, func(x *exchange.Exchange) {
		x.Upstream, x.Client, x.SessionID, x.Path, x.ModelRequested = big, big, big, big, big
		x.Error, x.Note, x.UsageRaw, x.RequestID, x.Outcome = big, big, big, big, exchange.UpstreamError
	})
	page := New(newConfig(t, x))
	for target, most := range map[string]int{"/-/": 30 << 10, "/-/requests/big": 150 << 10} {
		if n := get(t, page, target).Body.Len(); n > most {
			t.Errorf("%s has %d bytes", target, n)
		}
	}
}

func TestAnErrorKeepsItsKindThroughWrapping(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "/-/", nil)
	if p := problemOf(r, errors.Join(errors.New("read"), brokenFilter{{Name: "q"}})); p.status != http.StatusBadRequest {
		t.Errorf("status %d", p.status)
	}
	if p := problemOf(r, errors.New("whatever")); p.status != http.StatusInternalServerError {
		t.Errorf("status %d", p.status)
	}
}
