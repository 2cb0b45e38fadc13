package web

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// viewOf is what a filter finds in a log of these rows.
func viewOf(t testing.TB, rows []*exchange.Exchange, f store.Filter) *overview {
	t.Helper()
	log := rows
	s := &site{recent: recentOf(&log)}
	o, err := s.overview(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// queued is an exchange that waited for a slot.
func queued(id string, wait, queue float64) *exchange.Exchange {
	x := seeded(id, time.Minute, func(x *exchange.Exchange) { answered(x, wait, wait+1000, 60) })
	x.Prefill, x.Queue = span(20), span(queue)
	return x
}

// filledUp is n exchanges by a function of their number.
func filledUp(n int, make func(i int, id string) *exchange.Exchange) (all []*exchange.Exchange) {
	for i := range n {
		all = append(all, make(i, fmt.Sprintf("x-%03d", i)))
	}
	return all
}

// quick is an ordinary exchange, decoded at some tokens per second.
func quick(id string, ago time.Duration, perSec float64) *exchange.Exchange {
	return seeded(id, ago, func(x *exchange.Exchange) { answered(x, 400, 400+1000*99/perSec, 100) })
}

func TestAPrewarmIsCountedAndPartOfNoFigure(t *testing.T) {
	turn, warm := quick("turn", time.Minute, 50), quick("warm", time.Minute, 90)
	warm.MarkPrewarm()
	with, without := viewOf(t, []*exchange.Exchange{warm, turn}, store.Filter{}), viewOf(t, []*exchange.Exchange{turn}, store.Filter{})
	if with.outcomes[exchange.OK] != 2 {
		t.Errorf("%d are counted", with.outcomes[exchange.OK])
	}
	if with.spent != without.spent || len(with.firsts) != 1 || len(with.rates) != 1 || with.pooled != without.pooled || with.prompt != without.prompt {
		t.Errorf("with a prewarm %+v, without %+v", with, without)
	}
	c := newCharting(time.UTC, true)
	b := briefOf(warm)
	if c.add(&b); len(c.models) > 0 || len(c.left) > 0 {
		t.Errorf("it is drawn: %+v", c)
	}
}

func TestTheSentenceTellsTheLargestFinding(t *testing.T) {
	plainly := filledUp(20, func(i int, id string) *exchange.Exchange { return quick(id, time.Duration(i)*time.Second, 50) })
	for name, test := range map[string]struct {
		rows []*exchange.Exchange
		want string
	}{
		"few":    {plainly[:4], "<b>4</b> requests so far."},
		"one":    {plainly[:1], "<b>1</b> request so far."},
		"decode": {plainly, "Decode, reasoning included, takes <b>83 %</b> of the time in this view. None of 20 requests is prefill-bound."},
		"failed": {append(filledUp(2, func(_ int, id string) *exchange.Exchange {
			return seeded("f"+id, time.Minute, func(x *exchange.Exchange) { x.Outcome = exchange.UpstreamCut; broken(x, 900, 6100, 31_000) })
		}), plainly...), "<b>2</b> of 22 requests in this view failed, most often so: cut off by the upstream."},
		"prefill": {filledUp(6, func(i int, id string) *exchange.Exchange {
			x := seeded(id, time.Minute, func(x *exchange.Exchange) { prompted(x, 90_000, int64(i)*4000); answered(x, 8000, 9000, 40) })
			x.Prefill, x.Queue = span(7000), span(0)
			return x
		}), "<b>6</b> of 6 requests are prefill-bound, and 3 of those found less than 10 % of their prompt in the cache."},
		"queue": {filledUp(6, func(_ int, id string) *exchange.Exchange { return queued(id, 2000, 1500) }), "<b>50 %</b> of the time in this view went into queueing"},
		"slower": {filledUp(40, func(i int, id string) *exchange.Exchange {
			return quick(id, time.Duration(i)*time.Second, 30+float64(i/20)*30)
		}), "gpt-5-codex has become slower: <b>30.0 tokens/s</b> in the newer half of this view, <b>60.0 tokens/s</b> in the older."},
		"wait": {filledUp(6, func(_ int, id string) *exchange.Exchange {
			return seeded(id, time.Minute, func(x *exchange.Exchange) { answered(x, 3000, 3500, 20) })
		}), "Waiting for the first token takes <b>86 %</b> of the time"},
	} {
		if got := string(viewOf(t, test.rows, store.Filter{}).say(english)); !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
		if got := string(viewOf(t, test.rows, store.Filter{}).say(chinese)); strings.Contains(got, "%!") || strings.Contains(got, "*") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Where there are no WebSockets, a client tries one and goes on over HTTP.
func TestAWebSocketThatFallsBackIsNoFailure(t *testing.T) {
	tried := func(outcome exchange.Outcome, status *int64) func(int, string) *exchange.Exchange {
		return func(_ int, id string) *exchange.Exchange {
			return seeded(fmt.Sprint(id, outcome), time.Minute, func(x *exchange.Exchange) {
				x.Method, x.Path, x.Dialect, x.Outcome, x.Status = "GET", "/v1/responses", exchange.Responses, outcome, status
				x.Error = "426 use_http: the client falls back by itself"
			})
		}
	}
	calls := filledUp(20, func(i int, id string) *exchange.Exchange { return quick(id, time.Duration(i)*time.Second, 50) })
	refused, softened := filledUp(4, tried(exchange.Refused, nil)), filledUp(4, tried(exchange.UpstreamError, new(int64(404))))
	if n := viewOf(t, slices.Concat(calls, refused, softened), store.Filter{}).failed(); n != 0 {
		t.Errorf("%d failed", n)
	}
	if n := viewOf(t, append(calls, filledUp(4, tried(exchange.UpstreamError, new(int64(401))))...), store.Filter{}).failed(); n != 4 {
		t.Errorf("of 4 whose key was refused, %d failed", n)
	}
}

func TestAHostileModelNameInTheSentenceIsText(t *testing.T) {
	rows := filledUp(40, func(i int, id string) *exchange.Exchange {
		x := quick(id, time.Duration(i)*time.Second, 30+float64(i/20)*30)
		x.ModelRequested = "<b>*x*</b>"
		return x
	})
	if got := string(viewOf(t, rows, store.Filter{}).say(english)); strings.Contains(got, "<b>*") || !strings.Contains(got, "&lt;b&gt;") {
		t.Errorf("%q", got)
	}
}

func TestOneSlowerHalfNeedsEnoughOfBoth(t *testing.T) {
	rows := filledUp(2*trendLeast-1, func(i int, id string) *exchange.Exchange {
		return quick(id, time.Duration(i)*time.Second, 30+float64(i/trendLeast)*30)
	})
	if s := viewOf(t, rows, store.Filter{}).slowdown(); s != nil {
		t.Errorf("%+v of too few", s)
	}
	faster := filledUp(4*trendLeast, func(i int, id string) *exchange.Exchange {
		return quick(id, time.Duration(i)*time.Second, 60-float64(i/20)*30)
	})
	if s := viewOf(t, faster, store.Filter{}).slowdown(); s != nil {
		t.Errorf("what became faster is called slower: %+v", s)
	}
}

func TestTheSplitIsAllTheTimeOfAllRows(t *testing.T) {
	rows := telling()
	o := viewOf(t, rows, store.Filter{})
	var want time.Duration
	for _, x := range rows {
		if x.End != nil {
			want += *x.End
		}
	}
	if got := o.total(); (got - want).Abs() > time.Microsecond {
		t.Errorf("%v split up, %v took", got, want)
	}
	shares := 0.0
	for _, s := range splitKinds {
		shares += o.share(s.of...)
	}
	if shares < 0.9999 || shares > 1.0001 {
		t.Errorf("the parts are %v of the whole", shares)
	}
}

func TestEachNumberIsThatOfItsRows(t *testing.T) {
	rows := telling()
	o := viewOf(t, rows, store.Filter{})
	numbers := o.summary(english, query{}).Numbers
	got := map[string]string{}
	for _, n := range numbers {
		got[n.Word] = n.Value + n.Unit + "|" + n.Aside
	}
	for word, want := range map[string]string{
		"Requests": "13|4 failed, 1 cancelled", "Cached input": "67 %|of 335k prompt tokens",
	} {
		if got[word] != want {
			t.Errorf("%s: %q, want %q", word, got[word], want)
		}
	}
	if !strings.Contains(got["TTFT p50"], "p95 ") || !strings.Contains(got["Decode rate"], "p10 ") {
		t.Errorf("%v", got)
	}
}

func TestNumbersWithoutAnyRowAreUnknown(t *testing.T) {
	o := viewOf(t, nil, store.Filter{})
	for _, n := range o.summary(english, query{}).Numbers[1:] {
		if n.Value != "" {
			t.Errorf("%s of nothing is %s", n.Word, n.Value)
		}
	}
	if string(o.say(english)) != "<b>0</b> requests so far." {
		t.Errorf("%q", o.say(english))
	}
}

func TestBufferedAnswersHaveNoPartInTheTTFT(t *testing.T) {
	rows := filledUp(3, func(i int, id string) *exchange.Exchange { return quick(id, time.Second, 50) })
	rows[0].Delivery, rows[1].Delivery = exchange.Pseudo, exchange.Bursty
	if o := viewOf(t, rows, store.Filter{}); len(o.firsts) != 1 {
		t.Errorf("%d times to the first token, want that of the one that was streamed", len(o.firsts))
	}
}

func TestANoisyRateIsInThePoolButInNoPercentile(t *testing.T) {
	rows := filledUp(3, func(i int, id string) *exchange.Exchange { return quick(id, time.Second, 50) })
	rows[0].RateQuality = "noisy"
	o := viewOf(t, rows, store.Filter{})
	if r := o.pooled.rate(); len(o.rates) != 2 || r == nil || *r < 49.9 || *r > 50.1 {
		t.Errorf("rates %v, pooled %v", o.rates, r)
	}
}

func TestFacetsCountWhatTheirOwnValueWouldShow(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rows := filledUp(rapid.IntRange(0, 30).Draw(r, "rows"), func(i int, id string) *exchange.Exchange {
			x := quick(id, time.Second, 50)
			x.ModelRequested = rapid.SampledFrom([]string{"", "a", "b"}).Draw(r, "model")
			x.Upstream = rapid.SampledFrom([]string{"u", "v"}).Draw(r, "upstream")
			x.Outcome = rapid.SampledFrom([]exchange.Outcome{exchange.OK, exchange.ClientAbort, exchange.Open}).Draw(r, "outcome")
			return x
		})
		f := store.Filter{
			Model:    rapid.SampledFrom([]string{"", "a", "b"}).Draw(r, "by model"),
			Upstream: rapid.SampledFrom([]string{"", "u", "v"}).Draw(r, "by upstream"),
		}
		o := viewOf(t, rows, f)
		for _, model := range []string{"a", "b"} {
			g := f
			g.Model = model
			if got, want := o.facets["model"][model], int64(viewOf(t, rows, g).figured); got != want {
				r.Fatalf("model %s: counted %d, shows %d", model, got, want)
			}
		}
		without := f
		without.Upstream = ""
		if got, want := o.facets.all("upstream"), int64(viewOf(t, rows, without).figured); got != want {
			r.Fatalf("all upstreams: counted %d, there are %d", got, want)
		}
	})
}

func TestQuantilesAreOfTheValuesThereAre(t *testing.T) {
	if q := quantile([]int(nil), 0.5); q != nil {
		t.Errorf("%d of nothing", *q)
	}
	all := []int{1, 2, 3, 4, 5}
	for share, want := range map[float64]int{0: 1, 0.5: 3, 0.95: 5, 1: 5} {
		if got := *quantile(all, share); got != want {
			t.Errorf("%v: %d, want %d", share, got, want)
		}
	}
}

func TestAClientCountsWithAllWhoseNamesItBegins(t *testing.T) {
	var rows []*exchange.Exchange
	for i, client := range []string{"x/1", "x/10", "x/10.2", "y/1"} {
		x := quick(fmt.Sprint("c", i), time.Second, 50)
		x.Client = client
		rows = append(rows, x)
	}
	all := viewOf(t, rows, store.Filter{}).facets
	for _, client := range []string{"x/1", "x/10", "x/10.2", "X", "y/1", "z"} {
		if got, want := all.count("client", client), int64(viewOf(t, rows, store.Filter{Client: client}).figured); got != want {
			t.Errorf("%s: counted %d, shows %d", client, got, want)
		}
	}
}

func TestWhereManyFailedTheNextFindingIsSaidToo(t *testing.T) {
	rows := filledUp(6, func(_ int, id string) *exchange.Exchange { return queued(id, 2000, 1500) })
	rows[0].Outcome = exchange.UpstreamCut
	got := string(viewOf(t, rows, store.Filter{}).say(english))
	for _, want := range []string{"<b>1</b> of 6 requests in this view failed", "went into queueing"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}

func TestWhatIsUnderWayIsCountedWhereItIsAskedFor(t *testing.T) {
	rows := many(3)
	begun(rows[1])
	rows[1].Outcome = exchange.Open
	body := get(t, New(newConfig(t, rows...)), "/-/?outcome=open").Body.String()
	for _, want := range []string{"<b>1</b> request is under way.", "1 of 1 shown"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}
