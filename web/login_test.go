package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

const form = "application/x-www-form-urlencoded"

// locked is a page behind a token.
func locked(t *testing.T) http.Handler {
	t.Helper()
	c := newConfig(t, telling()...)
	c.Token = "open sesame"
	return New(c)
}

func login(t *testing.T, page http.Handler, token, next string) *http.Response {
	t.Helper()
	body := url.Values{"token": {token}, "next": {next}}.Encode()
	return ask(t, page, "POST", "/-/login", body, "Content-Type", form).Result()
}

func TestATokenLocksEveryViewButHealthAndStyle(t *testing.T) {
	page := locked(t)
	for _, target := range everywhere {
		w := get(t, page, target)
		switch {
		case target == "/-/healthz":
			if w.Code != http.StatusOK || w.Body.String() != "ok\n" {
				t.Errorf("%s: status %d, body %q", target, w.Code, w.Body)
			}
		case strings.HasPrefix(target, "/-/static/"):
			if w.Code != http.StatusNotFound {
				t.Errorf("%s: status %d", target, w.Code)
			}
		case w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") == "":
			t.Errorf("%s: status %d", target, w.Code)
		}
		for _, secret := range []string{"gpt-5", "Recording", "v0", "committed"} {
			if strings.Contains(w.Body.String(), secret) {
				t.Errorf("%s tells a stranger %q", target, secret)
			}
		}
	}
}

func TestTheRightTokenOpensAsBearerAndByForm(t *testing.T) {
	page := locked(t)
	if w := get(t, page, "/-/api/requests", "Authorization", "Bearer open sesame"); w.Code != http.StatusOK {
		t.Errorf("bearer: status %d", w.Code)
	}
	answer := login(t, page, "open sesame", "/-/?bound=decode")
	if answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != "/-/?bound=decode" {
		t.Fatalf("status %d, to %q", answer.StatusCode, answer.Header.Get("Location"))
	}
	cookie := answer.Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/-/" {
		t.Errorf("cookie %v", cookie)
	}
	if strings.Contains(cookie.Value, "sesame") {
		t.Errorf("the cookie tells the token: %v", cookie)
	}
	if w := get(t, page, "/-/", "Cookie", cookie.Name+"="+cookie.Value); w.Code != http.StatusOK {
		t.Errorf("cookie: status %d", w.Code)
	}
	if w := get(t, page, "/-/healthz", "Cookie", cookie.Name+"="+cookie.Value); !strings.Contains(w.Body.String(), "committed 14") {
		t.Errorf("healthz tells no state: %q", w.Body)
	}
}

func TestAWrongTokenOpensNothing(t *testing.T) {
	page := locked(t)
	for _, token := range []string{"", "sesame", "open sesame ", "OPEN SESAME", "open sesam", strings.Repeat("x", 1<<20)} {
		answer := login(t, page, token, "/-/")
		if answer.StatusCode != http.StatusUnauthorized || len(answer.Cookies()) != 0 {
			t.Errorf("token of %d bytes: status %d", len(token), answer.StatusCode)
		}
		if w := get(t, page, "/-/", "Authorization", "Bearer "+token); w.Code != http.StatusUnauthorized {
			t.Errorf("bearer of %d bytes: status %d", len(token), w.Code)
		}
	}
	for _, cookie := range []string{"ttftap_page=", "ttftap_page=open sesame", "ttftap_page=0"} {
		if w := get(t, page, "/-/", "Cookie", cookie); w.Code != http.StatusUnauthorized {
			t.Errorf("%s: status %d", cookie, w.Code)
		}
	}
}

func TestACookieOfAnotherTokenOpensNothing(t *testing.T) {
	cookie := login(t, locked(t), "open sesame", "/-/").Cookies()[0]
	c := newConfig(t)
	c.Token = "another"
	if w := get(t, New(c), "/-/", "Cookie", cookie.Name+"="+cookie.Value); w.Code != http.StatusUnauthorized {
		t.Errorf("status %d", w.Code)
	}
}

func TestTheLoginLeadsBackAndNowhereElse(t *testing.T) {
	page := locked(t)
	body := get(t, page, "/-/requests/decode?lang=en").Body.String()
	if !strings.Contains(body, `name="next" value="/-/requests/decode?lang=en"`) {
		t.Errorf("the form does not know where to go: %s", body)
	}
	for next, want := range map[string]string{
		"/-/connect": "/-/connect", "": "/-/", "/": "/-/", "//evil.example/-/": "/-/",
		"https://evil.example/-/": "/-/", `/\evil.example`: "/-/",
		`/-/../\evil.example`: "/-/", `/-/..//evil.example`: "/-/", "/-/%2e%2e/%5cevil.example": "/-/", "/-/../../": "/-/",
		`/-/\evil.example`: "/-/%5Cevil.example", "/-/%zz": "/-/", "/-/\nx": "/-/", "javascript:alert(1)": "/-/",
		"/-/turns/a%2Fb?lang=zh": "/-/turns/a%2Fb?lang=zh", "/-/?q=%2F%2Fevil.example": "/-/?q=%2F%2Fevil.example",
	} {
		if got := login(t, page, "open sesame", next).Header.Get("Location"); got != want {
			t.Errorf("next %q leads to %q, want %q", next, got, want)
		}
	}
}
