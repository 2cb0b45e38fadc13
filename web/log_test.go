package web

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
)

var rowLink = regexp.MustCompile(`<td class="c-time">(?:<input[^>]*>)?<a href="/-/requests/([^"]+)"`)

// shown are the ids of the rows of a page, in their order.
func shown(body string) []string {
	var ids []string
	for _, m := range rowLink.FindAllStringSubmatch(body, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

// link finds the address that a link with this text leads to, "" if none does.
func link(body, text string) string {
	m := regexp.MustCompile(`<a [^>]*href="([^"]+)"[^>]*>` + regexp.QuoteMeta(text)).FindStringSubmatch(body)
	if m == nil {
		return ""
	}
	return html.UnescapeString(m[1])
}

func TestPagesFollowEachOtherWithoutGapOrRepeat(t *testing.T) {
	page := New(newConfig(t, many(25)...))
	for _, order := range []string{"", "&sort=total_ms", "&sort=first_token_ms&order=asc"} {
		var all []string
		target := "/-/?limit=10" + order
		for target != "" {
			body := get(t, page, target).Body.String()
			all = append(all, shown(body)...)
			target = link(body, "Next page")
			if back := link(body, "← Back"); (len(all) > 10) != (back == "/-/?limit=10"+order || back == "/-/?limit=10"+reversed(order)) {
				t.Errorf("%q: after %d rows the way back is %q", order, len(all), back)
			}
		}
		if got := len(unique(all)); len(all) != 25 || got != 25 {
			t.Errorf("%q: %d rows, %d of them different", order, len(all), got)
		}
	}
}

// reversed is the order as a sorted query spells it.
func reversed(order string) string {
	if order == "&sort=first_token_ms&order=asc" {
		return "&order=asc&sort=first_token_ms"
	}
	return order
}

func unique(all []string) map[string]bool {
	set := map[string]bool{}
	for _, s := range all {
		set[s] = true
	}
	return set
}

func TestRowsCanBeSortedBothWays(t *testing.T) {
	page := New(newConfig(t, many(3)...))
	body := get(t, page, "/-/").Body.String()
	if diff := cmp.Diff([]string{"many-002", "many-001", "many-000"}, shown(body)); diff != "" {
		t.Errorf("newest first (-want +got):\n%s", diff)
	}
	body = get(t, page, link(body, "TTFT")).Body.String()
	if diff := cmp.Diff([]string{"many-002", "many-001", "many-000"}, shown(body)); diff != "" {
		t.Errorf("slowest first (-want +got):\n%s", diff)
	}
	body = get(t, page, link(body, "TTFT ↓")).Body.String()
	if diff := cmp.Diff([]string{"many-000", "many-001", "many-002"}, shown(body)); diff != "" {
		t.Errorf("fastest first (-want +got):\n%s", diff)
	}
}

func TestWhatIsUnderWayStandsOnTopOfTheFirstPage(t *testing.T) {
	rows := many(5)
	begun(rows[1])
	rows[1].Outcome, rows[1].Bound, rows[1].Upstream = exchange.Open, "", "lab"
	page := New(newConfig(t, rows...))
	body := get(t, page, "/-/").Body.String()
	if diff := cmp.Diff([]string{"many-001", "many-004", "many-003", "many-002", "many-000"}, shown(body)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if !strings.Contains(body, "<b>4</b> requests") || !strings.Contains(body, "under way since 11:59:56") {
		t.Error("the row under way is counted, or not told as one")
	}
	if got := shown(get(t, page, "/-/?upstream=lab").Body.String()); len(got) != 1 || got[0] != "many-001" {
		t.Errorf("of its upstream: %v", got)
	}
	for _, target := range []string{"/-/?bound=decode", "/-/?upstream=default", "/-/?limit=2&cursor=" + cursorOf(t, get(t, page, "/-/?limit=2").Body.String())} {
		if body := get(t, page, target).Body.String(); strings.Contains(body, "many-001") {
			t.Errorf("%s shows the row under way", target)
		}
	}
	if got := shown(get(t, page, "/-/?outcome=open").Body.String()); len(got) != 1 || got[0] != "many-001" {
		t.Errorf("asked for what is under way: %v", got)
	}
}

func cursorOf(t *testing.T, body string) string {
	t.Helper()
	_, cursor, ok := strings.Cut(strings.Split(link(body, "Next page"), "&")[0], "cursor=")
	if !ok {
		t.Fatal("no next page")
	}
	return cursor
}

func TestAnEmptyLogTellsHowToConnect(t *testing.T) {
	body := get(t, New(newConfig(t)), "/-/").Body.String()
	for _, want := range []string{"No requests yet", `base_url = &#34;http://localhost:8838&#34;`, "~/.codex/config.toml"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(body, "<table") {
		t.Error("an empty log has a table")
	}
}

func TestOneExchangeUnderWayIsNoEmptyLog(t *testing.T) {
	body := get(t, New(newConfig(t, telling()[0])), "/-/").Body.String()
	if diff := cmp.Diff([]string{"under-way"}, shown(body)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestAFilterThatFindsNothingOffersToBeTakenAway(t *testing.T) {
	body := get(t, New(newConfig(t, telling()...)), "/-/?bound=stalled&session=none").Body.String()
	if strings.Contains(body, "No requests yet") || !strings.Contains(body, "No request matches.") {
		t.Error("nothing found is told like nothing there")
	}
	if got, want := link(body, "Without “Session”"), "/-/?bound=stalled"; got != want {
		t.Errorf("without the session: %q, want %q", got, want)
	}
}

// own is the part of the log that one exchange has.
func own(t *testing.T, body, id string) string {
	t.Helper()
	_, after, ok := strings.Cut(body, `href="/-/requests/`+id+`"`)
	if !ok {
		t.Fatalf("%s is not shown", id)
	}
	row, _, _ := strings.Cut(after, `href="/-/requests/`)
	return row
}

// TestNothingIsSaidOfWhatIsNotWrittenYet holds for rows that have their start
// alone: those under way, and those whose proxy was killed.
func TestNothingIsSaidOfWhatIsNotWrittenYet(t *testing.T) {
	page := New(newConfig(t, telling()...))
	log := get(t, page, "/-/").Body.String()
	for id, want := range map[string]string{
		"under-way": "under way since 11:59:56", "interrupted": "what came is unknown",
	} {
		row := own(t, log, id)
		if !strings.Contains(row, want) {
			t.Errorf("%s: the log does not say %q", id, want)
		}
		_, view, _ := strings.Cut(get(t, page, "/-/requests/"+id).Body.String(), "<main")
		if !strings.Contains(view, "only its start is in the log") {
			t.Errorf("%s: its view does not say what is missing", id)
		}
		for _, claim := range []string{"c-ttft", "c-total", "f-wait", "f-network", figure.Unknown + "</td>", "<dd><bdi>" + figure.Unknown} {
			if claim == "c-total" && id == "under-way" {
				continue // it tells how long it is so far
			}
			if strings.Contains(row, claim) || strings.Contains(view, claim) {
				t.Errorf("%s: claims something by %q", id, claim)
			}
		}
	}
	view := get(t, page, "/-/requests/under-way").Body.String()
	if !strings.Contains(view, "It began at 2026-03-14 11:59:56, 3.20 s ago.") || strings.Contains(strings.ToLower(view), "no token") {
		t.Error("the view of what is under way says more, or less, than since when")
	}
}

func TestAVerdictThatNeedsAWordHasItsReasonOnTheTag(t *testing.T) {
	for _, x := range telling() {
		_, ended := ends[x.Outcome]
		needs := !ended && x.Bound != exchange.PrefillBound && x.Bound != exchange.DecodeBound
		title := laid(x, time.Minute).Tag.Title
		if needs != (title != "") || title != "" && title != x.Reason {
			t.Errorf("%s, %s: the tag's title is %q, the reason %q", x.ID, x.Bound, title, x.Reason)
		}
	}
}

// laid is an exchange's row on a scale of its own.
func laid(x *exchange.Exchange, to time.Duration) row {
	return (&sheet{l: english, now: noon, scale: newScale(to)}).row(x)
}

func TestMarksAreExplainedWhereTheyOccur(t *testing.T) {
	kinds := func(rows ...*exchange.Exchange) []string {
		var shown []row
		for _, x := range rows {
			shown = append(shown, laid(x, 6*time.Second))
		}
		var all []string
		for _, s := range signsOf(english, shown) {
			all = append(all, s.Kind)
		}
		return all
	}
	if got := kinds(many(3)...); got != nil {
		t.Errorf("rows without marks have %v explained", got)
	}
	if diff := cmp.Diff([]string{"rough", "attempt", "served", "cut", "meter"}, kinds(telling()...)); diff != "" {
		t.Errorf("signs (-want +got):\n%s", diff)
	}
	estimated := seeded("x", time.Second, func(x *exchange.Exchange) {
		answered(x, 100, 900, 40)
		x.OutputTokens, x.EstimatedOutput, x.UsageSource = nil, x.OutputTokens, exchange.EstimatedUsage
	})
	if diff := cmp.Diff([]string{"rough"}, kinds(estimated)); diff != "" {
		t.Errorf("signs (-want +got):\n%s", diff)
	}
	if got := outputOf(english, estimated); got.Value != "~40" || got.Title != "40, estimated" {
		t.Errorf("an estimated count is shown as %+v", got)
	}
}

func TestAFailureIsToldInWordsUnderItsRow(t *testing.T) {
	body := get(t, New(newConfig(t, telling()...)), "/-/").Body.String()
	for _, x := range telling() {
		if got := strings.Contains(own(t, body, x.ID), `<tr class="why `); got != failed(x) {
			t.Errorf("%s, %s: told in words: %v", x.ID, x.Outcome, got)
		}
	}
}

func TestMidnightAndSilenceAreMarked(t *testing.T) {
	at := func(id string, start time.Time) *exchange.Exchange {
		return seeded(id, noon.Sub(start), func(x *exchange.Exchange) { answered(x, 100, 1000, 20) })
	}
	midnight := time.Date(2026, 3, 14, 0, 0, 0, 0, noon.Location())
	a, b := at("a", midnight.Add(5*time.Minute)), at("b", midnight.Add(time.Minute))
	c, d := at("c", midnight.Add(-time.Second)), at("d", midnight.Add(-4*time.Hour))
	for _, test := range []struct {
		x, newer *exchange.Exchange
		want     string
	}{
		{a, nil, ""}, {b, a, "4 minutes without requests"}, {c, b, "2026-03-13"}, {d, c, "4 hours without requests"},
		{c, nil, "2026-03-13"}, {at("e", midnight), at("f", midnight.Add(time.Minute)), ""},
	} {
		if got := breakBefore(english, test.x, test.newer, noon); got != test.want {
			t.Errorf("above %s: %q, want %q", test.x.ID, got, test.want)
		}
	}
	body := get(t, New(newConfig(t, a, b, c, d)), "/-/?sort=total_ms").Body.String()
	if strings.Contains(body, `class="break"`) {
		t.Error("rows that are not sorted by time have marks of time between them")
	}
}

func TestTheModelThatAnsweredIsToldIfItIsAnother(t *testing.T) {
	for _, test := range []struct{ asked, served, name, title string }{
		{"gpt-5", "", "gpt-5", "gpt-5"},
		{"", "llama", "llama", "llama"},
		{"gpt-5", "gpt-5-2026-01-15", "gpt-5", "gpt-5-2026-01-15"},
		{"auto", "llama", "→ llama", "asked for auto, answered by llama"},
		{"", "", "/v1/models", "/v1/models"},
	} {
		name, title := modelOf(english, &exchange.Exchange{ModelRequested: test.asked, ModelServed: test.served, Path: "/v1/models"})
		if name != test.name || title != test.title {
			t.Errorf("%+v: got %q, %q", test, name, title)
		}
	}
}

func TestThePageShowsTimesInItsZone(t *testing.T) {
	c := newConfig(t, telling()...)
	for zone, want := range map[*time.Location]string{
		time.UTC: "03:59:40", noon.Location(): "11:59:40", time.FixedZone("", -3*3600-1800): "00:29:40",
	} {
		c.Now = func() time.Time { return noon.In(zone) }
		body := get(t, New(c), "/-/").Body.String()
		if !strings.Contains(body, fmt.Sprintf(`<time datetime="2026-03-14T03:59:40.000Z">%s<`, want)) {
			t.Errorf("no row began at %s", want)
		}
	}
	for offset, want := range map[int]string{0: "UTC", 8 * 3600: "UTC+08", -3*3600 - 1800: "UTC-03:30"} {
		if got := zone(noon.In(time.FixedZone("", offset))); got != want {
			t.Errorf("zone %d is called %q, want %q", offset, got, want)
		}
	}
}

func TestTheMeterIsTheUncachedShare(t *testing.T) {
	x := seeded("x", time.Second, func(x *exchange.Exchange) { prompted(x, 1000, 750) })
	m := meterOf(english, x)
	if m == nil || m.Width != "25.00%" || m.Title != "750 of 1,000 prompt tokens came from the cache, 250 did not" {
		t.Errorf("got %+v", m)
	}
	x.UncachedTokens = nil
	if m := meterOf(english, x); m != nil {
		t.Errorf("a meter of unknown tokens: %+v", m)
	}
}
