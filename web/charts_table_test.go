package web

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestTheTableAgreesWithTheNumbersOverTheLog(t *testing.T) {
	all := crowd(500)
	all[3].Outcome, all[4].Outcome, all[5].Outcome = exchange.UpstreamCut, exchange.UpstreamError, exchange.ClientAbort
	o := &overview{outcomes: map[exchange.Outcome]int64{}, bound: map[exchange.Bound]int64{}, decoded: map[string][]decoded{}}
	for i := range all {
		o.add(&all[i])
		o.rows++
	}
	slices.Sort(o.firsts)
	parts := gathered(all).table(onCanvas(query{}))
	got := map[string]string{}
	for _, c := range parts[0].Rows[0].Cells {
		got[c.Name] = c.Value
	}
	want := map[string]string{
		"requests": o.requests(english, query{}).Value, "ttft50": o.ttft(english, query{}).Value, "rate": o.rate(english, query{}).Value,
		"ttft95": seconds(quantile(o.firsts, 0.95)).Value, "total50": got["total50"], "total95": got["total95"],
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the numbers (-), the table (+):\n%s", diff)
	}
	if n := len(parts[0].Rows[0].Failed); n != 2 || o.failed() != 2 {
		t.Errorf("%d kinds of failures, %d failures in the numbers", n, o.failed())
	}
	for _, part := range parts[1:] {
		sum := 0
		for _, row := range part.Rows {
			n := 0
			for _, digit := range strings.ReplaceAll(row.Cells[0].Value, ",", "") {
				n = 10*n + int(digit-'0')
			}
			sum += n
		}
		if sum != len(all) {
			t.Errorf("%s: %d of %d", part.Title, sum, len(all))
		}
	}
}

func TestEachFigureOfTheTableLeadsToItsRows(t *testing.T) {
	page := New(newConfig(t, telling()...))
	body := get(t, page, "/-/charts?min_first_token_ms=1000").Body.String()
	_, table, _ := strings.Cut(body, `<section class="groups">`)
	rows := regexp.MustCompile(`(?s)<tr><th scope="row">.*?</tr>`).FindAllString(table, -1)
	if len(rows) < 5 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		cells := regexp.MustCompile(`data-label="([^"]*)"><a href="([^"]*)"><span[^>]*>([0-9,]*)`).FindAllStringSubmatch(row, -1)
		if len(cells) < 6 {
			t.Fatalf("%d links in %s", len(cells), row)
		}
		for _, c := range cells {
			found := shown(get(t, page, html.UnescapeString(c[2])).Body.String())
			if len(found) == 0 || c[1] == "Requests" && figure.Count(new(int64(len(found)))) != c[3] {
				t.Errorf("%s %s leads to %d rows at %s", c[1], c[3], len(found), c[2])
			}
			if !strings.Contains(c[2], "min_first_token_ms=") {
				t.Errorf("%s drops the filter: %s", c[1], c[2])
			}
		}
	}
}

func TestAnHourOfSeveralDaysLeadsNowhereAndSaysSo(t *testing.T) {
	all := crowd(3)
	all[0].StartedAt = noon.Add(-24 * time.Hour)
	all[1].StartedAt = noon.Add(5 * time.Minute)
	all[2].StartedAt = noon.Add(-2 * time.Hour)
	part := gathered(all).hourPart(onCanvas(query{}))
	urls := map[string]string{}
	for _, r := range part.Rows {
		urls[r.Name] = r.URL
	}
	want := map[string]string{"10:00": "/-/?from=2026-03-14T02%3A00%3A00Z&to=2026-03-14T03%3A00%3A00Z", "12:00": ""}
	if diff := cmp.Diff(want, urls); diff != "" || len(part.Notes) != 1 {
		t.Errorf("notes %q, addresses (-want +got):\n%s", part.Notes, diff)
	}
}
