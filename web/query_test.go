package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func parsed(t *testing.T, target string) query {
	t.Helper()
	s := &site{Config: newConfig(t)}
	_, q, _ := s.parseQuery(httptest.NewRequest(http.MethodGet, target, nil))
	return q
}

func TestALinkKeepsTheFiltersAndDropsThePlace(t *testing.T) {
	q := parsed(t, "/-/?from=-3h&bound=decode&sort=total_ms&lang=zh&limit=3&nonsense=1")
	q["cursor"] = []string{"abc"}
	want := url.Values{"from": {"-3h"}, "bound": {"wait"}, "sort": {"total_ms"}, "lang": {"zh"}, "limit": {"3"}}
	got, err := url.Parse(q.with("bound", "wait"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.Query()); got.Path != "/-/" || diff != "" {
		t.Errorf("%s (-want +got):\n%s", got, diff)
	}
	if got, want := q.with("bound", "", "from", "", "sort", "", "limit", ""), "/-/?lang=zh"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := q.cleared(), "/-/?lang=zh&limit=3&sort=total_ms"; got != want {
		t.Errorf("cleared: got %q, want %q", got, want)
	}
	if got, want := q.export("/-/export.csv"), "/-/export.csv?bound=decode&from=-3h&sort=total_ms"; got != want {
		t.Errorf("export: got %q, want %q", got, want)
	}
	if q.get("bound") != "decode" {
		t.Error("making links changed the query")
	}
}

func TestTheFieldsThatAFormSendsEmptyLeaveTheAddress(t *testing.T) {
	w := get(t, New(newConfig(t)), "/-/?model=&from=-3h&q=&bound=")
	if got := w.Header().Get("Location"); w.Code != http.StatusFound || got != "/-/?from=-3h" {
		t.Errorf("status %d, to %q", w.Code, got)
	}
	if w := get(t, New(newConfig(t)), "/-/?from=-3h"); w.Code != http.StatusOK {
		t.Errorf("a tidy address: status %d", w.Code)
	}
}

func TestAHeadSortsTheOtherWayWhenItSortsAlready(t *testing.T) {
	tests := []struct{ target, key, to, sorted string }{
		{"/-/", "time", "/-/?order=asc", "descending"},
		{"/-/?order=asc", "time", "/-/", "ascending"},
		{"/-/?sort=time&order=asc", "time", "/-/", "ascending"},
		{"/-/", "total_ms", "/-/?sort=total_ms", ""},
		{"/-/?sort=total_ms&bound=wait", "total_ms", "/-/?bound=wait&order=asc&sort=total_ms", "descending"},
		{"/-/?sort=total_ms&order=asc", "total_ms", "/-/?sort=total_ms", "ascending"},
		{"/-/?sort=total_ms&order=asc", "time", "/-/", ""},
	}
	for _, test := range tests {
		to, sorted := sortedBy(parsed(t, test.target), test.key)
		if to != test.to || sorted != test.sorted {
			t.Errorf("%s, head %s: leads to %q (%s), want %q (%s)", test.target, test.key, to, sorted, test.to, test.sorted)
		}
	}
}

func TestABrokenFilterIsNamedAndTheRestHolds(t *testing.T) {
	page := New(newConfig(t, telling()...))
	body := get(t, page, "/-/?bound=sideways&from=yesterday&outcome=ok&colour=<b>red</b>").Body.String()
	for _, want := range []string{
		"bound=sideways was left out", "from=yesterday was left out", "colour=&lt;b&gt;red&lt;/b&gt; was left out",
		"8 of 8 shown", `<option value="ok" selected>`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(body, "bound=sideways"); n != 2 {
		t.Errorf("%d places have the broken filter, want the note and the switch of language", n)
	}
}

func TestTheFormCarriesOnWhatItDoesNotAskFor(t *testing.T) {
	page := New(newConfig(t, telling()...))
	body := get(t, page, "/-/?bound=decode&cause=long_output&sort=total_ms&turn=turn-7&q=dec&lang=en").Body.String()
	_, body, _ = strings.Cut(body, `<form class="filters"`)
	body, _, _ = strings.Cut(body, "</form>")
	for _, field := range []string{
		`name="bound" value="decode"`, `name="cause" value="long_output"`, `name="sort" value="total_ms"`,
		`name="turn" value="turn-7"`, `name="lang" value="en"`,
	} {
		if !strings.Contains(body, `<input type="hidden" `+field+`>`) {
			t.Errorf("the form lacks %s", field)
		}
	}
	if strings.Count(body, `name="q"`) != 1 || !strings.Contains(body, `name="q" value="dec"`) {
		t.Error("the search is not in its own field alone")
	}
}

func TestAValueThatTheFormDoesNotListIsStillShown(t *testing.T) {
	page := New(newConfig(t, telling()...))
	body := get(t, page, "/-/?from=-90m&model=none-such").Body.String()
	for _, want := range []string{`<option value="-90m" selected>-90m</option>`, `<option value="none-such" selected>none-such (0)</option>`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

func TestEveryChipTakesItsOwnFilterAway(t *testing.T) {
	page := New(newConfig(t, telling()...))
	s := &site{Config: newConfig(t)}
	_, q, _ := s.parseQuery(httptest.NewRequest(http.MethodGet, "/-/?from=-3h&bound=decode&min_first_token_ms=10&q=zz", nil))
	var f filters
	f.chip(english, q, newFacets())
	if len(f.Chips) != 4 {
		t.Fatalf("%d chips", len(f.Chips))
	}
	body := get(t, page, "/-/?from=-3h&bound=decode&min_first_token_ms=10&q=zz").Body.String()
	for _, c := range f.Chips {
		left, err := url.Parse(c.Remove)
		if err != nil {
			t.Fatal(err)
		}
		if len(left.Query()) != 3 {
			t.Errorf("without %s, %s is left", c.Name, c.Remove)
		}
		if !strings.Contains(body, `href="`+strings.ReplaceAll(c.Remove, "&", "&amp;")+`"`) {
			t.Errorf("the page has no link to %s", c.Remove)
		}
	}
}
