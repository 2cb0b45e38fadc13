package web

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// turnTime is where the time of a turn went: its exchanges and the silences
// between them, each moment counted once, however many were under way in it.
type turnTime struct {
	Start     time.Time // of the first exchange
	Length    time.Duration
	Open      bool // an exchange is under way still
	Broken    bool // the last one ended unseen: it took at least so long
	Cut       bool // it goes on beyond these exchanges
	Exchanges []placed
	Pieces    []phase                // what went on, in order of time, without a gap
	Spent     map[kind]time.Duration // the pieces by kind: they add up to Length
	Summed    map[kind]time.Duration // the phases of all exchanges by kind, added up as if none overlapped
}

// placed is an exchange on the clock of its turn.
type placed struct {
	*exchange.Exchange
	from, end time.Duration
	phases    []phase
}

// turnKinds is the order of kinds in a turn's bar and sentence: that of an
// exchange's phases, then what is no one exchange's.
var turnKinds = []kind{
	network, floor, queue, wait, prefill, tool, hidden, unseen, reasoning, decode, tail,
	several, underway, lost, yours,
}

// timeOf sums a turn of one exchange or more, in any order.
func timeOf(exchanges []*exchange.Exchange, now time.Time) turnTime {
	sorted := slices.SortedFunc(slices.Values(exchanges), earlier)
	t := turnTime{Start: sorted[0].StartedAt}
	var all []phase
	for i, x := range sorted {
		p := t.place(x, sorted[i+1:], now)
		t.Exchanges = append(t.Exchanges, p)
		t.Length = max(t.Length, p.end)
		t.Open = t.Open || x.Outcome == exchange.Open
		all = append(all, p.phases...)
	}
	_, seen := took(sorted[len(sorted)-1], now)
	t.Broken = !seen
	t.Pieces = abreast(all, t.Length)
	t.Spent, t.Summed = byKind(t.Pieces), byKind(all)
	return t
}

// earlier orders exchanges by their start.
func earlier(a, b *exchange.Exchange) int {
	return cmp.Or(a.StartedAt.Compare(b.StartedAt), strings.Compare(a.ID, b.ID))
}

// place lays an exchange on the clock of the turn. One whose end is unknown is
// taken to have lasted until the next began: nothing says that the client was at
// work then.
func (t turnTime) place(x *exchange.Exchange, later []*exchange.Exchange, now time.Time) placed {
	p := placed{Exchange: x, from: x.StartedAt.Sub(t.Start)}
	p.end = p.from
	if total, ok := took(x, now); ok {
		p.phases, p.end = shifted(phases(x, total), p.from), p.from+total
	} else if len(later) > 0 {
		p.end = later[0].StartedAt.Sub(t.Start)
		p.phases = []phase{{lost, p.from, p.end - p.from}}
	}
	return p
}

// shifted are phases on the clock of a turn in which they begin so late.
func shifted(ps []phase, by time.Duration) []phase {
	moved := slices.Clone(ps)
	for i := range moved {
		moved[i].Start += by
	}
	return moved
}

func byKind(ps []phase) map[kind]time.Duration {
	sums := map[kind]time.Duration{}
	for _, p := range ps {
		sums[p.Kind] += p.Length
	}
	return sums
}

// abreast lays phases that may overlap over each other, from 0 to an end.
func abreast(ps []phase, end time.Duration) []phase {
	type edge struct {
		at    time.Duration
		kind  kind
		enter int // 1, or -1 where the phase ends
	}
	var edges []edge
	for _, p := range ps {
		edges = append(edges, edge{p.Start, p.Kind, 1}, edge{p.Start + p.Length, p.Kind, -1})
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	t := timeline{total: end}
	under := map[kind]int{}
	for _, e := range edges {
		t.until(atOnce(under), e.at)
		if under[e.kind] += e.enter; under[e.kind] == 0 {
			delete(under, e.kind)
		}
	}
	t.until(atOnce(under), end)
	return t.phases
}

// atOnce is what the exchanges of a turn are doing, of which so many are in a
// phase each.
func atOnce(under map[kind]int) kind {
	switch len(under) {
	case 0:
		return yours
	case 1:
		for k := range under {
			return k
		}
	}
	return several
}

// overlapped says whether exchanges of the turn were under way side by side.
func (t turnTime) overlapped() bool {
	var all time.Duration
	for _, d := range t.Summed {
		all += d
	}
	return all > t.Length-t.Spent[yours]
}
