package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
)

const (
	admission     = "ttftap_page" // name of the cookie of a browser that has shown the token
	admissionLife = 30 * 24 * time.Hour
	loginBytes    = 16 << 10 // the most that is read of a login form
)

// loginView is the form that asks for the token.
type loginView struct {
	page
	Next  string // where to go afterwards
	Wrong bool   // the last try was
}

// admitted passes on only those who have shown the token, where there is one.
func (s *site) admitted(next http.Handler) http.Handler {
	return s.view(func(w http.ResponseWriter, r *http.Request) error {
		if !s.admits(r) {
			return errToken
		}
		next.ServeHTTP(w, r)
		return nil
	})
}

// admits says whether a request carries the token, or a cookie made of it.
func (s *site) admits(r *http.Request) bool {
	if s.Token == "" {
		return true
	}
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return same(bearer, s.Token)
	}
	cookie, err := r.Cookie(admission)
	return err == nil && same(cookie.Value, s.admission())
}

// admission is the cookie's value: it proves that its bearer knew the token and
// does not tell it.
func (s *site) admission() string {
	mac := hmac.New(sha256.New, []byte(s.Token))
	mac.Write([]byte(admission))
	return hex.EncodeToString(mac.Sum(nil))
}

// same compares digests, so that neither content nor length shows in the time.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// login is the form's other end.
func (s *site) login(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, loginBytes)
	next := localPath(r.PostFormValue("next"))
	if s.Token != "" && !same(r.PostFormValue("token"), s.Token) {
		return s.showLogin(w, r, loginView{Next: next, Wrong: true})
	}
	http.SetCookie(w, &http.Cookie{
		Name: admission, Value: s.admission(), Path: "/-/", MaxAge: int(admissionLife.Seconds()),
		HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
	})
	http.Redirect(w, r, next, http.StatusSeeOther)
	return nil
}

func (s *site) showLogin(w http.ResponseWriter, r *http.Request, v loginView) error {
	v.page = s.page(w, r, "login.title")
	return v.render(w, http.StatusUnauthorized, "login", v)
}

// localPath is the address if it is one of this page, else the log's. Browsers take
// a backslash for a slash, two slashes for the beginning of a host, and two dots
// for a way up.
func localPath(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(u.Path, "/-/") {
		return "/-/"
	}
	if u.Path != "/-/" && u.Path != path.Clean(u.Path) {
		return "/-/"
	}
	return (&url.URL{Path: u.Path, RawPath: u.EscapedPath(), RawQuery: u.RawQuery}).String()
}
