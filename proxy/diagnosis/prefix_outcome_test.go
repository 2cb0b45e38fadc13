package diagnosis

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// ofShared is an ended row of 40,000 tokens of which some were shared, and some
// cached; below 0 is nil.
func ofShared(shared, cached int64, set ...func(*exchange.Exchange)) *exchange.Exchange {
	x := &exchange.Exchange{Outcome: exchange.OK}
	x.PromptTokens, x.PrefixSharedTokens, x.PrefixCounted = num(40_000), num(shared), new(true)
	if cached >= 0 {
		x.CachedTokens = num(cached)
	}
	if shared > 0 {
		x.PrefixIdle = sec(20)
	}
	for _, f := range set {
		f(x)
	}
	return x
}

func idle(s float64) func(*exchange.Exchange) {
	return func(x *exchange.Exchange) { x.PrefixIdle = sec(s) }
}
func waited(s float64) func(*exchange.Exchange) {
	return func(x *exchange.Exchange) { x.Wait = sec(s) }
}
func ofTokens(n int64) func(*exchange.Exchange) {
	return func(x *exchange.Exchange) { x.PromptTokens = num(n) }
}
func changed(part string) func(*exchange.Exchange) {
	return func(x *exchange.Exchange) { x.ChangedSection = part }
}
func estimated(x *exchange.Exchange) { x.PrefixCounted = new(false) }

// tells is what is usual where nothing is known but that cached tokens are told.
var tells = &Baseline{TellsCached: true}

// costs is what is usual where a prompt of 40,000 tokens takes so many seconds to
// read, and the start some.
func costs(read float64, start ...float64) *Baseline {
	c := &Curve{Knots: []Knot{{}, {40_000, *sec(read)}}, Least: 100, Most: 40_000, Error: 0.05}
	for _, s := range start {
		c.Floor = *sec(s)
	}
	return &Baseline{Curve: c}
}

// quick makes 50 tokens/s usual.
func quick(b *Baseline) *Baseline {
	b.TPOT = sec(0.02)
	return b
}

// exposed is a row after a baseline said that its stream was made before it was
// sent.
func exposed(x *exchange.Exchange) *exchange.Exchange {
	expose(x, &Baseline{TPOT: sec(60)})
	return x
}

func serverPrefill(s float64) func(*exchange.Exchange) {
	return func(x *exchange.Exchange) { x.ServerPrefill = sec(s) }
}

func TestCacheOutcomesAreTestedInTheirOrder(t *testing.T) {
	for _, c := range []struct {
		name  string
		row   *exchange.Exchange
		usual *Baseline
		want  string
	}{
		{"nothing shared", ofShared(0, 0), tells, "new"},
		{"nothing shared, nothing said", ofShared(0, -1), tells, "new"},
		{"another model", ofShared(0, 0, changed("model")), tells, "new"},
		{"a short prompt", ofShared(900, 0, ofTokens(1_023)), tells, "too_short"},
		{"a short prompt of which nothing is said", ofShared(900, -1, ofTokens(1_023)), tells, "too_short"},
		{"a short beginning", ofShared(1_023, 0), tells, "too_short"},
		{"a short one that was cached all the same", ofShared(900, 896, ofTokens(1_000)), tells, "hit"},
		{"long enough", ofShared(1_024, 0, ofTokens(1_024)), tells, "missed"},
		{"nothing said", ofShared(30_000, -1), tells, "unreported"},
		{"nothing said of a changed prompt", ofShared(0, -1, changed("tools")), tells, "unreported"},
		{"none, and far too fast for that", ofShared(30_000, 0, waited(1)), costs(8), "unreported"},
		{"none, and far too fast, after a change", ofShared(0, 0, changed("tools"), waited(1)), costs(8), "unreported"},
		{"none, and slow", ofShared(30_000, 0, waited(5)), costs(8), "missed"},
		{"none, and no slower than what was not shared", ofShared(30_000, 0, waited(4)), costs(8), "unreported"},
		{"none, and slow for another reason than the start", ofShared(30_000, 0, waited(5)), costs(8, 2), "unreported"},
		{"none, and the server's word that it took no time", ofShared(30_000, 0, waited(9), serverPrefill(1)), costs(8), "unreported"},
		{"none, and a wait that holds reasoning", ofShared(30_000, 0, waited(9), thinks("hidden", 100, 9)), costs(8), "unreported"},
		{"none, and a stream that was made in the wait", ofShared(30_000, 0, waited(9), delivered(exchange.Streamed), until(9.1, 300), tpot(0.001, "fair")), quick(costs(8)), "unreported"},
		{"the same, as it was judged before", exposed(ofShared(30_000, 0, waited(9), delivered(exchange.Streamed), until(19, 300), tpot(0.03, "fair"))), quick(costs(8)), "missed"},
		{"none, and a wait that nobody saw", ofShared(30_000, 0), costs(8), "unreported"},
		{"none, of an upstream that never said otherwise", ofShared(30_000, 0, waited(9)), nil, "unreported"},
		{"none, and nothing that tells it from noise", ofShared(30_000, 0, waited(9)), costs(0.01, 9), "unreported"},
		{"none, long after, of such an upstream", ofShared(30_000, 0, idle(301)), new(Baseline), "unreported"},
		{"tools changed, of such an upstream", ofShared(0, 0, changed("tools")), nil, "broken"},
		{"some, which shows that it tells", ofShared(30_000, 128), nil, "missed"},
		{"tools changed", ofShared(0, 0, changed("tools")), tells, "broken"},
		{"changed in the middle", ofShared(20_000, 20_000, changed("user")), tells, "broken"},
		{"changed, and what is left expired", ofShared(20_000, 0, changed("user"), idle(900)), tells, "broken"},
		{"changed, and cached all the same", ofShared(2_000, 39_000, changed("tools")), tells, "hit"},
		{"all of it", ofShared(30_000, 30_000), tells, "hit"},
		{"more than was seen here", ofShared(30_000, 39_000), tells, "hit"},
		{"but for two blocks", ofShared(30_000, 29_744), tells, "hit"},
		{"but for more", ofShared(30_000, 29_743), tells, "partial"},
		{"but for what bytes may be wrong by", ofShared(30_000, 26_744, estimated), tells, "hit"},
		{"but for still more", ofShared(30_000, 26_743, estimated), tells, "partial"},
		{"old and gone", ofShared(30_000, 0, idle(301)), tells, "expired"},
		{"old and mostly gone", ofShared(30_000, 14_999, idle(301)), tells, "expired"},
		{"old and half there", ofShared(30_000, 15_000, idle(301)), tells, "partial"},
		{"recent and gone", ofShared(30_000, 0, idle(300)), tells, "missed"},
		{"recent and mostly gone", ofShared(30_000, 14_999), tells, "missed"},
		{"recent and mostly gone, and not paid for", ofShared(30_000, 14_999, waited(1)), costs(8), "partial"},
		{"no answer", ofShared(30_000, 0, outcome(exchange.UpstreamError, 429, "")), tells, ""},
		{"an unread prompt", &exchange.Exchange{Outcome: exchange.OK}, tells, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := CacheOutcome(c.row, c.usual); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestAMissIsToldFromAHitByTheTime(t *testing.T) {
	b := costs(8, 1)
	for name, c := range map[string]struct {
		row  *exchange.Exchange
		want *time.Duration
	}{
		"all of it shared": {ofShared(5_000, 0, ofTokens(5_000)), sec(0.5)},
		"half of it":       {ofShared(5_000, 0, ofTokens(10_000)), sec(1.5)},
		"no count":         {&exchange.Exchange{}, nil},
		"an absurd count":  {ofShared(0, 0, ofTokens(2e9)), nil},
		"more than all":    {ofShared(5_000, 0, ofTokens(4_000)), nil},
		"within the noise": {ofShared(250, 0, ofTokens(250)), nil},
		"changed":          {ofShared(0, 0, ofTokens(5_000), changed("tools")), sec(0.5)},
		"little of it":     {ofShared(2_000, 0, ofTokens(40_000)), nil},
	} {
		if diff := cmp.Diff(c.want, b.missCost(c.row)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	x := ofShared(5_000, 0, ofTokens(5_000))
	if (*Baseline)(nil).missCost(x) != nil || new(Baseline).missCost(x) != nil {
		t.Error("told by nothing")
	}
}

// A hit is never called a miss, whatever else is true.
func TestAHitIsNeverCalledAMiss(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prompt := rapid.Int64Range(0, 200_000).Draw(t, "prompt")
		shared := rapid.Int64Range(0, prompt).Draw(t, "shared")
		cached := rapid.Int64Range(max(0, shared-blockSlack), prompt).Draw(t, "cached")
		x := ofShared(shared, cached, ofTokens(prompt), idle(rapid.Float64Range(0, 1e6).Draw(t, "idle")))
		x.PrefixCounted, x.Wait = new(rapid.Bool().Draw(t, "counted")), sec(rapid.Float64Range(0, 60).Draw(t, "wait"))
		usual := rapid.SampledFrom([]*Baseline{nil, tells, costs(rapid.Float64Range(0, 60).Draw(t, "cold"))}).Draw(t, "usual")
		switch got := CacheOutcome(x, usual); got {
		case "missed", "expired", "broken", "partial", "":
			t.Fatalf("%d of %d shared tokens were cached: %q", cached, shared, got)
		}
	})
}

func TestTheCompositionAddsUpToThePrompt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) piece {
			return piece{rapid.SampledFrom(exchange.Parts()).Draw(t, "part").String(), rapid.Int64Range(0, 9000).Draw(t, "bytes"), ""}
		}), 0, 20).Draw(t, "pieces")
		x := &exchange.Exchange{Prompt: prompt(pieces...)}
		x.PromptTokens = num(rapid.Int64Range(0, 1e6).Draw(t, "tokens"))
		var tokens, bytes int64
		last := int64(1 << 62)
		for _, s := range Composition(x) {
			if *s.Tokens < 0 || s.Bytes > last || s.Sections < 1 {
				t.Fatalf("%+v after one of %d bytes", s, last)
			}
			tokens, bytes, last = tokens+*s.Tokens, bytes+s.Bytes, s.Bytes
		}
		if bytes != size(x.Prompt) || bytes > 0 && tokens != *x.PromptTokens {
			t.Fatalf("%d of %d tokens, %d of %d bytes", tokens, *x.PromptTokens, bytes, size(x.Prompt))
		}
	})
}

func TestTheCompositionTellsWhatFillsAPrompt(t *testing.T) {
	x := &exchange.Exchange{Prompt: prompt(agentTurn(2)...)}
	x.PromptTokens = num(22_500)
	shares := Composition(x)
	for i, want := range []struct {
		part     string
		sections int
		tokens   int64
	}{{"tools", 1, 10_000}, {"instructions", 1, 8_000}, {"tool_result", 2, 4_000}, {"tool_call", 2, 300}, {"user", 1, 200}} {
		if s := shares[i]; s.Part.String() != want.part || s.Sections != want.sections || *s.Tokens != want.tokens {
			t.Errorf("%s: %d sections of %d tokens, want %+v", s.Part, s.Sections, *s.Tokens, want)
		}
	}
	x.PromptTokens = nil
	if Composition(x)[0].Tokens != nil {
		t.Error("tokens without a count")
	}
}
