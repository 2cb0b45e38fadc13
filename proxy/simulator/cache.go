package simulator

import (
	"cmp"
	"container/list"
	"sync"
	"time"
)

// cache remembers blocks of prompts by the hash of all that precedes their end,
// so a block is found only behind the same beginning.
type cache struct {
	mu     sync.Mutex
	room   int // blocks; 0: no limit
	idle   time.Duration
	blocks map[uint64]*list.Element
	recent *list.List // of *block, the most recently used first
}

type block struct {
	hash uint64
	used time.Time
}

func newCache(c Cache) *cache {
	room := c.Tokens / c.blockSize()
	if c.Tokens > 0 {
		room = max(room, 1)
	}
	return &cache{
		room:   room,
		idle:   c.Idle,
		blocks: map[uint64]*list.Element{},
		recent: list.New(),
	}
}

// blockSize is in tokens.
func (c Cache) blockSize() int { return cmp.Or(c.Block, 128) }

// match counts the leading blocks of a prompt that are remembered.
func (c *cache) match(prompt []uint64) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, hash := range prompt {
		if e, found := c.blocks[hash]; !found || c.stale(e) {
			return i
		}
	}
	return len(prompt)
}

// store remembers a prompt. It goes from the end to the beginning, so that the
// beginning, without which the rest is worth nothing, is forgotten last.
func (c *cache) store(prompt []uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := len(prompt) - 1; i >= 0; i-- {
		if e, found := c.blocks[prompt[i]]; found {
			c.recent.Remove(e)
		}
		c.blocks[prompt[i]] = c.recent.PushFront(&block{hash: prompt[i], used: time.Now()})
	}
	for e := c.recent.Back(); e != nil && (c.full() || c.stale(e)); e = c.recent.Back() {
		c.recent.Remove(e)
		delete(c.blocks, e.Value.(*block).hash)
	}
}

func (c *cache) full() bool { return c.room > 0 && c.recent.Len() > c.room }

func (c *cache) stale(e *list.Element) bool {
	return c.idle > 0 && time.Since(e.Value.(*block).used) > c.idle
}
