package web

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
)

// The login leads to an address of the page, whatever it was asked for, as browsers
// read it: for them a backslash is a slash, and blanks and line ends are nothing.
func FuzzNext(f *testing.F) {
	for _, next := range []string{"/-/", `/-/../\evil.example`, "//evil.example", "/-/turns/a%2Fb?x=%zz#y", "/-/%2e%2e//x", "\t/-/", "/-/.//"} {
		f.Add(next)
	}
	f.Fuzz(func(t *testing.T, next string) {
		w := httptest.NewRecorder()
		http.Redirect(w, httptest.NewRequest("POST", "/-/login", nil), localPath(next), http.StatusSeeOther)
		to := w.Header().Get("Location")
		asRead := strings.NewReplacer(`\`, "/", "\t", "", "\n", "", "\r", "").Replace(to)
		u, err := url.Parse("http://localhost:8838/-/login")
		if err == nil {
			u, err = u.Parse(asRead)
		}
		if err != nil || u.Host != "localhost:8838" || u.Scheme != "http" || !strings.HasPrefix(u.Path, "/-/") {
			t.Errorf("%q leads to %q, which is %v, %v", next, to, u, err)
		}
		if again := localPath(localPath(next)); again != localPath(next) {
			t.Errorf("%q, and again %q", localPath(next), again)
		}
	})
}

// The page answers to no name of another's.
func FuzzHost(f *testing.F) {
	for _, host := range []string{"localhost:8838", "127.0.0.1", "[::1]:1", "evil.example", "localhost.", "[::ffff:127.0.0.1%25x]", "nas.lan"} {
		f.Add(host)
	}
	s := &site{Config: Config{Listen: "http://localhost:8838", AllowHosts: []string{"NAS.lan"}}}
	f.Fuzz(func(t *testing.T, hostport string) {
		if !s.answersTo(hostport) {
			return
		}
		host := hostOf(hostport)
		ip, err := netip.ParseAddr(host)
		if host != "localhost" && host != "nas.lan" && (err != nil || !ip.Unmap().IsLoopback()) {
			t.Errorf("it answers to %q", hostport)
		}
	})
}

// An address of the page is read as the same again, and its links lead to the page.
func FuzzAddress(f *testing.F) {
	for _, query := range []string{"bound=decode&lang=zh&scale=30&cols=error&cols=path", "scale=x&from=-3h&cursor=a", "lang=en&lang=zh&q=%00", "model=%22%3E&limit=0"} {
		f.Add(query)
	}
	s := &site{Config: Config{Now: func() time.Time { return noonOfFuzz }}}
	f.Fuzz(func(t *testing.T, raw string) {
		values, err := url.ParseQuery(raw)
		if err != nil {
			return
		}
		filter, q, _ := s.parse(values)
		for _, link := range []string{q.with(), q.export("/-/export.csv"), q.choosing("/-/charts"), q.cleared()} {
			if u, err := url.Parse(link); err != nil || u.Host != "" || !strings.HasPrefix(u.Path, "/-/") {
				t.Errorf("a link is %q", link)
			}
		}
		u, err := url.Parse(q.with("cursor", filter.Cursor))
		if err != nil {
			t.Fatal(err)
		}
		again, q2, _ := s.parse(u.Query())
		if diff := cmp.Diff(filter, again); diff != "" {
			t.Errorf("(-read +read again):\n%s", diff)
		}
		if diff := cmp.Diff(url.Values(q), url.Values(q2)); diff != "" {
			t.Errorf("(-query +query again):\n%s", diff)
		}
	})
}

var noonOfFuzz = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// A plan that is taken can be gone by: it has a report before its first request, and
// is kept as it came.
func FuzzPlan(f *testing.F) {
	for _, kind := range experiment.Kinds {
		f.Add([]byte(`{"kind":"` + string(kind) + `","wire":"chat","command":"x","arms":[{"name":"a","model":"m","prompt_tokens":100},{"name":"b","at_once":2}],"steps":[{"arm":0},{"arm":1,"round":3}]}`))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := readPlan(raw)
		if err != nil {
			return
		}
		report := experiment.Find(experiment.Run{ID: "01", Plan: *p}, nil)
		if _, err := json.Marshal(report); err != nil {
			t.Error(err)
		}
		kept, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := readPlan(kept); err != nil || cmp.Diff(p, again) != "" {
			t.Errorf("%v: %s", err, cmp.Diff(p, again))
		}
	})
}

// A stranger's text is shown as text, of bounded length, in which nothing misleads.
func FuzzPlain(f *testing.F) {
	f.Add("a\u202eb\x00\xff\ue000", 3)
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = min(max(n, 0), 1000)
		shown := plain(s, n)
		if strings.ContainsFunc(shown, misleads) || len([]rune(shown)) > 6*n+11 {
			t.Errorf("%q is shown as %q", s, shown)
		}
	})
}
