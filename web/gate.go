package web

import (
	"context"
	"net/http"
	"runtime"
)

// gate lets half of the processors at most make views, so that streams always find
// one that is free: whoever reloads the page a hundred times waits for himself.
type gate chan struct{}

func newGate() gate { return make(gate, max(1, runtime.GOMAXPROCS(0)/2)) }

// inTurn has a view made when its turn has come. What is made in memory first needs
// no more than one.
func (g gate) inTurn(next http.Handler) http.Handler { return g.turns(next, false) }

// inTurns is for what is written while it is made: each piece of it waits anew.
func (g gate) inTurns(next http.Handler) http.Handler { return g.turns(next, true) }

func (g gate) turns(next http.Handler, again bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t := &turnWriter{ResponseWriter: w, gate: g, ctx: r.Context(), again: again}
		if t.take() != nil {
			return // nobody waits any more
		}
		defer t.pass()
		next.ServeHTTP(t, r)
	})
}

// turnWriter passes the turn on before it writes: a reader may take as long as he
// likes.
type turnWriter struct {
	http.ResponseWriter
	gate  gate
	ctx   context.Context
	again bool // what follows a piece waits for another turn
	mine  bool
}

func (t *turnWriter) take() error {
	select {
	case t.gate <- struct{}{}:
		t.mine = true
		return nil
	case <-t.ctx.Done():
		return t.ctx.Err()
	}
}

func (t *turnWriter) pass() {
	if t.mine {
		<-t.gate
		t.mine = false
	}
}

// Write writes without holding anybody up.
func (t *turnWriter) Write(p []byte) (int, error) {
	t.pass()
	n, err := t.ResponseWriter.Write(p)
	if err == nil && t.again {
		err = t.take()
	}
	return n, err
}
