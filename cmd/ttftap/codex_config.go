package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pelletier/go-toml/v2"
)

// codexConfig is Codex' configuration as it reads it: a table of tables, of which
// later layers replace single keys.
type codexConfig map[string]any

// codexHome is the folder of Codex.
func codexHome() string {
	if dir := os.Getenv("CODEX_HOME"); dir != "" {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "" // there is no configuration, then
	}
	return filepath.Join(home, ".codex")
}

// readCodexConfig reads Codex' configuration: its file, then the profile that the
// flags or the file name, as one of its tables or as a file beside it, then the flags.
func readCodexConfig(f codexFlags) (codexConfig, error) {
	c := make(codexConfig)
	if err := c.readFile("config.toml"); err != nil {
		return nil, err
	}
	if profile := cmp.Or(f.profile, c.text("profile")); profile != "" {
		if table, ok := c.at("profiles", profile).(map[string]any); ok {
			c.merge(table)
		}
		if err := c.readFile(profile + ".config.toml"); err != nil {
			return nil, err
		}
	}
	for _, o := range f.overrides {
		c.merge(o.layer())
	}
	return c, nil
}

// byteOrderMark is what some editors put before UTF-8. Codex passes over it.
var byteOrderMark = []byte("\xef\xbb\xbf")

// readFile merges a file of Codex' folder. That there is none is no error.
func (c codexConfig) readFile(name string) error {
	path := filepath.Join(codexHome(), name)
	text, err := os.ReadFile(path)
	var layer map[string]any
	if err == nil {
		err = toml.Unmarshal(bytes.TrimPrefix(text, byteOrderMark), &layer)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("read Codex' configuration %s: %w", path, err)
	}
	c.merge(layer)
	return nil
}

func (c codexConfig) merge(layer map[string]any) {
	for key, value := range layer {
		into, isTable := c[key].(map[string]any)
		if from, ok := value.(map[string]any); ok && isTable {
			codexConfig(into).merge(from)
			continue
		}
		c[key] = value
	}
}

// at is what stands at a path of keys; nil where nothing does.
func (c codexConfig) at(keys ...string) any {
	var found any = map[string]any(c)
	for _, key := range keys {
		table, _ := found.(map[string]any)
		found = table[key]
	}
	return found
}

// text is a string at a path of keys, "" where there is none.
func (c codexConfig) text(keys ...string) string {
	s, _ := c.at(keys...).(string)
	return s
}
