package main

import (
	"cmp"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// plainPython and plainNode know of their base URL by the variable alone.
const (
	plainPython = `import json, os, urllib.request
request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", headers={"Content-Type": "application/json", "Authorization": "Bearer sk-not-a-key"},
    data=json.dumps({"model": "sim-light", "stream": True, "messages": [{"role": "user", "content": "Say hello."}]}).encode())
with urllib.request.urlopen(request) as answer:
    for line in answer:
        print(line.decode(), end="")
`
	plainNode = `const answer = await fetch(process.env.OPENAI_BASE_URL + "/responses", {
  method: "POST", headers: { "content-type": "application/json", authorization: "Bearer sk-not-a-key" },
  body: JSON.stringify({ model: "sim-light", stream: true, input: "Say hello." }),
});
process.stdout.write(await answer.text());
`
	// With an SDK nothing sets the base URL: the library finds it.
	sdkPython = `from openai import OpenAI
for event in OpenAI().responses.create(model="sim-light", input="Say hello.", stream=True):
    print(event.type)
`
	sdkNode = `import OpenAI from "openai";
for await (const event of await new OpenAI().responses.create({ model: "sim-light", input: "Say hello.", stream: true })) console.log(event.type);
`
	sdkAnthropic = `import Anthropic from "@anthropic-ai/sdk";
const message = { model: "sim-light", max_tokens: 99, messages: [{ role: "user", content: "Say hello." }] };
for await (const event of await new Anthropic().messages.create({ ...message, stream: true })) console.log(event.type);
`
	// claude stands in for Claude Code, which asks by another variable.
	claude = `#!/bin/sh
exec ask ANTHROPIC_BASE_URL /v1/messages
`
)

// An outbound proxy is set, and nobody listens there: what is for this machine must
// not go to it.
func TestProgramsFindTheProxyByTheirEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		program, file, text string
		sdk                 string // package of the library that is needed, "" for none
		want                string // the end of what it prints
	}{
		"Python":                {"python3", "ask.py", plainPython, "", "data: [DONE]"},
		"Node":                  {"node", "ask.mjs", plainNode, "", `"type":"response.completed"}`},
		"a stand-in for Claude": {"sh", "claude", claude, "", `{"type":"message_stop"}`},
		"the SDK for Python":    {"python3", "sdk.py", sdkPython, "openai==" + openAIPython, "response.completed"},
		"the SDK for Node":      {"node", "sdk.mjs", sdkNode, "openai@" + openAINode, "response.completed"},
		"the SDK of Anthropic":  {"node", "sdk.mjs", sdkAnthropic, "@anthropic-ai/sdk@" + anthropicJS, "message_stop"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, dir := needs(t, findIn(c.program), c.program), t.TempDir()
			switch {
			case c.sdk == "":
			case c.program == "python3":
				program = fetchedPython(t, c.sdk)
			default:
				if err := os.Symlink(fetched(t, c.sdk), filepath.Join(dir, "node_modules")); err != nil {
					t.Fatal(err)
				}
			}
			path := filepath.Join(dir, c.file)
			if err := os.WriteFile(path, []byte(c.text), 0o700); err != nil {
				t.Fatal(err)
			}
			upstream := simulated(t)
			b := below(t, "--json", "--", program, path)
			b.Dir = dir
			b.Env = append(b.Env, "OPENAI_BASE_URL="+upstream, "ANTHROPIC_BASE_URL="+strings.TrimSuffix(upstream, "/v1"), "OPENAI_API_KEY=sk-not-a-key", "ANTHROPIC_API_KEY=sk-not-a-key",
				"HTTP_PROXY=http://127.0.0.1:9", "http_proxy=http://127.0.0.1:9", "NODE_USE_ENV_PROXY=1", "NO_PROXY=", "no_proxy=")
			b.ends(t, 0)
			if out := strings.TrimSpace(b.out.String()); !strings.HasSuffix(out, c.want) {
				t.Errorf("it printed %s", out)
			}
			if s := b.told(t); s.Requests != 1 || s.Models[0].Model != "sim-light" {
				t.Errorf("told %+v", s)
			}
		})
	}
}

func TestRealCodexBelowRun(t *testing.T) {
	prefix := needs(t, os.Getenv("TTFTAP_CODEX"), "the Codex CLI (TTFTAP_CODEX)")
	for name, c := range map[string]struct {
		config string // with UPSTREAM for the upstream
		flags  []string
		path   string // of the upstream, where it is that of a login
	}{
		"a provider of its own":         {config: "model_provider = \"own\"\n[model_providers.own]\nname = \"own\"\nbase_url = \"UPSTREAM\"\nenv_key = \"OPENAI_API_KEY\"\n"},
		"the built-in one":              {config: "openai_base_url = \"UPSTREAM\"\n"},
		"the same, WebSockets refused":  {config: "openai_base_url = \"UPSTREAM\"\n", flags: []string{"--websocket", "refuse"}},
		"the built-in one with a login": {config: "openai_base_url = \"UPSTREAM\"\n", path: "/backend-api/codex"},
		"an upstream by the flag":       {flags: []string{"--upstream", "UPSTREAM"}},
	} {
		t.Run(name, func(t *testing.T) {
			upstream, home := serveModel(t, conduct{}).URL+cmp.Or(c.path, "/v1"), newClient(t)
			insert := strings.NewReplacer("UPSTREAM", upstream)
			config, key := insert.Replace(c.config), "CODEX_API_KEY=sk-not-a-key"
			if c.path != "" {
				config, key = home.login()+config, "CODEX_API_KEY="
			}
			home.write("config.toml", quietCodex+config)
			var flags []string
			for _, f := range c.flags {
				flags = append(flags, insert.Replace(f))
			}
			home.env = []string{key}
			home.codexBelow(prefix, flags)
		})
	}
}

// Beside models, Codex asks such a server what it is and what it has, at its root.
func TestRealCodexWithAModelServerOfThisMachine(t *testing.T) {
	prefix := needs(t, os.Getenv("TTFTAP_CODEX"), "the Codex CLI (TTFTAP_CODEX)")
	server := http.NewServeMux()
	var asked atomic.Int64
	for path, answer := range map[string]string{"GET /api/version": `{"version":"0.99.0"}`, "GET /api/tags": `{"models":[{"name":"sim-codex"}]}`} {
		server.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			io.WriteString(w, answer)
		})
	}
	server.Handle("/", serveModel(t, conduct{}).Config.Handler)
	s := httptest.NewServer(server)
	t.Cleanup(s.Close)
	home := newClient(t, "CODEX_OSS_BASE_URL="+s.URL+"/v1")
	home.write("config.toml", quietCodex)
	home.codexBelow(prefix, nil, "--oss", "--local-provider", "ollama", "-m", "sim-codex")
	if asked.Load() == 0 {
		t.Error("it asked for models alone")
	}
}

const quietCodex = `model = "sim-codex"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
analytics.enabled = false
`

// codexBelow has Codex do a task, and compares what is told of it with what Codex
// wrote down itself.
func (c *client) codexBelow(prefix string, flags []string, args ...string) {
	c.Helper()
	words := append(append([]string{"--json"}, flags...), "--", filepath.Join(prefix, "node_modules", ".bin", "codex"), "exec", "--skip-git-repo-check",
		"--dangerously-bypass-approvals-and-sandbox")
	b := below(c, append(append(words, args...), "Run the shell command 'echo hello' and then say that you are done.")...)
	b.Dir = c.TempDir()
	b.Env = append(append(b.Env, "HOME="+c.home, "CODEX_HOME="+c.home, "OPENAI_API_KEY=sk-not-a-key", "RUST_LOG=error"), c.env...)
	b.ends(c, 0)
	records := rollout(c.T, c.home)
	if s := b.told(c); len(records) < 2 || s.Command != "codex" || s.Models[0].Model != "sim-codex" || s.Models[0].Requests != len(records) {
		c.Errorf("Codex made %d calls; told %+v", len(records), s)
	}
}

func TestClaudeCodeBelowRun(t *testing.T) {
	bin := filepath.Join(fetched(t, "@anthropic-ai/claude-code@"+claudeCode), ".bin", "claude")
	home, upstream := newClient(t), simulated(t)
	b := below(t, "--json", "--", bin, "-p", "Say hello.", "--model", "sim-light")
	b.Dir = t.TempDir()
	b.Env = append(b.Env, "HOME="+home.home, "ANTHROPIC_BASE_URL="+strings.TrimSuffix(upstream, "/v1"), "ANTHROPIC_API_KEY=sk-not-a-key",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "IS_SANDBOX=1")
	b.ends(t, 0)
	if s := b.told(t); s.Requests == 0 || s.Models[0].Upstream != anthropicName {
		t.Errorf("told %+v", s)
	}
}
