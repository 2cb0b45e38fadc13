package main

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/doctor"
)

const chatGPT = "https://chatgpt.com/backend-api/codex"

// localPorts are the model servers of this machine that Codex knows.
var localPorts = map[string]string{"ollama": "11434", "lmstudio": "1234"}

// codexRoute is where Codex would send its requests, and how that is changed.
type codexRoute struct {
	upstream setting
	key      string // of its configuration; "" where a variable does it
	local    bool   // to a model server of this machine, which it asks for other things too
}

// routeOfCodex finds out where Codex would send its requests with these arguments.
func routeOfCodex(path string, args []string) (*codexRoute, error) {
	flags := readCodexFlags(args)
	config, err := readCodexConfig(flags)
	if err != nil {
		return nil, usagef("run: %w", err)
	}
	provider := config.text("model_provider")
	if flags.oss {
		provider = cmp.Or(flags.localProvider, config.text("oss_provider"))
	}
	table := config.at("model_providers", provider)
	switch {
	case flags.oss && provider == "":
		return nil, usagef("run: say which model server codex --oss is to use: --local-provider ollama or lmstudio")
	case provider == "amazon-bedrock" || config.at("model_providers", provider, "aws") != nil:
		return nil, usagef("run: Codex' provider %s signs its requests for the host that they go to: they cannot pass a proxy", provider)
	case localPorts[provider] != "":
		return routeOfLocal(provider), nil
	case table == nil:
		return &codexRoute{key: "openai_base_url", upstream: codexUpstream(path, config.text("openai_base_url"))}, nil
	case strings.Contains(provider, "."):
		return nil, usagef("run: Codex' provider %q cannot be set by -c: give it a name without a dot", provider)
	}
	key := "model_providers." + provider + ".base_url"
	return &codexRoute{key: key, upstream: codexUpstream(path, config.text("model_providers", provider, "base_url"))}, nil
}

// routeOfLocal: what Codex asks such a server for stands at its root, or below /v1.
func routeOfLocal(provider string) *codexRoute {
	base := cmp.Or(os.Getenv("CODEX_OSS_BASE_URL"), "http://localhost:"+cmp.Or(os.Getenv("CODEX_OSS_PORT"), localPorts[provider]))
	base = strings.TrimSuffix(strings.TrimSuffix(base, "/"), "/v1")
	return &codexRoute{local: true, upstream: setting{"CODEX_OSS_BASE_URL", base}}
}

// codexUpstream is the base URL that is configured, or else what Codex uses where
// none is.
func codexUpstream(path, configured string) setting {
	if configured != "" {
		return setting{"the base URL in Codex' configuration", configured}
	}
	if url := os.Getenv("OPENAI_BASE_URL"); url != "" && heedsVariable(path) {
		return setting{"OPENAI_BASE_URL", url}
	}
	if os.Getenv("CODEX_API_KEY") == "" && hasChatGPTLogin() {
		return setting{"", chatGPT}
	}
	return setting{"", openAI}
}

// versionPatience is how long Codex may take to tell its version.
const versionPatience = 10 * time.Second

// versionOfCodex is what a Codex says that it is, "" where it does not or is not there.
func versionOfCodex(ctx context.Context, command string) string {
	ctx, cancel := context.WithTimeout(ctx, versionPatience)
	defer cancel()
	said, err := exec.CommandContext(ctx, command, "--version").Output()
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
	return line
}

// heedsVariable says whether a Codex may take OPENAI_BASE_URL.
func heedsVariable(path string) bool {
	codex := doctor.Codex{Version: versionOfCodex(context.Background(), path)}
	return codex.HeedsBaseEnv()
}

// hasChatGPTLogin says whether Codex would use a login to ChatGPT. Of the file only
// the kind of the credential is looked at.
func hasChatGPTLogin() bool {
	text, err := os.ReadFile(filepath.Join(codexHome(), "auth.json"))
	if err != nil {
		return false
	}
	var login struct {
		Mode   string `json:"auth_mode"`
		Key    any    `json:"OPENAI_API_KEY"`
		Tokens any    `json:"tokens"`
	}
	_ = json.Unmarshal(text, &login) // what is no JSON tells of no login
	return strings.HasPrefix(login.Mode, "chatgpt") || login.Mode == "" && login.Key == nil && login.Tokens != nil
}

// arguments are those of Codex, changed so that it sends its requests to base.
func (r *codexRoute) arguments(args []string, base string) []string {
	if r.key == "" {
		return args
	}
	return withOverride(args, r.key, strconv.Quote(base))
}
