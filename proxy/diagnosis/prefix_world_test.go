package diagnosis

import (
	"fmt"
	"hash/fnv"
	"slices"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// piece is a section of a prompt: its part, its size in bytes, and what stands
// for its text.
type piece struct {
	part  string
	bytes int64
	text  string
}

var (
	itsModel = piece{"model", 0, "m"}
	itsTools = piece{"tools", 20_000, "tools"}
	system   = piece{"instructions", 16_000, "be kind"}
)

// prompt hashes pieces as the proxy does, and cuts those over 1 KiB.
func prompt(pieces ...piece) []exchange.Boundary {
	var all []exchange.Boundary
	hash := fnv.New64a()
	for _, p := range pieces {
		b := exchange.Boundary{Part: partNamed(p.part)}
		for left := p.bytes; ; left -= b.Bytes {
			fmt.Fprint(hash, p.part, p.text)
			b.Inner, b.Bytes, b.Hash = left > 1024, min(left, 1024), hash.Sum64()
			if all = append(all, b); !b.Inner {
				break
			}
		}
	}
	return all
}

func partNamed(name string) exchange.Part {
	return exchange.Part(slices.IndexFunc(exchange.Parts(), func(p exchange.Part) bool { return p.String() == name }))
}

// agentTurn is the pieces of an agent's prompt after n rounds.
func agentTurn(n int) []piece {
	all := []piece{itsModel, itsTools, system, {"user", 400, "do it"}}
	for i := range n {
		all = append(all, piece{"tool_call", 300, fmt.Sprint("call ", i)}, piece{"tool_result", 4_000, fmt.Sprint("result ", i)})
	}
	return all
}

// tale is exchanges one after the other, through one memory.
type tale struct {
	*testing.T
	prefixes Prefixes
	now      time.Time
}

func newTale(t *testing.T) *tale {
	return &tale{T: t, now: time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)}
}

// ask is an exchange of 2 s, a while after the one before: its prompt, as many
// tokens as a quarter of its bytes, and how many of these the upstream says were
// cached, below 0 for nothing said.
func (s *tale) ask(after time.Duration, cached int64, pieces []piece, set ...func(*exchange.Exchange)) *exchange.Exchange {
	x := s.begin(after, cached, pieces, set...)
	s.end(x)
	return x
}

func (s *tale) begin(after time.Duration, cached int64, pieces []piece, set ...func(*exchange.Exchange)) *exchange.Exchange {
	s.now = s.now.Add(after)
	x := &exchange.Exchange{
		Upstream: "default", KeyID: "k", SessionID: "s", StartedAt: s.now, Outcome: exchange.OK, Prompt: prompt(pieces...),
	}
	x.UsageSource, x.End = "reported", sec(2)
	x.PromptTokens = num(size(x.Prompt) / 4)
	if cached >= 0 {
		x.CachedTokens = &cached
	}
	for _, f := range set {
		f(x)
	}
	return x
}

func (s *tale) end(x *exchange.Exchange) {
	s.prefixes.Match(x).Tell(x)
	x.CacheOutcome = CacheOutcome(x, tells)
	s.now = s.now.Add(2 * time.Second)
	s.prefixes.Remember(x)
}

// expect fails the test unless the row says so.
func (s *tale) expect(x *exchange.Exchange, outcome string, shared int64, changed string) {
	s.Helper()
	if x.CacheOutcome != outcome || tally(x.PrefixSharedTokens) != shared || x.ChangedSection != changed {
		s.Errorf("%q with %d shared tokens, changed %q; want %q with %d, %q",
			x.CacheOutcome, tally(x.PrefixSharedTokens), x.ChangedSection, outcome, shared, changed)
	}
}
