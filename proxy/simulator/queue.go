package simulator

import (
	"slices"
	"sync"
)

// slots are the places in which a model works on requests, and the line of
// those that wait, first come, first served.
type slots struct {
	mu    sync.Mutex
	limit int           // 0: none
	made  int           // slots so far
	cache func() *cache // the cache of a new slot
	free  []*slot       // the longest unused first
	line  []*turn       // empty while a slot is free
}

// slot is one place to work in, with the prompts that it remembers.
type slot struct{ cache *cache }

// turn is one request's place: in line, then in a slot.
type turn struct {
	ready chan struct{} // closed when slot is set
	slot  *slot
}

func newSlots(p Profile) *slots {
	s := &slots{limit: p.Slots, cache: func() *cache { return newCache(p.Cache) }}
	if !p.Cache.PerSlot {
		shared := newCache(p.Cache)
		s.cache = func() *cache { return shared }
	}
	return s
}

// enter takes a free slot, the one that remembers most of the prompt, or a
// place in line.
func (s *slots) enter(prompt []uint64) *turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &turn{ready: make(chan struct{})}
	if free := s.take(prompt); free != nil {
		t.grant(free)
	} else {
		s.line = append(s.line, t)
	}
	return t
}

// leave gives the slot to the next in line, or gives up the place in it.
func (s *slots) leave(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case t.slot == nil:
		s.line = slices.DeleteFunc(s.line, func(other *turn) bool { return other == t })
	case len(s.line) > 0:
		next := s.line[0]
		s.line = s.line[1:]
		next.grant(t.slot)
	default:
		s.free = append(s.free, t.slot)
	}
}

// busy is how many slots are at work.
func (s *slots) busy() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.made - len(s.free)
}

// take is nil where no slot is free. One that remembers nothing is taken only
// where no new one can be made.
func (s *slots) take(prompt []uint64) *slot {
	best, most := 0, 0
	for i, free := range s.free {
		if n := free.cache.match(prompt); n > most {
			best, most = i, n
		}
	}
	if most == 0 && (s.limit == 0 || s.made < s.limit) {
		s.made++
		return &slot{cache: s.cache()}
	}
	if len(s.free) == 0 {
		return nil
	}
	taken := s.free[best]
	s.free = slices.Delete(s.free, best, best+1)
	return taken
}

func (t *turn) grant(s *slot) {
	t.slot = s
	close(t.ready)
}
