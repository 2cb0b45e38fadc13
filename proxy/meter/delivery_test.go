package meter

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/dialect"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// bursts are n lumps of reads 1 ms apart, the first at from, period ms apart.
func bursts(n, readsEach int, from, period float64, e dialect.Event) script {
	var s script
	for i := range n {
		at := from + float64(i)*period
		s = s.run(readsEach, at, at+float64(readsEach-1), e)
	}
	return s
}

func TestDeliveryIsTheFirstThatFits(t *testing.T) {
	decode := func(f float64) func(*exchange.Exchange) {
		return func(x *exchange.Exchange) { x.ServerDecode = new(ms(f)) }
	}
	big := out(dialect.Text, 0, 400) // 100 tokens by bytes
	for _, c := range []struct {
		name   string
		script script
		answer *dialect.Answer
		with   func(*exchange.Exchange)
		want   exchange.Delivery
	}{
		{"token by token", script{}.run(100, 1000, 3000, word), usage(12, -1, 100), nil, exchange.Streamed},
		{"nothing generated", script{}.at(100, nothing), usage(12, -1, 0), nil, ""},

		{"a short answer in one read", script{}.run(2, 1000, 1000, word), usage(12, -1, 31), nil, exchange.Single},
		{"a call in one event", script{}.at(3650, out(dialect.Tool, 1, 900)), usage(40000, 39200, 220), nil, exchange.Single},
		{"a call after summaries", script{}.run(3, 1000, 3000, summary).at(4000, out(dialect.Tool, 1, 900)), usage(12, -1, 900, 640), nil, exchange.Single},
		{"a short text of unknown length", script{}.at(1000, out(dialect.Text, 0, 127)), &dialect.Answer{}, nil, exchange.Single},
		{"a summary and nothing else", script{}.at(1000, out(dialect.Summary, 0, 900)), usage(12, -1, 900, 900), nil, exchange.Single},

		{"a long text in one read", script{}.run(50, 1000, 1000, word), usage(12, -1, 50), nil, exchange.Pseudo},
		{"a long text of unknown length", script{}.at(1000, out(dialect.Text, 0, 128)), &dialect.Answer{}, nil, exchange.Pseudo},
		{"text and call in one read", script{}.at(1000, big).at(1000, argument), usage(12, -1, 110), nil, exchange.Pseudo},
		{"faster than any server", script{}.run(11, 1000, 1100, big), usage(12, -1, 1000), nil, exchange.Pseudo},
		{"as fast as honest hosts", script{}.run(100, 1000, 1400, out(dialect.Text, 0, 40)), usage(12, -1, 1000), nil, exchange.Streamed},
		{"sent in less than half of what it took", script{}.run(100, 5000, 6000, word), usage(12, -1, 100), decode(2001), exchange.Pseudo},
		{"sent in half of what it took", script{}.run(100, 5000, 6000, word), usage(12, -1, 100), decode(2000), exchange.Streamed},
		{"sent in 200 ms less than it took", script{}.run(100, 5000, 5100, word), usage(12, -1, 100), decode(300), exchange.Pseudo},
		{"sent in 199 ms less than it took", script{}.run(100, 5000, 5100, word), usage(12, -1, 100), decode(299), exchange.Streamed},
		{"the server is as fast as it seems", script{}.run(11, 1000, 1100, big), usage(12, -1, 1000), decode(100), exchange.Streamed},
		{"31 tokens are too few to say", script{}.run(31, 5000, 5100, word), usage(12, -1, 31), decode(9000), exchange.Streamed},
		{"hidden reasoning took its share", script{}.run(100, 9000, 10000, word), usage(12, -1, 1000, 900), decode(10000), exchange.Streamed},
		{"more than its share", script{}.run(100, 9000, 10000, word), usage(12, -1, 1000, 900), decode(20100), exchange.Pseudo},

		{"two lumps", bursts(2, 16, 1000, 2000, word), usage(12, -1, 32), nil, exchange.Bursty},
		{"three lumps of one read", script{}.run(3, 1000, 5000, big), usage(12, -1, 300), nil, exchange.Bursty},
		{"the last may be smaller", script{}.run(2, 1000, 3000, big).at(5000, word), usage(12, -1, 201), nil, exchange.Bursty},
		{"but no other", script{}.at(1000, big).at(3000, word).at(5000, big), usage(12, -1, 201), nil, exchange.Streamed},
		{"four lumps far apart", script{}.run(4, 1000, 7000, big), usage(12, -1, 400), nil, exchange.Bursty},
		{"four lumps a quarter apart", script{}.run(4, 1000, 2000, big), usage(12, -1, 400), nil, exchange.Streamed},
		{"lumps that fill a tenth", bursts(5, 101, 1000, 1000, word), usage(12, -1, 505), nil, exchange.Streamed},
		{"20 ms apart are two", bursts(2, 1, 1000, 20, big).at(1200, word), usage(12, -1, 201), nil, exchange.Bursty},
		{"a fast stream that falls silent once", script{}.run(80, 1000, 1553, word).run(80, 9000, 9553, word), usage(12, -1, 160), nil, exchange.Streamed},
		{"twice, for long", script{}.run(50, 1000, 1343, word).run(50, 21000, 21343, word).run(9, 41000, 41056, word), usage(12, -1, 109), nil, exchange.Streamed},
		{"lumps as large as a buffer take a while", bursts(2, 30, 1000, 2000, big), usage(12, -1, 6000), nil, exchange.Bursty},
		{"a last burst at the pace of tokens", bursts(2, 16, 1000, 2000, word).run(5, 5000, 5060, word), usage(12, -1, 37), nil, exchange.Streamed},
		{"summaries are no lumps", script{}.run(3, 1000, 9000, out(dialect.Summary, 0, 900)).run(100, 10000, 12000, word), usage(12, -1, 740, 640), nil, exchange.Streamed},
	} {
		t.Run(c.name, func(t *testing.T) {
			var with []func(*exchange.Exchange)
			if c.with != nil {
				with = append(with, c.with)
			}
			if x := c.script.measure(c.answer, with...); x.Delivery != c.want {
				t.Errorf("delivery %q, want %q", x.Delivery, c.want)
			}
		})
	}
}

func TestLumpsTellTheirPeriodAndSize(t *testing.T) {
	big := out(dialect.Text, 0, 400)
	far := script{}.at(1000, big).at(3000, big).at(6000, big).at(8500, out(dialect.Text, 0, 10))
	x := far.measure(usage(12, -1, 300))
	if x.Delivery != exchange.Bursty || instant(x.DeliveryPeriod) != 2500 || *x.DeliveryBytes != 400 || x.TokensPerSec != nil {
		t.Errorf("%q each %v of %v bytes", x.Delivery, x.DeliveryPeriod, *x.DeliveryBytes)
	}
	x = script{}.run(11, 1000, 6000, big).measure(usage(12, -1, 1100))
	if x.Delivery != exchange.Streamed || instant(x.DeliveryPeriod) != 500 || !near(x.TokensPerSec, 200) {
		t.Errorf("fine lumps: %q each %v, %v tokens a second", x.Delivery, x.DeliveryPeriod, deref(x.TokensPerSec))
	}
	x = script{}.run(100, 1000, 3000, word).measure(usage(12, -1, 100))
	if x.DeliveryPeriod != nil || x.DeliveryBytes != nil {
		t.Errorf("no lumps, but each %v", x.DeliveryPeriod)
	}
}

func TestStallIsASilenceThatTokensDoNotExplain(t *testing.T) {
	steady := script{}.run(101, 1000, 2000, word)
	call := func(bytes int) dialect.Event { return out(dialect.Tool, 1, bytes) }
	for _, c := range []struct {
		name             string
		script           script
		answer           *dialect.Answer
		gap, lost, count float64
	}{
		{"none", steady, usage(12, -1, 101), 10, 0, 0},
		{"within an item, whole", steady.run(100, 5000, 6000, word), usage(12, -1, 201), 3000, 3000, 1},
		{"up to two seconds is none", steady.run(100, 4000, 5000, word), usage(12, -1, 201), 2000, 0, 0},
		{"two add up", steady.run(100, 5000, 6000, word).run(100, 9000, 10000, word), usage(12, -1, 301), 3000, 6000, 2},
		{"a slow model pauses longer", script{}.run(21, 1000, 5000, word).run(21, 8900, 13000, word), usage(12, -1, 42), 3900, 0, 0},
		{"a fast stream, where nothing buffers", script{}.run(80, 1000, 1553, word).run(80, 9000, 9553, word), usage(12, -1, 160), 7447, 7447, 1},
		{"even without usage", steady.run(100, 5000, 6000, word), &dialect.Answer{}, 3000, 3000, 1},
		{
			"before a call that came whole, its making taken off",
			steady.at(10000, call(40)), usage(12, -1, 111), 8000, 8000 - 10*9000./110, 1,
		},
		{
			"the call's making explains it",
			steady.at(4500, call(404)), usage(12, -1, 202), 2500, 0, 0,
		},
		{
			"across items without a steady rate nobody can tell",
			script{}.run(21, 1000, 2000, word).at(10000, call(40)), usage(12, -1, 31), 8000, 0, 0,
		},
		{
			"from reasoning to text it is weighed too",
			script{}.run(101, 1000, 2000, thought).run(101, 8000, 9000, word), usage(12, -1, 202, 101), 6000, 6000 - 8000./201, 1,
		},
		{
			"a hosted tool is no stall",
			steady.at(2000, opens(dialect.HostedTool, 1)).at(9000, closes(dialect.HostedTool, 1)).run(100, 9010, 10000, word),
			usage(12, -1, 201), 10, 0, 0,
		},
		{
			"nor is reasoning that is not shown",
			steady.at(2000, opens(dialect.ReasoningItem, 1)).at(9000, closes(dialect.ReasoningItem, 1)).run(100, 9010, 10000, argument),
			usage(12, -1, 901, 700), 10, 0, 0,
		},
		{
			"nor the time between summaries",
			script{}.run(3, 3800, 14000, summary).run(120, 15000, 16500, argument), usage(12, -1, 760, 640), 12.6, 0, 0,
		},
		{"comments do not end one", steady.run(9, 2100, 4900, nothing).run(100, 5000, 6000, word), usage(12, -1, 201), 3000, 3000, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := c.script.measure(c.answer)
			got := []float64{instant(x.MaxGap), instant(x.StallTime), float64(*x.Stalls)}
			if diff := cmp.Diff([]float64{c.gap, c.lost, c.count}, got, roughly); diff != "" {
				t.Errorf("longest gap, lost, stalls (-want +got):\n%s", diff)
			}
		})
	}
}

var roughly = cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 0.01*max(a, b) })

func TestOneReadHasNoGaps(t *testing.T) {
	x := script{}.run(5, 1000, 1000, word).measure(usage(12, -1, 5))
	if x.MaxGap != nil || x.Stalls != nil || x.StallTime != nil {
		t.Errorf("gap %v, stalls %v, lost %v", x.MaxGap, x.Stalls, x.StallTime)
	}
}
