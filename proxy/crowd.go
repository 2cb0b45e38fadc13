package proxy

import (
	"maps"
	"sync"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// maxSessions is how many sessions are remembered; then all are forgotten that
// have nothing under way.
const maxSessions = 4096

// crowd is what is under way, by upstream and by session.
type crowd struct {
	mu        sync.Mutex
	upstreams map[string]int64
	sessions  map[string]attendance
}

// attendance is how many exchanges of a session are under way, when the last of
// the others ended, and whether all that it told is known by now.
type attendance struct {
	flying int
	ended  time.Time
	judged <-chan struct{} // closed when the one that left last has been judged
}

// enter counts x in, and says how many are with it and how long its session had
// been idle. What is returned is closed when the session's exchange before x has
// been judged, nil where there is none.
func (c *crowd) enter(x *exchange.Exchange) (before <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.upstreams == nil {
		c.upstreams, c.sessions = make(map[string]int64), make(map[string]attendance)
	}
	if x.Upstream != "" {
		c.upstreams[x.Upstream]++
		x.Concurrency = new(c.upstreams[x.Upstream])
	}
	if x.SessionID == "" {
		return nil
	}
	a := c.sessions[x.SessionID]
	if a.flying == 0 && !a.ended.IsZero() {
		x.IdleBefore = new(max(0, x.StartedAt.Sub(a.ended)))
	}
	a.flying++
	c.sessions[x.SessionID] = a
	return a.judged
}

// leave counts out x, which ended at some time; judged is to be closed when it
// has been judged. What the proxy refused was none of the session's work.
func (c *crowd) leave(x *exchange.Exchange, end time.Time, judged <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.out(x); x.SessionID == "" {
		return
	}
	a := c.sessions[x.SessionID]
	a.judged = judged
	if x.Outcome != exchange.Refused && end.After(a.ended) {
		a.ended = end
	}
	c.sessions[x.SessionID] = a
}

// quit counts out x, which has turned out to be no exchange at all.
func (c *crowd) quit(x *exchange.Exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out(x)
}

func (c *crowd) out(x *exchange.Exchange) {
	if x.Upstream != "" {
		c.upstreams[x.Upstream]--
	}
	if x.SessionID == "" {
		return
	}
	a := c.sessions[x.SessionID]
	a.flying--
	c.sessions[x.SessionID] = a
	if len(c.sessions) > maxSessions {
		maps.DeleteFunc(c.sessions, func(_ string, a attendance) bool { return a.flying == 0 })
	}
}
