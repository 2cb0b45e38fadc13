package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy"
)

// bare is an environment without anything that says where requests go.
func bare(t *testing.T) (home string) {
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_BASE_URL", "CODEX_API_KEY", "CODEX_OSS_BASE_URL", "CODEX_OSS_PORT",
		"HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"} {
		t.Setenv(name, "")
	}
	home = t.TempDir()
	t.Setenv("CODEX_HOME", home)
	return home
}

func shown(upstreams []proxy.Upstream) []string {
	var list []string
	for _, u := range upstreams {
		list = append(list, u.Name+"="+u.URL.String())
	}
	return list
}

func TestRequestsGoWhereTheyWouldHaveGone(t *testing.T) {
	const base = "http://127.0.0.1:1"
	for name, c := range map[string]struct {
		env   map[string]string
		flags []string
		want  []string // upstreams
		told  string   // ANTHROPIC_BASE_URL
	}{
		"nothing is said": {want: []string{"default=https://api.openai.com/v1", "anthropic=https://api.anthropic.com"}, told: base + "/to/anthropic"},
		"by variables": {
			env:  map[string]string{"OPENAI_BASE_URL": "https://a.example/v1/", "OPENAI_API_BASE": "https://b.example", "ANTHROPIC_BASE_URL": "https://c.example/api"},
			want: []string{"default=https://a.example/v1", "anthropic=https://c.example/api"}, told: base + "/to/anthropic"},
		"by the older variable": {
			env:  map[string]string{"OPENAI_API_BASE": "https://b.example"},
			want: []string{"default=https://b.example", "anthropic=https://api.anthropic.com"}, told: base + "/to/anthropic"},
		"a flag takes all": {
			env:   map[string]string{"OPENAI_BASE_URL": "https://a.example/v1", "ANTHROPIC_BASE_URL": "https://c.example"},
			flags: []string{"https://d.example/v1"}, want: []string{"default=https://d.example/v1"}, told: base},
		"a flag for one takes that": {
			env:   map[string]string{"ANTHROPIC_BASE_URL": "https://c.example"},
			flags: []string{"anthropic=https://d.example"},
			want:  []string{"default=https://api.openai.com/v1", "anthropic=https://d.example"}, told: base + "/to/anthropic"},
		"flags for both": {
			flags: []string{"anthropic=https://d.example", "https://e.example"},
			want:  []string{"default=https://e.example", "anthropic=https://d.example"}, told: base + "/to/anthropic"},
		"another beside them": {
			flags: []string{"local=http://localhost:8080/v1"},
			want:  []string{"default=https://api.openai.com/v1", "local=http://localhost:8080/v1", "anthropic=https://api.anthropic.com"}, told: base + "/to/anthropic"},
	} {
		t.Run(name, func(t *testing.T) {
			bare(t)
			for name, value := range c.env {
				t.Setenv(name, value)
			}
			r, err := (&runCommand{Command: []string{"python"}, Upstream: c.flags}).route("python")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, shown(r.upstreams)); diff != "" {
				t.Error(diff)
			}
			want := []string{"OPENAI_BASE_URL=" + base, "OPENAI_API_BASE=" + base, "ANTHROPIC_BASE_URL=" + c.told}
			if diff := cmp.Diff(want, r.environment(base)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOutboundProxyIsKeptFromLoopback(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		want string // NO_PROXY; "" for untouched
	}{
		"none":                   {map[string]string{"NO_PROXY": "a.example"}, ""},
		"for HTTPS alone":        {map[string]string{"HTTPS_PROXY": "http://p.example"}, ""},
		"without exceptions":     {map[string]string{"HTTP_PROXY": "http://p.example"}, "localhost,127.0.0.1,::1"},
		"with exceptions":        {map[string]string{"http_proxy": "http://p.example", "NO_PROXY": "a.example"}, "a.example,localhost,127.0.0.1,::1"},
		"for all, small first":   {map[string]string{"ALL_PROXY": "http://p.example", "NO_PROXY": "a.example", "no_proxy": "b.example"}, "b.example,localhost,127.0.0.1,::1"},
		"everything is excepted": {map[string]string{"HTTP_PROXY": "http://p.example", "NO_PROXY": "*"}, "*"},
	} {
		t.Run(name, func(t *testing.T) {
			bare(t)
			for name, value := range c.env {
				t.Setenv(name, value)
			}
			var want []string
			if c.want != "" {
				want = []string{"NO_PROXY=" + c.want, "no_proxy=" + c.want}
			}
			if diff := cmp.Diff(want, aroundOutboundProxy()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

const ownProvider = "model_provider = \"own\"\n[model_providers.own]\nname = \"own\"\nbase_url = \"https://own.example/v1\"\n"

func TestCodexIsToldByTheKeyOfItsProvider(t *testing.T) {
	const ownKey = `model_providers.own.base_url="BASE"`
	for name, c := range map[string]struct {
		files    map[string]string // in the folder of Codex
		env      map[string]string
		version  string
		args     string
		upstream string
		want     string // arguments
	}{
		"no configuration":        {upstream: openAI, args: "exec hello", want: `-c openai_base_url="BASE" exec hello`},
		"a provider of its own":   {files: map[string]string{"config.toml": ownProvider}, upstream: "https://own.example/v1", args: "exec hello", want: "-c " + ownKey + " exec hello"},
		"a mark of byte order":    {files: map[string]string{"config.toml": "\ufeff" + ownProvider}, upstream: "https://own.example/v1", want: "-c " + ownKey},
		"the base URL is set":     {files: map[string]string{"config.toml": `openai_base_url = "https://set.example/v1"`}, upstream: "https://set.example/v1", want: `-c openai_base_url="BASE"`},
		"a login to ChatGPT":      {files: map[string]string{"auth.json": `{"auth_mode":"chatgpt","tokens":{"access_token":"x"}}`}, upstream: chatGPT, want: `-c openai_base_url="BASE"`},
		"an older login":          {files: map[string]string{"auth.json": `{"OPENAI_API_KEY":null,"tokens":{"access_token":"x"}}`}, upstream: chatGPT, want: `-c openai_base_url="BASE"`},
		"a key":                   {files: map[string]string{"auth.json": `{"auth_mode":"apikey","OPENAI_API_KEY":"x"}`}, upstream: openAI, want: `-c openai_base_url="BASE"`},
		"an older key":            {files: map[string]string{"auth.json": `{"OPENAI_API_KEY":"x","tokens":{}}`}, upstream: openAI, want: `-c openai_base_url="BASE"`},
		"a key beside a login":    {files: map[string]string{"auth.json": `{"auth_mode":"chatgpt"}`}, env: map[string]string{"CODEX_API_KEY": "x"}, upstream: openAI, want: `-c openai_base_url="BASE"`},
		"the variable, old":       {env: map[string]string{"OPENAI_BASE_URL": "https://var.example"}, version: "codex-cli 0.104.0", upstream: "https://var.example", want: `-c openai_base_url="BASE"`},
		"the variable, new":       {env: map[string]string{"OPENAI_BASE_URL": "https://var.example"}, version: "codex-cli 0.125.0", upstream: openAI, want: `-c openai_base_url="BASE"`},
		"the variable, no number": {env: map[string]string{"OPENAI_BASE_URL": "https://var.example"}, version: "nonsense", upstream: openAI, want: `-c openai_base_url="BASE"`},
		"a provider without URL": {files: map[string]string{"config.toml": "model_provider = \"own\"\n[model_providers.own]\nname = \"own\"\n"},
			upstream: openAI, want: "-c " + ownKey},
		"chosen by the arguments": {files: map[string]string{"config.toml": strings.Replace(ownProvider, "model_provider =", "old =", 1)}, args: "exec -c model_provider=own hello",
			upstream: "https://own.example/v1", want: "-c " + ownKey + " exec -c model_provider=own hello"},
		"set by the arguments": {args: `exec --config=openai_base_url="https://arg.example/v1" -m x hello -- -c openai_base_url=y`,
			upstream: "https://arg.example/v1", want: `-c openai_base_url="BASE" exec -m x hello -- -c openai_base_url=y`},
		"set without quotes": {args: `-copenai_base_url=https://arg.example/v1 hello`, upstream: "https://arg.example/v1", want: `-c openai_base_url="BASE" hello`},
		"a profile's file": {files: map[string]string{"config.toml": ownProvider, "work.config.toml": "model_providers.own.base_url = \"https://work.example/v1\"\n"},
			args: "-p work", upstream: "https://work.example/v1", want: "-c " + ownKey + " -p work"},
		"a profile's table": {files: map[string]string{"config.toml": "profile = \"work\"\n[profiles.work]\n" + strings.Replace(ownProvider, "[", "\n[", 1)},
			upstream: "https://own.example/v1", want: "-c " + ownKey},
		"a model server here":                {args: "--oss --local-provider ollama hello", upstream: "http://localhost:11434", want: "--oss --local-provider ollama hello"},
		"the same by the configuration":      {files: map[string]string{"config.toml": `oss_provider = "lmstudio"`}, args: "exec --oss", upstream: "http://localhost:1234", want: "exec --oss"},
		"the same elsewhere":                 {env: map[string]string{"CODEX_OSS_BASE_URL": "http://gpu.example:9/v1/"}, args: "--oss --local-provider=ollama", upstream: "http://gpu.example:9", want: "--oss --local-provider=ollama"},
		"all is a prompt behind two hyphens": {args: "exec -- --oss -c model_provider=ollama", upstream: openAI, want: `-c openai_base_url="BASE" exec -- --oss -c model_provider=ollama`},
	} {
		t.Run(name, func(t *testing.T) {
			home := bare(t)
			for file, text := range c.files {
				if err := os.WriteFile(filepath.Join(home, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for name, value := range c.env {
				t.Setenv(name, value)
			}
			path := filepath.Join(home, "codex")
			if err := os.WriteFile(path, []byte("#!/bin/sh\necho "+c.version+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			command := append([]string{path}, strings.Fields(c.args)...)
			r, err := (&runCommand{Command: command}).route(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.upstreams[0].URL.String(); got != c.upstream {
				t.Errorf("to %s, want %s", got, c.upstream)
			}
			got := r.arguments(command, "BASE")
			if diff := cmp.Diff(c.want, strings.Join(got[1:], " ")); diff != "" || got[0] != path {
				t.Error(diff)
			}
			byVariable := slices.Contains(r.environment("BASE"), "CODEX_OSS_BASE_URL=BASE/v1")
			if byVariable == strings.Contains(c.want, "BASE") {
				t.Errorf("told by a variable: %v", byVariable)
			}
		})
	}
}

func TestCodexThatCannotBeToldIsSaid(t *testing.T) {
	for name, c := range map[string]struct{ config, args, want string }{
		"a signer":                {`model_provider = "amazon-bedrock"`, "", "signs its requests"},
		"another":                 {"model_provider = \"x\"\n[model_providers.x.aws]\nprofile = \"y\"", "", "signs its requests"},
		"a dot":                   {"model_provider = \"a.b\"\n[model_providers.\"a.b\"]\nname = \"x\"", "", "without a dot"},
		"no local provider":       {"", "--oss", "--local-provider"},
		"a broken file":           {"model = ", "", "config.toml"},
		"a base URL that is none": {`openai_base_url = "own.example"`, "", "the base URL in Codex' configuration: "},
	} {
		t.Run(name, func(t *testing.T) {
			home := bare(t)
			if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(c.config), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := (&runCommand{Command: append([]string{"codex"}, strings.Fields(c.args)...)}).route("codex")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestCodexIsKnownByItsName(t *testing.T) {
	for name, want := range map[string]bool{
		"codex": true, "/opt/bin/codex": true, "codex.exe": true, "./codex.js": true, "codex.cmd": true,
		"codex-old": false, "mycodex": false, "codex.txt": false, "npx": false, "/codex/sh": false,
	} {
		if isCodex(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
