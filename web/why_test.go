package web

import (
	"strings"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestAnExchangeIsSetAgainstWhatIsUsual(t *testing.T) {
	for _, test := range []struct {
		excess float64
		want   string
	}{
		{4280, "it took 4.28 s longer than this model usually does for as much work (by 41 requests)"},
		{1100, "it took 1.10 s longer"},
		{900, "that is what this model usually takes"}, // a tenth of 10 s
		{-900, "that is what this model usually takes"},
		{-4280, "it took 4.28 s less than"},
	} {
		x := ended()
		usual(x)
		x.End, x.Excess = span(10_000), span(test.excess)
		if got := againstUsual(english, x); !strings.Contains(got, test.want) {
			t.Errorf("%v ms: %q, want %q", test.excess, got, test.want)
		}
		if x.UsualRows = nil; againstUsual(english, x) != "" {
			t.Error("something is usual that nobody knows")
		}
	}
}

func TestWhatIsUsualIsListedWithTheRowsBehindIt(t *testing.T) {
	x := conversation()[3]
	want := map[string]string{
		"Fixed start": "0.84 s|", "Prefill of such a prompt": "3.20 s|", "First token, all cached": "1.18 s|",
		"per token (TPOT)": "18.2 ms|", "Slower than usual by": "4.28 s|", "By requests": "41|",
	}
	got := usualList(english, x)
	for name, value := range pairs(got) {
		if want[name] != value {
			t.Errorf("%s is %q, want %q", name, value, want[name])
		}
	}
	if last := got.Facts[len(got.Facts)-1]; len(got.Facts) != len(want) || last.URL != "/-/?model=gpt-5-codex" {
		t.Errorf("%d facts, the last leads to %q", len(got.Facts), last.URL)
	}
	x.Excess, x.UsualTokens = span(-40), new(int64(40_000))
	facts := pairs(usualList(english, x))
	if facts["Faster than usual by"] != "40.0 ms|" || facts["Prefill of such a prompt"] != "3.20 s|beyond the 40,000 tokens that it is known by" {
		t.Errorf("facts %v", facts)
	}
	if l := usualList(english, ended()); !l.empty() {
		t.Errorf("of an unknown model: %v", l)
	}
}

func TestTheMostSimilarEarlierExchangeIsSetBesideIt(t *testing.T) {
	similar := func(id string, ago time.Duration, uncached int64, set func(*exchange.Exchange)) *exchange.Exchange {
		return seeded(id, ago, func(x *exchange.Exchange) {
			prompted(x, 60_000, 60_000-uncached)
			answered(x, 4000, 4500, 30)
			set(x)
		})
	}
	nothing := func(*exchange.Exchange) {}
	this := similar("this", time.Minute, 50_000, nothing)
	near := similar("near", 10*time.Minute, 48_000, nothing)
	others := []*exchange.Exchange{
		this,
		similar("later", time.Second, 50_000, nothing),
		similar("of another model", 2*time.Minute, 50_000, func(x *exchange.Exchange) { x.ModelRequested = "gpt-5" }),
		similar("elsewhere", 2*time.Minute, 50_000, func(x *exchange.Exchange) { x.Upstream = "lab" }),
		similar("failed", 2*time.Minute, 50_000, func(x *exchange.Exchange) { x.Outcome = exchange.UpstreamCut }),
		similar("shorter", 3*time.Minute, 20_000, nothing),
		similar("farther", 4*time.Minute, 46_000, nothing),
	}
	page := New(newConfig(t, append(others, near)...))
	body := get(t, page, "/-/requests/this").Body.String()
	if want := "A similar request at 11:50:00 (48,000 uncached tokens) had its first token after 4.00 s, this one after 4.00 s."; !strings.Contains(body, want) {
		t.Errorf("not said: %s", want)
	}
	if link(body, "Open it") != "/-/requests/near" || link(body, "Compare the two") != "/-/compare?a=near&b=this" {
		t.Errorf("links %q, %q", link(body, "Open it"), link(body, "Compare the two"))
	}
	for name, rows := range map[string][]*exchange.Exchange{
		"none is near":    {this, others[5]},
		"decode bound":    {similar("this", time.Minute, 50_000, func(x *exchange.Exchange) { answered(x, 400, 9000, 900) }), near},
		"nothing counted": {similar("this", time.Minute, 50_000, func(x *exchange.Exchange) { x.CachedTokens = nil }), near},
	} {
		if body := get(t, New(newConfig(t, rows...)), "/-/requests/this").Body.String(); strings.Contains(body, "A similar request") {
			t.Errorf("%s: something is similar", name)
		}
	}
}

func TestWhereDecodeWasHiddenTheWaitsAreCompared(t *testing.T) {
	hidden := func(id string, ago time.Duration) *exchange.Exchange {
		return seeded(id, ago, func(x *exchange.Exchange) {
			prompted(x, 60_000, 0)
			hidTheReasoning(x, 60)
			answered(x, 9000, 10_000, 160)
		})
	}
	x, other := hidden("x", time.Minute), hidden("other", 2*time.Minute)
	if got := beside(english, x, other, noon); !strings.Contains(got.Text, "waited 8.39 s before it decoded, this one 8.39 s") {
		t.Errorf("%q", got.Text)
	}
	if beside(english, x, nil, noon) != nil {
		t.Error("compared with none")
	}
}
