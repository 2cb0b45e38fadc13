package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// Codex is what is on this machine of Codex.
type Codex struct {
	Version  string  // as `codex --version` says; "": it is not on the path
	Config   *Config // the user's; nil where there is none
	Project  *Config // that of the folder that one works in; nil where there is none
	Legacy   string  // a config.json that only Codex of before config.toml read; "" where there is none
	LoggedIn bool    // it keeps a login of its own
}

// ReadCodex reads the config of Codex in its home folder, or the one at path
// where that is not empty, and looks for a project's config from dir on upwards.
func ReadCodex(home, path, dir string) (Codex, error) {
	var x Codex
	own := filepath.Join(home, "config.toml")
	if path == "" {
		path = own
	}
	var err, projectErr error
	x.Config, err = readConfig(path)
	x.Project, projectErr = findProject(dir, own)
	if legacy := filepath.Join(home, "config.json"); exists(legacy) {
		x.Legacy = legacy
	}
	x.LoggedIn = exists(filepath.Join(home, "auth.json"))
	return x, errors.Join(err, projectErr)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// findProject looks for a project's config, which is none where it is the
// user's own.
func findProject(dir, own string) (*Config, error) {
	for {
		path := filepath.Join(dir, ".codex", "config.toml")
		if exists(path) && !sameFile(path, own) {
			return readConfig(path)
		}
		up := filepath.Dir(dir)
		if up == dir || exists(filepath.Join(dir, ".git")) {
			return nil, nil
		}
		dir = up
	}
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, other := os.Stat(b)
	return err == nil && other == nil && os.SameFile(x, y)
}

// release is a version of Codex. All that matters here are minor versions of 0.
type release int

// The releases by which Codex changed, as far as they were tried: what changed
// between two of them did so somewhere in between.
const (
	lastWithChat      release = 94
	firstWithoutChat  release = 98
	lastWithoutBase   release = 104 // openai_base_url has no effect
	lastWithEnv       release = 115 // OPENAI_BASE_URL counts
	firstWithoutEnv   release = 125
	firstWithSocket   release = 125 // the built-in provider tries a WebSocket
	firstWithoutNamed release = 171 // profile = "..." is an error
	latest            release = 1 << 20
)

var releaseIn = regexp.MustCompile(`\b(\d+)\.(\d+)`)

// release is the one that is on the path, the latest where none is.
func (x *Codex) release() release {
	m := releaseIn.FindStringSubmatch(x.Version)
	if m == nil || m[1] != "0" {
		return latest
	}
	minor, err := strconv.Atoi(m[2])
	if err != nil {
		return latest
	}
	return release(minor)
}

// HeedsBaseEnv says whether it may take its base URL from OPENAI_BASE_URL, as older
// ones did.
func (x *Codex) HeedsBaseEnv() bool { return x.release() < firstWithoutEnv }

// label names Codex as it is here.
func (x *Codex) label() string {
	if x.release() == latest {
		return "Codex"
	}
	return fmt.Sprintf("Codex 0.%d", x.release())
}

// builtIn is the provider that Codex uses where the config names none.
const builtIn = "openai"

// reserved are the providers that Codex brings along and lets nobody change.
var reserved = []string{builtIn, "ollama", "lmstudio"}

// isBroughtAlong says whether Codex knows a provider by itself.
func isBroughtAlong(id string) bool { return id == "amazon-bedrock" || slices.Contains(reserved, id) }

func (x *Codex) top(name string) *entry { return x.Config.find(name) }

// providerID is the provider that the config chooses.
func (x *Codex) providerID() string {
	if e := x.top("model_provider"); e != nil {
		return e.value
	}
	return builtIn
}

// provided is a setting of the chosen provider, nil where it has none.
func (x *Codex) provided(name string) *entry {
	return x.Config.find("model_providers", x.providerID(), name)
}

// isReadable says whether there is a config, and it is one.
func (x *Codex) isReadable() bool { return x.Config != nil && x.Config.broken == "" }

// ownKeys are the settings by which a provider of one's own gets its key, beside
// env_key.
var ownKeys = []string{"experimental_bearer_token", "auth", "aws", "requires_openai_auth", "http_headers", "env_http_headers"}

// ownKey names how Codex comes by a key that is not read here, "" where it does
// not.
func (x *Codex) ownKey() string {
	if x.providerID() == builtIn && x.LoggedIn {
		return "codex login"
	}
	for _, name := range ownKeys {
		if e := x.provided(name); e != nil && e.value != "false" {
			return name
		}
	}
	return ""
}

// base is the setting that holds the base URL which Codex uses, nil where
// nothing in its config does.
func (x *Codex) base() *entry {
	if x.providerID() != builtIn {
		return x.provided("base_url")
	}
	if x.release() <= lastWithoutBase {
		return nil
	}
	return x.top("openai_base_url")
}

// speaksChat says whether Codex would use chat. Until it could no more, that is
// what a provider of one's own got that did not say otherwise.
func (x *Codex) speaksChat() bool {
	if e := x.provided("wire_api"); e != nil {
		return e.value == "chat"
	}
	return x.providerID() != builtIn && x.release() <= lastWithChat
}

// triesSocket says whether Codex opens a WebSocket first.
func (x *Codex) triesSocket() bool {
	if e := x.provided("supports_websockets"); e != nil {
		return e.value == "true"
	}
	return x.Config != nil && x.providerID() == builtIn && x.release() >= firstWithSocket
}

func checkCodex(c *Case) *Finding {
	version, config := c.Codex.Version, "no config.toml of Codex"
	if version == "" {
		version = "no Codex on the path"
	}
	if c.Codex.Config != nil {
		config = c.Codex.Config.Path
	}
	return ok(version + "; " + config)
}

func checkSyntax(c *Case) *Finding {
	file := c.Codex.Config
	switch {
	case file == nil:
		return nil
	case file.broken != "":
		return change(fmt.Sprintf("line %d is no TOML, so Codex does not start", file.line), "put right: "+file.broken).at(file, file.line)
	}
	return ok("it is TOML")
}

func checkLegacy(c *Case) *Finding {
	if c.Codex.Legacy == "" {
		return nil
	}
	return change(c.Codex.Legacy+" is not read by today's Codex: what it says has no effect",
		"say it in config.toml beside it, as TOML: model = \"...\", model_provider = \"...\" and a [model_providers.NAME] table", "then delete config.json")
}
