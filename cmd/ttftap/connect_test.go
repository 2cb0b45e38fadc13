package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/ttftap/ttftap/proxy/simulator"
	"github.com/ttftap/ttftap/web"
)

// connected is the program in front of a simulated model that tells what it did.
// The default upstream is the model's usual API, "chatgpt" the one that Codex has
// with a login.
type connected struct {
	*running
	mu     sync.Mutex
	truths map[string]simulator.Truth // by the response's id
}

func connect(t *testing.T) *connected {
	t.Helper()
	c := &connected{truths: map[string]simulator.Truth{}}
	model := simulator.New(simulator.Config{Done: func(truth simulator.Truth) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.truths[truth.ResponseID] = truth
	}})
	mux := http.NewServeMux()
	mux.Handle("/v1/", model)
	mux.Handle("/backend-api/codex/", http.StripPrefix("/backend-api/codex", unzipped(model)))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	c.running = startProgram(t, "serve", "--upstream", server.URL+"/v1", "--upstream", "chatgpt="+server.URL+"/backend-api/codex")
	return c
}

// unzipped reads bodies that are compressed, as Codex sends them with a login.
func unzipped(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Content-Encoding") == "zstd" {
			d, err := zstd.NewReader(r.Body)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			defer d.Close()
			r.Body = io.NopCloser(d)
			r.Header.Del("Content-Encoding")
			r.ContentLength = -1
		}
		next.ServeHTTP(w, r)
	})
}

// block is what the connect page has to paste for a client, with the addresses
// for an upstream.
func (c *connected) block(client, upstream string) string {
	c.t.Helper()
	_, body := c.get("/-/connect?upstream=" + upstream)
	m := regexp.MustCompile(`(?s)<pre id="` + client + `-text">(.*?)</pre>`).FindStringSubmatch(body)
	if m == nil {
		c.t.Fatalf("the page has nothing to paste for %s", client)
	}
	return html.UnescapeString(m[1])
}

// answered are the rows of the answers, n of them.
func (c *connected) answered(n int) []map[string]string {
	c.t.Helper()
	for rows := n; ; rows++ {
		var answers []map[string]string
		for _, row := range c.rows(rows) {
			if row["response_id"] != "" {
				answers = append(answers, row)
			}
		}
		if len(answers) >= n {
			return answers
		}
	}
}

// check compares the row of the only answer with what the model says of it.
func (c *connected) check(dialect string) {
	c.t.Helper()
	row := c.answered(1)[0]
	if row["dialect"] != dialect || row["outcome"] != "ok" || row["first_token_ms"] == "" || row["bound"] == "" || row["client"] == "" {
		c.t.Errorf("row %v", row)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	truth := c.truths[row["response_id"]]
	for name, want := range map[string]int{
		"prompt_tokens": truth.PromptTokens, "cached_tokens": truth.CachedTokens, "output_tokens": truth.OutputTokens,
	} {
		if row[name] != strconv.Itoa(want) {
			c.t.Errorf("%s is %s in the row, and %d by the model", name, row[name], want)
		}
	}
}

// client is a program that runs as its user would have it, in a home of its own.
type client struct {
	*testing.T
	home string
	env  []string
}

func newClient(t *testing.T, env ...string) *client {
	return &client{t, t.TempDir(), env}
}

func (c *client) run(name string, args ...string) string {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.WaitDelay = c.TempDir(), time.Second
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.home, "CODEX_HOME=" + c.home, "TERM=dumb", "LANG=C.UTF-8",
		"OPENAI_API_KEY=sk-not-a-key", "NO_PROXY=localhost,127.0.0.1"}, c.env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}

func (c *client) write(name, text string) string {
	c.Helper()
	path := filepath.Join(c.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		c.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		c.Fatal(err)
	}
	return path
}

// codex runs Codex once, which calls the model three times: twice it uses a tool.
func (c *client) codex(prefix, block string) {
	c.Helper()
	c.write("config.toml", `model = "sim-codex"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
`+block+`
[analytics]
enabled = false
`)
	c.run(filepath.Join(prefix, "node_modules", ".bin", "codex"), "exec", "--skip-git-repo-check",
		"--dangerously-bypass-approvals-and-sandbox", "Run the shell command 'echo hello' and then say that you are done.")
}

// login is what Codex has after a login to ChatGPT, and a stand-in for what it
// asks ChatGPT for besides models.
func (c *client) login() (setting string) {
	c.Helper()
	part := func(v any) string { return base64.RawURLEncoding.EncodeToString(must(json.Marshal(v))) }
	token := part(map[string]any{"alg": "none", "typ": "JWT"}) + "." + part(map[string]any{
		"email": "nobody@example.com", "exp": time.Now().Add(time.Hour).Unix(),
		"https://api.openai.com/auth": map[string]any{"chatgpt_plan_type": "pro", "chatgpt_account_id": "a", "chatgpt_user_id": "u"},
	}) + "." + part("unsigned")
	c.write("auth.json", string(must(json.Marshal(map[string]any{
		"auth_mode": "chatgpt", "last_refresh": time.Now().UTC().Format(time.RFC3339),
		"tokens": map[string]any{"id_token": token, "access_token": token, "refresh_token": "none", "account_id": "a"},
	}))))
	standIn := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"accounts":[{"account_id":"a"}]}`)
	}))
	c.Cleanup(standIn.Close)
	return fmt.Sprintf("chatgpt_base_url = %q\n", standIn.URL+"/backend-api")
}

func TestRealCodexWithEachBlockOfThePage(t *testing.T) {
	prefix := needs(t, os.Getenv("TTFTAP_CODEX"), "the Codex CLI (TTFTAP_CODEX)")
	for name, test := range map[string]struct {
		block, upstream string
		login           bool
	}{
		"a provider of its own with a key":   {"codex", "default", false},
		"a provider of its own with a login": {"codex-chatgpt", "chatgpt", true},
		"the built-in provider with a key":   {"codex-openai", "default", false},
		"the built-in provider with a login": {"codex-openai", "chatgpt", true},
	} {
		t.Run(name, func(t *testing.T) {
			c := connect(t)
			codex, standIn := newClient(t, "CODEX_API_KEY=sk-not-a-key"), ""
			if test.login {
				codex.env, standIn = nil, codex.login()
			}
			codex.codex(prefix, standIn+c.block(test.block, test.upstream))
			rows := c.answered(3)
			checkCodexRows(t, rows, rollout(t, codex.home))
			for _, row := range rows {
				if row["upstream"] != test.upstream {
					t.Errorf("a call went to %s", row["upstream"])
				}
			}
		})
	}
}

func TestThePageAndTheCommandTellCodexTheSame(t *testing.T) {
	c := connect(t)
	if page, command := c.block("codex", "default"), web.CodexBlock(c.base, "http://127.0.0.1/v1"); page != command {
		t.Errorf("%s\nand\n%s", page, command)
	}
}

// fetched installs packages of npm for one test, where clients are run for real:
// each is hundreds of megabytes.
func fetched(t *testing.T, packages ...string) (modules string) {
	t.Helper()
	prefix := t.TempDir()
	bring(t, packages[0], func() error { return install(prefix, packages) })
	return filepath.Join(prefix, "node_modules")
}

// bring has a client installed that make test-clients alone runs.
func bring(t *testing.T, name string, install func() error) {
	t.Helper()
	if !chosen(name) {
		t.Skipf("SKIPPED: %s is run by make test-clients alone", name)
	}
	if err := install(); err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
}

// fetchedPython makes a Python of its own for one test, with a package.
func fetchedPython(t *testing.T, pkg string) (python string) {
	t.Helper()
	home := t.TempDir()
	bring(t, pkg, func() error {
		out, err := exec.Command("sh", "-c", `python3 -m venv "$0" && "$0/bin/pip" install --quiet --retries 0 "$1"`, home, pkg).CombinedOutput()
		if err != nil {
			return fmt.Errorf("pip could not install %s: %w %.200s", pkg, err, out)
		}
		return nil
	})
	return filepath.Join(home, "bin", "python")
}

func TestOldCodexWithTheBlockForChat(t *testing.T) {
	bin := filepath.Join(fetched(t, "@openai/codex@0.94.0"), ".bin", "codex")
	c := connect(t)
	old := newClient(t)
	old.write("config.toml", "model = \"sim-light\"\n"+c.block("codex-chat", "default"))
	old.run(bin, "exec", "--skip-git-repo-check", "Say hi.")
	row := c.answered(1)[0]
	if row["dialect"] != "chat" || row["outcome"] != "ok" || row["first_token_ms"] == "" || !strings.HasPrefix(row["client"], "codex") || row["prompt_tokens"] != "" {
		t.Errorf("row %v", row)
	}
}

func TestCurlWithTheBlockOfThePage(t *testing.T) {
	needs(t, findIn("curl"), "curl")
	c := connect(t)
	if out := newClient(t).run("sh", "-c", c.block("curl", "default")); !strings.Contains(out, "response.completed") {
		t.Errorf("it prints %s", out)
	}
	c.check("responses")
}

func findIn(name string) string {
	path, _ := exec.LookPath(name)
	return path
}

func TestThePythonSDKWithTheBlockOfThePage(t *testing.T) {
	python := fetchedPython(t, "openai=="+openAIPython)
	c := connect(t)
	p := newClient(t)
	p.run(python, p.write("try.py", c.block("python", "default")))
	c.check("responses")
}

func TestTheNodeSDKWithTheBlockOfThePage(t *testing.T) {
	modules := fetched(t, "openai@"+openAINode)
	c := connect(t)
	p := newClient(t)
	if err := os.Symlink(modules, filepath.Join(p.home, "node_modules")); err != nil {
		t.Fatal(err)
	}
	if out := p.run("node", p.write("try.mjs", c.block("node", "default"))); out == "" {
		t.Error("it prints nothing")
	}
	c.check("responses")
}

func TestClaudeCodeWithTheBlockOfThePage(t *testing.T) {
	bin := filepath.Join(fetched(t, "@anthropic-ai/claude-code@"+claudeCode), ".bin", "claude")
	c := connect(t)
	claude := newClient(t, "ANTHROPIC_API_KEY=sk-not-a-key", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "PATH="+filepath.Dir(bin)+":"+os.Getenv("PATH"))
	claude.run("sh", "-c", strings.TrimSpace(c.block("claude", "default"))+` -p "Say hi." --model sim-light`)
	c.check("messages")
}

func TestContinueWithTheBlockOfThePage(t *testing.T) {
	bin := filepath.Join(fetched(t, "@continuedev/cli@"+continueCLI), ".bin", "cn")
	c := connect(t)
	cn := newClient(t, "CONTINUE_TELEMETRY_ENABLED=0")
	cn.write(".continue/config.yaml", c.block("continue", "default"))
	cn.write(".continue/.env", "OPENAI_API_KEY=sk-not-a-key\n")
	cn.run(bin, "-p", "Say hi.")
	c.check("responses")
}
