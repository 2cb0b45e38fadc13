package web

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// around are the ids in the table of neighbours, the one that it is about in
// brackets.
func around(body string) []string {
	_, table, _ := strings.Cut(body, `<table class="near">`)
	table, _, _ = strings.Cut(table, "</table>")
	var ids []string
	for _, m := range regexp.MustCompile(`<tr class="this"|<th scope="row"><a href="/-/requests/([^"]+)"`).FindAllStringSubmatch(table, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

func TestNeighboursAreThreeOfTheSessionOnEachSide(t *testing.T) {
	var all []*exchange.Exchange
	for i, x := range many(12) {
		x.SessionID = []string{"even", "odd"}[i%2]
		all = append(all, x)
	}
	page := New(newConfig(t, all...))
	for id, want := range map[string][]string{
		"many-005": {"many-011", "many-009", "many-007", "", "many-003", "many-001"},
		"many-000": {"many-006", "many-004", "many-002", ""},
		"many-011": {"", "many-009", "many-007", "many-005"},
	} {
		if diff := cmp.Diff(want, around(get(t, page, "/-/requests/"+id).Body.String())); diff != "" {
			t.Errorf("around %s (-want +got):\n%s", id, diff)
		}
	}
}

func TestAnExchangeByItselfHasNoNeighbours(t *testing.T) {
	page := New(newConfig(t, many(3)...)) // of no session
	if body := get(t, page, "/-/requests/many-001").Body.String(); strings.Contains(body, `class="near"`) {
		t.Error("strangers are shown as neighbours")
	}
}

func TestNeighboursAreLaidOutOnOneScale(t *testing.T) {
	page := New(newConfig(t, conversation()...))
	body := get(t, page, "/-/requests/talk-4").Body.String()
	if diff := cmp.Diff([]string{"talk-6", "talk-5", "", "talk-3", "talk-2", "talk-1"}, around(body)); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	_, table, _ := strings.Cut(body, `<table class="near">`)
	table, _, _ = strings.Cut(table, "</table>")
	if n := strings.Count(table, `<svg class="bar"`); n != 6 {
		t.Errorf("%d bars", n)
	}
	if strings.Contains(table, "chevron") {
		t.Error("a bar is cut")
	}
	if want := "/-/compare?a=talk-3&b=talk-4"; link(body, "Compare with the one before") != want {
		t.Errorf("compared at %q, want %q", link(body, "Compare with the one before"), want)
	}
	if first := get(t, page, "/-/requests/talk-1").Body.String(); link(first, "Compare with the one before") != "" {
		t.Error("the first is compared with one before it")
	}
}

func TestTheOtherAttemptsAreNeighboursInNoSessionToo(t *testing.T) {
	var all []*exchange.Exchange
	for i, x := range many(40) {
		x.KeyID = "k_5d1f09"
		if i%10 == 3 {
			x.RetryGroup, x.Attempt = "many-003", new(int64(1+i/10))
		}
		all = append(all, x)
	}
	all[33].StartedAt = all[33].StartedAt.Add(-time.Hour) // which is no attempt at it any more
	page := New(newConfig(t, all...))
	body := get(t, page, "/-/requests/many-013").Body.String()
	if diff := cmp.Diff([]string{"many-023", "", "many-003"}, around(body)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !strings.Contains(body, "Attempts at the same request") || !strings.Contains(body, "↻3") {
		t.Error("they are not called attempts")
	}
}

func TestATimeOnAnotherDayHasItsDate(t *testing.T) {
	x := &exchange.Exchange{StartedAt: noon.Add(-time.Hour)}
	if got := clockOf(x, noon, noon); got != "11:00:00" {
		t.Errorf("the same day: %q", got)
	}
	if got := clockOf(x, noon.Add(24*time.Hour), noon); got != "2026-03-14 11:00:00" {
		t.Errorf("another day: %q", got)
	}
}
