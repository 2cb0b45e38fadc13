package web

import (
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden pages anew")

// contentHash is the part of a page that changes with the style sheet.
var contentHash = regexp.MustCompile(`-[0-9a-f]{12}\.(css|svg)`)

func TestEveryViewLooksAsItDidInBothLanguages(t *testing.T) {
	full := New(newConfig(t, telling()...))
	long := New(newConfig(t, many(120)...))
	empty := New(newConfig(t))
	locked := newConfig(t)
	locked.Token = "sesame"
	views := []struct {
		name   string
		page   http.Handler
		target string
	}{
		{"log", full, "/-/"},
		{"log-filtered", full, "/-/?from=-3h&bound=decode&min_first_token_ms=1000&sort=total_ms&order=asc&colour=red"},
		{"log-nomatch", full, "/-/?bound=stalled&session=none"},
		{"log-paged", long, "/-/?limit=3"},
		{"log-empty", empty, "/-/"},
		{"exchange-open", full, "/-/requests/under-way"},
		{"exchange-prefill", full, "/-/requests/prefill"},
		{"exchange-cut", full, "/-/requests/cut"},
		{"exchange-whole", full, "/-/requests/whole"},
		{"exchange-missing", full, "/-/requests/nowhere"},
		{"connect", full, "/-/connect"},
		{"login", New(locked), "/-/?q=x"},
	}
	for _, v := range views {
		for _, l := range []language{english, chinese} {
			t.Run(v.name+"/"+string(l), func(t *testing.T) {
				body := get(t, v.page, v.target, "Accept-Language", l.Tag()).Body.String()
				golden(t, v.name+"."+string(l)+".golden.html", contentHash.ReplaceAllString(body, "-HASH.$1"))
			})
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("page differs from %s (go test -update writes it anew):\n%s", path, diff)
	}
}
