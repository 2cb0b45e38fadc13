package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// apart keeps a test from what the user has, and has the environment hold canaries.
func apart(t *testing.T, c canaries) (home string) {
	t.Helper()
	home = t.TempDir()
	t.Chdir(t.TempDir())
	for name, value := range map[string]string{
		"CODEX_HOME": home, "HOME": home, "XDG_DATA_HOME": t.TempDir(), "PATH": t.TempDir(), "OPENAI_BASE_URL": "", "OPENAI_API_BASE": "",
		"OPENAI_API_KEY": c.of("OPENAI_API_KEY"), "TTFTAP_UI_TOKEN": c.of("TTFTAP_UI_TOKEN"),
	} {
		t.Setenv(name, value)
	}
	return home
}

func TestWrongUsageTellsNoCredential(t *testing.T) {
	c, found := make(canaries), make(left)
	apart(t, c)
	secret := c.of("user information")
	for _, base := range []string{
		"https://me:" + secret + "@127.0.0.1:9/v1", "https://" + secret + "@127.0.0.1:9/v1", "https://me:" + secret + "@host:port/v1", "https://me:" + secret + "@ho st/v1",
		"https://127.0.0.1:9/v1?key=" + secret, "https://127.0.0.1:9/v1?" + secret, "https://127.0.0.1:9/v1#" + secret, "me:" + secret + "@127.0.0.1:9/v1", "//me:" + secret + "@127.0.0.1:9/v1",
		"ftp://me:" + secret + "@127.0.0.1:9/v1", "https://me:" + secret + "@/v1", "https://me:" + secret + "@127.0.0.1:9/v1/responses", "https://me:%zz" + secret + "@127.0.0.1:9", "\x7f" + secret,
	} {
		for _, args := range [][]string{
			{"serve", "--upstream", base}, {"serve", "--upstream", "name=" + base}, {"serve", "--upstream", "http://h/v1", "--upstream", "http://" + base},
			{"run", "--upstream", base, "--", "true"}, {"doctor", "--dry-run", "--upstream", base}, {"doctor", "--dry-run", "--via", base},
			{"probe", "burst", "--yes", "--model", "m", "--via", base}, {"probe", "direct", "--yes", "--model", "m", "--direct", base}, {"version", "--health", base},
		} {
			if slices.Contains(args, "doctor") && strings.HasPrefix(base, "\x7f") {
				continue // which asks OpenAI then
			}
			found.command(args...)
		}
	}
	found.command("serve", "--listen", "nonsense")
	for _, args := range [][]string{{"doctor", "--dry-run", "--key-env", secret}, {"probe", "burst", "--yes", "--model", "m", "--key-env", secret}} {
		found.command(args...)
	}
	found.holdsNone(t, c)
}

func TestHelpTellsNoCredential(t *testing.T) {
	c, found := make(canaries), make(left)
	apart(t, c)
	for _, name := range []string{"TTFTAP_UPSTREAM", "TTFTAP_ALLOW_HOST", "TTFTAP_VIA", "TTFTAP_KEY_ENV", "TTFTAP_DIRECT"} {
		t.Setenv(name, "https://me:"+c.of(name)+"@host/v1")
	}
	for _, command := range []string{"", "serve", "demo", "doctor", "run", "explain", "probe", "probe ladder", "probe direct", "report", "export", "rejudge", "version"} {
		if said := found.command(append(strings.Fields(command), "--help")...); !strings.Contains(said, "Usage: ttftap") {
			t.Errorf("%s --help says %q", command, said)
		}
	}
	found.holdsNone(t, c)
}

// codexConfigs are configurations of Codex that hold a secret somewhere.
func codexConfigs(base, secret string) map[string]string {
	own := "model = \"m\"\nmodel_provider = \"own\"\n[model_providers.own]\nname = \"own\"\n"
	withCredential := strings.Replace(base, "http://", "http://me:"+secret+"@", 1)
	return map[string]string{
		"token":            own + "base_url = \"" + base + "\"\nexperimental_bearer_token = \"" + secret + "\"\n",
		"token and scheme": own + "base_url = \"" + base + "\"\nexperimental_bearer_token = \"Bearer " + secret + "\"\n",
		"header":           own + "base_url = \"" + base + "\"\nhttp_headers = { Authorization = \"" + secret + "\", X-Key = \"" + secret + "\" }\n",
		"query":            own + "base_url = \"" + base + "\"\nquery_params = { key = \"" + secret + "\" }\n",
		"key for a name":   own + "base_url = \"" + base + "\"\nenv_key = \"sk-" + secret + "\"\n",
		"user information": own + "base_url = \"" + withCredential + "\"\n",
		"query of the URL": own + "base_url = \"" + base + "?key=" + secret + "\"\n",
		"built in":         "model = \"m\"\nopenai_base_url = \"" + withCredential + "\"\n",
		"misplaced":        "model = \"m\"\n[tools]\nopenai_base_url = \"" + withCredential + "\"\n",
		"no TOML":          own + "experimental_bearer_token = \"" + secret + "\n",
		"no TOML at all":   secret + "\n",
		"no value":         own + "experimental_bearer_token = " + secret + "\n",
		"a key twice":      own + "a = \"" + secret + "\"\na = \"" + secret + "\"\n",
	}
}

func TestDoctorTellsNoCredential(t *testing.T) {
	c, found := make(canaries), make(left)
	home := apart(t, c)
	models := quickModels()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" { // which is refused, and repeated
			w.WriteHeader(http.StatusUnauthorized)
			w.Write([]byte(message("Incorrect API key provided: " + keysIn(r))))
			return
		}
		models.ServeHTTP(w, r)
	}))
	t.Cleanup(upstream.Close)
	path := filepath.Join(home, "config.toml")
	for name, text := range codexConfigs(upstream.URL+"/v1", c.of("config")) {
		for _, args := range [][]string{{}, {"--json"}, {"--fix"}, {"--dry-run"}} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if name == "no TOML" || name == "no TOML at all" || name == "no value" || name == "a key twice" || name == "misplaced" {
				args = append(args, "--upstream", upstream.URL+"/v1", "--model", "m")
			}
			said := found.command(append([]string{"doctor"}, args...)...)
			found["doctor "+name+" "+strings.Join(args, " ")] = said
			if !strings.Contains(said, upstream.URL) {
				t.Errorf("%s, %v: it says %q", name, args, said)
			}
		}
	}
	found.holdsNone(t, c)
}

func TestRunTellsNoCredential(t *testing.T) {
	c, found := make(canaries), make(left)
	path := os.Getenv("PATH")
	home := apart(t, c)
	t.Setenv("TTFTAP_UI_TOKEN", "")
	t.Setenv("PATH", path)
	codex := filepath.Join(t.TempDir(), "codex")
	if err := os.WriteFile(codex, []byte("#!/bin/sh\nexit 0\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	base := simulated(t)
	for name, text := range codexConfigs(base, c.of("config")) {
		if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		b := below(t, "--", codex, "exec", "-c", `model_providers.own.experimental_bearer_token="`+c.of("argument")+`"`, c.of("prompt"))
		_ = b.Run() // it may end with anything
		found["run "+name] = b.out.String() + b.err.String()
		found.files(t, b.data)
		if found["run "+name] == "" {
			t.Errorf("%s: it says nothing", name)
		}
	}
	found.holdsNone(t, c)
}

func TestAnExperimentKeepsNothingOfTheBodyItIsGiven(t *testing.T) {
	c, found := make(canaries), make(left)
	apart(t, c)
	t.Setenv("TTFTAP_UI_TOKEN", "")
	folder := t.TempDir()
	r := startProgram(t, "--log-level", "debug", "serve", "--upstream", simulated(t))
	body := map[string]any{"model": "sim-light", "user": c.of("user"), "metadata": map[string]string{"m": c.of("metadata")}, "messages": []map[string]string{
		{"role": "system", "content": c.of("system")}, {"role": "user", "content": c.of("first")}, {"role": "assistant", "content": c.of("answer")},
		{"role": "user", "content": c.of("second")}, {"role": "assistant", "content": c.of("another")}, {"role": "user", "content": c.of("third")},
		{"role": "assistant", "content": c.of("more")}, {"role": "user", "content": c.of("fourth")},
	}}
	path := filepath.Join(folder, "body.json")
	if err := os.WriteFile(path, []byte(asJSON(body)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--dry-run"}, {"--yes", "--pause", "0s", "--rounds", "1"}, {"--yes", "--pause", "0s", "--rounds", "1", "--json"}} {
		said := found.command(append([]string{"probe", "history", "--via", r.base, "--body", path}, args...)...)
		if strings.Contains(said, "Error") || said == "" {
			t.Errorf("%v: it says %q", args, said)
		}
	}
	broken := filepath.Join(folder, "broken.json")
	for _, text := range []string{c.of("broken"), `{"messages":"` + c.of("broken") + `"}`, `{"messages":[` + c.of("broken"), `{"` + c.of("broken") + `":1}`} {
		if err := os.WriteFile(broken, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		found.command("probe", "history", "--via", r.base, "--body", broken, "--dry-run")
	}
	rows := r.rows(1)
	found.everyPage(t, r.base, []string{rows[0]["id"]})
	_, list := r.get("/-/api/experiments")
	for _, id := range gjson.Get(list, "experiments.#.id").Array() {
		for _, path := range []string{"/-/experiments/" + id.Str, "/-/experiments/" + id.Str + "/report.md", "/-/api/experiments/" + id.Str} {
			_, found[path] = r.get(path)
		}
	}
	r.stop()
	r.exit()
	found.files(t, filepath.Dir(r.db))
	found["log"] = r.stderr.String()
	found.holdsNone(t, c)
}
