package web

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// plainly is an exchange that waited and decoded, in seconds after noon.
func plainly(from, first, end float64) *exchange.Exchange {
	x := &exchange.Exchange{StartedAt: noon.Add(time.Duration(from * float64(time.Second))), Outcome: exchange.OK}
	x.FirstToken, x.AnswerStart = span((first-from)*1e3), span((first-from)*1e3)
	x.LastToken, x.End, x.Delivery = span((end-from)*1e3), span((end-from)*1e3), exchange.Streamed
	return x
}

func TestATurnsTimeIsThatOfItsExchangesAndTheSilencesBetween(t *testing.T) {
	lost1 := plainly(0, 1, 2)
	lost1.Outcome, lost1.End = exchange.Interrupted, nil
	open := &exchange.Exchange{StartedAt: noon.Add(5 * time.Second), Outcome: exchange.Open}
	for name, test := range map[string]struct {
		exchanges []*exchange.Exchange
		want      []any
	}{
		"one": {[]*exchange.Exchange{plainly(0, 1, 4)}, []any{"wait", int64(1000), "decode", int64(3000)}},
		"between two is the client": {[]*exchange.Exchange{plainly(0, 1, 4), plainly(9, 10, 12)},
			[]any{"wait", int64(1000), "decode", int64(3000), "yours", int64(5000), "wait", int64(1000), "decode", int64(2000)}},
		"side by side in one phase is that phase": {[]*exchange.Exchange{plainly(0, 1, 4), plainly(0, 1, 6)},
			[]any{"wait", int64(1000), "decode", int64(3000), "decode", int64(2000)}},
		"side by side in two is several": {[]*exchange.Exchange{plainly(0, 1, 4), plainly(2, 3, 5)},
			[]any{"wait", int64(1000), "decode", int64(1000), "several", int64(1000), "decode", int64(1000), "decode", int64(1000)}},
		"one within another leaves no silence": {[]*exchange.Exchange{plainly(0, 1, 9), plainly(2, 2, 4)},
			[]any{"wait", int64(1000), "decode", int64(1000), "decode", int64(2000), "decode", int64(5000)}},
		"what ended unseen is no work of the client": {[]*exchange.Exchange{lost1, plainly(7, 8, 9)},
			[]any{"lost", int64(7000), "wait", int64(1000), "decode", int64(1000)}},
		"nothing is known behind the last one": {[]*exchange.Exchange{plainly(-3, -2, -1), lost1},
			[]any{"wait", int64(1000), "decode", int64(1000), "yours", int64(1000)}},
		"what is under way lasts until now": {[]*exchange.Exchange{plainly(0, 1, 4), open},
			[]any{"wait", int64(1000), "decode", int64(3000), "yours", int64(1000), "underway", int64(3000)}},
	} {
		if diff := cmp.Diff(test.want, inMS(timeOf(test.exchanges, noon.Add(8*time.Second)).Pieces)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// anyTurn has exchanges of any kind at any times.
func anyTurn(t *rapid.T) []*exchange.Exchange {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) *exchange.Exchange {
		x := anyExchange(t)
		x.StartedAt = noon.Add(time.Duration(rapid.IntRange(0, 20_000).Draw(t, "start")) * time.Millisecond)
		x.ID = rapid.StringMatching(`[a-z]{8}`).Draw(t, "id")
		x.Outcome = rapid.SampledFrom([]exchange.Outcome{exchange.OK, exchange.ClientAbort, exchange.Open, exchange.Interrupted}).Draw(t, "outcome")
		if x.Outcome == exchange.Open || x.Outcome == exchange.Interrupted {
			begun(x)
		}
		return x
	}), 1, 8).Draw(t, "turn")
}

func inTotal(times map[kind]time.Duration) (all time.Duration) {
	for _, d := range times {
		all += d
	}
	return all
}

func TestThePartsOfATurnAddUpToItsLength(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := noon.Add(30 * time.Second)
		turn := timeOf(anyTurn(t), now)
		at := time.Duration(0)
		for _, p := range turn.Pieces {
			if p.Start != at || p.Length <= 0 {
				t.Fatalf("%s begins at %v and takes %v, after %v", p.Kind, p.Start, p.Length, at)
			}
			at += p.Length
		}
		if at != turn.Length || inTotal(turn.Spent) != turn.Length {
			t.Fatalf("pieces end at %v and add up to %v, the turn takes %v", at, inTotal(turn.Spent), turn.Length)
		}
		if busy := turn.Length - turn.Spent[yours]; busy > inTotal(turn.Summed) {
			t.Fatalf("busy for %v, more than the %v of all exchanges", busy, inTotal(turn.Summed))
		}
	})
}

func TestTheClientHasTheTimeInWhichNoExchangeWasUnderWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		turn := timeOf(anyTurn(t), noon.Add(30*time.Second))
		for _, p := range turn.Pieces {
			middle, busy := p.Start+p.Length/2, false
			for _, x := range turn.Exchanges {
				busy = busy || x.from <= middle && middle < x.end
			}
			if busy == (p.Kind == yours) {
				t.Fatalf("%s at %v, busy: %v", p.Kind, middle, busy)
			}
		}
	})
}

func TestTheOrderOfATurnsRowsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		exchanges, now := anyTurn(t), noon.Add(30*time.Second)
		want := timeOf(exchanges, now)
		seed := rapid.Uint64().Draw(t, "seed")
		rand.New(rand.NewPCG(seed, seed)).Shuffle(len(exchanges), func(i, j int) {
			exchanges[i], exchanges[j] = exchanges[j], exchanges[i]
		})
		got := timeOf(exchanges, now)
		if diff := cmp.Diff(want.Spent, got.Spent) + cmp.Diff(want.Summed, got.Summed) + cmp.Diff(inMS(want.Pieces), inMS(got.Pieces)); diff != "" {
			t.Fatalf("in another order (-want +got):\n%s", diff)
		}
	})
}
