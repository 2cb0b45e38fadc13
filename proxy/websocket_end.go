package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/ttftap/ttftap/proxy/dialect"
	"github.com/ttftap/ttftap/proxy/websocket"
)

// ender is who ended a socket, or begins to.
type ender string

const (
	clientEnds   ender = "client"
	upstreamEnds ender = "upstream"
)

// Codes of a close frame that say that all is well.
var peaceful = []int{1000, 1001, 1005}

// closeWords are what the codes of RFC 6455 and of its registry mean.
var closeWords = map[int]string{
	1000: "normal", 1001: "going away", 1002: "protocol error", 1003: "data of the wrong kind", 1005: "without a code",
	1007: "data that do not fit", 1008: "policy", 1009: "message too big", 1010: "extension wanted", 1011: "internal error",
	1012: "restart", 1013: "try again later", 1014: "bad gateway",
}

// closing takes a control frame. One that closes ends the calls under way: no
// answer goes on behind it.
func (s *socket) closing(by ender, m websocket.Message, at time.Time) {
	if m.Opcode != websocket.Close {
		return
	}
	s.closed = true
	code, reason := websocket.Closing(m.Data)
	words := fmt.Sprintf("websocket: closed by the %s with %d", by, code)
	if name := closeWords[code]; name != "" {
		words += ", " + name
	}
	if reason = s.upgrade.scrub(reason); reason != "" {
		words += ": " + reason
	}
	if by == upstreamEnds && !slices.Contains(peaceful, code) {
		s.blame(words)
	}
	s.dismiss(by, at, io.EOF, words)
}

// end ends the tunnel, and with it what was under way. It returns an error, for
// one direction that ends is to end the other at once.
func (s *socket) end(by ender, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return errOver
	}
	s.observe()
	words := ""
	if by == upstreamEnds && errors.Is(err, io.EOF) {
		words = "websocket: the upstream hung up without closing it"
	}
	if by == upstreamEnds && !s.closed && !s.leaving && !s.stopped() {
		s.blame(cmp.Or(words, "websocket: the upstream broke off: "+s.upgrade.cause(err)))
	}
	s.dismiss(by, time.Now(), err, words)
	s.over = true
	return errOver
}

// blame keeps what an unused socket came to. The first reason is the true one.
func (s *socket) blame(words string) {
	if !s.used && s.upgrade.x.Error == "" {
		s.upgrade.x.Error, s.upgrade.err = words, errOver
	}
}

func (s *socket) stopped() bool { return context.Cause(s.upgrade.client) == ErrStopped }

// dismiss ends the calls under way, whose answers will not be complete.
func (s *socket) dismiss(by ender, at time.Time, err error, words string) {
	for _, c := range slices.Clone(s.calls) {
		e := ending{at: new(max(0, at.Sub(c.start))), stopped: s.stopped()}
		e.left = e.stopped || by == clientEnds
		if !e.left {
			c.tap.err = err
		}
		if !e.stopped {
			c.locked(func() { c.x.Error = words })
		}
		s.land(c, e)
	}
}

// land ends a call.
func (s *socket) land(c *call, e ending) {
	isIt := func(other *call) bool { return other == c }
	s.calls, s.unheard = slices.DeleteFunc(s.calls, isIt), slices.DeleteFunc(s.unheard, isIt)
	s.past = cmp.Or(c.tap.answer().ResponseID, s.past)
	c.endAt(e)
	s.judged = c.judged
	c.land()
	if s.leaving && len(s.calls) == 0 {
		_ = s.Close()
	}
}

// engineState is what the upstream has told of its engine's work for a turn.
type engineState struct {
	turn string
	*dialect.Engine
}

// tellEngine tells the part of one response from what was told before, for the
// same turn. A nil socket tells nothing.
func (s *socket) tellEngine(turn string, answer *dialect.Answer) {
	if s == nil || answer.Engine == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.engine.turn != turn {
		s.engine = engineState{turn: turn}
	}
	answer.Timings = answer.Engine.Since(s.engine.Engine).Timings()
	s.engine.Engine = answer.Engine
}

// carried says whether there was a call. A nil socket has carried none.
func (s *socket) carried() bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// hangUp closes the socket, as soon as no call is under way.
func (s *socket) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaving = true
	if len(s.calls) == 0 {
		_ = s.Close()
	}
}

// sockets are those that are open.
type sockets struct {
	mu      sync.Mutex
	open    map[*socket]struct{}
	leaving bool
}

func (ss *sockets) enter(s *socket) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.open == nil {
		ss.open = make(map[*socket]struct{})
	}
	ss.open[s] = struct{}{}
	if ss.leaving {
		s.hangUp()
	}
}

func (ss *sockets) leave(s *socket) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	delete(ss.open, s)
}

func (ss *sockets) hangUp() {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	ss.leaving = true
	for s := range ss.open {
		s.hangUp()
	}
}

// HangUp closes the WebSockets over which nothing is under way, and the others as
// soon as that is so: they would be open for an hour, and Wait waits for them.
func (p *Proxy) HangUp() { p.sockets.hangUp() }
