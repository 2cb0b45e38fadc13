package web

import (
	"encoding/csv"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestTheCSVOfAnExchangeIsItsRowAlone(t *testing.T) {
	rows := slices.Concat(telling(), conversation(), many(120))
	rows = append(rows, // which names another's id in its error, and one whose id another's begins with
		seeded("teller", time.Second, func(x *exchange.Exchange) { x.Outcome, x.Error = exchange.UpstreamError, "see many-003" }),
		seeded("talk-44", 190*time.Second, func(x *exchange.Exchange) { answered(x, 300, 900, 40) }))
	rows[len(rows)-1].StartedAt = rows[len(rows)-1].StartedAt.Add(time.Nanosecond)
	page := New(newConfig(t, rows...))
	for _, x := range rows {
		body := get(t, page, "/-/requests/"+x.ID).Body.String()
		w := get(t, page, link(body, "CSV row"))
		got, err := csv.NewReader(w.Body).ReadAll()
		if err != nil || w.Code != http.StatusOK || len(got) != 2 || got[1][0] != x.ID {
			t.Errorf("%s: status %d, %d rows at %s", x.ID, w.Code, len(got)-1, link(body, "CSV row"))
		}
	}
}

func TestAnExchangeUnderWayIsLookedAtAnewUntilItHasEnded(t *testing.T) {
	c := newConfig(t, conversation()...)
	page := New(c)
	w := get(t, page, "/-/requests/talk-6")
	each := link(w.Body.String(), "Refresh every 3 s")
	if link(w.Body.String(), "Refresh") != "/-/requests/talk-6" || w.Header().Get("Refresh") != "" {
		t.Errorf("refreshed at %q, by itself %q", link(w.Body.String(), "Refresh"), w.Header().Get("Refresh"))
	}
	w = get(t, page, each)
	if w.Header().Get("Refresh") != "3" || link(w.Body.String(), "Stop refreshing") != "/-/requests/talk-6" {
		t.Errorf("%s: refreshed after %q, stopped at %q", each, w.Header().Get("Refresh"), link(w.Body.String(), "Stop refreshing"))
	}
	for _, target := range []string{"/-/requests/talk-6?refresh=0", "/-/requests/talk-6?refresh=3;url=x", "/-/requests/talk-4?refresh=3"} {
		if got := get(t, page, target).Header().Get("Refresh"); got != "" {
			t.Errorf("%s is refreshed by %q", target, got)
		}
	}
	c.UnderWay = func() []*exchange.Exchange {
		x := conversation()[5]
		x.GotConn, x.Network, x.FirstToken, x.AnswerStart = span(4), span(60), span(7000), span(7000)
		return []*exchange.Exchange{conversation()[4], x}
	}
	if body := get(t, New(c), "/-/requests/talk-6").Body.String(); !strings.Contains(body, "Wait 6.94 s, Decode 13.0 s") {
		t.Error("what is known by now is not shown")
	}
	done := conversation()[4]
	done.ID = "talk-6"
	if err := c.Store.Save(t.Context(), []*exchange.Exchange{done}); err != nil {
		t.Fatal(err)
	}
	w = get(t, page, each)
	if w.Header().Get("Refresh") != "" || strings.Contains(w.Body.String(), "Refresh every") {
		t.Error("an exchange that has ended is looked at for good")
	}
}
