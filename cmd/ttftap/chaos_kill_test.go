package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// killing is the program killed at random moments under load.
type killing struct {
	seen, late, interrupted int
}

const (
	killLanes  = 16                      // requests at a time
	killWithin = 1500 * time.Millisecond // of the load's begin
)

func killFaults() []fault {
	k := new(killing)
	return []fault{{
		name: "kill -9 at a random moment under load", tries: 200, try: k.try,
		told: func() string {
			return fmt.Sprintf("of %d exchanges that a client saw %d were late and are lost; %d were under way", k.seen, k.late, k.interrupted)
		},
	}}
}

func (k *killing) try(t *testing.T) {
	db := logOf(t)
	upstream := quickModel(t)
	c := startChild(t, upstream, db, "TTFTAP_LOG_LEVEL=debug")
	load := startLoad(t, c.base)
	<-time.After(time.Duration(rand.Int64N(int64(killWithin))))
	c.Process.Kill()
	c.Wait()
	seen := load.stop()

	next := startChild(t, upstream, db)
	got := outcomes(t, db)
	if got["open"] > 0 || got["ok"]+got["interrupted"]+got["client_abort"] != total(got) {
		t.Errorf("after the next start the rows are %v", got)
	}
	sessions, ids := valuesOf(t, db, "session_id"), valuesOf(t, db, "id")
	missing, late := 0, 0
	for session := range seen {
		if !sessions[session] {
			missing++
		}
	}
	for _, m := range lateLine.FindAllStringSubmatch(c.log(), -1) {
		if !ids[m[1]] {
			late++
		}
	}
	if missing > late {
		t.Errorf("of %d exchanges that a client saw, %d are not in the log, and %d were late", len(seen), missing, late)
	}
	if !answersWhole(next.base) {
		t.Error("the next start does not serve")
	}
	k.seen, k.late, k.interrupted = k.seen+len(seen), k.late+missing, k.interrupted+got["interrupted"]
}

func total(counts map[string]int) (all int) {
	for _, n := range counts {
		all += n
	}
	return all
}

// load is requests that are told apart by their sessions, which the program knows
// before it has read a body.
type load struct {
	end   context.CancelFunc
	lanes sync.WaitGroup
	next  atomic.Int64

	mu   sync.Mutex
	seen map[string]bool // sessions whose answer's head has come
}

func startLoad(t *testing.T, base string) *load {
	ctx, end := context.WithCancel(t.Context())
	l := &load{end: end, seen: map[string]bool{}}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: killLanes}}
	for range killLanes {
		l.lanes.Go(func() {
			for ctx.Err() == nil {
				l.ask(ctx, client, base)
			}
		})
	}
	return l
}

// ask sends a request, and notes that a byte of its answer was seen.
func (l *load) ask(ctx context.Context, client *http.Client, base string) {
	session := fmt.Sprintf("s-%d", l.next.Add(1))
	body := strings.NewReader(`{"model":"m","stream":true,"messages":[]}`)
	req := must(http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/chat/completions", body))
	req.Header.Set("Session-Id", session)
	res, err := client.Do(req)
	if err != nil {
		<-time.After(time.Millisecond)
		return
	}
	l.mu.Lock()
	l.seen[session] = true
	l.mu.Unlock()
	_, _ = io.Copy(io.Discard, res.Body)
	res.Body.Close()
}

func (l *load) stop() (seen map[string]bool) {
	l.end()
	l.lanes.Wait()
	return l.seen
}

// lateLine says which exchange's row was late.
var lateLine = regexp.MustCompile(`msg="a stream went on before its row" id=(\w+)`)

// valuesOf are the values that a column of a log has.
func valuesOf(t *testing.T, path, column string) map[string]bool {
	t.Helper()
	db := must(sql.Open("sqlite", path))
	defer db.Close()
	rows, err := db.Query("SELECT DISTINCT coalesce(" + column + ", '') FROM exchange")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	values := map[string]bool{}
	for rows.Next() {
		var value string
		if err := rows.Scan(&value); err != nil {
			t.Fatal(err)
		}
		values[value] = true
	}
	return values
}
