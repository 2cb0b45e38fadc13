package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// fuzzConfig is a config as it is read from a file.
func fuzzConfig(t *testing.T, path string, text []byte) *Config {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := readConfig(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// An edit of a config changes the value that it is for, leaves every other as it is,
// and makes no TOML of none.
func FuzzEdit(f *testing.F) {
	for _, text := range []string{
		"model = \"m\"\n[model_providers.own]\nbase_url = 'http://h/v1' # c\nq = { a = \"b\", \"c.d\" = 1 }\n", "\ufeffa=1\r\nb.c = \"\"\"x\ny\"\"\"\n[[t]]\nd = [1, 2]\n",
		"openai_base_url = \"x\"", "[a]\nb = 1979-05-27T07:32:00Z",
	} {
		f.Add([]byte(text), uint8(0))
	}
	path := filepath.Join(f.TempDir(), "config.toml")
	f.Fuzz(func(t *testing.T, text []byte, which uint8) {
		c := fuzzConfig(t, path, text)
		if c.broken != "" || len(c.entries) == 0 {
			return
		}
		e := &c.entries[int(which)%len(c.entries)]
		if e.head {
			return
		}
		edited, done := c.edited([]Edit{c.replace(e, `new "value"`)})
		again := fuzzConfig(t, path, edited)
		if again.broken != "" || len(again.entries) != len(c.entries) || len(done) != 1 {
			t.Fatalf("%q has become %q: %s", text, edited, again.broken)
		}
		for i, old := range c.entries {
			want := old.value
			if &c.entries[i] == e {
				want = `new "value"`
			}
			if got := again.entries[i]; got.value != want || strings.Join(got.path, "\x00") != strings.Join(old.path, "\x00") {
				t.Errorf("%v = %q has become %v = %q", old.path, old.value, got.path, got.value)
			}
		}
	})
}

// A line that is moved to the top is TOML there, and holds at the top.
func FuzzMove(f *testing.F) {
	f.Add([]byte("[tools]\nopenai_base_url = \"http://h/v1\"\nx = 1\n"))
	f.Add([]byte("a = 1\n[b]\nmodel_provider = 'c' # why\n[d]"))
	path := filepath.Join(f.TempDir(), "config.toml")
	f.Fuzz(func(t *testing.T, text []byte) {
		c := fuzzConfig(t, path, text)
		if c.broken != "" {
			return
		}
		x := Codex{Config: c}
		found := misplaced(&x)
		if found == nil || len(found.Edits) == 0 {
			return
		}
		edited, _ := c.edited(found.Edits)
		var all map[string]any
		if err := toml.Unmarshal(edited, &all); err != nil {
			t.Fatalf("%q has become %q: %v", text, edited, err)
		}
		if again := fuzzConfig(t, path, edited); len(again.within()) != len(c.entries) {
			t.Errorf("%q has become %q", text, edited)
		}
	})
}

// A base URL is told without what may be a secret, and is told the same again.
func FuzzBase(f *testing.F) {
	f.Add("https://me:secret@h/v1/responses?key=x#y")
	f.Add(" 'http://[::1]/a//' ")
	f.Fuzz(func(t *testing.T, base string) {
		clean := cleanBase(base)
		if clean == "" {
			return
		}
		if strings.ContainsAny(clean, "?#@") || malformed(clean) != "" && !strings.HasPrefix(malformed(clean), "ends in") {
			t.Errorf("%q is told as %q: %s", base, clean, malformed(clean))
		}
		for _, other := range otherBases(clean) {
			if cleanBase(other) == "" {
				t.Errorf("%q may be at %q", clean, other)
			}
		}
	})
}

// A key is sent as one that a header takes, and what is cleaned is clean.
func FuzzKey(f *testing.F) {
	f.Add(" 'Bearer sk-abc' \n")
	f.Fuzz(func(t *testing.T, key string) {
		clean := cleanKey(key)
		if strings.ContainsFunc(clean, unspeakable) || cleanKey(clean) != clean {
			t.Errorf("%q is sent as %q", key, clean)
		}
	})
}
