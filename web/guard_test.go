package web

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// everywhere is an address of each kind.
var everywhere = []string{
	"/-/", "/-/?from=nonsense", "/-/requests/decode", "/-/requests/nowhere", "/-/charts", "/-/connect", "/-/nowhere",
	"/-/export.csv", "/-/export.jsonl", "/-/export.csv?from=nonsense", "/-/api/requests", "/-/api/requests/decode",
	"/-/api/requests/nowhere", "/-/api/models", "/-/healthz", "/-/static/nothing.css",
	"/-/experiments", "/-/experiments/" + ladderID, "/-/experiments/" + ladderID + "/report.md", "/-/experiments/compare",
	"/-/experiments/compare?a=" + ladderID + "&b=" + cacheID, "/-/api/experiments", "/-/api/experiments/" + ladderID,
	"/-/turns/turn-7", "/-/turns/nowhere", "/-/compare", "/-/compare?a=decode&b=prefill", "/-/compare?a=decode&b=nowhere",
}

func TestEveryAnswerForbidsWhatNoViewNeeds(t *testing.T) {
	c := newConfig(t, telling()...)
	open := New(c)
	c.Token = "sesame"
	locked := New(c)
	for _, target := range everywhere {
		for name, page := range map[string]http.Handler{"open": open, "locked": locked} {
			h := get(t, page, target).Header()
			for header, want := range map[string]string{
				"Content-Security-Policy": policy,
				"X-Content-Type-Options":  "nosniff",
				"Referrer-Policy":         "no-referrer",
				"Cache-Control":           "no-store",
				"X-Frame-Options":         "DENY",

				"Cross-Origin-Resource-Policy": "same-origin",
				"Cross-Origin-Opener-Policy":   "same-origin",
			} {
				if got := h.Get(header); got != want {
					t.Errorf("%s %s: %s is %q, want %q", name, target, header, got, want)
				}
			}
			for header := range h {
				if strings.HasPrefix(header, "Access-Control-") {
					t.Errorf("%s %s: lets other sites read it: %s", name, target, header)
				}
			}
		}
	}
}

// ownScript is the one script that a page has.
var ownScript = regexp.MustCompile(`<script src="/-/static/ttftap-[0-9a-f]{12}\.js" defer></script>`)

func TestThePolicyAllowsNothingInline(t *testing.T) {
	for _, word := range []string{"unsafe", "http:", "https:", "*"} {
		if strings.Contains(policy, word) {
			t.Errorf("the policy has %q", word)
		}
	}
	page := New(newConfig(t, telling()...))
	for _, target := range everywhere {
		body := ownScript.ReplaceAllString(get(t, page, target).Body.String(), "")
		for _, inline := range []string{"<script", "<style", " style=", "javascript:", " onclick=", "<iframe", `src="`, "@import"} {
			if strings.Contains(body, inline) {
				t.Errorf("%s has %q", target, inline)
			}
		}
	}
}

func TestOnlyReadingIsAllowed(t *testing.T) {
	page := New(newConfig(t, telling()...))
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND"} {
		for _, target := range []string{"/-/", "/-/api/requests", "/-/healthz"} {
			w := ask(t, page, method, target, "")
			if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: status %d, Allow %q", method, target, w.Code, w.Header().Get("Allow"))
			}
		}
	}
}

func TestHEADIsGETWithoutTheBody(t *testing.T) {
	server := newServer(t, newConfig(t, telling()...))
	for _, target := range everywhere {
		got, want := fetch(t, http.MethodHead, server+target), fetch(t, http.MethodGet, server+target)
		if got.status != want.status || got.contentType != want.contentType || got.body != "" {
			t.Errorf("%s: HEAD gives %d %q %q, GET %d %q", target, got.status, got.contentType, got.body, want.status, want.contentType)
		}
	}
}

func TestOnlyKnownHostNamesAreAnswered(t *testing.T) {
	tests := []struct {
		host          string
		open, locked  int
		allow, listen string
	}{
		{host: "localhost", open: 200, locked: 401},
		{host: "LocalHost:8838", open: 200, locked: 401},
		{host: "localhost.:8838", open: 200, locked: 401},
		{host: "127.0.0.1:8838", open: 200, locked: 401},
		{host: "127.8.9.1", open: 200, locked: 401},
		{host: "[::1]:8838", open: 200, locked: 401},
		{host: "[::ffff:127.0.0.1]:8838", open: 200, locked: 401},
		{host: "192.168.1.7:8838", open: 403, locked: 401},
		{host: "[fe80::1]", open: 403, locked: 401},
		{host: "evil.example:8838", open: 403, locked: 403},
		{host: "localhost.evil.example", open: 403, locked: 403},
		{host: "127.0.0.1.evil.example", open: 403, locked: 403},
		{host: "", open: 403, locked: 403},
		{host: "nas.lan:8838", open: 403, locked: 403},
		{host: "nas.lan:8838", allow: "NAS.lan", open: 200, locked: 401},
		{host: "nas.lan:1", listen: "http://nas.lan:8838", open: 200, locked: 401},
		{host: "", listen: "http://:8838", open: 403, locked: 403},
	}
	for _, test := range tests {
		c := newConfig(t)
		if test.allow != "" {
			c.AllowHosts = []string{test.allow}
		}
		if test.listen != "" {
			c.Listen = test.listen
		}
		if got := get(t, New(c), "/-/", "Host", test.host); got.Code != test.open {
			t.Errorf("%+v: status %d, want %d", test, got.Code, test.open)
		}
		c.Token = "sesame"
		if got := get(t, New(c), "/-/", "Host", test.host); got.Code != test.locked {
			t.Errorf("%+v with a token: status %d, want %d", test, got.Code, test.locked)
		}
	}
}

func TestAStrangeHostIsToldTheCure(t *testing.T) {
	w := get(t, New(newConfig(t, telling()...)), "/-/requests/decode", "Host", "rebound.example:8838")
	body := w.Body.String()
	if w.Code != http.StatusForbidden || !strings.Contains(body, "--allow-host rebound.example") {
		t.Errorf("status %d: %s", w.Code, body)
	}
	if strings.Contains(body, "gpt-5") || strings.Contains(body, "<") {
		t.Errorf("the refusal shows more than itself: %s", body)
	}
}

func TestAFormOfAnotherSiteIsRefused(t *testing.T) {
	c := newConfig(t)
	c.Token = "sesame"
	w := ask(t, New(c), "POST", "/-/login", "token=sesame",
		"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example")
	if w.Code != http.StatusForbidden || w.Header().Get("Set-Cookie") != "" {
		t.Errorf("status %d, cookie %q", w.Code, w.Header().Get("Set-Cookie"))
	}
}

// A page of another site could tell by the time that a search takes what is in the
// log, and take the places of those who follow it.
func TestAPageOfAnotherSiteLoadsNothing(t *testing.T) {
	page := New(newConfig(t, telling()...))
	for _, target := range []string{"/-/", "/-/?q=secret", "/-/live", "/-/export.csv", "/-/api/requests", "/-/healthz"} {
		for _, test := range []struct {
			site, mode string
			want       int
		}{
			{"cross-site", "no-cors", 403}, {"cross-site", "cors", 403}, {"same-site", "no-cors", 403}, {"same-site", "websocket", 403},
			{"cross-site", "navigate", 200}, {"same-origin", "cors", 200}, {"none", "navigate", 200}, {"", "", 200},
		} {
			if target == "/-/live" && test.want == 200 {
				continue // it does not end
			}
			w := get(t, page, target, "Sec-Fetch-Site", test.site, "Sec-Fetch-Mode", test.mode)
			if w.Code != test.want {
				t.Errorf("%s, %s %s: status %d, want %d", target, test.site, test.mode, w.Code, test.want)
			}
		}
	}
}

func TestAWriteOfAnotherOriginChangesNothing(t *testing.T) {
	page := New(newConfig(t))
	const begin = `{"id":"01JZZZZZZZZZZZZZZZZZZZZZZZ","plan":{"kind":"burst","arms":[{}],"steps":[{"arm":0}]}}`
	for _, from := range [][]string{
		{"Origin", "https://evil.example"}, {"Origin", "null"}, {"Origin", "http://localhost:3000"},
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "navigate"},
	} {
		w := ask(t, page, "POST", "/-/api/experiments", begin, append(from, "Content-Type", "text/plain")...)
		if w.Code != http.StatusForbidden {
			t.Errorf("%v: status %d", from, w.Code)
		}
	}
	if got := get(t, page, "/-/api/experiments").Body.String(); got != "{\"experiments\":[]}\n" {
		t.Errorf("there is an experiment: %s", got)
	}
	if w := ask(t, page, "POST", "/-/api/experiments", begin); w.Code != http.StatusCreated {
		t.Errorf("a program's own is answered %d: %s", w.Code, w.Body)
	}
}

func TestAnUploadToThePageHasALimit(t *testing.T) {
	page := New(newConfig(t))
	long := `{"id":"01JZZZZZZZZZZZZZZZZZZZZZZZ","plan":{"command":"` + strings.Repeat("x", planBytes) + `"}}`
	w := ask(t, page, "POST", "/-/api/experiments", long)
	if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "too large") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}

func TestAClosedLogIsToldInPlainWords(t *testing.T) {
	c := newConfig(t, telling()...)
	if err := c.Store.Close(); err != nil {
		t.Fatal(err)
	}
	logged := c.capturedLog()
	page := New(c)
	for target, want := range map[string]string{
		"/-/":                    "The log could not be read",
		"/-/requests/decode":     "The log could not be read",
		"/-/api/requests":        `{"error":{"message":"The proxy goes on`,
		"/-/api/requests/decode": `{"error":{"message":"The proxy goes on`,
		"/-/export.csv":          "The proxy goes on",
		"/-/export.jsonl":        "The proxy goes on",
	} {
		w := get(t, page, target)
		body := w.Body.String()
		if w.Code != http.StatusInternalServerError || !strings.Contains(body, want) {
			t.Errorf("%s: status %d, body %s", target, w.Code, body)
		}
		for _, inner := range []string{"sql", "database", "closed", c.Store.Path()} {
			if strings.Contains(strings.ToLower(body), inner) {
				t.Errorf("%s: the answer tells %q", target, inner)
			}
		}
		if !strings.Contains(logged(), "closed") {
			t.Errorf("%s: the reason was not logged", target)
		}
	}
	if w := get(t, page, "/-/connect"); w.Code != http.StatusOK {
		t.Errorf("how to connect needs no log, but has status %d", w.Code)
	}
}

func TestAReaderWhoLeftIsNoErrorOfOurs(t *testing.T) {
	c := newConfig(t, telling()...)
	logged := c.capturedLog()
	s := New(c)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	getIn(t, ctx, s, "/-/")
	if logged() != "" {
		t.Errorf("logged: %s", logged())
	}
}
