package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"
)

// diagnosing is a model that calls one tool, and keeps what it was sent.
type diagnosing struct {
	tool, arguments string
	mu              sync.Mutex
	bodies          []string
}

func (m *diagnosing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m.mu.Lock()
	m.bodies = append(m.bodies, string(body))
	n := len(m.bodies)
	m.mu.Unlock()
	item := `{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"It waits."}]}`
	if n == 1 {
		item = fmt.Sprintf(`{"type":"function_call","id":"fc_1","call_id":"call_1","namespace":"mcp__ttftap","name":%q,"arguments":%q}`, m.tool, m.arguments)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range []string{
		fmt.Sprintf(`{"type":"response.created","response":{"id":"resp_%d"}}`, n),
		fmt.Sprintf(`{"type":"response.output_item.done","output_index":0,"item":%s}`, item),
		fmt.Sprintf(`{"type":"response.completed","response":{"id":"resp_%d","usage":{"input_tokens":10,"output_tokens":5,"total_tokens":15}}}`, n),
	} {
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", gjson.Get(e, "type").String(), e)
	}
}

// askCodex has the real Codex do one task with the log as its tools, and returns
// what the model's tool call got.
func askCodex(t *testing.T, r *running, m *diagnosing) string {
	t.Helper()
	cli := needs(t, os.Getenv("TTFTAP_CODEX"), "the Codex CLI (TTFTAP_CODEX)")
	server := httptest.NewServer(m)
	defer server.Close()
	home := t.TempDir()
	config := fmt.Sprintf("model = \"some-model\"\nmodel_provider = \"own\"\napproval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\ncheck_for_update_on_startup = false\n"+
		"[model_providers.own]\nname = \"own\"\nbase_url = %q\nenv_key = \"OPENAI_API_KEY\"\n[analytics]\nenabled = false\n"+
		"[mcp_servers.ttftap]\nrequired = true\nstartup_timeout_sec = 60\ncommand = %q\nargs = [\"mcp\", \"--db\", %q, \"--via\", %q]\n", server.URL, must(exec.LookPath("ttftap")), r.db, r.base)
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), filepath.Join(cli, "node_modules", ".bin", "codex"),
		"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "Why are my answers slow?")
	c.Dir = home
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "CODEX_HOME=" + home, "TERM=dumb", "LANG=C.UTF-8", "OPENAI_API_KEY=sk-not-a-key", "NO_PROXY=localhost,127.0.0.1"}
	out, err := c.CombinedOutput()
	if err != nil || len(m.bodies) != 2 {
		t.Fatalf("codex: %v, %d requests: %s", err, len(m.bodies), out)
	}
	guide := gjson.Get(m.bodies[0], `tools.#(name=="mcp__ttftap").description`).String()
	if !strings.Contains(guide, "why answers are slow") {
		t.Errorf("Codex tells the model of the tools: %q", guide)
	}
	return gjson.Get(m.bodies[1], `input.#(call_id=="call_1")#|@reverse|0.output`).String()
}

func TestRealCodexReadsTheLog(t *testing.T) {
	r := afterRequests(t, 3)
	for _, c := range []struct{ tool, arguments, says string }{
		{"report", `{}`, "# Where the time went"},
		{"list_requests", `{"sort":"total_ms","limit":2}`, r.rows(3)[0]["model_requested"]},
		{"run_experiment", `{"kind":"ladder","models":["sim-light"]}`, "nothing was sent"}, // it says yes to whatever it is asked, unseen
	} {
		t.Run(c.tool, func(t *testing.T) {
			if got := askCodex(t, r, &diagnosing{tool: c.tool, arguments: c.arguments}); !strings.Contains(got, c.says) {
				t.Errorf("the model was told %q", got)
			}
		})
	}
	if n := len(r.rows(3)); n != 3 {
		t.Errorf("%d requests went to the model", n-3)
	}
}
