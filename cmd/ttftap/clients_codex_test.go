package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// codexVersion is a version of Codex and what of it must be known to set it up.
type codexVersion struct {
	version string
	chat    bool // it speaks the Chat API
	setting bool // openai_base_url, else OPENAI_BASE_URL
	sockets bool // the built-in provider tries a WebSocket
	all     bool // all that there is to be tried
	newest  bool // of all on that day
}

// pinnedCodexes are the versions that are run, the oldest first.
var pinnedCodexes = []codexVersion{
	{version: "0.40.0", chat: true}, {version: "0.80.0", chat: true}, {version: "0.94.0", chat: true},
	{version: "0.104.0"}, {version: "0.115.0", setting: true}, {version: "0.135.0", setting: true, sockets: true},
	{version: "0.144.6", setting: true, sockets: true}, {version: "0.160.0", setting: true, sockets: true},
	{version: "0.171.0", setting: true, sockets: true, all: true},
}

// codexes are the pinned versions, and the newest of all where that is another.
func codexes(t *testing.T) []codexVersion {
	t.Helper()
	list := slices.Clone(pinnedCodexes)
	out, err := exec.Command("npm", "view", "@openai/codex", "version").Output()
	if newest := strings.TrimSpace(string(out)); err != nil || newest == "" {
		t.Errorf("which Codex is the newest: %v", err)
	} else if newest != list[len(list)-1].version {
		list = append(list, codexVersion{version: newest, setting: true, sockets: true, all: true})
	}
	list[len(list)-1].newest = true
	return list
}

func (v codexVersion) String() string {
	if v.newest {
		return "Codex " + v.version + " (the newest)"
	}
	return "Codex " + v.version
}

func (v codexVersion) trials() []trial {
	list := []trial{{name: "a task, provider of its own", run: v.task(v.own(""), "sim-codex")}}
	refuse := []string(nil)
	if v.sockets {
		refuse = []string{"--websocket", "refuse"}
		list = append(list, trial{name: "a task, built-in provider, WebSocket", flags: []string{"--websocket", "observe"}, run: v.task(v.builtIn(), "sim-codex")})
	}
	list = append(list, trial{name: "a task, built-in provider", flags: refuse, model: conduct{sockets: 426}, run: v.task(v.builtIn(), "sim-codex")})
	if !v.chat {
		list = append(list, trial{name: "gzipped answers", model: conduct{answers: "gzip"}, run: v.task(v.own(""), "sim-codex")})
	}
	if v.all {
		list = append(list, v.rare()...)
	}
	return list
}

// rare is what only the newest versions are made to do.
func (v codexVersion) rare() []trial {
	own, plain := v.own(""), "sim-plain"
	once := v.own("request_max_retries = 1\nstream_max_retries = 1\n")
	return []trial{
		{name: "answers in zstd", model: conduct{answers: "zstd"}, run: v.task(own, "sim-codex")},
		{name: "ChatGPT login, bodies in zstd", base: "/backend-api/codex", flags: []string{"--websocket", "refuse"}, model: conduct{sockets: 426}, run: v.task(v.login, "sim-codex")},
		{name: "WebSocket refused by the model with 404", flags: []string{"--websocket", "observe"}, model: conduct{sockets: 404},
			differs: "426 at once, where Codex alone tries for seconds", run: v.task(v.builtIn(), plain), rows: upgradeKept("404")},
		{name: "resume", run: v.twice(own, "")},
		{name: "compaction, provider of its own", run: v.twice(own, "model_auto_compact_token_limit = 300\n"), rows: compacted},
		{name: "compaction, built-in provider", flags: []string{"--websocket", "refuse"}, model: conduct{sockets: 426},
			run: v.twice(v.builtIn(), "model_auto_compact_token_limit = 300\n"), rows: compacted},
		{name: "429 without retry-after", model: conduct{mishaps: []string{"status=429"}}, run: v.task(own, plain), outcomes: "upstream_error"},
		{name: "429 with retry-after", model: conduct{mishaps: []string{"status=429,retry_after=1s"}}, run: v.task(own, plain), outcomes: "upstream_error ok", rows: oneGroup},
		{name: "500 twice", model: conduct{mishaps: []string{"status=500", "status=500"}}, run: v.task(own, plain), outcomes: "upstream_error ok", rows: oneGroup},
		{name: "stream cut twice", model: conduct{mishaps: []string{cutEarly, cutEarly}}, run: v.task(own, plain), outcomes: "upstream_cut ok", rows: oneGroup},
		{name: "upstream down", model: conduct{down: true},
			differs: "502 and an error, where Codex alone waits for the network", run: v.task(once, plain), outcomes: "unreachable", rows: oneGroup},
		{name: "thread title beside the first turn", differs: "rows right; two sessions", run: v.terminal(own, plain), rows: twoSessions},
	}
}

// cutEarly cuts a stream within its first item: Codex keeps whole ones, and then
// asks for something else.
const cutEarly = "mishap=cut,reasoning=none"

// own is a provider of its own.
func (v codexVersion) own(more string) func(*ride) string {
	wire := "responses"
	if v.chat {
		wire = "chat"
	}
	return func(r *ride) string {
		return fmt.Sprintf("model_provider = \"own\"\n[model_providers.own]\nname = \"own\"\nbase_url = %q\nenv_key = \"OPENAI_API_KEY\"\nwire_api = %q\n%s",
			r.base+"/v1", wire, more)
	}
}

// builtIn is the provider that Codex brings along.
func (v codexVersion) builtIn() func(*ride) string {
	return func(r *ride) string {
		r.env = append(r.env, "CODEX_API_KEY=sk-not-a-key")
		if v.setting {
			return fmt.Sprintf("openai_base_url = %q\n", r.base+"/v1")
		}
		r.env = append(r.env, "OPENAI_BASE_URL="+r.base+"/v1")
		r.write("auth.json", `{"OPENAI_API_KEY":"sk-not-a-key"}`)
		return ""
	}
}

// login is the built-in provider with a login to ChatGPT.
func (v codexVersion) login(r *ride) string {
	return r.client.login() + fmt.Sprintf("openai_base_url = %q\n", r.base)
}

const taskOfCodex = "Run the shell command 'echo hello' and then say that you are done."

// task has Codex do one task.
func (v codexVersion) task(provider func(*ride) string, name string) func(*ride) string {
	return func(r *ride) string {
		r.settle(name, "", provider)
		return r.exec(taskOfCodex)
	}
}

// twice has Codex do something, and then go on with it.
func (v codexVersion) twice(provider func(*ride) string, top string) func(*ride) string {
	return func(r *ride) string {
		r.settle("sim-plain", top, provider)
		return r.exec("Say hello.") + r.exec("resume", "--last", "Say it again.")
	}
}

func (r *ride) settle(name, top string, provider func(*ride) string) {
	r.Helper()
	r.write("config.toml", fmt.Sprintf("model = %q\napproval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\ncheck_for_update_on_startup = false\n%s%s\n"+
		"[analytics]\nenabled = false\n[projects.%q]\ntrust_level = \"trusted\"\n", name, top, provider(r), filepath.Join(r.home, "work")))
}

func (r *ride) codex() string { return filepath.Join(r.prefix, "node_modules", ".bin", "codex") }

// exec runs Codex without a terminal; it may fail, and says so.
func (r *ride) exec(args ...string) string {
	r.Helper()
	flags := []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"}
	return r.try(r.codex(), append(flags, args...)...)
}

// try runs a program in the ride's folder and returns what it printed and its exit
// status.
func (r *ride) try(name string, args ...string) string {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Dir, cmd.WaitDelay, cmd.Env = &out, &log, filepath.Join(r.home, "work"), time.Second, r.environment()
	if err := cmd.Run(); err != nil {
		r.Cleanup(func() {
			if r.Failed() {
				r.Logf("%s: %v: %s%.3000s", filepath.Base(name), err, out.String(), log.String())
			}
		})
	}
	return out.String() + "exit " + strconv.Itoa(cmd.ProcessState.ExitCode()) + "\n"
}

func (r *ride) environment() []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.home, "CODEX_HOME=" + r.home, "TERM=xterm", "LANG=C.UTF-8",
		"OPENAI_API_KEY=sk-not-a-key", "ANTHROPIC_API_KEY=sk-not-a-key", "NO_PROXY=localhost,127.0.0.1", "BASE=" + r.base, "RUST_LOG=error"}, r.env...)
}

// terminal runs Codex as a person would, in a terminal, until it has answered and
// made a title for the thread.
func (v codexVersion) terminal(provider func(*ride) string, name string) func(*ride) string {
	return func(r *ride) string {
		tool := findIn("script")
		if tool == "" {
			r.Skip("SKIPPED: there is no script to make a terminal")
		}
		r.settle(name, "", provider)
		ctx, cancel := context.WithTimeout(r.Context(), 2*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, tool, "-qefc", `stty rows 40 cols 120; exec "$CODEX" 'Say hello.'`, os.DevNull)
		cmd.Dir, cmd.Env, cmd.WaitDelay = filepath.Join(r.home, "work"), append(r.environment(), "CODEX="+r.codex()), time.Second
		in, screen := must(cmd.StdinPipe()), must(cmd.StdoutPipe())
		if err := cmd.Start(); err != nil {
			r.Fatal(err)
		}
		r.Cleanup(r.endDaemon)
		go r.model.await(ctx, 2, cancel)
		answerQueries(in, screen)
		cmd.Wait()
		return ""
	}
}

// endDaemon ends the server that Codex leaves behind in a terminal, and what looks
// after that: both outlive Codex.
func (r *ride) endDaemon() {
	stop := exec.Command(r.codex(), "app-server", "daemon", "stop")
	stop.Env = r.environment()
	_ = stop.Run() // there may be none
	keepers, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, exe := range keepers {
		if program, err := os.Readlink(exe); err == nil && strings.HasPrefix(program, r.home) {
			keeper := must(os.FindProcess(must(strconv.Atoi(filepath.Base(filepath.Dir(exe))))))
			_ = keeper.Kill()
		}
	}
}

// answerQueries is the part of a terminal that Codex asks something of.
func answerQueries(in io.Writer, screen io.Reader) {
	p := make([]byte, 16<<10)
	for {
		n, err := screen.Read(p)
		for query, answer := range map[string]string{"\x1b[6n": "\x1b[1;1R", "\x1b[c": "\x1b[?1;2c"} {
			if bytes.Contains(p[:n], []byte(query)) {
				io.WriteString(in, answer)
			}
		}
		if err != nil {
			return
		}
	}
}

// oneGroup: the attempts are one group of retries, numbered.
func oneGroup(t testing.TB, rows []row) {
	t.Helper()
	for i, x := range rows {
		if x["retry_group"] == "" || x["retry_group"] != rows[0]["retry_group"] || x["attempt"] != strconv.Itoa(i+1) {
			t.Errorf("attempt %d is %q of group %q", i+1, x["attempt"], x["retry_group"])
		}
	}
}

func compacted(t testing.TB, rows []row) {
	t.Helper()
	kinds := map[string]int{}
	for _, x := range rows {
		kinds[x["request_kind"]]++
	}
	if kinds["compaction"] != 1 || kinds["turn"] < 2 {
		t.Errorf("kinds of requests: %v", kinds)
	}
}

func twoSessions(t testing.TB, rows []row) {
	t.Helper()
	sessions := map[string]bool{}
	for _, x := range rows {
		if x["method"] == "POST" {
			sessions[x["session_id"]] = true
		}
	}
	if len(sessions) != 2 {
		t.Errorf("%d sessions of %d rows", len(sessions), len(rows))
	}
}

// upgradeKept: the row of the upgrade has the upstream's own status.
func upgradeKept(status string) func(testing.TB, []row) {
	return func(t testing.TB, rows []row) {
		t.Helper()
		for _, x := range rows {
			if x["method"] == "GET" && x["status"] == status {
				return
			}
		}
		t.Errorf("no upgrade was answered %s by the upstream", status)
	}
}
