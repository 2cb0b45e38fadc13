package simulator

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// cached reads prompts at 1 ms a token and generates nothing.
func cached(c Cache) Config {
	return Config{Profiles: []Profile{{Name: "m", Slots: 2, Cache: c, Behaviour: Behaviour{Prefill: ms}}}}
}

// ask sends a prompt and tells how many of its tokens were cached.
func (b *bench) ask(prompt string) int {
	b.t.Helper()
	got := b.post("/responses", apis[0].of(prompt), "")
	usage := got.messages[len(got.messages)-1].get("response.usage")
	cached := usage.Get("input_tokens_details.cached_tokens").Int()
	equal(b.t, "end", got.end, time.Duration(usage.Get("input_tokens").Int()-cached)*ms)
	return int(cached)
}

// expect fails the test where the cached tokens of a prompt are others.
func (b *bench) expect(what, prompt string, want int) {
	b.t.Helper()
	if got := b.ask(prompt); got != want {
		b.t.Errorf("%s: %d tokens cached, want %d", what, got, want)
	}
}

func TestPromptIsSparedWhatItSharesWithEarlierOnes(t *testing.T) {
	inBubble(t, cached(Cache{}), func(b *bench) {
		b.expect("the first", text(1000), 0)
		b.expect("the same again", text(1000), 896)
		b.expect("an extended one", text(1000)+strings.Repeat("more", 500), 896)
		b.expect("that again", text(1000)+strings.Repeat("more", 500), 1408)
		b.expect("one with another beginning", "else"+text(999), 0)
		b.expect("one that parts in the middle", text(600)+strings.Repeat("else", 400), 512)
	})
}

func TestOneTokenAtLeastIsComputed(t *testing.T) {
	inBubble(t, cached(Cache{Block: 1}), func(b *bench) {
		b.expect("the first", text(1000), 0)
		b.expect("the same again", text(1000), 999)
	})
}

func TestShortPromptIsNotKept(t *testing.T) {
	inBubble(t, cached(Cache{Min: 1024}), func(b *bench) {
		b.expect("a short one", text(1023), 0)
		b.expect("the same again", text(1023), 0)
		b.expect("a longer one", text(1024), 0)
		b.expect("the same again", text(1024), 896)
	})
}

func TestIdlePromptIsForgotten(t *testing.T) {
	inBubble(t, cached(Cache{Idle: time.Minute}), func(b *bench) {
		b.expect("the first", text(1000), 0)
		time.Sleep(time.Minute)
		b.expect("after a minute", text(1000), 896)
		time.Sleep(time.Minute)
		b.expect("a minute after its last use", text(1000), 896)
		time.Sleep(time.Minute + 1)
		b.expect("after more", text(1000), 0)
	})
}

func TestFullCacheForgetsTheEndsOfWhatWasUnusedLongest(t *testing.T) {
	inBubble(t, cached(Cache{Tokens: 1280}), func(b *bench) {
		b.expect("the first", text(1000), 0) // 7 blocks of 10
		b.expect("the second", "else"+text(599), 0)
		b.expect("the second again", "else"+text(599), 512)
		b.expect("what is left of the first", text(1000), 768)
	})
}

func TestCacheSmallerThanABlockHoldsOne(t *testing.T) {
	inBubble(t, cached(Cache{Tokens: 100}), func(b *bench) {
		b.expect("the first", text(1000), 0)
		b.expect("what is left of it", text(1000), 128)
	})
}

func TestSlotsWithCachesOfTheirOwnServeWhoTheyRemember(t *testing.T) {
	inBubble(t, cached(Cache{PerSlot: true, Tokens: 1280}), func(b *bench) {
		b.expect("the first conversation", text(1000), 0)
		b.expect("another", "else"+text(999), 0)
		b.expect("the first goes on", text(1100), 896)
		b.expect("the other goes on", "else"+text(1099), 896)
	})
}

func TestSlotsWithCachesOfTheirOwnShareNothing(t *testing.T) {
	inBubble(t, cached(Cache{PerSlot: true}), func(b *bench) {
		b.expect("the first", text(1000), 0)
		go b.ask(text(1000))
		synctest.Wait()
		b.expect("the same beside it", text(1000), 0)
	})
}

func TestPromptIsKeptOnceItIsRead(t *testing.T) {
	inBubble(t, cached(Cache{}), func(b *bench) {
		impatient, cancel := context.WithTimeout(context.Background(), 999*ms)
		defer cancel()
		b.postAs(impatient, "/responses", apis[0].of(text(1000)), "")
		b.expect("one that was given up while being read", text(1000), 0)
		b.expect("the same again", text(1000), 896)
	})
}

func TestUncachedRequestIsSparedNothingAndKept(t *testing.T) {
	inBubble(t, cached(Cache{}), func(b *bench) {
		b.expect("the first", text(1000), 0)
		equal(b.t, "end of one that may not use the cache", b.post("/responses", apis[0].of(text(1000)), "uncached").end, 1000*ms)
	})
}

func TestCacheNeverFindsMoreThanIsShared(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prompts := rapid.SliceOfN(rapid.StringMatching("[ab]{0,40}"), 2, 6).Draw(t, "prompts")
		block := rapid.IntRange(1, 3).Draw(t, "block")
		c := newCache(Cache{Block: block})
		shared := 0
		last := prompts[len(prompts)-1]
		for _, p := range prompts[:len(prompts)-1] {
			c.store(prefixes(p, block))
			shared = max(shared, common(p, last)/(block*bytesPerToken))
		}
		found := c.match(prefixes(last, block))
		// The last token of either prompt is in no block, even if it is shared.
		if found > shared || found < shared-1 {
			t.Fatalf("%d blocks found, %d shared", found, shared)
		}
	})
}

func common(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
