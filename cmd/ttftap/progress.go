package main

import (
	"fmt"
	"io"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
)

// progress tells how far a long piece of work has got, now and then.
type progress struct {
	w    io.Writer
	as   func(n *int64) string // how done and of are written
	done int64
	of   int64     // 0: nobody has counted
	next time.Time // when to tell again
}

const progressPause = 2 * time.Second

func newProgress(w io.Writer) *progress {
	return &progress{w: w, as: figure.Count, next: time.Now().Add(progressPause)}
}

func (p *progress) step() { p.reach(p.done + 1) }

// reach is step by many.
func (p *progress) reach(done int64) {
	p.done = done
	if now := time.Now(); now.After(p.next) {
		p.next = now.Add(progressPause)
		fmt.Fprintln(p.w, p.text())
	}
}

func (p *progress) text() string {
	if p.of == 0 {
		return p.as(&p.done) + " read"
	}
	return p.as(&p.done) + " of " + p.as(&p.of)
}
