package web

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

func TestTokensThatAreUnknownAreDashesNotZeros(t *testing.T) {
	want := map[string]string{
		"Prompt": "–|", "from the cache": "–|", "not cached": "–|", "Output": "–|", "reasoning": "–|", "Total": "–|",
	}
	if diff := cmp.Diff(want, pairs(tokenList(english, &exchange.Exchange{}))); diff != "" {
		t.Errorf("tokens (-want +got):\n%s", diff)
	}
}

func TestTokensThatAreKnownHaveTheirShare(t *testing.T) {
	x := seeded("x", time.Second, func(x *exchange.Exchange) {
		prompted(x, 40_000, 39_200)
		hidTheReasoning(x, 0)
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
	for text, rows := range map[string]int{"This session": 1, "<bdi>turn-7</bdi>": 1, "<bdi>019ae2-session</bdi>": 1} {
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
		{"Queue", nothing, nothing, "part of the wait"},
		{"Prefill", "700.000", "945.000", "the whole wait: queue and prefill"},
		{"Decode", "1,990.000", "2,000.000", "first to last token"},
	}
	if diff := cmp.Diff(want, serverTimingsOf(english, x).Rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

func TestAnInstantThatWasNotSeenIsADash(t *testing.T) {
	at := map[string]string{}
	for _, i := range instantsOf(english, &exchange.Exchange{Instants: exchange.Instants{FirstToken: span(0), End: span(1234.5678)}}) {
		at[i.Word] = i.At
	}
	if len(at) != 15 || at["First token"] != "0.000" || at["End"] != "1,234.567" || at["Headers"] != nothing {
		t.Errorf("instants %v", at)
	}
}

func TestTheConnectionIsToldByItsParts(t *testing.T) {
	x := &exchange.Exchange{}
	x.ConnReused, x.DNS, x.Connect, x.TLS = new(false), span(1.5), span(20), span(41)
	if got, want := connection(english, x), "DNS 1.50 ms, TCP 20.0 ms, TLS 41.0 ms"; got != want {
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
		w := whyOf(english, x)
		if len(w.Paragraphs) == 0 {
			t.Errorf("%s: nothing is said", x.ID)
		}
		if len(w.Paragraphs) == 2 && w.Paragraphs[1][:20] == w.Paragraphs[0][:20] {
			t.Errorf("%s: %q", x.ID, w.Paragraphs)
		}
	}
}
