package main

import (
	"bufio"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// codexUsage is what Codex itself writes down of one response.
type codexUsage struct {
	ResponseID string `json:"response_id"`
	TurnID     string `json:"turn_id"`
	Usage      struct {
		Input     int64 `json:"input_tokens"`
		Cached    int64 `json:"cached_input_tokens"`
		Output    int64 `json:"output_tokens"`
		Reasoning int64 `json:"reasoning_output_tokens"`
		Total     int64 `json:"total_tokens"`
	} `json:"usage"`
}

// rollout reads Codex' own records below its home folder.
func rollout(t *testing.T, home string) []codexUsage {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(home, "sessions", "*", "*", "*", "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%d rollout files below %s, %v", len(files), home, err)
	}
	f, err := os.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var records []codexUsage
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var l struct {
			Type    string
			Payload codexUsage
		}
		if json.Unmarshal(lines.Bytes(), &l) == nil && l.Type == "token_usage_record" {
			records = append(records, l.Payload)
		}
	}
	return records
}

// checkCodexRows compares the log with what Codex wrote down itself.
func checkCodexRows(t *testing.T, rows []map[string]string, records []codexUsage) {
	t.Helper()
	if len(records) != 3 {
		t.Fatalf("Codex made %d model calls, want 3", len(records))
	}
	byResponse := make(map[string]map[string]string)
	for _, row := range rows {
		byResponse[row["response_id"]] = row
	}
	for _, want := range records {
		row := byResponse[want.ResponseID]
		if row == nil {
			t.Errorf("no row for response %s", want.ResponseID)
			continue
		}
		got := codexUsage{ResponseID: row["response_id"], TurnID: row["turn_id"]}
		for name, field := range map[string]*int64{
			"prompt_tokens": &got.Usage.Input, "cached_tokens": &got.Usage.Cached, "output_tokens": &got.Usage.Output,
			"reasoning_tokens": &got.Usage.Reasoning, "total_tokens": &got.Usage.Total,
		} {
			*field, _ = strconv.ParseInt(row[name], 10, 64)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if row["outcome"] != "ok" || row["first_token_ms"] == "" || row["bound"] == "" || row["reason"] == "" || row["request_kind"] != "turn" || row["session_id"] == "" {
			t.Errorf("row %v", row)
		}
	}
}

// codexRun runs the real Codex once by a script beside the repository.
func codexRun(t *testing.T, base, mode string) string {
	t.Helper()
	script := lying(t, filepath.Join(sharedFolder(), "codex", "run-codex.sh"))
	cli := needs(t, os.Getenv("TTFTAP_CODEX"), "the Codex CLI (TTFTAP_CODEX)")
	out := t.TempDir()
	c := exec.Command(script, base, out, cli)
	c.Env = append(os.Environ(), "CODEX_MODE="+mode)
	got, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(got), "exit=0") {
		stderr, _ := os.ReadFile(filepath.Join(out, "stderr.txt"))
		t.Fatalf("codex: %v\n%s\n%s", err, got, stderr)
	}
	return filepath.Join(out, "home", "codex")
}

// mockUpstream builds and starts the scripted upstream beside the repository. It
// takes WebSockets, or answers them with a status.
func mockUpstream(t *testing.T, sockets string) string {
	t.Helper()
	source := lying(t, filepath.Join(sharedFolder(), "codex", "mock"))
	bin := filepath.Join(t.TempDir(), "mock")
	build := exec.Command("go", "build", "-o", bin, ".")
	build.Dir = source
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	mock := exec.Command(bin, "-listen", address, "-out", t.TempDir(), "-tools", "2", "-ws", sockets)
	if err := mock.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { mock.Process.Kill(); mock.Wait() })
	for range 200 {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return "http://" + address + "/v1"
		}
		<-time.After(25 * time.Millisecond)
	}
	t.Fatal("the scripted upstream did not start")
	return ""
}

// lying is what may lie beside the repository and is no part of it: without it the
// test is skipped.
func lying(t *testing.T, path string) string {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Skipf("SKIPPED: there is no %s", path)
	}
	return path
}

func sharedFolder() string {
	if dir := os.Getenv("TTFTAP_SHARED"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "..", "shared")
}

func TestRealCodexAgainstAScriptedUpstream(t *testing.T) {
	for name, c := range map[string]struct {
		mode, sockets string
		flags         []string
		transport     string // of the model's calls
		prewarmed     int
		refused       string // status of the upgrade's row, "" for none
		outcome       string
	}{
		"a provider of its own":                      {mode: "provider", sockets: "accept", transport: "sse"},
		"the built-in one over a WebSocket":          {mode: "builtin", sockets: "accept", transport: "websocket", prewarmed: 1},
		"the built-in one, WebSockets refused":       {mode: "builtin", sockets: "accept", flags: []string{"--websocket", "refuse"}, transport: "sse", outcome: "refused"},
		"the built-in one, an upstream without them": {mode: "builtin", sockets: "404", transport: "sse", refused: "404", outcome: "upstream_error"},
	} {
		t.Run(name, func(t *testing.T) {
			r := startProgram(t, append([]string{"serve", "--upstream", mockUpstream(t, c.sockets)}, c.flags...)...)
			home := codexRun(t, r.base, c.mode)
			rows := r.rows(3 + c.prewarmed)
			checkCodexRows(t, rows, rollout(t, home))
			prewarmed := 0
			for _, row := range rows {
				switch {
				case row["request_kind"] == "prewarm" && row["outcome"] == "ok":
					prewarmed++
				case row["request_kind"] == "turn" && (row["transport"] != c.transport || row["first_token_ms"] == ""):
					t.Errorf("a call over %s: %v", row["transport"], row)
				case row["outcome"] != "ok" && (row["outcome"] != c.outcome || row["status"] != c.refused):
					t.Errorf("unexpected: %v", row)
				}
			}
			if want := 3 + c.prewarmed + map[bool]int{true: 1}[c.outcome != ""]; prewarmed != c.prewarmed || len(rows) != want {
				t.Errorf("%d rows, %d of them prewarmed", len(rows), prewarmed)
			}
		})
	}
}
