package main

import (
	"context"
	"database/sql"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func logFaults() []fault {
	return []fault{
		{name: "log locked by another process, 30 s", tries: 1, try: inTrouble(trouble{begin: lockLog, lasts: inChaos(time.Second, 30*time.Second), late: true})},
		{name: "log locked by another process, 200 requests", tries: 5, alone: true, try: TestALogThatAnotherProcessHoldsCostsNoAnswerAndNoRow},
		{name: "log on a slow disk (its lock is taken from it in turns)", tries: 3, try: inTrouble(trouble{begin: slowLog, lasts: inChaos(time.Second, 10*time.Second), late: true})},
		{name: "log deleted", tries: 5, try: inTrouble(trouble{begin: deleteLog, anew: true})},
		{name: "log moved away", tries: 5, try: inTrouble(trouble{begin: moveLog, anew: true})},
		{name: "pages of the log overwritten", tries: 20, try: inTrouble(trouble{seed: 2000, begin: damageLog, anew: true, aside: true})},
	}
}

// trouble is something that is wrong with the log for a while.
type trouble struct {
	seed  int                       // exchanges that the log has before
	place func(t *testing.T) string // where the log lies; nil for anywhere
	begin func(t *testing.T, c *child) (end func())
	lasts time.Duration
	late  bool // rows come late meanwhile
	fails bool // commits fail, which is said
	anew  bool // the log is begun anew, which is said
	aside bool // the old one is kept
}

// inTrouble has streams pass while something is wrong with the log: each of them
// is whole, what is wrong is said, and once it is over everything is recorded.
func inTrouble(what trouble) func(*testing.T) {
	return func(t *testing.T) {
		slow, release := gated(t)
		place := logOf
		if what.place != nil {
			place = what.place
		}
		path := place(t)
		if err := keep(path, someRows(what.seed)); err != nil {
			t.Fatal(err)
		}
		c := startChild(t, quickModel(t)+" slow="+slow, path)
		before := c.passes(t, 50*time.Millisecond)
		open := must(http.Post(c.base+"/to/slow/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","stream":true}`)))
		c.recorded(t)
		end := what.begin(t, c)
		during := c.passes(t, what.lasts)
		what.isSaid(t, c)
		end()
		after := c.passes(t, 50*time.Millisecond)
		close(release)
		if body, err := io.ReadAll(open.Body); err != nil || string(body) != textEvent+lastEvent {
			t.Errorf("the stream that went on all the time: %q, %v", body, err)
		}
		c.recorded(t)
		if h := c.health(t); !strings.Contains(h, "\nlost 0\n") {
			t.Errorf("rows were lost: %s", h)
		}
		rows := during + after + 1
		if !what.anew {
			rows += before + what.seed
		}
		if got := outcomes(t, path); got["ok"] < rows && !what.aside || got["ok"] < after {
			t.Errorf("rows %v, want %d", got, rows)
		}
	}
}

// isSaid wants the trouble to be told by the page, in both languages, and by
// /-/healthz, and in the program's log.
func (what trouble) isSaid(t *testing.T, c *child) {
	t.Helper()
	if what.late && strings.Contains(c.health(t), "\nlate 0\n") {
		t.Errorf("nothing is late: %s", c.health(t))
	}
	if what.fails {
		until(t, "the failure is said", func() bool { return strings.Contains(c.health(t), "\nerror ") })
		c.says(t, "The log cannot be written", "日志无法写入")
		if !strings.Contains(c.log(), "level=ERROR") {
			t.Errorf("nothing of it is logged: %s", c.log())
		}
	}
	if what.anew {
		until(t, "the new log is said", func() bool { return c.passes(t, 0) > 0 && strings.Contains(c.health(t), "\nanew ") })
		c.says(t, "begun anew", "重新开始")
		if !strings.Contains(c.log(), "level=WARN") {
			t.Errorf("nothing of it is logged: %s", c.log())
		}
	}
	if kept := must(filepath.Glob(c.db + ".damaged-*")); what.aside && len(kept) == 0 {
		t.Error("the damaged log is not kept")
	}
}

func someRows(n int) []*exchange.Exchange {
	rows := make([]*exchange.Exchange, n)
	for i := range rows {
		rows[i] = worked(i, 2000, 500)
	}
	return rows
}

func lockLog(t *testing.T, c *child) (end func()) { return holdLog(t, c.db) }

// slowLog has another process take the write lock for 200 ms in each 250.
func slowLog(t *testing.T, c *child) (end func()) {
	db := must(sql.Open("sqlite", c.db+"?_pragma=busy_timeout(5000)&_txlock=immediate"))
	ctx, stop := context.WithCancel(t.Context())
	var turns sync.WaitGroup
	turns.Go(func() {
		defer db.Close()
		for ctx.Err() == nil {
			tx, err := db.Begin()
			if err != nil {
				continue
			}
			<-time.After(200 * time.Millisecond)
			_ = tx.Rollback()
			<-time.After(50 * time.Millisecond)
		}
	})
	return func() { stop(); turns.Wait() }
}

func deleteLog(t *testing.T, c *child) (end func()) {
	if err := os.Remove(c.db); err != nil {
		t.Fatal(err)
	}
	return func() {}
}

func moveLog(t *testing.T, c *child) (end func()) {
	if err := os.Rename(c.db, c.db+".moved"); err != nil {
		t.Fatal(err)
	}
	return func() {}
}

const pageSize = 4096

// damageLog overwrites most of the log's pages, and now and then the first.
func damageLog(t *testing.T, c *child) (end func()) {
	f := must(os.OpenFile(c.db, os.O_RDWR, 0))
	defer f.Close()
	size := must(f.Stat()).Size()
	junk := make([]byte, pageSize)
	for at := int64(rand.IntN(2)) * pageSize; at < size; at += pageSize {
		for i := range junk {
			junk[i] = byte(rand.Uint32())
		}
		if _, err := f.WriteAt(junk, at); err != nil {
			t.Fatal(err)
		}
		if rand.IntN(4) == 0 {
			at += pageSize
		}
	}
	return func() {}
}
