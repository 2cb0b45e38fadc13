package web

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// pairs are a list's names and values.
func pairs(l list) map[string]string {
	all := map[string]string{}
	for _, f := range l.Facts {
		all[f.Name] = f.Value + "|" + f.Aside
	}
	return all
}

// ended is an exchange of which nothing is known but its end.
func ended() *exchange.Exchange {
	return &exchange.Exchange{Instants: exchange.Instants{End: span(1000)}}
}

func TestTokensThatAreUnknownAreDashesNotZeros(t *testing.T) {
	want := map[string]string{
		"Prompt": "–|", "from the cache": "–|", "not cached": "–|", "Output": "–|", "reasoning": "–|", "Total": "–|",
	}
	if diff := cmp.Diff(want, pairs(tokenList(english, ended()))); diff != "" {
		t.Errorf("tokens (-want +got):\n%s", diff)
	}
}

func TestTokensThatAreKnownHaveTheirShare(t *testing.T) {
	x := seeded("x", time.Second, func(x *exchange.Exchange) {
		prompted(x, 40_000, 39_200)
		hidTheReasoning(x, 0)
		x.End = span(900)
		x.CacheWriteTokens, x.OutputTokens, x.TotalTokens, x.UsageSource = new(int64(512)), new(int64(0)), new(int64(40_000)), "estimated"
	})
	want := map[string]string{
		"Prompt": "40,000|", "from the cache": "39,200|98 %", "not cached": "800|2 %", "written to the cache": "512|",
		"Output": "0|", "reasoning": "0|hidden", "Total": "40,000|", "Usage": "estimated|",
	}
	if diff := cmp.Diff(want, pairs(tokenList(english, x))); diff != "" {
		t.Errorf("tokens (-want +got):\n%s", diff)
	}
}

func TestPartsOfThePromptNeverContradictEachOther(t *testing.T) {
	x := ended()
	for _, test := range []struct {
		prompt, cached   int64
		wantHit, wantNot string
	}{
		{3301, 2, "< 1 %", "> 99 %"}, {3301, 3299, "> 99 %", "< 1 %"}, {1000, 994, "> 99 %", "< 1 %"},
		{200, 1, "< 1 %", "> 99 %"}, {100, 1, "1 %", "99 %"}, {8, 1, "13 %", "87 %"}, {8, 7, "88 %", "12 %"},
		{40, 0, "0 %", "100 %"}, {40, 40, "100 %", "0 %"}, {40, 41, "", ""}, {0, 0, "", ""},
	} {
		x.PromptTokens, x.CachedTokens = &test.prompt, &test.cached
		x.Derive()
		if hit, not := promptParts(x); hit != test.wantHit || not != test.wantNot {
			t.Errorf("%d of %d cached: %q and %q, want %q and %q", test.cached, test.prompt, hit, not, test.wantHit, test.wantNot)
		}
	}
}

func TestARateWithAStallInItSaysSo(t *testing.T) {
	x := seeded("x", time.Second, func(x *exchange.Exchange) {
		answered(x, 1400, 21_900, 402)
		x.Stalls, x.StallTime = new(int64(2)), span(14_300)
	})
	if got, want := pairs(rateList(english, x))["Decode rate"], "19.6 tokens/s|fair, 14.3 s of stalls in it"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := rateOf(english, x).Title, "19.561 tokens/s, fair, 14.3 s of stalls in it"; got != want {
		t.Errorf("title %q, want %q", got, want)
	}
	x.TokensPerSec, x.RateQuality = nil, ""
	if got := pairs(rateList(english, x))["Decode rate"]; got != "–|" {
		t.Errorf("without a rate: %q", got)
	}
}

func TestTheUpstreamsClockIsToldAsWellAsItIsKnown(t *testing.T) {
	for ms, want := range map[float64]string{
		0: "within 0.5 s of this machine's", 499: "within 0.5 s of this machine's", -500: "within 0.5 s of this machine's",
		1841: "1.8 s ± 0.5 s ahead", -7_204_960: "7,205.0 s ± 0.5 s behind",
	} {
		if got := clockOffset(english, span(ms)); got != want {
			t.Errorf("%v ms: got %q, want %q", ms, got, want)
		}
	}
	if got := clockOffset(english, nil); got != "" {
		t.Errorf("an unknown offset is %q", got)
	}
}

func TestARetryIsToldFromTheSecondAttemptOn(t *testing.T) {
	x := ended()
	x.RetryGroup, x.Attempt = "first", new(int64(1))
	if got, ok := pairs(idList(english, x))["Retries"]; ok {
		t.Errorf("an attempt that nothing came before is told as %q", got)
	}
	x.Attempt = new(int64(3))
	if got := pairs(idList(english, x))["Retries"]; got != "first|attempt 3" {
		t.Errorf("got %q", got)
	}
}

func TestACauseIsInWordsWithItsCodeBeside(t *testing.T) {
	x := ended()
	x.Cause = "slow_decode"
	facts := routeList(chinese, x).Facts
	want := fact{Name: "原因", Value: "生成速度低于平时", Aside: "slow_decode", URL: "/-/?cause=slow_decode"}
	if diff := cmp.Diff(want, facts[len(facts)-1]); diff != "" {
		t.Errorf("cause (-want +got):\n%s", diff)
	}
}

func TestAnUploadThatMayHaveTakenLongerSaysSo(t *testing.T) {
	x := &exchange.Exchange{}
	x.Upload = span(12)
	if got := upload(x); got != "12.0 ms" {
		t.Errorf("got %q", got)
	}
	x.UploadLowerBound = new(true)
	if got := upload(x); got != "≥ 12.0 ms" {
		t.Errorf("got %q", got)
	}
}

func TestIdsLeadToTheRowsThatShareThem(t *testing.T) {
	page := New(newConfig(t, telling()...))
	body := get(t, page, "/-/requests/decode").Body.String()
	for text, rows := range map[string]int{"This session": 1, "<bdi>019ae2-session</bdi>": 1} {
		to := link(body, text)
		if got := shown(get(t, page, to).Body.String()); len(got) != rows || got[0] != "decode" {
			t.Errorf("%s leads to %q, which shows %v", text, to, got)
		}
	}
}

func TestTheDeliveryIsToldInWords(t *testing.T) {
	for _, test := range []struct {
		set  func(*exchange.Exchange)
		want []string
	}{
		{func(*exchange.Exchange) {}, nil},
		{func(x *exchange.Exchange) { x.Delivery = exchange.Streamed }, []string{"Streamed as it was generated."}},
		{func(x *exchange.Exchange) {
			x.Delivery, x.DeliveryPeriod, x.DeliveryBytes = exchange.Bursty, span(2050), new(int64(4096))
		}, []string{"In bursts, one every 2.05 s of about 4,096 bytes: something in between buffers, so the wait contains generation."}},
		{func(x *exchange.Exchange) {
			x.Delivery, x.Stalls, x.StallTime, x.MaxGap = exchange.Single, new(int64(2)), span(8200), span(4100)
		}, []string{"All of it in one piece.", "Stalls: 2, together 8.20 s.", "Longest gap between two pieces: 4.10 s."}},
		{func(x *exchange.Exchange) { x.Delivery, x.Stalls = exchange.NotStreamed, new(int64(0)) },
			[]string{"Not streamed: the answer came as one body."}},
	} {
		x := &exchange.Exchange{}
		test.set(x)
		if diff := cmp.Diff(test.want, deliveryOf(english, x)); diff != "" {
			t.Errorf("delivery (-want +got):\n%s", diff)
		}
	}
}

func TestTheServersTimingsStandBesideOurs(t *testing.T) {
	x := seeded("x", time.Second, func(x *exchange.Exchange) { answered(x, 1000, 3000, 90) })
	if got := serverTimingsOf(english, x); got != nil {
		t.Errorf("of a server that told none: %+v", got)
	}
	x.ServerPrefill, x.ServerDecode, x.ServerSource = span(700), span(1990), "timings"
	want := []serverTiming{
		{"Queue", figure.Unknown, figure.Unknown, "not by itself: a part of the wait"},
		{"Prefill", "700.000", figure.Unknown, "not by itself: a part of the wait"},
		{"Queue and prefill", figure.Unknown, "945.000", "the wait: to the first token, less the network"},
		{"Decode", "1,990.000", "2,000.000", "first to last token"},
	}
	if diff := cmp.Diff(want, serverTimingsOf(english, x).Rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestWhatCannotBeSeenByItselfIsNotSetAgainstTheServers(t *testing.T) {
	for name, set := range map[string]func(*exchange.Exchange){
		"hidden reasoning": func(x *exchange.Exchange) { x.Reasoning = "hidden" },
		"a pseudo stream":  func(x *exchange.Exchange) { x.Delivery = exchange.Pseudo },
		"a whole body":     func(x *exchange.Exchange) { x.Delivery = exchange.NotStreamed },
	} {
		x := seeded("x", time.Second, func(x *exchange.Exchange) { answered(x, 1000, 3000, 90) })
		x.ServerQueue, x.ServerPrefill, x.ServerDecode, x.ServerSource = span(40), span(700), span(1990), "timings"
		set(x)
		rows := serverTimingsOf(english, x).Rows
		want := []serverTiming{
			{"Decode", "1,990.000", figure.Unknown, "not by itself: it began before any output came"},
			{"Together", "2,730.000", "2,945.000", "to the last token, less the network"},
		}
		if diff := cmp.Diff(want, rows[2:]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAnInstantThatWasNotSeenIsADash(t *testing.T) {
	at := map[string]string{}
	for _, i := range instantsOf(english, &exchange.Exchange{Instants: exchange.Instants{FirstToken: span(0), End: span(1234.5678)}}) {
		at[i.Word] = i.At
	}
	if len(at) != 15 || at["First token"] != "0.000" || at["End"] != "1,234.568" || at["Headers"] != figure.Unknown {
		t.Errorf("instants %v", at)
	}
}

func TestTheConnectionIsToldByItsParts(t *testing.T) {
	x := &exchange.Exchange{}
	x.ConnReused, x.DNS, x.Connect, x.TLS = new(false), span(1.5), span(20), span(41)
	if got, want := connection(english, x), "DNS 1.5 ms, TCP 20.0 ms, TLS 41.0 ms"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	x.ConnReused = new(true)
	if got := connection(english, x); got != "connection reused" {
		t.Errorf("got %q", got)
	}
	if got := connection(english, &exchange.Exchange{}); got != "" {
		t.Errorf("an unknown connection is %q", got)
	}
}

func TestWhatIsSaidOnceIsNotSaidTwice(t *testing.T) {
	for _, x := range telling() {
		w := whyOf(english, x, noon)
		if len(w.Paragraphs) == 0 {
			t.Errorf("%s: nothing is said", x.ID)
		}
		if len(w.Paragraphs) == 2 && w.Paragraphs[1][:20] == w.Paragraphs[0][:20] {
			t.Errorf("%s: %q", x.ID, w.Paragraphs)
		}
	}
}
