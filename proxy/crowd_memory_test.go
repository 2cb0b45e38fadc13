package proxy

import (
	"fmt"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestOnlySessionsWithSomethingUnderWayAreRememberedForLong(t *testing.T) {
	var c crowd
	long := &exchange.Exchange{Upstream: "default", SessionID: "long", StartedAt: time.Now()}
	c.enter(long)
	for i := range 3 * maxSessions {
		x := &exchange.Exchange{Upstream: "default", SessionID: fmt.Sprint(i), StartedAt: time.Now()}
		c.enter(x)
		c.leave(x, time.Now(), nil)
		if len(c.sessions) > maxSessions || *x.Concurrency != 2 {
			t.Fatalf("%d sessions are remembered, %d exchanges under way", len(c.sessions), *x.Concurrency)
		}
	}
	c.leave(long, time.Now(), nil)
	next := &exchange.Exchange{SessionID: "long", StartedAt: time.Now()}
	if c.enter(next); next.IdleBefore == nil || next.Concurrency != nil {
		t.Errorf("the long session was idle for %v, with %v under way nowhere", next.IdleBefore, next.Concurrency)
	}
}

func TestSessionsOfWhatWasNoExchangeAreForgottenToo(t *testing.T) {
	var c crowd
	for i := range 3 * maxSessions {
		x := &exchange.Exchange{Upstream: "default", SessionID: fmt.Sprint(i), StartedAt: time.Now()}
		c.enter(x)
		c.quit(x)
		if len(c.sessions) > maxSessions || *x.Concurrency != 1 {
			t.Fatalf("%d sessions are remembered, %d exchanges under way", len(c.sessions), *x.Concurrency)
		}
	}
}
