package simulator

import (
	"math"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// blocks are those of the prompt that can be cached.
func (f *flight) blocks() []uint64 {
	if f.truth.PromptTokens < f.model.Cache.Min || f.truth.Dialect == exchange.Embeddings {
		return nil
	}
	return prefixes(f.ask.prompt, f.model.Cache.blockSize())
}

// prefillBatch is how many tokens are read between two words of progress.
const prefillBatch = 2048

// prefill reads the prompt, but for what the cache holds.
func (f *flight) prefill(c *cache, blocks []uint64) error {
	size := f.model.Cache.blockSize()
	if !f.how.Uncached {
		f.truth.CachedTokens = c.match(blocks) * size
	}
	if f.ask.marked {
		f.truth.CacheWriteTokens = len(blocks)*size - f.truth.CachedTokens
	}
	if err := f.begin(); err != nil {
		return err
	}
	done, all := f.truth.CachedTokens, f.truth.PromptTokens
	for {
		if err := f.progress(done); err != nil {
			return err
		}
		if done == all {
			c.store(blocks)
			return nil
		}
		next := min(done+prefillBatch, all)
		if err := f.spend(f.how.cost(next)-f.how.cost(done), &f.truth.Prefill); err != nil {
			return err
		}
		done = next
	}
}

// cost is the time that a prompt of n tokens takes without a cache. Each token
// costs more the more there are before it.
func (b *Behaviour) cost(n int) time.Duration {
	context := b.PrefillGrowth / 1000 * float64(n) / 2 // mean over the tokens
	return time.Duration(math.Round(float64(b.Prefill) * float64(n) * (1 + context)))
}

func (f *flight) progress(done int) error {
	if !f.how.Progress || !f.wire.opened {
		return nil
	}
	return f.wire.send(f.voice.progress(done))
}
