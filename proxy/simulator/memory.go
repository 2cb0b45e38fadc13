package simulator

import (
	"sync"
	"time"
)

// memory is where a model is loaded to, by the first request that needs it. One
// that comes meanwhile waits for the same load.
type memory struct {
	load, asleep time.Duration // as in Profile

	mu     sync.Mutex
	ready  time.Time // when the model is loaded, or was; zero before the first request
	flying int
	idle   time.Time // when the last request left
}

// enter tells when a request that comes now can go on.
func (m *memory) enter(now time.Time) (ready time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ready.IsZero() || m.unloaded(now) {
		m.ready = now.Add(m.load)
	}
	m.flying++
	return m.ready
}

func (m *memory) unloaded(now time.Time) bool {
	return m.asleep > 0 && m.flying == 0 && now.Sub(m.idle) > m.asleep
}

func (m *memory) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.flying--
	m.idle = time.Now()
}
