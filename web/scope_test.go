package web

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// longSite is a site whose log of 60 exchanges is longer than what it holds in
// memory, which is the newest ten. Every second one is of the model odd.
func longSite(t *testing.T) *site {
	t.Helper()
	s := &site{Config: newConfig(t, filledUp(60, func(i int, id string) *exchange.Exchange {
		x := quick(id, time.Duration(60-i)*time.Second, 50)
		x.ModelRequested = []string{"even", "odd"}[i%2]
		x.KeyID = []string{"k_a", "k_b"}[i%2]
		return x
	})...)}
	s.recent = newRecent(s.Store)
	s.recent.most = 10
	return s
}

func TestOfALongLogItIsToldWhatWasLookedAt(t *testing.T) {
	at := func(id int) time.Time { return noon.Add(-time.Duration(60-id) * time.Second) }
	for _, test := range []struct {
		name          string
		f             store.Filter
		rows, figured int
		confined      bool
		from          time.Time
	}{
		{"all of it", store.Filter{}, 60, 60, false, time.Time{}},
		{"an index leads to the old ones", store.Filter{Model: "odd"}, 30, 30, false, time.Time{}},
		{"an older stretch of the time", store.Filter{To: store.When{Time: at(20)}}, 20, 20, false, time.Time{}},
		{"no index: the newest alone", store.Filter{Key: "k_b"}, 5, 5, true, at(50)},
		{"two conditions: the newest alone", store.Filter{Model: "odd", Bound: exchange.DecodeBound}, 5, 5, true, at(50)},
		{"a sorted list: the newest alone", store.Filter{Sort: "total_ms"}, 10, 10, true, at(50)},
		{"no index, in an older stretch", store.Filter{Key: "k_b", To: store.When{Time: at(20)}}, 5, 5, true, at(10)},
		{"no index, in a short stretch", store.Filter{Key: "k_b", From: store.When{Time: at(14)}, To: store.When{Time: at(20)}}, 3, 3, false, at(14)},
	} {
		s, seen := longSite(t), map[string]bool{}
		sc, err := s.look(t.Context(), test.f, func(b *brief) {
			if n, name := test.f.Misfit()(&b.Subject); n > 0 || seen[b.ID] {
				t.Errorf("%s: %s does not fit (%s), or came twice", test.name, b.ID, name)
			}
			seen[b.ID] = true
		})
		if err != nil {
			t.Fatal(err)
		}
		if sc.rows != int64(test.rows) || sc.figured != test.figured || len(seen) != test.figured || sc.confined != test.confined || !sc.From.Equal(test.from) {
			t.Errorf("%s: %d rows, %d (%d) figured, confined %v from %v", test.name, sc.rows, sc.figured, len(seen), sc.confined, sc.From)
		}
		listed, err := s.Store.List(t.Context(), sc.Filter)
		if err != nil || len(listed.Exchanges) != test.rows {
			t.Errorf("%s: %d rows listed, want %d (%v)", test.name, len(listed.Exchanges), test.rows, err)
		}
	}
}

func TestAConfinedSearchSaysSoAndGoesOnFurtherBack(t *testing.T) {
	s := longSite(t)
	s.assets = readAssets()
	s.pages, s.hub = readPages(s.assets), newHub(s.Config)
	page := s.guard(s.routes())
	target, found := "/-/?key=k_b", 0
	for range 10 {
		w := get(t, page, target)
		body := w.Body.String()
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d", target, w.Code)
		}
		n := len(shown(body))
		found += n
		csv := get(t, page, link(body, "Export CSV")).Body.String()
		if lines := strings.Count(csv, "\n") - 1; lines != n || !strings.Contains(body, humanCount(n)) {
			t.Errorf("%s: %d rows shown, %d exported", target, n, lines)
		}
		if target = link(body, "Search older ones"); target == "" {
			break
		}
	}
	if found != 30 {
		t.Errorf("%d found, want all 30", found)
	}
}
