package main

import (
	"bufio"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	_ "modernc.org/sqlite"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

func TestMain(m *testing.M) {
	// Built to find races, each program that a test starts would sleep for a second at its end.
	os.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0")
	testscript.Main(m, map[string]func(){"ttftap": main, "ask": askModel})
}

func TestScripts(t *testing.T) {
	models := simulatedModels(t)
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exec-status": execStatus},
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("GORACE", os.Getenv("GORACE"))
			e.Setenv("MODELS", models)
			return firstError(
				seed(filepath.Join(e.WorkDir, "seeded.db")),
				keep(filepath.Join(e.WorkDir, "learned.db"), working()),
				keep(filepath.Join(e.WorkDir, "billed.db"), billed()))
		},
	})
}

// execStatus runs a command that must end with a status: exec-status 2 ttftap ...
func execStatus(ts *testscript.TestScript, _ bool, args []string) {
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); !errors.As(err, &exit) || strconv.Itoa(exit.ExitCode()) != args[0] {
		ts.Fatalf("want status %s, got %v", args[0], err)
	}
}

// seed makes a log with three exchanges.
func seed(path string) error {
	ctx := context.Background()
	s, err := store.Open(ctx, path)
	if err != nil {
		return err
	}
	start := time.Date(2026, 9, 6, 23, 30, 0, 0, time.UTC)
	second := func(n float64) *time.Duration { return new(time.Duration(n * float64(time.Second))) }
	rows := []*exchange.Exchange{
		{ID: "01A", StartedAt: start, Outcome: exchange.OK, ModelServed: "m", Status: new(int64(200)),
			Tokens:   exchange.Tokens{PromptTokens: new(int64(12)), OutputTokens: new(int64(5)), UsageSource: "reported"},
			Instants: exchange.Instants{FirstToken: second(2.84), LastToken: second(3.12), End: second(3.2)},
			Figures:  exchange.Figures{TokensPerSec: new(7.1), RateQuality: "noisy", Delivery: exchange.Streamed},
			Verdict:  exchange.Verdict{Bound: exchange.WaitBound, Cause: "unseparated"}},
		{ID: "01B", StartedAt: start.Add(time.Hour), Outcome: exchange.ClientAbort, ModelServed: "=1+1",
			Instants: exchange.Instants{End: second(1)}, Verdict: exchange.Verdict{Bound: exchange.Unknown, Cause: "aborted"}},
		{ID: "01C", StartedAt: start.Add(2 * time.Hour), Outcome: exchange.Open},
	}
	return firstError(s.Save(ctx, rows), s.Close())
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// child is the program as a process of its own.
type child struct {
	*exec.Cmd
	base, db string
}

// program is what a child runs: this one, or the one that was built to be delivered.
func program() string { return cmp.Or(os.Getenv("TTFTAP_PROGRAM"), "ttftap") }

func startChild(t testing.TB, upstream, db string, env ...string) *child {
	t.Helper()
	return startChildOn(t, "localhost:0", upstream, db, env...)
}

func startChildOn(t testing.TB, listen, upstream, db string, env ...string) *child {
	t.Helper()
	c := &child{db: db, Cmd: exec.Command(program(), "serve", "--listen", listen, "--upstream", upstream, "--db", db)}
	c.Env = append(os.Environ(), env...)
	stderr := new(lockedBuffer)
	c.Stderr = stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if base, ok := strings.CutPrefix(lines.Text(), "ttftap listening on "); ok {
			c.base = base
			go io.Copy(io.Discard, out)
			return c
		}
	}
	t.Fatalf("it did not start: %s", stderr)
	return nil
}

// outcomes counts the rows of a log by how they ended.
func outcomes(t *testing.T, path string) map[string]int {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var sound string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&sound); err != nil || sound != "ok" {
		t.Fatalf("integrity: %s, %v", sound, err)
	}
	rows, err := db.Query("SELECT outcome, count(*) FROM exchange GROUP BY outcome")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	got := make(map[string]int)
	for rows.Next() {
		var outcome string
		var n int
		if err := rows.Scan(&outcome, &n); err != nil {
			t.Fatal(err)
		}
		got[outcome] = n
	}
	return got
}

const (
	textEvent = `data: {"id":"c1","choices":[{"index":0,"delta":{"content":"Hi"}}]}` + "\n\n"
	lastEvent = `data: {"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":5}}` + "\n\n"
)

// gated answers with a first event at once and the last one when told to.
func gated(t *testing.T) (upstream string, release chan struct{}) {
	release = make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, textEvent)
		w.(http.Flusher).Flush()
		select {
		case <-release:
			io.WriteString(w, lastEvent)
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(s.Close)
	return s.URL, release
}

func (c *child) post(t *testing.T) *http.Response {
	t.Helper()
	res, err := http.Post(c.base+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestFirstSignalLetsStreamsEnd(t *testing.T) {
	upstream, release := gated(t)
	c := startChild(t, upstream, filepath.Join(t.TempDir(), "x.db"))
	res := c.post(t)
	c.Process.Signal(syscall.SIGTERM)
	address := strings.TrimPrefix(c.base, "http://")
	for { // no new connection is accepted
		conn, err := net.Dial("tcp", address)
		if err != nil {
			break
		}
		conn.Close()
		<-time.After(5 * time.Millisecond)
	}
	close(release)
	body, err := io.ReadAll(res.Body)
	if err != nil || string(body) != textEvent+lastEvent {
		t.Errorf("%q, %v", body, err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	if got := outcomes(t, c.db); got["ok"] != 1 || len(got) != 1 {
		t.Errorf("rows %v", got)
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	upstream, _ := gated(t)
	c := startChild(t, upstream, filepath.Join(t.TempDir(), "x.db"))
	c.post(t)
	c.Process.Signal(os.Interrupt)
	<-time.After(100 * time.Millisecond)
	c.Process.Signal(os.Interrupt)
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	if got := outcomes(t, c.db); got["interrupted"] != 1 || len(got) != 1 {
		t.Errorf("rows %v", got)
	}
}

func TestKilledProcessLeavesEveryExchangeInTheLog(t *testing.T) {
	upstream, _ := gated(t)
	db := filepath.Join(t.TempDir(), "x.db")
	c := startChild(t, upstream, db)
	const streams = 20
	for range streams {
		c.post(t) // returns when the client has seen a byte
	}
	c.Process.Kill()
	c.Wait()
	startChild(t, upstream, db)
	if got := outcomes(t, db); got["interrupted"] != streams {
		t.Errorf("rows %v, want %d interrupted", got, streams)
	}
	out, err := exec.Command("ttftap", "explain", "last", "--json", "--db", db).Output()
	if err != nil || !strings.Contains(string(out), `"bound": "unknown"`) || !strings.Contains(string(out), `"model_requested": "m"`) {
		t.Errorf("%v: %s", err, out)
	}
}

func TestSecondInstanceOnTheSameLogIsRefused(t *testing.T) {
	upstream, _ := gated(t)
	c := startChild(t, upstream, filepath.Join(t.TempDir(), "x.db"))
	out, err := exec.Command("ttftap", "serve", "--listen", "localhost:0", "--db", c.db).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "another ttftap") {
		t.Errorf("%v: %s", err, out)
	}
	out, err = exec.Command("ttftap", "serve", "--listen", strings.TrimPrefix(c.base, "http://"), "--db", c.db+"2").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "--listen") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestOutboundProxyIsNeverUsedForLoopback(t *testing.T) {
	upstream, release := gated(t)
	close(release)
	closed := "http://127.0.0.1:9"
	c := startChild(t, upstream, filepath.Join(t.TempDir(), "x.db"), "HTTP_PROXY="+closed, "HTTPS_PROXY="+closed, "http_proxy="+closed)
	if res := c.post(t); res.StatusCode != http.StatusOK {
		t.Errorf("status %d", res.StatusCode)
	}
}

func TestUpstreamThatIsTtftapItselfIsRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	out, err := exec.Command("ttftap", "serve", "--listen", address, "--upstream", "http://"+address+"/v1", "--db", filepath.Join(t.TempDir(), "x.db")).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "ttftap itself") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestExportsAndAPIAgree(t *testing.T) {
	upstream, release := gated(t)
	close(release)
	r := startProgram(t, "serve", "--upstream", upstream)
	for range 3 {
		res := must(http.Post(r.base+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m"}`)))
		io.Copy(io.Discard, res.Body)
	}
	rows := r.rows(3)
	_, lines := r.get("/-/export.jsonl")
	_, api := r.get("/-/api/requests")
	exported, err := exec.Command("ttftap", "export", "--format", "csv", "--db", r.db).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if row["outcome"] != "ok" || row["prompt_tokens"] != "12" || row["model_served"] != "" || row["model_requested"] != "m" {
			t.Errorf("row %v", row)
		}
		for name, text := range map[string]string{"jsonl": lines, "api": api, "export": string(exported)} {
			if !strings.Contains(text, row["id"]) {
				t.Errorf("%s misses %s", name, row["id"])
			}
		}
	}
	if !strings.Contains(r.stderr.String(), "output_tokens=5 ") || !strings.Contains(r.stderr.String(), "id="+rows[0]["id"]) {
		t.Errorf("no line of it: %s", r.stderr)
	}
}

func TestWhatTheProxyLearnsOfAModelIsInTheAPI(t *testing.T) {
	upstream, release := gated(t)
	close(release)
	r := startProgram(t, "serve", "--upstream", upstream)
	if _, body := r.get("/-/api/models"); body != `{"models":[]}`+"\n" {
		t.Errorf("before any request: %s", body)
	}
	res := must(http.Post(r.base+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m"}`)))
	io.Copy(io.Discard, res.Body)
	r.rows(1)
	if _, body := r.get("/-/api/models"); !strings.Contains(body, `"upstream":"default","model":"m"`) || !strings.Contains(body, "Too few exchanges") {
		t.Errorf("%s", body)
	}
}

func TestBrowserIsSentToThePage(t *testing.T) {
	upstream, _ := gated(t)
	r := startProgram(t, "serve", "--upstream", upstream)
	q := must(http.NewRequest("GET", r.base+"/", nil))
	q.Header.Set("Accept", "text/html,application/xhtml+xml")
	res := must(local.RoundTrip(q))
	if res.StatusCode != http.StatusFound || res.Header.Get("Location") != "/-/" {
		t.Errorf("%d to %q", res.StatusCode, res.Header.Get("Location"))
	}
	if _, body := r.get("/-/healthz"); !strings.HasPrefix(body, "ok\n") {
		t.Errorf("health %q", body)
	}
}

// The demo shows each kind of slowness: each verdict and each outcome that its
// traffic is made for is there.
func TestDemoTrafficIsTelling(t *testing.T) {
	r := startProgram(t, "demo")
	n := 0
	for _, l := range traffic() {
		n += len(l.asks)
	}
	deadline := time.Now().Add(2 * time.Minute)
	for strings.Count(r.stderr.String(), "first_token_ms=") < n && time.Now().Before(deadline) {
		<-time.After(100 * time.Millisecond)
	}
	got := make(map[string]int)
	for _, row := range r.rows(n) {
		got[row["bound"]]++
		got[row["outcome"]]++
		got[row["delivery"]]++
		got[row["dialect"]]++
		got[row["transport"]]++
		got[row["request_kind"]]++
		if row["reason"] == "" {
			t.Errorf("no reason: %v", row)
		}
	}
	for _, want := range []string{"prefill", "decode", "wait", "stalled", "unknown", "ok", "client_abort", "upstream_cut",
		"upstream_error", "error_event", "streamed", "bursty", "single", "none", "responses", "chat", "messages", "embeddings", "websocket", "prewarm"} {
		if got[want] == 0 {
			t.Errorf("no %s in the demo: %v", want, got)
		}
	}
	t.Run("and a probe names what makes its first tokens slow", func(t *testing.T) { probeTheDemo(t, r) })
}
