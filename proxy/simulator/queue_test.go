package simulator

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// busy serves two requests at a time, each for a second.
var busy = Config{Profiles: []Profile{{Name: "m", Slots: 2, Behaviour: Behaviour{TPOT: 100 * ms, Output: 10}}}}

func TestRequestsQueueForASlotFirstComeFirstServed(t *testing.T) {
	inBubble(t, busy, func(b *bench) {
		for range 5 {
			go b.post("/responses", apis[0].of("hello"), "")
			time.Sleep(10 * ms)
		}
		time.Sleep(5 * time.Second)
		var queued, total []time.Duration
		for _, truth := range b.told() {
			queued, total = append(queued, truth.Queue), append(total, truth.Total)
		}
		// They arrive at 0, 10, 20, 30, 40 ms.
		want := []time.Duration{0, 0, 980 * ms, 980 * ms, 1960 * ms}
		if diff := cmp.Diff(want, queued); diff != "" {
			t.Error(diff)
		}
		if last := total[4]; last != 2960*ms {
			t.Errorf("the fifth took %v, want its queue and a second", last)
		}
	})
}

func TestClientThatLeavesFreesItsSlotAtOnce(t *testing.T) {
	inBubble(t, busy, func(b *bench) {
		impatient, cancel := context.WithTimeout(context.Background(), 350*ms)
		defer cancel()
		go b.postAs(impatient, "/responses", apis[0].of("hello"), "")
		go b.post("/responses", apis[0].of("hello"), "")
		synctest.Wait()
		got := b.post("/responses", apis[0].of("hello"), "")
		equal(t, "end of the third", got.end, 1350*ms)
		left := b.told()[0]
		if left.Outcome != "client_abort" || left.OutputTokens != 4 || left.Decode != 350*ms {
			t.Errorf("truth of the one that left: %+v", left)
		}
	})
}

func TestClientThatLeavesTheLineHoldsUpNobody(t *testing.T) {
	inBubble(t, busy, func(b *bench) {
		go b.post("/responses", apis[0].of("hello"), "")
		go b.post("/responses", apis[0].of("hello"), "")
		synctest.Wait()
		impatient, cancel := context.WithTimeout(context.Background(), 500*ms)
		defer cancel()
		go b.postAs(impatient, "/responses", apis[0].of("hello"), "headers=token")
		synctest.Wait()
		got := b.post("/responses", apis[0].of("hello"), "")
		equal(t, "end of the fourth", got.end, 2000*ms)
		left := b.told()[0]
		if left.Outcome != "client_abort" || left.Queue != 500*ms || left.Status != 0 {
			t.Errorf("truth of the one that left: %+v", left)
		}
	})
}

func TestNoMoreSlotsThanTheLimitAndTheLineIsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 4).Draw(t, "limit")
		s := newSlots(Profile{Slots: limit, Cache: Cache{PerSlot: rapid.Bool().Draw(t, "per slot")}})
		var present []*turn // in the order in which they came
		t.Repeat(map[string]func(*rapid.T){
			"enter": func(t *rapid.T) {
				prompt := prefixes(rapid.StringMatching("[ab]{0,3}").Draw(t, "prompt"), 1)
				present = append(present, s.enter(prompt))
			},
			"leave": func(t *rapid.T) {
				if len(present) == 0 {
					t.Skip("nobody is there")
				}
				i := rapid.IntRange(0, len(present)-1).Draw(t, "who")
				s.leave(present[i])
				present = slices.Delete(present, i, i+1)
			},
			"": func(t *rapid.T) {
				for i, turn := range present {
					if served := turn.slot != nil; served != (i < limit) {
						t.Fatalf("the %d. of %d is served: %v", i, len(present), served)
					}
				}
			},
		})
	})
}

func TestTokensAreSlowerForEachRequestInAnotherSlot(t *testing.T) {
	config := Config{Profiles: []Profile{{Name: "m", Slots: 3, Behaviour: Behaviour{TPOT: 20 * ms, Output: 10, Crowding: 0.5}}}}
	inBubble(t, config, func(b *bench) {
		hold := func() {
			go b.post("/responses", apis[0].of("hold"), "tpot=1h, crowding=0")
			synctest.Wait()
		}
		equal(t, "end alone", b.post("/responses", apis[0].of("hello"), "").end, 200*ms)
		hold()
		equal(t, "end beside one", b.post("/responses", apis[0].of("hello"), "").end, 300*ms)
		hold()
		go func() {
			time.Sleep(10 * ms)
			hold() // waits in line, and slows nobody
		}()
		equal(t, "end beside two", b.post("/responses", apis[0].of("hello"), "").end, 400*ms)
		equal(t, "cost of the two", last(b.told()).Crowd, 200*ms)
	})
}
