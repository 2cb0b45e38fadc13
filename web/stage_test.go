package web

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestARowUnderWayTellsWhatIsKnownByNow(t *testing.T) {
	known := func(x *exchange.Exchange) { x.GotConn, x.Network = span(100), span(200) }
	for _, test := range []struct {
		name                         string
		set                          func(*exchange.Exchange)
		tag, cells, ttft, output, in string // in: the bar in words
	}{
		{"nothing but that it began", func(*exchange.Exchange) {}, "Running", "under way since 11:59:56", "", "", "Under way 4.00 s"},
		{"it is connected", known, "Running", "no token yet", "", "", "Network 0.20 s, Wait 3.80 s"},
		{"the head came", func(x *exchange.Exchange) { known(x); x.Headers = span(900) }, "Running", "no token yet", "", "", "Network 0.20 s, Wait 3.80 s"},
		{"it reasons", func(x *exchange.Exchange) {
			known(x)
			x.FirstToken, x.FirstReasoning, x.OutputEvents = span(1200), span(1200), new(int64(1234))
		}, "Reasoning", "", "1.20s", "≥ 1,234", "Network 0.20 s, Wait 1.00 s, Reasoning 2.80 s"},
		{"it answers", func(x *exchange.Exchange) {
			known(x)
			x.FirstToken, x.AnswerStart, x.OutputEvents = span(1200), span(1200), new(int64(7))
		}, "Answering", "", "1.20s", "≥ 7", "Network 0.20 s, Wait 1.00 s, Decode 2.80 s"},
		{"it answers after it has reasoned", func(x *exchange.Exchange) {
			known(x)
			x.FirstToken, x.AnswerStart, x.OutputEvents = span(1200), span(2200), new(int64(7))
		}, "Answering", "", "1.20s", "≥ 7", "Network 0.20 s, Wait 1.00 s, Reasoning 1.00 s, Decode 1.80 s"},
	} {
		x := &exchange.Exchange{ID: "x", StartedAt: noon.Add(-4 * time.Second), Outcome: exchange.Open, ModelRequested: "m"}
		test.set(x)
		sh := sheet{l: english, now: noon, scale: newScale(10 * time.Second)}
		r := sh.row(x)
		got := []string{r.Tag.Word, r.Unwritten, r.TTFT.Value + r.TTFT.Unit, r.Output.Value, r.Bar.Alt, r.SoFar, r.Total.Value + r.Total.Unit}
		want := []string{test.tag, test.cells, test.ttft, test.output, test.in, "4000", "4.00s"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestThePageKnowsWhatTheLogDoesNotKnowYet(t *testing.T) {
	rows := telling()[:2]
	c := newConfig(t, rows...)
	by := new(*rows[0])
	by.GotConn, by.FirstToken, by.AnswerStart, by.OutputEvents = span(20), span(1500), span(1500), new(int64(31))
	c.UnderWay = func() []*exchange.Exchange { return []*exchange.Exchange{by} }
	page := New(c)
	for target, want := range map[string]string{"/-/": "Answering", "/-/?outcome=open": "Answering", "/-/requests/under-way": "1,500.000"} {
		if body := get(t, page, target).Body.String(); !strings.Contains(body, want) {
			t.Errorf("%s does not have %q", target, want)
		}
	}
}
