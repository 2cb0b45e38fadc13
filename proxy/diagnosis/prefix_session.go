package diagnosis

import (
	"sort"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// session is the prompts that one client's session sent, the newest first, but
// for those that another one extends: an agent may work on several at a time.
type session struct {
	prompts   [][]exchange.Boundary
	compacted bool // the last one asked for a summary to go on with
}

const (
	maxBranches = 4
	compaction  = "compaction" // as a request's kind, and as the reason of a change
	// worthTelling is in bytes: as many as vendors' caches may lose by counting
	// in blocks.
	worthTelling = 4 * blockSlack
)

// with is the session with one more prompt.
func (s session) with(x *exchange.Exchange) session {
	prompts := [][]exchange.Boundary{x.Prompt}
	for _, p := range s.prompts {
		if common(p, x.Prompt) < len(p) && len(prompts) < maxBranches {
			prompts = append(prompts, p)
		}
	}
	return session{prompts, x.RequestKind == compaction}
}

func (s session) boundaries() (n int) {
	for _, p := range s.prompts {
		n += len(p)
	}
	return n
}

// change says which section the client changed, so that what it sent again
// behind it cannot come from a cache: its part, or "compaction", and its place in
// the prompt. It says nothing where the prompt only extends an earlier one of the
// session, or is another one altogether.
func (s session) change(x *exchange.Exchange) (part string, index *int64) {
	before, n := s.nearest(x.Prompt)
	if n == len(before) {
		return "", nil
	}
	switch {
	case s.compacted || x.RequestKind == compaction:
		part = compaction
	case unknown(before[n]):
		return "", nil
	case !resent(before[n:], x.Prompt[n:]):
		return "", nil
	case x.Prompt[n].Part == exchange.ToolsPart: // where there were none
		part = exchange.ToolsPart.String()
	default:
		part = before[n].Part.String()
	}
	return part, new(int64(len(sections(before[:n]))))
}

// unknown says whether a boundary stands for an answer that the upstream kept, by
// its id: sent again by the client, it is the same in other words.
func unknown(b exchange.Boundary) bool { return b.Part == exchange.AssistantPart && b.Bytes == 0 }

// nearest is the prompt of the session that has most in common with another,
// and how many boundaries that is.
func (s session) nearest(prompt []exchange.Boundary) (nearest []exchange.Boundary, n int) {
	n = -1
	for _, p := range s.prompts {
		if c := common(p, prompt); c > n {
			nearest, n = p, c
		}
	}
	return nearest, max(n, 0)
}

// common counts the boundaries that two prompts share: from the first hash that
// differs on, all do.
func common(a, b []exchange.Boundary) int {
	return sort.Search(min(len(a), len(b)), func(i int) bool { return a[i].Hash != b[i].Hash })
}

// section is one as a whole, by its part and size.
type section struct {
	part  exchange.Part
	bytes int64
}

// sections puts the pieces of long sections together. One that is cut off at the
// end is none.
func sections(bs []exchange.Boundary) []section {
	var all []section
	var bytes int64
	for _, b := range bs {
		if bytes += b.Bytes; !b.Inner {
			all = append(all, section{b.Part, bytes})
			bytes = 0
		}
	}
	return all
}

// resent says whether most of what stood behind a changed section was sent again
// behind it, so that it is paid for again: otherwise the client went back, or
// asked something else.
func resent(before, now []exchange.Boundary) bool {
	old, again := sections(before), make(map[section]int)
	for _, s := range sections(now) {
		again[s]++
	}
	var all, lost int64
	for _, s := range old[min(1, len(old)):] {
		all += s.bytes
		if again[s] > 0 {
			again[s]--
			lost += s.bytes
		}
	}
	return lost >= worthTelling && 2*lost >= all
}
