package web

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// compareLink finds the requests that are offered to be compared with another.
var compareLink = regexp.MustCompile(`<td class="c-time">(?:<input[^>]*>)?<a href="/-/compare\?a=[^"&]+&amp;b=([^"]+)"`)

// rivals are two exchanges of the same kind, each set in its own way.
func rivals(a, b func(*exchange.Exchange)) (contestant, contestant) {
	return contestant{seeded("a", time.Minute, a), "A"}, contestant{seeded("b", time.Second, b), "B"}
}

func TestTheFindingNamesThePhasesThatMadeTheDifference(t *testing.T) {
	quick := func(x *exchange.Exchange) {
		prompted(x, 96_000, 95_000)
		byServer(x, 10, 900)
		answered(x, 1200, 4200, 181)
	}
	for name, test := range map[string]struct {
		b    func(*exchange.Exchange)
		want string
	}{
		"a cold cache": {func(x *exchange.Exchange) {
			prompted(x, 96_000, 7_000)
			byServer(x, 10, 7000)
			answered(x, 7300, 10_800, 211)
		}, "B took *6.60 s* longer than A: 6.10 s more prefill (88,000 more uncached tokens), " +
			"0.50 s more decode (30 more output tokens)."},
		"more of one, less of another": {func(x *exchange.Exchange) {
			prompted(x, 96_000, 95_000)
			byServer(x, 4010, 900)
			answered(x, 5200, 6200, 61)
		}, "B took *2.00 s* longer than A: 4.00 s more queue, 2.00 s less decode (120 fewer output tokens)."},
		"a queue that is not told apart": {func(x *exchange.Exchange) {
			prompted(x, 96_000, 95_000)
			answered(x, 5200, 8200, 181)
		}, "B took *4.00 s* longer than A: 4.00 s more wait and prefill."},
		"a slower answer": {func(x *exchange.Exchange) {
			quick(x)
			answered(x, 1200, 10_200, 181)
			x.RateQuality = "noisy"
		}, "B took *6.00 s* longer than A: 6.00 s more decode (~20.0 tokens/s against 60.0 tokens/s)."},
		"hidden reasoning": {func(x *exchange.Exchange) {
			quick(x)
			hidTheReasoning(x, 300)
			answered(x, 6200, 9200, 481)
		}, "B took *5.00 s* longer than A: 5.00 s more hidden reasoning (estimated)."},
		"about the same": {quick, "A and B took about the same: 4.20 s and 4.20 s."},
		"as long, but for other things": {func(x *exchange.Exchange) {
			prompted(x, 96_000, 50_000)
			byServer(x, 10, 2900)
			answered(x, 3200, 4240, 63)
		}, "A and B took about the same, 4.20 s and 4.24 s, but not for the same: B had 2.00 s more prefill (45,000 more uncached tokens), " +
			"1.96 s less decode (118 fewer output tokens)."},
	} {
		a, b := rivals(quick, test.b)
		if got := finding(english, a, b); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, test.want)
		}
	}
}

func TestNoPhaseIsBlamedWhereThePhasesCannotBeTold(t *testing.T) {
	quick := func(x *exchange.Exchange) { answered(x, 1200, 4200, 181) }
	for name, test := range map[string]struct {
		b       func(*exchange.Exchange)
		finding string
		caution string
	}{
		"buffered": {func(x *exchange.Exchange) {
			answered(x, 8000, 8300, 181)
			x.Delivery = exchange.Pseudo
		}, "B took *4.10 s* longer than A.", "Which phases took the time of B cannot be told: the output came buffered."},
		"not streamed": {func(x *exchange.Exchange) {
			answered(x, 8000, 8300, 181)
			x.Delivery, x.FirstToken, x.LastToken = exchange.NotStreamed, nil, nil
		}, "B took *4.10 s* longer than A.", "Which phases took the time of B cannot be told: the answer was not streamed."},
		"cut off": {func(x *exchange.Exchange) {
			broken(x, 900, 6100, 31_000)
			x.Outcome = exchange.UpstreamCut
		}, "B took *26.8 s* longer than A.", "B did not end well (cut off by the upstream)"},
		"under way": {func(x *exchange.Exchange) {
			begun(x)
			x.Outcome = exchange.Open
		}, "B is still under way", ""},
		"lost": {func(x *exchange.Exchange) {
			begun(x)
			x.Outcome = exchange.Interrupted
		}, "How long B took is unknown", ""},
	} {
		a, b := rivals(quick, test.b)
		if got := finding(english, a, b); !strings.HasPrefix(got, test.finding) {
			t.Errorf("%s: %s", name, got)
		}
		if got := fmt.Sprint(cautions(english, a, b)); !strings.HasPrefix(got, "["+test.caution) {
			t.Errorf("%s: cautions %s", name, got)
		}
		for _, part := range newPair(english, a, b, noon).Parts {
			if part.More != "" {
				t.Errorf("%s: %s more %s", name, part.More, part.Word)
			}
		}
	}
}

func TestTheModelsAreNamedWhereTheyDiffer(t *testing.T) {
	for name, test := range map[string]struct {
		a, b func(*exchange.Exchange)
		want string
	}{
		"asked for another": {nil, func(x *exchange.Exchange) { x.ModelRequested = "o9-mini" }, "different models, gpt-5-codex (A) and o9-mini (B)"},
		"served by another": {func(x *exchange.Exchange) { x.ModelServed = "gpt-5-codex-2026-01-15" },
			func(x *exchange.Exchange) { x.ModelServed = "gpt-5-codex-2025-06-01" }, "gpt-5-codex-2026-01-15 (A) and gpt-5-codex-2025-06-01 (B)"},
		"elsewhere":       {nil, func(x *exchange.Exchange) { x.Upstream = "lab" }, "different upstreams, default (A) and lab (B)"},
		"at another tier": {func(x *exchange.Exchange) { x.ServiceTier = "flex" }, func(x *exchange.Exchange) { x.ServiceTier = "priority" }, "different service tiers, flex (A) and priority (B)"},
		"the same":        {nil, nil, ""},
		"perhaps another": {func(x *exchange.Exchange) { x.ModelServed, x.ServiceTier = "gpt-5-codex-2026-01-15", "flex" }, nil, ""},
	} {
		with := func(set func(*exchange.Exchange)) func(*exchange.Exchange) {
			return func(x *exchange.Exchange) {
				answered(x, 1200, 4200, 181)
				if set != nil {
					set(x)
				}
			}
		}
		a, b := rivals(with(test.a), with(test.b))
		got := cautions(english, a, b)
		if test.want == "" && len(got) > 0 || test.want != "" && (len(got) != 1 || !strings.Contains(got[0], test.want)) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestWhatBTookMoreOfThePartsIsWhatItTookMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyExchange(t), anyExchange(t)
		var more time.Duration
		for _, p := range partsOf(a, b) {
			more += p.more()
		}
		if more != *b.End-*a.End {
			t.Fatalf("parts differ by %v, the whole by %v", more, *b.End-*a.End)
		}
	})
}

func TestSwappingTheTwoTurnsTheDifferencesRound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyExchange(t), anyExchange(t)
		there, back := partsOf(a, b), partsOf(b, a)
		for i := range there {
			if there[i].name != back[i].name || there[i].more() != -back[i].more() {
				t.Fatalf("%s %v, %s %v", there[i].name, there[i].more(), back[i].name, back[i].more())
			}
		}
	})
}

func TestAFigureThatOneLacksHasNoDifference(t *testing.T) {
	a, b := rivals(func(x *exchange.Exchange) {
		prompted(x, 1200, 200)
		answered(x, 1000, 4000, 61)
		x.RateQuality = "noisy"
	}, func(x *exchange.Exchange) {
		x.PromptTokens = new(int64(1300))
		answered(x, 1500, 4500, 91)
	})
	got := map[string]pairFigure{}
	for _, list := range pairLists(english, a.Exchange, b.Exchange) {
		for _, row := range list.Rows {
			got[row.Word] = row
		}
	}
	for _, want := range []pairFigure{
		{"TTFT", "1.00 s", "1.50 s", "+0.50 s"},
		{"Total", "4.00 s", "4.50 s", "+0.50 s"},
		{"Queue", "–", "–", ""},
		{"from the cache", "200", "–", ""},
		{"not cached", "1,000", "–", ""},
		{"Prompt", "1,200", "1,300", "+100"},
		{"Decode rate", "~20.0 tokens/s", "30.0 tokens/s", "~+10.0 tokens/s"},
		{"per token (TPOT)", "~50.0 ms", "33.3 ms", "~−16.7 ms"},
		{"Decode", "3.00 s", "3.00 s", "same"},
		{"Outcome", "ok", "ok", "same"},
	} {
		if diff := cmp.Diff(want, got[want.Word]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", want.Word, diff)
		}
	}
	if row, ok := got["answered"]; ok {
		t.Errorf("what neither has is shown: %+v", row)
	}
}

func TestTwoRequestsAreChosenStepByStep(t *testing.T) {
	page := New(newConfig(t, append(agent(), telling()...)...))
	none := get(t, page, "/-/compare")
	if none.Code != http.StatusOK || !strings.Contains(none.Body.String(), `<input type="search" name="a" value=""`) {
		t.Errorf("without any: status %d", none.Code)
	}
	one := get(t, page, "/-/compare?a=agent-3&b=").Header().Get("Location")
	if one != "/-/compare?a=agent-3" {
		t.Errorf("a form half filled leads to %q", one)
	}
	body := get(t, page, one).Body.String()
	if !strings.Contains(body, `name="a" value="agent-3"`) || !strings.Contains(body, "compared with A (gpt-5-codex, 71,300 in") {
		t.Error("the one is not in the form")
	}
	var offered []string
	for _, m := range compareLink.FindAllStringSubmatch(body, -1) {
		offered = append(offered, m[1])
	}
	if got, want := fmt.Sprint(offered), "[decode agent-4 agent-2 agent-1]"; got != want {
		t.Errorf("offered are %s, want %s", got, want)
	}
	if body := get(t, page, "/-/compare?a=agent-3&b=agent-4").Body.String(); !strings.Contains(body, "longer than A") {
		t.Error("two are not compared")
	}
	if body := get(t, page, "/-/compare?b=agent-3").Body.String(); !strings.Contains(body, "compared with B (") || !strings.Contains(body, "a=agent-4&amp;b=agent-3") {
		t.Error("B alone is not offered the others as A")
	}
}

func TestWithoutASessionTheModelsOtherRequestsAreOffered(t *testing.T) {
	page := New(newConfig(t, many(20)...))
	body := get(t, page, "/-/compare?a=many-010").Body.String()
	if n := len(compareLink.FindAllString(body, -1)); n != 2*comparableEach {
		t.Errorf("%d are offered", n)
	}
	alone := New(newConfig(t, many(1)...))
	if body := get(t, alone, "/-/compare?a=many-000").Body.String(); !strings.Contains(body, "There is no other request") {
		t.Error("a request without others is not told to be one")
	}
}

func TestIdsThatAreUnknownOrTheSameAreSaidWithAForm(t *testing.T) {
	page := New(newConfig(t, agent()...))
	for target, want := range map[string]struct {
		status int
		text   string
	}{
		"/-/compare?a=agent-1&b=nowhere": {http.StatusNotFound, "No request with the id nowhere is in the log."},
		"/-/compare?a=no&b=nowhere":      {http.StatusNotFound, "No request with the id no is in the log."},
		"/-/compare?b=nowhere":           {http.StatusNotFound, "No request with the id nowhere is in the log."},
		"/-/compare?a=agent-1&b=agent-1": {http.StatusOK, "A and B are the same request"},
		"/-/compare?a=last&b=agent-4":    {http.StatusOK, "A and B are the same request"},
	} {
		w := get(t, page, target)
		if body := w.Body.String(); w.Code != want.status || !strings.Contains(body, want.text) || !strings.Contains(body, `action="/-/compare"`) {
			t.Errorf("%s: status %d, or it lacks %q", target, w.Code, want.text)
		}
	}
}

func TestHostileIdsAndTextsAreComparedAsText(t *testing.T) {
	set := func(x *exchange.Exchange) {
		x.Upstream, x.Client, x.ModelRequested, x.ModelServed, x.SessionID = hostile, hostile, hostile, hostile, hostile
		x.Error, x.FinishReason, x.ServiceTier, x.CacheOutcome = hostile, hostile, hostile, hostile
		answered(x, 1000, 2000, 40)
	}
	x, y := seeded(hostile, time.Minute, set), seeded("y", time.Second, set)
	y.ModelServed, y.Upstream, y.ServiceTier = hostile+"3", hostile+"4", hostile+"5"
	page := New(newConfig(t, x, y))
	big := strings.Repeat("y", 100<<10)
	for target, want := range map[string]string{
		compareURL(x, y): "different models, &#34;&#39;&gt;&lt;script&gt;",
		"/-/compare?a=" + url.QueryEscape(hostile):     "compared with A",
		"/-/compare?a=" + url.QueryEscape(hostile[1:]): "No request with the id &#39;&gt;",
		"/-/compare?a=" + big + "&b=" + big:            "No request with the id yyy",
	} {
		body := get(t, page, target).Body.String()
		if !strings.Contains(body, want) {
			t.Errorf("%.80s lacks %s", target, want)
		}
		for _, bad := range []string{"<script>", "<img", "\u2028", "\u202e", `href="javascript:`, "onerror=alert(1)>"} {
			if strings.Contains(body, bad) {
				t.Errorf("%.80s: the page has %q", target, bad)
			}
		}
		if n := len(body) - 2*len(target); n > 60<<10 {
			t.Errorf("%.80s has %d bytes", target, n)
		}
	}
}

func TestSwapLeadsToTheTwoTheOtherWayRound(t *testing.T) {
	page := New(newConfig(t, agent()...))
	swap := link(get(t, page, "/-/compare?a=agent-1&b=agent-4").Body.String(), "Swap A and B")
	if swap != "/-/compare?a=agent-4&b=agent-1" {
		t.Errorf("it leads to %s", swap)
	}
	if body := get(t, page, swap).Body.String(); !strings.Contains(body, "B took <b>4.20 s</b> longer than A") {
		t.Error("and the finding is not turned round")
	}
}

func TestADifferenceComesWithWhatBearsOnIt(t *testing.T) {
	steady := func(x *exchange.Exchange) {
		prompted(x, 9000, 8000)
		byServer(x, 100, 800)
		answered(x, 1000, 4000, 181)
	}
	for name, test := range map[string]struct {
		b    func(*exchange.Exchange)
		want string
	}{
		"a new connection": {func(x *exchange.Exchange) {
			steady(x)
			x.ConnReused, x.DNS, x.TLS, x.GotConn = new(false), span(400), span(1600), span(2000)
			answered(x, 3000, 6000, 181)
			x.ServerPrefill = span(800)
		}, "more network (a new connection)"},
		"an estimate": {func(x *exchange.Exchange) {
			steady(x)
			answered(x, 4000, 7000, 181)
			x.ServerQueue, x.Queue = nil, span(3100)
		}, "3.04 s more queue (estimated)"},
		"stalls": {func(x *exchange.Exchange) {
			steady(x)
			answered(x, 1000, 9000, 181)
			x.Stalls, x.StallTime = new(int64(1)), span(2500)
		}, "5.00 s more decode (22.5 tokens/s against 60.0 tokens/s, 2.50 s of stalls in it)"},
		"reasoning that was shown": {func(x *exchange.Exchange) {
			steady(x)
			x.Reasoning, x.ReasoningTokens = "visible", new(int64(240))
			answered(x, 1000, 8000, 421)
			x.FirstReasoning, x.AnswerStart = span(1000), span(5000)
		}, "4.00 s more reasoning"},
		"a longer prompt of which nothing is known": {func(x *exchange.Exchange) {
			steady(x)
			x.PromptTokens, x.CachedTokens = new(int64(19_000)), nil
			byServer(x, 100, 3800)
			answered(x, 4000, 7000, 181)
		}, "3.00 s more prefill (10,000 more prompt tokens)"},
	} {
		a, b := rivals(steady, test.b)
		if got := finding(english, a, b); !strings.Contains(got, test.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestTheFindingIsToldInChineseToo(t *testing.T) {
	page := New(newConfig(t, agent()...))
	body := get(t, page, "/-/compare?a=agent-4&b=agent-1&lang=zh").Body.String()
	want := "B 比 A 多用了 <b>4.20 s</b>：预填充多 4.38 s（未命中缓存的 token 多 61,744），解码少 0.46 s（输出 token 多 126，59.7 tokens/s 对 42.7 tokens/s）。"
	if !strings.Contains(body, want) {
		t.Errorf("it says %s", regexp.MustCompile(`<h1.*`).FindString(body))
	}
}
