package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// askModel is a client of two lines: it sends a request to the base URL in a variable and
// prints the answer.
func askModel() {
	body := `{"model":"sim-light","stream":true,"max_tokens":4096,"input":"Say hello.","messages":[{"role":"user","content":"Say hello."}]}`
	res, err := http.Post(os.Getenv(os.Args[1])+os.Args[2], "application/json", strings.NewReader(body))
	if err == nil {
		_, err = io.Copy(os.Stdout, res.Body)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// simulated is a base URL with simulated models behind it.
func simulated(t testing.TB) string {
	s := httptest.NewServer(quickModels())
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// beneath is a run of the program with a command below it.
type beneath struct {
	*exec.Cmd
	out, err lockedBuffer
	data     string // folder of the user's logs
}

// below prepares ttftap run; its log is the user's own.
func below(t testing.TB, args ...string) *beneath {
	b := &beneath{data: t.TempDir()}
	b.Cmd = exec.CommandContext(t.Context(), "ttftap", append([]string{"run"}, args...)...)
	b.Stdout, b.Stderr, b.WaitDelay = &b.out, &b.err, 5*time.Second
	b.Env = append(os.Environ(), "XDG_DATA_HOME="+b.data)
	return b
}

// ends runs it to its end, which must be with that status.
func (b *beneath) ends(t testing.TB, status int) {
	t.Helper()
	if err := b.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	b.ended(t, status)
}

func (b *beneath) ended(t testing.TB, status int) {
	t.Helper()
	if got := b.ProcessState.ExitCode(); got != status {
		t.Errorf("exit status %d, want %d: %s", got, status, b.err.String())
	}
}

// sums is the summary as others read it.
type sums struct {
	Command  string
	Status   int `json:"exit_status"`
	Log      string
	Requests int64
	Models   []struct {
		Upstream, Model string
		Requests        int
	}
	Slowest []struct{ ID string }
}

// told is the summary, which must have been asked for as JSON: its last line.
func (b *beneath) told(t testing.TB) (s sums) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(b.err.String()), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &s); err != nil {
		t.Fatalf("%v in %s", err, b.err.String())
	}
	return s
}

func TestExitStatusIsTheCommands(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]int{"exit 0": 0, "exit 7": 7, "exit 255": 255, "kill -TERM $$": 143, "kill -KILL $$": 137, "kill -SEGV $$": 139} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			b := below(t, "--json", "--", "sh", "-c", command)
			b.ends(t, want)
			if s := b.told(t); s.Status != want || s.Command != "sh" {
				t.Errorf("told %q %d", s.Command, s.Status)
			}
		})
	}
}

func TestInputAndOutputAreTheCommandsOwn(t *testing.T) {
	t.Parallel()
	input := strings.Repeat("\x00any bytes\xff\r\n", 20_000)
	b := below(t, "--", "sh", "-c", "cat; echo to the error >&2")
	b.Stdin = strings.NewReader(input)
	b.ends(t, 0)
	if b.out.String() != input {
		t.Errorf("%d bytes came out of %d", len(b.out.String()), len(input))
	}
	if !strings.Contains(b.err.String(), "\nto the error\n") {
		t.Errorf("standard error: %s", b.err.String())
	}
}

func TestSecondSummaryKnowsNothingOfTheFirstRun(t *testing.T) {
	t.Parallel()
	upstream := simulated(t)
	first := below(t, "--json", "--upstream", upstream, "--", "sh", "-c", "ask OPENAI_BASE_URL /responses; ask OPENAI_API_BASE /responses")
	first.ends(t, 0)
	second := below(t, "--json", "--upstream", upstream, "--", "ask", "OPENAI_BASE_URL", "/v1/responses")
	second.Env = append(second.Env, "XDG_DATA_HOME="+first.data)
	second.ends(t, 0)
	a, b := first.told(t), second.told(t)
	if a.Requests != 2 || b.Requests != 1 || a.Log != b.Log {
		t.Errorf("%d requests in %s, then %d in %s", a.Requests, a.Log, b.Requests, b.Log)
	}
	out, err := exec.Command("ttftap", "explain", "--db", a.Log, b.Slowest[0].ID).CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("sim-light")) {
		t.Errorf("%v: %s", err, out)
	}
}

// Two at once have a log each, and each tells of its own requests. What was said is
// one line.
func TestTwoRunsAtOnceHaveALogEach(t *testing.T) {
	t.Parallel()
	upstream := simulated(t)
	first := below(t, "--json", "--upstream", upstream, "--", "sh", "-c", "echo there; read line; ask OPENAI_BASE_URL /responses")
	in := must(first.StdinPipe())
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, func() bool { return strings.HasPrefix(first.out.String(), "there\n") })
	second := below(t, "--json", "--upstream", upstream, "--", "sh", "-c", "ask OPENAI_BASE_URL /responses; ask OPENAI_BASE_URL /responses")
	second.Env = append(second.Env, "XDG_DATA_HOME="+first.data)
	second.ends(t, 0)
	in.Close()
	first.Wait()
	a, b := first.told(t), second.told(t)
	usual := filepath.Join(first.data, "ttftap", "ttftap.db")
	beside := filepath.Join(first.data, "ttftap", "ttftap-2.db")
	if a.Log != usual || a.Requests != 1 || b.Log != beside || b.Requests != 2 {
		t.Errorf("%d requests in %s, %d in %s", a.Requests, a.Log, b.Requests, b.Log)
	}
	if n := strings.Count(second.err.String(), "records into the usual log: this run's is "+beside+"\n"); n != 1 {
		t.Errorf("it was said %d times: %s", n, second.err.String())
	}
}

func TestLogOfTheVariableIsTheUsualOne(t *testing.T) {
	t.Parallel()
	upstream, _ := gated(t)
	c := startChild(t, upstream, filepath.Join(t.TempDir(), "mine.log"))
	b := below(t, "--json", "--", "true")
	b.Env = append(b.Env, "TTFTAP_DB="+c.db)
	b.ends(t, 0)
	if want := strings.TrimSuffix(c.db, ".log") + "-2.log"; b.told(t).Log != want {
		t.Errorf("in %s, want %s", b.told(t).Log, want)
	}
}

// A log that was asked for by name is not replaced by another.
func TestNamedLogThatIsTakenIsAnError(t *testing.T) {
	t.Parallel()
	upstream, _ := gated(t)
	c := startChild(t, upstream, filepath.Join(t.TempDir(), "x.db"))
	b := below(t, "--db", c.db, "--", "echo", "it ran")
	b.ends(t, exitFailed)
	if b.out.String() != "" || !strings.Contains(b.err.String(), "another ttftap records into it") {
		t.Errorf("%s %s", b.out.String(), b.err.String())
	}
}

// The warnings of the proxy would be painted over the command's screen: they come
// after it.
func TestLogLinesWaitForTheCommandsEnd(t *testing.T) {
	h := &held{w: new(bytes.Buffer)}
	fmt.Fprint(h, "a warning\n")
	if h.w.(*bytes.Buffer).Len() > 0 {
		t.Error("it was written at once")
	}
	fmt.Fprint(h, strings.Repeat("x", heldMost)) // too much
	h.release()
	fmt.Fprint(h, "another\n")
	if got := h.w.(*bytes.Buffer).String(); got != "a warning\nanother\n" {
		t.Errorf("%q", got)
	}
}

func await(t testing.TB, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("in vain")
		}
	}
}

// file is the path of a new file with that text.
func file(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}
