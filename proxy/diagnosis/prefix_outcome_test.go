package diagnosis

import (
	"testing"
	"time"

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

func TestCacheOutcomesAreTestedInTheirOrder(t *testing.T) {
	for _, c := range []struct {
		name string
		row  *exchange.Exchange
		cold *time.Duration
		want string
	}{
		{"nothing shared", ofShared(0, 0), nil, "new"},
		{"nothing shared, nothing said", ofShared(0, -1), nil, "new"},
		{"another model", ofShared(0, 0, changed("model")), nil, "new"},
		{"a short prompt", ofShared(900, 0, ofTokens(1_023)), nil, "too_short"},
		{"a short prompt of which nothing is said", ofShared(900, -1, ofTokens(1_023)), nil, "too_short"},
		{"a short beginning", ofShared(1_023, 0), nil, "too_short"},
		{"a short one that was cached all the same", ofShared(900, 896, ofTokens(1_000)), nil, "hit"},
		{"long enough", ofShared(1_024, 0, ofTokens(1_024)), nil, "missed"},
		{"nothing said", ofShared(30_000, -1), nil, "unreported"},
		{"nothing said of a changed prompt", ofShared(0, -1, changed("tools")), nil, "unreported"},
		{"none, and far too fast for that", ofShared(30_000, 0, waited(1)), sec(8), "unreported"},
		{"none, and far too fast, after a change", ofShared(0, 0, changed("tools"), waited(1)), sec(8), "unreported"},
		{"none, and slow", ofShared(30_000, 0, waited(4)), sec(8), "missed"},
		{"tools changed", ofShared(0, 0, changed("tools")), nil, "broken"},
		{"changed in the middle", ofShared(20_000, 20_000, changed("user")), nil, "broken"},
		{"changed, and what is left expired", ofShared(20_000, 0, changed("user"), idle(900)), nil, "broken"},
		{"changed, and cached all the same", ofShared(2_000, 39_000, changed("tools")), nil, "hit"},
		{"all of it", ofShared(30_000, 30_000), nil, "hit"},
		{"more than was seen here", ofShared(30_000, 39_000), nil, "hit"},
		{"but for two blocks", ofShared(30_000, 29_744), nil, "hit"},
		{"but for more", ofShared(30_000, 29_743), nil, "partial"},
		{"but for what bytes may be wrong by", ofShared(30_000, 26_744, estimated), nil, "hit"},
		{"but for still more", ofShared(30_000, 26_743, estimated), nil, "partial"},
		{"old and gone", ofShared(30_000, 0, idle(301)), nil, "expired"},
		{"old and mostly gone", ofShared(30_000, 14_999, idle(301)), nil, "expired"},
		{"old and half there", ofShared(30_000, 15_000, idle(301)), nil, "partial"},
		{"recent and gone", ofShared(30_000, 0, idle(300)), nil, "missed"},
		{"recent and mostly gone", ofShared(30_000, 14_999), nil, "missed"},
		{"recent and mostly gone, and not paid for", ofShared(30_000, 14_999, waited(1)), sec(8), "partial"},
		{"no answer", ofShared(30_000, 0, outcome(exchange.UpstreamError, 429, "")), nil, ""},
		{"an unread prompt", &exchange.Exchange{Outcome: exchange.OK}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := CacheOutcome(c.row, c.cold); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestAColdStartTakesTheFloorAndTheWholePrompt(t *testing.T) {
	b := &Baseline{Curve: &Curve{Floor: time.Second, Knots: []Knot{{}, {10_000, 2 * time.Second}}, Least: 100, Most: 10_000}}
	x := ofShared(5_000, 5_000, ofTokens(5_000))
	if cold := b.Cold(x); cold == nil || *cold != 2*time.Second {
		t.Errorf("%v, want 2 s", cold)
	}
	for name, cold := range map[string]*time.Duration{
		"no baseline": (*Baseline)(nil).Cold(x), "no curve": new(Baseline).Cold(x), "no count": b.Cold(&exchange.Exchange{}),
		"an absurd count": b.Cold(ofShared(0, 0, ofTokens(2e9))),
	} {
		if cold != nil {
			t.Errorf("%s: %v", name, cold)
		}
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
		cold := sec(rapid.Float64Range(0, 60).Draw(t, "cold"))
		switch got := CacheOutcome(x, cold); got {
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
