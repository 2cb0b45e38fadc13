package diagnosis

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestAPromptThatGrowsIsHitUpToWhereTheLastOneEnded(t *testing.T) {
	s := newTale(t)
	s.expect(s.ask(0, 0, agentTurn(0)), "new", 0, "")
	x := s.ask(8*time.Second, 9_000, agentTurn(1))
	s.expect(x, "hit", 9_100, "")
	if x.PrefixCounted == nil || !*x.PrefixCounted || *x.PrefixIdle != 8*time.Second {
		t.Errorf("counted %v, idle %v", x.PrefixCounted, x.PrefixIdle)
	}
	s.expect(s.ask(0, 10_112, agentTurn(3)), "hit", 10_175, "") // two rounds at once, 256 tokens a block
	s.expect(s.ask(0, 0, agentTurn(3)), "missed", 12_325, "")
	s.expect(s.ask(0, 9_000, agentTurn(4)), "partial", 12_325, "")
}

func TestAnIdlePrefixExpires(t *testing.T) {
	for after, want := range map[time.Duration]string{5 * time.Minute: "missed", 5*time.Minute + time.Second: "expired"} {
		s := newTale(t)
		s.ask(0, 0, agentTurn(2))
		s.expect(s.ask(after, 0, agentTurn(3)), want, 11_250, "")
	}
}

func TestWhatTheClientChangesBreaksThePrefix(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func([]piece) []piece
		part    string
		index   int64
		shared  int64
		outcome string
	}{
		{"a tool list of the same size", replace(1, "other tools", 20_000), "tools", 1, 0, "broken"},
		{"a longer tool list", replace(1, "more tools", 22_000), "tools", 1, 0, "broken"},
		{"tools taken away", func(p []piece) []piece { return slices.Delete(p, 1, 2) }, "tools", 1, 0, "broken"},
		{"instructions with the time in them", replace(2, "it is ten", 16_000), "instructions", 2, 5_000, "broken"},
		{"an early message", replace(3, "do that", 410), "user", 3, 9_000, "broken"},
		{"a message put in between", func(p []piece) []piece { return slices.Insert(p, 4, piece{"user", 90, "wait"}) }, "tool_call", 4, 9_100, "broken"},
		{"old rounds left out", func(p []piece) []piece { return slices.Delete(p, 4, 6) }, "tool_call", 4, 9_100, "broken"},
		{"another model", replace(0, "n", 0), "model", 0, 0, "new"},
		{"going back two rounds", func(p []piece) []piece { return append(p[:6:6], piece{"user", 80, "no, so"}) }, "", -1, 10_175, "hit"},
		{"another question at the end", replace(9, "result b", 4_000), "", -1, 11_325, "hit"},
		{"another conversation", func([]piece) []piece { return []piece{itsModel, itsTools, system, {"user", 9_000, "a book"}} }, "", -1, 9_000, "hit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newTale(t)
			s.ask(0, 0, agentTurn(3))
			x := s.ask(time.Second, c.shared/128*128, append(c.change(agentTurn(3)), piece{"user", 60, "and now"}))
			if c.index >= 0 && (x.ChangedIndex == nil || *x.ChangedIndex != c.index) {
				t.Errorf("changed at %v, want %d", x.ChangedIndex, c.index)
			}
			if diff := tally(x.PrefixSharedTokens) - c.shared; diff < -256 || diff > 256 {
				t.Errorf("%d tokens shared, want about %d", tally(x.PrefixSharedTokens), c.shared)
			}
			s.expect(x, c.outcome, tally(x.PrefixSharedTokens), c.part)
		})
	}
}

func replace(i int, text string, bytes int64) func([]piece) []piece {
	return func(p []piece) []piece {
		p[i].text, p[i].bytes = text, bytes
		return p
	}
}

func TestACacheThatKeptTheRestBeliesAChange(t *testing.T) {
	s := newTale(t)
	s.ask(0, 0, agentTurn(3))
	unseen := replace(1, "tools with another id", 20_000)(agentTurn(3))
	s.expect(s.ask(0, 12_300, unseen), "hit", 0, "tools")
}

func TestACompactionIsSaidToBeOne(t *testing.T) {
	compacting := func(x *exchange.Exchange) { x.RequestKind = "compaction" }
	summary := []piece{itsModel, itsTools, system, {"user", 2_000, "summary"}}
	s := newTale(t)
	s.ask(0, 0, agentTurn(3))
	s.expect(s.ask(0, 12_300, append(agentTurn(3), piece{"user", 40, "sum up"}), compacting), "hit", 12_325, "")
	s.expect(s.ask(0, 8_960, summary), "broken", 9_000, compaction)
	s.expect(s.ask(0, 9_400, append(summary, piece{"user", 40, "go on"})), "hit", 9_500, "")

	other := newTale(t) // which sends no tools with it
	other.ask(0, 0, agentTurn(3))
	other.expect(other.ask(0, 0, append(slices.Delete(agentTurn(3), 1, 2), piece{"user", 40, "sum up"}), compacting), "broken", 0, compaction)
	other.expect(other.ask(0, 8_960, summary), "broken", 9_000, compaction)
}

func TestAgentsThatTakeTurnsInASessionBreakNothing(t *testing.T) {
	helper := func(n int) []piece {
		return append([]piece{itsModel, {"instructions", 9_000, "you help"}}, agentTurn(n)[3:]...)
	}
	s := newTale(t)
	for n := range 5 {
		for _, pieces := range [][]piece{agentTurn(n), helper(n)} {
			if x := s.ask(time.Second, -1, pieces); x.ChangedSection != "" {
				t.Errorf("round %d: %s changed", n, x.ChangedSection)
			}
		}
	}
}

func TestNothingIsSharedAcrossRoutesAndSessionsOfOthers(t *testing.T) {
	s := newTale(t)
	s.ask(0, 0, agentTurn(1))
	x := s.ask(0, 0, replace(3, "do that", 400)(agentTurn(1)), func(x *exchange.Exchange) { x.SessionID = "another" })
	s.expect(x, "missed", 9_000, "")
	x = s.ask(0, 0, replace(1, "other tools", 20_000)(agentTurn(1)), func(x *exchange.Exchange) { x.SessionID = "" })
	s.expect(x, "new", 0, "")
}

func TestOnlyWhatTheUpstreamHasReadIsRemembered(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*exchange.Exchange)
		want string
	}{
		"refused by the upstream": {func(x *exchange.Exchange) { x.Outcome = exchange.UpstreamError }, "new"},
		"left before a token":     {func(x *exchange.Exchange) { x.Outcome = exchange.ClientAbort }, "new"},
		"left after a token":      {func(x *exchange.Exchange) { x.Outcome, x.FirstToken = exchange.ClientAbort, sec(1) }, "missed"},
		"ended by a limit":        {func(x *exchange.Exchange) { x.Outcome = exchange.Incomplete }, "missed"},
	} {
		s := newTale(t)
		first := s.ask(0, 0, agentTurn(1), c.set)
		if (first.CacheOutcome == "") != (first.Outcome != exchange.Incomplete) {
			t.Errorf("%s: without an answer it is %q", name, first.CacheOutcome)
		}
		if x := s.ask(0, 0, agentTurn(1)); x.CacheOutcome != c.want {
			t.Errorf("%s: then %q, want %q", name, x.CacheOutcome, c.want)
		}
	}
}

func TestWhatEndsMeanwhileWasNotThereBefore(t *testing.T) {
	s := newTale(t)
	a, b := s.begin(0, 0, agentTurn(1)), s.begin(0, 0, agentTurn(1))
	before := s.prefixes.Match(b)
	s.end(a)
	before.Tell(b)
	b.CacheOutcome = CacheOutcome(b, tells)
	s.expect(b, "new", 0, "")
}

func TestAnUnreadPromptSaysNothing(t *testing.T) {
	s := newTale(t)
	s.ask(0, 0, agentTurn(1))
	x := s.ask(0, 0, nil)
	if x.PrefixSharedTokens != nil || x.CacheOutcome != "" || x.PrefixIdle != nil || Composition(x) != nil {
		t.Errorf("an unread prompt has %v shared tokens and is %q", x.PrefixSharedTokens, x.CacheOutcome)
	}
	x = s.ask(0, -1, agentTurn(1), func(x *exchange.Exchange) { x.PromptTokens = nil })
	if x.PrefixSharedTokens != nil || x.CacheOutcome != "unreported" {
		t.Errorf("without a count %v tokens are shared, %q", x.PrefixSharedTokens, x.CacheOutcome)
	}
}

// A count that another prompt ended with is better than bytes: tools weigh less
// a byte than prose.
func TestKnownCountsAreUsedBeforeBytes(t *testing.T) {
	s := newTale(t)
	counted := func(n int64) func(*exchange.Exchange) { return func(x *exchange.Exchange) { x.PromptTokens = &n } }
	s.ask(0, 0, agentTurn(0), counted(6_000))
	x := s.ask(0, 5_888, agentTurn(1), counted(7_000))
	s.expect(x, "hit", 6_000, "")
	x = s.ask(0, 6_400, replace(5, "another result", 4_000)(agentTurn(1)), counted(7_000))
	s.expect(x, "hit", 6_070, "") // 300 of the 4,300 bytes behind it
	if *x.PrefixCounted {
		t.Error("a part by bytes passes for a count")
	}
}

func TestPromptsOfResponsesAreRemembered(t *testing.T) {
	s := newTale(t)
	x := s.ask(0, 0, agentTurn(1), func(x *exchange.Exchange) { x.ResponseID = "resp_1" })
	if diff := cmp.Diff(x.Prompt, s.prefixes.Answered(x, "resp_1")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	x.KeyID = "another"
	if s.prefixes.Answered(x, "resp_1") != nil || s.prefixes.Answered(x, "resp_2") != nil {
		t.Error("a response of nobody's is known")
	}
}

func TestTheMemoryOfPromptsIsBounded(t *testing.T) {
	s := newTale(t)
	for n := range 400 {
		s.ask(0, 0, []piece{itsModel, {"user", 1 << 20, fmt.Sprint("book ", n)}}, func(x *exchange.Exchange) {
			x.SessionID, x.ResponseID = fmt.Sprint("session ", n%50), fmt.Sprint("response ", n)
		})
	}
	kept := len(s.prefixes.seen.young) + len(s.prefixes.seen.old)
	if kept < room || kept > 2*room {
		t.Errorf("%d boundaries are kept", kept)
	}
	for _, prompts := range []int{len(s.prefixes.answers.young) + len(s.prefixes.answers.old), len(s.prefixes.sessions.young) + len(s.prefixes.sessions.old)} {
		if prompts*1024 > 2*room {
			t.Errorf("%d prompts of 1,024 boundaries are kept", prompts)
		}
	}
	s.expect(s.ask(0, 0, []piece{itsModel, {"user", 1 << 20, "book 399"}}), "missed", 262_144, "")
	s.expect(s.ask(0, 0, []piece{itsModel, {"user", 1 << 20, "book 0"}}), "new", 0, "")
}

func TestManyMayAskAtOnce(t *testing.T) {
	s := newTale(t)
	var group sync.WaitGroup
	for n := range 8 {
		group.Go(func() {
			for i := range 20 {
				x := &exchange.Exchange{SessionID: fmt.Sprint(n % 3), ResponseID: "r", Outcome: exchange.OK, Prompt: prompt(agentTurn(i)...)}
				s.prefixes.Match(x).Tell(x)
				s.prefixes.Remember(x)
				s.prefixes.Answered(x, "r")
			}
		})
	}
	group.Wait()
}

// What is found by hashes is what comparing the texts finds.
func TestTheLongestSharedPrefixIsFound(t *testing.T) {
	text := rapid.SliceOfN(rapid.SampledFrom([]piece{{"user", 10, "a"}, {"user", 10, "b"}, {"tool_result", 20, "c"}}), 1, 8)
	rapid.Check(t, func(t *rapid.T) {
		var p Prefixes
		earlier := rapid.SliceOfN(text, 0, 6).Draw(t, "earlier")
		for _, e := range earlier {
			p.Remember(&exchange.Exchange{Outcome: exchange.OK, Prompt: prompt(e...)})
		}
		now := text.Draw(t, "now")
		var want int64
		for _, e := range earlier {
			var shared int64
			for i := 0; i < min(len(e), len(now)) && e[i] == now[i]; i++ {
				shared += now[i].bytes
			}
			want = max(want, shared)
		}
		x := &exchange.Exchange{Outcome: exchange.OK, Prompt: prompt(now...)}
		x.PromptTokens = num(size(x.Prompt))
		p.Match(x).Tell(x)
		if *x.PrefixSharedTokens != want || (x.PrefixIdle == nil) != (want == 0) {
			t.Fatalf("%d shared, want %d", *x.PrefixSharedTokens, want)
		}
	})
}
