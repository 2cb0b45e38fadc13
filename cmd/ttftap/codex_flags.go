package main

import (
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// codexFlags are those flags of Codex that say where its requests go.
type codexFlags struct {
	overrides     []override
	profile       string
	oss           bool
	localProvider string
}

// override is one -c KEY=VALUE.
type override struct{ key, value string }

func readCodexFlags(args []string) codexFlags {
	var f codexFlags
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		name, value, n := codexFlag(args[i:])
		switch name {
		case "-c", "--config":
			f.overrides = append(f.overrides, parseOverride(value))
		case "-p", "--profile":
			f.profile = value
		case "--local-provider":
			f.localProvider = value
		case "--oss":
			f.oss = true
		}
		i += n - 1
	}
	return f
}

// codexFlag is the flag at the beginning of args and its value, and of how many
// arguments they are made. A flag that is none of codexFlags may lack its value.
func codexFlag(args []string) (name, value string, n int) {
	name, value, joined := strings.Cut(args[0], "=")
	switch {
	case len(args[0]) > 2 && args[0][2] != '=' && (strings.HasPrefix(args[0], "-c") || strings.HasPrefix(args[0], "-p")):
		return args[0][:2], args[0][2:], 1
	case !slices.Contains([]string{"-c", "--config", "-p", "--profile", "--local-provider"}, name):
		return name, "", 1
	case joined || len(args) == 1:
		return name, value, 1
	}
	return name, args[1], 2
}

// withOverride has Codex read key as value, whatever its arguments said before.
func withOverride(args []string, key, value string) []string {
	set := []string{"-c", key + "=" + value}
	for i := 0; i < len(args); {
		name, text, n := codexFlag(args[i:])
		if name == "--" {
			return append(set, args[i:]...)
		}
		if (name != "-c" && name != "--config") || parseOverride(text).key != key {
			set = append(set, args[i:i+n]...)
		}
		i += n
	}
	return set
}

func parseOverride(s string) override {
	key, value, _ := strings.Cut(s, "=")
	return override{strings.TrimSpace(key), strings.TrimSpace(value)}
}

// layer is the override as Codex reads it: its key is a path of dots, its value is
// TOML or else a plain text.
func (o override) layer() map[string]any {
	var read struct{ V any }
	if err := toml.Unmarshal([]byte("v = "+o.value), &read); err != nil {
		read.V = o.value
	}
	keys := strings.Split(o.key, ".")
	for _, key := range slices.Backward(keys) {
		read.V = map[string]any{key: read.V}
	}
	return read.V.(map[string]any)
}
