package web

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestATurnIsToldInOneSentenceWithItsNumbers(t *testing.T) {
	page := New(newConfig(t, append(agent(), crew()...)...))
	for target, want := range map[string]string{
		"/-/turns/turn-9": "This turn took <b>56.3 s</b> in 4 requests: 6.43 s prefill, 4.16 s hidden reasoning, 19.8 s decode, " +
			"22.9 s your own tools (the client between two requests).",
		"/-/turns/turn-9?lang=zh": "这一轮用时 <b>56.3 s</b>，共 4 个请求：预填充 6.43 s，隐藏思考 4.16 s，解码 19.8 s，本地工具 22.9 s（客户端在两次请求之间）。",
		"/-/turns/turn-crew": "This turn has taken <b>60.0 s</b> so far, in 4 requests: 15.0 s decode, " +
			"4.60 s several requests side by side in different phases, 3.00 s still under way, 20.0 s unknown, " +
			"16.0 s your own tools (the client between two requests).",
	} {
		if body := get(t, page, target).Body.String(); !strings.Contains(body, want) {
			t.Errorf("%s lacks %q; it says %s", target, want, regexp.MustCompile(`<h1.*`).FindString(body))
		}
	}
}

func TestAnUnknownTurnIsAPageThatHelps(t *testing.T) {
	page := New(newConfig(t, agent()...))
	w := get(t, page, "/-/turns/turn-")
	if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "No such turn") {
		t.Errorf("status %d", w.Code)
	}
	if got := shown(get(t, page, link(w.Body.String(), "Search the log for it")).Body.String()); len(got) != 4 {
		t.Errorf("the search finds %v", got)
	}
	if w := get(t, page, "/-/turns/"); w.Code != http.StatusNotFound {
		t.Errorf("no turn at all has status %d", w.Code)
	}
}

func TestATurnLeadsToItsRowsAndItsSession(t *testing.T) {
	page := New(newConfig(t, append(agent(), telling()...)...))
	body := get(t, page, "/-/turns/turn-9").Body.String()
	if got, want := fmt.Sprint(shown(body)), "[agent-1 agent-2 agent-3 agent-4]"; got != want {
		t.Errorf("rows %s, want %s", got, want)
	}
	if got := shown(get(t, page, link(body, "In the log")).Body.String()); len(got) != 4 {
		t.Errorf("in the log: %v", got)
	}
	if got := shown(get(t, page, link(body, "This session")).Body.String()); len(got) != 5 {
		t.Errorf("of the session: %v", got)
	}
	if csv := get(t, page, link(body, "CSV")).Body.String(); strings.Count(csv, "\n") != 5 || !strings.Contains(csv, "agent-1") {
		t.Errorf("CSV: %s", csv)
	}
	if json := get(t, page, link(body, "JSON")).Body.String(); strings.Count(json, `"turn_id":"turn-9"`) != 4 {
		t.Errorf("JSON: %.200s", json)
	}
}

func TestWhatFailedOrWasTriedAgainIsPartOfTheTurn(t *testing.T) {
	body := get(t, New(newConfig(t, agent()...)), "/-/turns/turn-9").Body.String()
	for _, want := range []string{"1 failed, 1 retried", "tag-error", "The upstream limits the rate.", "↻2"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestASumOverPartlyUnknownCountsSaysSo(t *testing.T) {
	some, none := &exchange.Exchange{}, &exchange.Exchange{}
	some.PromptTokens = new(int64(1200))
	guessed := &exchange.Exchange{}
	guessed.PromptTokens, guessed.UsageSource = new(int64(300)), "estimated"
	for name, test := range map[string]struct {
		of   []*exchange.Exchange
		want string
	}{
		"all known": {[]*exchange.Exchange{some, some}, "2.40k"},
		"partly":    {[]*exchange.Exchange{some, none}, "≥ 1.20k"},
		"none":      {[]*exchange.Exchange{none, none}, ""},
		"estimated": {[]*exchange.Exchange{some, guessed}, "~1.50k"},
		"both":      {[]*exchange.Exchange{none, guessed}, "≥ ~300"},
	} {
		sums := sumsOf(test.of)
		if q := sums.prompt.quantity(english); q.Value+q.Unit != test.want {
			t.Errorf("%s: %q, want %q", name, q.Value+q.Unit, test.want)
		}
		if got := sums.partial(); got != strings.HasPrefix(test.want, "≥") {
			t.Errorf("%s: partial is %v", name, got)
		}
	}
	if q := sumsOf([]*exchange.Exchange{none}).output.quantity(english); q.Value != "" {
		t.Errorf("unknown output is %q", q.Value)
	}
}

func TestTheRateOfATurnIsPooled(t *testing.T) {
	slow := seeded("slow", time.Second, func(x *exchange.Exchange) { answered(x, 1000, 11_000, 101) })
	fast := seeded("fast", time.Second, func(x *exchange.Exchange) { answered(x, 1000, 2000, 101) })
	if q := sumsOf([]*exchange.Exchange{slow, fast}).rate(); q.Value != "18" || q.Faint { // 200 tokens in 11 s
		t.Errorf("%+v", q)
	}
	short := seeded("short", time.Second, func(x *exchange.Exchange) { answered(x, 1000, 2000, 9) })
	if q := sumsOf([]*exchange.Exchange{short}).rate(); q.Value != "~8.0" {
		t.Errorf("of a few tokens: %+v", q)
	}
	if q := sumsOf([]*exchange.Exchange{{}}).rate(); q.Value != "" {
		t.Errorf("of none: %+v", q)
	}
}

func TestARowsBarStandsWhereItWasInTheTurn(t *testing.T) {
	turn := timeOf([]*exchange.Exchange{plainly(0, 1, 3), plainly(4, 4.5, 6)}, noon)
	sheet := turn.listing(english, newScale(6*time.Second), noon)
	if got, want := sheet.Rows[1].Bar.Alt, "Your own tools 1.00 s, Wait 0.50 s, Decode 1.50 s"; got != want {
		t.Errorf("in words %q, want %q", got, want)
	}
	if got := sheet.Rows[1].Bar.Rects[1].X; got != "66.67%" {
		t.Errorf("it begins at %s", got)
	}
}

func TestAVeryLongTurnIsSummedFurtherThanItIsListed(t *testing.T) {
	var rows []*exchange.Exchange
	for i := range turnMost + 2 {
		rows = append(rows, round("long", fmt.Sprintf("long-%04d", i), float64(10_000-i), func(x *exchange.Exchange) { answered(x, 100, 500, 10) }))
	}
	body := get(t, New(newConfig(t, rows...)), "/-/turns/long").Body.String()
	if n := len(shown(body)); n != turnDrawn {
		t.Errorf("%d rows", n)
	}
	for _, want := range []string{"This turn took at least", "in 5,000 requests", "2,000.0 s decode", "beyond its first 5,000 requests", "500 of them are listed"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	notes := timeOf(rows[:turnDrawn+1], noon).notes(english, "/-/?turn=long")
	if len(notes) != 1 || !strings.HasPrefix(notes[0].Text, "The first 500 of 501 requests") || notes[0].URL != "/-/?turn=long" {
		t.Errorf("of a shorter one: %+v", notes)
	}
}

// strange are turn ids that a client may send.
var strange = []string{
	hostile, `"><b>`, "</script><script>alert(1)</script>", "a/b", "../../etc", "a?b#c%41", "a b+c", "\u2028\u2029", "\u202egnp.exe", "轮次 7", "{{.}}",
}

func TestAStrangeTurnHasAnAddressAndIsShownAsText(t *testing.T) {
	var rows []*exchange.Exchange
	for i, id := range strange {
		rows = append(rows, round(id, fmt.Sprintf("strange-%d", i), float64(10+i), func(x *exchange.Exchange) {
			x.SessionID, x.Client, x.ModelRequested = id, id, id
			answered(x, 100, 500, 10)
		}))
	}
	page := New(newConfig(t, rows...))
	for i, id := range strange {
		w := get(t, page, turnURL(rows[i]))
		body := w.Body.String()
		if got := fmt.Sprint(shown(body)); w.Code != http.StatusOK || got != fmt.Sprintf("[strange-%d]", i) {
			t.Errorf("%q at %s: status %d, rows %s", id, turnURL(rows[i]), w.Code, got)
		}
		if !strings.Contains(body, "<code><bdi>"+html.EscapeString(plain(id, nameRunes))) && !strings.ContainsAny(id, `"'+`) {
			t.Errorf("%q is not shown", id)
		}
		if to := link(body, "In the log"); to != "" || id == strings.TrimSpace(id) {
			if got := shown(get(t, page, to).Body.String()); len(got) != 1 {
				t.Errorf("%q in the log: %v", id, got)
			}
		}
		for _, bad := range []string{"<script>", "<img", "<b>&", "\u2028", "\u202e", `href="javascript:`} {
			if strings.Contains(body, bad) {
				t.Errorf("%q: the page has %q", id, bad)
			}
		}
	}
}

func TestATurnIdOfAnySizeLeavesThePageSmall(t *testing.T) {
	big := strings.Repeat("x", 100<<10)
	page := New(newConfig(t, round(big, "big", 5, func(x *exchange.Exchange) { answered(x, 100, 500, 10) })))
	body := get(t, page, "/-/turns/"+url.PathEscape(big)).Body.String()
	if got := shown(body); len(got) != 1 || link(body, "In the log") != "" {
		t.Errorf("rows %v, in the log at %.50s", got, link(body, "In the log"))
	}
	if n := len(body) - len(big); n > 20<<10 { // the switch of the language has to repeat the address
		t.Errorf("the page has %d bytes besides its address", n)
	}
	if missing := get(t, page, "/-/turns/"+big[1:]).Body.Len() - len(big); missing > 20<<10 {
		t.Errorf("the page of one that is unknown has %d bytes besides its address", missing)
	}
}

func TestATurnUnderWayCanBeLookedAtAnew(t *testing.T) {
	page := New(newConfig(t, append(agent(), crew()...)...))
	for target, want := range map[string]bool{"/-/turns/turn-crew": true, "/-/turns/turn-9": false} {
		if got := strings.Contains(get(t, page, target).Body.String(), `data-key="r">Refresh</a>`); got != want {
			t.Errorf("%s: refresh is offered: %v", target, got)
		}
	}
}

func TestWhatATurnsExchangesDoNotAgreeInIsNamedInPart(t *testing.T) {
	var rows []*exchange.Exchange
	for i := range 5 {
		rows = append(rows, round("mixed", fmt.Sprint("mixed-", i), float64(90-10*i), func(x *exchange.Exchange) {
			x.ModelRequested, x.SessionID = fmt.Sprint("model-", i), fmt.Sprint("session-", i%2)
			answered(x, 100, 500, 10)
		}))
	}
	body := get(t, New(newConfig(t, rows...)), "/-/turns/mixed").Body.String()
	for _, want := range []string{"model-0 / model-1 / model-2 / …", "session session-0 / session-1"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if link(body, "This session") != "" {
		t.Error("of two sessions one is the turn's")
	}
}

func TestTheBarOfATurnFillsItsLength(t *testing.T) {
	turn := timeOf(agent(), noon)
	split, alt := turn.split(english, newScale(turn.Length))
	if n := len(split); n < 5 || split[n-1].Kind != yours || !strings.HasSuffix(alt, "Your own tools 22.9 s") {
		t.Fatalf("%d pieces, in words %s", n, alt)
	}
	if got := split[len(split)-1].X + split[len(split)-1].Width; got != "55.72%38.11%" { // of 60 s, to 56.3
		t.Errorf("the last piece is at %s", got)
	}
}
