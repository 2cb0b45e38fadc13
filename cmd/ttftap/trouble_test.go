package main

import (
	"context"
	"database/sql"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// holdLog takes the log's write lock, as another process would, until release.
func holdLog(t *testing.T, path string) (release func()) {
	t.Helper()
	db := must(sql.Open("sqlite", path+"?_pragma=busy_timeout(5000)"))
	conn := must(db.Conn(context.Background()))
	if _, err := conn.ExecContext(context.Background(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	release = sync.OnceFunc(func() {
		conn.ExecContext(context.Background(), "ROLLBACK")
		conn.Close()
		db.Close()
	})
	t.Cleanup(release)
	return release
}

// answersWhole posts a request and says whether the whole answer came.
func answersWhole(base string) bool {
	res, err := http.Post(base+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","stream":true}`))
	if err != nil {
		return false
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return err == nil && res.StatusCode == http.StatusOK && string(body) == textEvent+lastEvent
}

func TestALogThatAnotherProcessHoldsCostsNoAnswerAndNoRow(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(model))
	t.Cleanup(upstream.Close)
	r := startProgram(t, "serve", "--upstream", upstream.URL)
	release := holdLog(t, r.db)
	const requests = 200
	start := time.Now()
	for range requests / 2 { // 5 s, if each were held up
		if !answersWhole(r.base) {
			t.Fatal("an answer is missing or broken")
		}
	}
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("one after the other, %d took %v", requests/2, took)
	}
	var group sync.WaitGroup
	for range requests / 2 {
		group.Go(func() {
			if !answersWhole(r.base) {
				t.Error("an answer is missing or broken")
			}
		})
	}
	group.Wait()
	release()
	for _, row := range r.rows(requests) {
		if row["outcome"] != "ok" || row["output_tokens"] != "5" {
			t.Fatalf("row %v", row)
		}
	}
}

func TestAFirstSignalLosesNothingThatIsQueued(t *testing.T) {
	const queued = 50
	release := make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/last" {
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			<-release
		}
		model(w, r)
	}))
	t.Cleanup(upstream.Close)
	c := startChild(t, upstream.URL, filepath.Join(t.TempDir(), "x.db"))
	freeLog := holdLog(t, c.db)
	last := must(http.Post(c.base+"/last", "application/json", strings.NewReader("{}")))
	for range queued {
		if !answersWhole(c.base) {
			t.Fatal("an answer is missing or broken")
		}
	}
	c.Process.Signal(syscall.SIGTERM)
	close(release)
	if body, err := io.ReadAll(last.Body); err != nil || string(body) != textEvent+lastEvent {
		t.Errorf("the stream that was under way: %q, %v", body, err)
	}
	freeLog()
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	if got := outcomes(t, c.db); got["ok"] != queued+1 || len(got) != 1 {
		t.Errorf("rows %v", got)
	}
}
