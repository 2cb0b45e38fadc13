package simulator

import (
	"testing"
	"time"
)

// sleepy is loaded in 5 s, unloaded after a minute, and answers in 200 ms.
var sleepy = Config{Profiles: []Profile{{Name: "m", Load: 5 * time.Second, Asleep: time.Minute, Behaviour: Behaviour{TPOT: 20 * ms, Output: 10}}}}

// expectLoad asks, and fails the test where the load took another time.
func (b *bench) expectLoad(what string, want time.Duration) {
	b.t.Helper()
	got := b.post("/responses", apis[0].of("hello"), "")
	equal(b.t, what, got.end, want+200*ms)
	equal(b.t, "load of "+what, latest(b.told()).Load, want)
}

func TestFirstRequestAfterAnIdleTimeWaitsForTheModel(t *testing.T) {
	inBubble(t, sleepy, func(b *bench) {
		b.expectLoad("the first", 5*time.Second)
		b.expectLoad("the next", 0)
		time.Sleep(time.Minute)
		b.expectLoad("one after a minute", 0)
		time.Sleep(time.Minute + 1)
		b.expectLoad("one after more", 5*time.Second)
	})
}

func TestRequestsThatComeMeanwhileWaitForTheSameLoad(t *testing.T) {
	inBubble(t, sleepy, func(b *bench) {
		go b.post("/responses", apis[0].of("hello"), "")
		time.Sleep(2 * time.Second)
		b.expectLoad("the second", 3*time.Second)
	})
}

func TestWhoWaitsInLineWhileTheModelIsLoadedWaitsForTheSlotAlone(t *testing.T) {
	single := sleepy
	single.Profiles = []Profile{sleepy.Profiles[0]}
	single.Profiles[0].Slots = 1
	inBubble(t, single, func(b *bench) {
		go b.post("/responses", apis[0].of("hello"), "")
		time.Sleep(2 * time.Second)
		equal(t, "end", b.post("/responses", apis[0].of("hello"), "").end, 3400*ms)
		equal(t, "queue", latest(b.told()).Queue, 3200*ms)
	})
}

func TestModelAtWorkStaysLoaded(t *testing.T) {
	inBubble(t, sleepy, func(b *bench) {
		go b.post("/responses", apis[0].of("hello"), "tpot=1m")
		time.Sleep(5 * time.Minute)
		b.expectLoad("one beside it", 0)
	})
}

func TestModelWithoutALoadIsReady(t *testing.T) {
	inBubble(t, one(plain), func(b *bench) {
		b.post("/responses", apis[0].of("hello"), "")
		equal(t, "load", b.truth().Load, 0)
	})
}
