package exchange

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func ms(n int64) *time.Duration { return new(time.Duration(n) * time.Millisecond) }

func TestDeriveIsArithmeticOverFacts(t *testing.T) {
	x := Exchange{
		Instants: Instants{
			DNS: ms(10), Connect: ms(20), TLS: ms(30), RTT: ms(5),
			GotConn: ms(60), Sent: ms(75), FirstToken: ms(2880), LastToken: ms(8000),
		},
		Tokens: Tokens{PromptTokens: new(int64(2006)), CachedTokens: new(int64(1920)), OutputTokens: new(int64(400))},
		Figures: Figures{
			HostedTool: ms(3000), HostedBeforeFirst: ms(1000),
		},
		Server: Server{ServerQueue: ms(400), ServerPrefill: ms(860)},
	}
	want := x
	want.UncachedTokens = new(int64(86))
	want.Upload, want.Network = ms(15), ms(80)
	want.Wait, want.Decode = ms(1800), ms(3120)
	want.Queue, want.Prefill = ms(400), ms(860)
	want.EndToEndTokensPerSec, want.PrefillTokensPerSec = new(50.), new(100.)
	x.Derive()
	if diff := cmp.Diff(want, x); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	x.Derive()
	if diff := cmp.Diff(want, x); diff != "" {
		t.Errorf("deriving twice (-want +got):\n%s", diff)
	}
}

func TestDeriveInventsNothing(t *testing.T) {
	for _, c := range []struct {
		name  string
		facts Exchange
		want  Figures
	}{
		{name: "nothing known"},
		{
			name:  "a first token without a connection",
			facts: Exchange{Instants: Instants{FirstToken: ms(500), Sent: ms(1), RTT: ms(9)}},
		},
		{
			name:  "a reused connection and no round trip",
			facts: Exchange{Instants: Instants{GotConn: ms(1), Sent: ms(1)}},
			want:  Figures{Upload: ms(0), Network: ms(0)},
		},
		{
			name:  "a connection that another exchange dialled",
			facts: Exchange{Instants: Instants{GotConn: ms(81), PoolWait: ms(80), FirstToken: ms(500), RTT: ms(9)}},
			want:  Figures{Network: ms(89), Wait: ms(411)},
		},
		{
			name:  "an answer that came before the request was sent",
			facts: Exchange{Instants: Instants{GotConn: ms(1), FirstToken: ms(500), RTT: ms(9)}},
			want:  Figures{Network: ms(9), Wait: ms(491)},
		},
		{
			name:  "a network as slow as the first token",
			facts: Exchange{Instants: Instants{GotConn: ms(0), Sent: ms(900), FirstToken: ms(500), LastToken: ms(500)}},
			want:  Figures{Upload: ms(900), Network: ms(900), Wait: ms(0), Decode: ms(0)},
		},
		{
			name:  "no output tokens",
			facts: Exchange{Instants: Instants{LastToken: ms(500)}, Tokens: Tokens{OutputTokens: new(int64(0))}},
		},
		{
			name:  "uncached tokens and no prefill",
			facts: Exchange{Tokens: Tokens{PromptTokens: new(int64(9)), CachedTokens: new(int64(0))}},
		},
		{
			name:  "what is estimated stays where the server says nothing",
			facts: Exchange{Figures: Figures{Queue: ms(7), Prefill: ms(8)}},
			want:  Figures{Queue: ms(7), Prefill: ms(8)},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := c.facts
			x.Derive()
			if diff := cmp.Diff(c.want, x.Figures); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnEstimateSetsWhatFollowsFromIt(t *testing.T) {
	x := Exchange{Tokens: Tokens{UncachedTokens: new(int64(86))}}
	x.Estimate(ms(400), ms(860))
	if diff := cmp.Diff(Figures{Queue: ms(400), Prefill: ms(860), PrefillTokensPerSec: new(100.)}, x.Figures); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	x.Estimate(nil, nil)
	if diff := cmp.Diff(Figures{}, x.Figures); diff != "" {
		t.Errorf("unknown again (-want +got):\n%s", diff)
	}
}

func TestUncachedIsNeverNegative(t *testing.T) {
	for _, c := range []struct {
		name                          string
		prompt, cached, output, total *int64
		wantPrompt, wantUncached      *int64
	}{
		{"cached inside", new(int64(2006)), new(int64(1920)), new(int64(9)), new(int64(2015)), new(int64(2006)), new(int64(86))},
		{"cached outside, by the total", new(int64(7)), new(int64(9000)), new(int64(20)), new(int64(9027)), new(int64(9007)), new(int64(7))},
		{"cached outside, by nothing", new(int64(7)), new(int64(9000)), new(int64(20)), nil, new(int64(7)), nil},
		{"all cached", new(int64(7)), new(int64(7)), nil, nil, new(int64(7)), new(int64(0))},
		{"cached unreported", new(int64(7)), nil, nil, nil, new(int64(7)), nil},
		{"prompt unreported", nil, new(int64(7)), nil, nil, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := Exchange{Tokens: Tokens{PromptTokens: c.prompt, CachedTokens: c.cached, OutputTokens: c.output, TotalTokens: c.total}}
			x.Derive()
			if !cmp.Equal(x.PromptTokens, c.wantPrompt) || !cmp.Equal(x.UncachedTokens, c.wantUncached) || !cmp.Equal(x.CachedTokens, c.cached) {
				t.Errorf("%+v", x.Tokens)
			}
		})
	}
}

func TestSeenTokensLeaveOutWhatWasHidden(t *testing.T) {
	for _, c := range []struct {
		reasoning        string
		output, reasoned *int64
		want             *int64
		hides            bool
	}{
		{"", new(int64(50)), nil, new(int64(50)), false},
		{"none", new(int64(50)), new(int64(0)), new(int64(50)), false},
		{"visible", new(int64(50)), new(int64(40)), new(int64(50)), false},
		{"visible", new(int64(50)), nil, nil, false},
		{"summary", new(int64(50)), new(int64(40)), new(int64(10)), true},
		{"hidden", new(int64(50)), new(int64(40)), new(int64(10)), true},
		{"hidden", new(int64(50)), nil, nil, true},
		{"hidden", new(int64(50)), new(int64(60)), nil, true},
		{"hidden", nil, new(int64(40)), nil, true},
	} {
		x := Exchange{Tokens: Tokens{Reasoning: c.reasoning, OutputTokens: c.output, ReasoningTokens: c.reasoned}}
		if got := x.SeenTokens(); !cmp.Equal(got, c.want) {
			t.Errorf("%q, %v of %v: seen %v, want %v", c.reasoning, c.reasoned, c.output, got, c.want)
		}
		if x.HidesReasoning() != c.hides {
			t.Errorf("%q hides reasoning: %v", c.reasoning, !c.hides)
		}
	}
}

func TestSteadyTPOTIsNoNoise(t *testing.T) {
	x := Exchange{Figures: Figures{TPOT: ms(20), RateQuality: "fair"}}
	if x.SteadyTPOT() != x.TPOT {
		t.Error("a fair rate was thrown away")
	}
	x.RateQuality = "noisy"
	if x.SteadyTPOT() != nil {
		t.Error("a noisy rate was used")
	}
}

func TestDerivedFiguresAreNeverNegativeNorInfinite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		duration := rapid.Ptr(rapid.Map(rapid.Int64Range(0, int64(time.Hour)), func(n int64) time.Duration { return time.Duration(n) }), true)
		tokens := rapid.Ptr(rapid.Int64Range(0, math.MaxInt32), true)
		var x Exchange
		for _, d := range []**time.Duration{
			&x.DNS, &x.Connect, &x.TLS, &x.RTT, &x.GotConn, &x.Sent, &x.FirstToken, &x.LastToken,
			&x.HostedTool, &x.HostedBeforeFirst, &x.ServerQueue, &x.ServerPrefill,
		} {
			*d = duration.Draw(t, "duration")
		}
		for _, n := range []**int64{&x.PromptTokens, &x.CachedTokens, &x.OutputTokens, &x.TotalTokens} {
			*n = tokens.Draw(t, "tokens")
		}
		x.Derive()
		for _, d := range []*time.Duration{x.Upload, x.Network, x.Wait, x.Decode} {
			if d != nil && *d < 0 {
				t.Fatalf("a duration of %v", *d)
			}
		}
		for _, f := range []*float64{x.EndToEndTokensPerSec, x.PrefillTokensPerSec} {
			if f != nil && (*f <= 0 || math.IsNaN(*f) || math.IsInf(*f, 0)) {
				t.Fatalf("a rate of %v", *f)
			}
		}
		if x.UncachedTokens != nil && (*x.UncachedTokens < 0 || x.PromptTokens == nil || x.CachedTokens == nil) {
			t.Fatalf("uncached out of nothing: %+v", x.Tokens)
		}
		if (x.Network == nil) != (x.GotConn == nil) || x.Wait != nil && x.Network == nil {
			t.Fatalf("a wait without a network: %+v", x.Figures)
		}
	})
}
