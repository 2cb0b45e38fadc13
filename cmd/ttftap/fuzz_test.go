package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Whatever Codex is started with, what it is told in the end is what it reads, and
// its other arguments are there as before.
func FuzzCodexArguments(f *testing.F) {
	f.Add("exec\x00-c\x00model=\"x\"\x00--config=a.b=1\x00-p\x00q\x00--\x00-c\x00no", "model_provider", "own")
	f.Add("-cmodel=y\x00--oss\x00-pz", "a.b", "1")
	f.Fuzz(func(t *testing.T, joined, key, value string) {
		if key == "" || strings.ContainsAny(key, "=\x00 ") || strings.TrimSpace(key) != key || strings.TrimSpace(value) != value || strings.Contains(value, "\x00") {
			return
		}
		args := strings.Split(joined, "\x00")
		set := withOverride(args, key, value)
		read := readCodexFlags(set)
		var values []string
		for _, o := range read.overrides {
			if o.key == key {
				values = append(values, o.value)
			}
		}
		if !slices.Equal(values, []string{value}) {
			t.Errorf("%q with %s=%s is %q, in which it is %q", args, key, value, set, values)
		}
		before, after := readCodexFlags(args), read
		if before.profile != after.profile || before.oss != after.oss || before.localProvider != after.localProvider {
			t.Errorf("%+v has become %+v", before, after)
		}
		others := func(all []override) []override {
			return slices.DeleteFunc(slices.Clone(all), func(o override) bool { return o.key == key })
		}
		if !slices.Equal(others(before.overrides), others(after.overrides)) {
			t.Errorf("%q has become %q", before.overrides, after.overrides)
		}
	})
}

// Whatever is in a config, a flag is stronger, and the config's other settings are
// what they were.
func FuzzCodexConfig(f *testing.F) {
	f.Add("model = 'm'\nprofile = 'p'\n[profiles.p]\nmodel = 'n'\n[model_providers.own]\nbase_url = 'http://h'", "model_providers.own.base_url", "\"http://i\"")
	f.Add("\ufeffa = 1", "a", "{ b = 2 }")
	home := f.TempDir()
	f.Setenv("CODEX_HOME", home)
	f.Fuzz(func(t *testing.T, text, key, value string) {
		if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		plain, err := readCodexConfig(codexFlags{profile: "none"})
		if err != nil {
			return
		}
		o := parseOverride(key + "=" + value)
		read, err := readCodexConfig(codexFlags{profile: "none", overrides: []override{o}})
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(o.key, ".")
		for name := range plain {
			if name != first && plain.text(name) != read.text(name) {
				t.Errorf("%s is %q, was %q", name, read.text(name), plain.text(name))
			}
		}
		if read.at(strings.Split(o.key, ".")...) == nil {
			t.Errorf("%q is not there: %v", o.key, read)
		}
	})
}
