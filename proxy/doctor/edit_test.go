package doctor_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/doctor"
)

var noon = time.Date(2026, 9, 6, 12, 0, 0, 0, time.UTC)

// edits makes what a finding proposes and expects that lines are there then, and
// that all others are as they were.
func edits(t *testing.T, p *patient, f doctor.Finding, lines ...string) {
	t.Helper()
	file := p.Codex.Config
	before := read(t, file.Path)
	_, backup, err := file.Fix(f.Edits, noon)
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, backup); got != before {
		t.Errorf("the backup is not what was: %s", got)
	}
	after := read(t, file.Path)
	if len(f.Edits) == 0 || after == before {
		t.Fatal("nothing was changed")
	}
	old := strings.Split(before, "\n")
	for _, line := range strings.Split(after, "\n") {
		if !contains(old, line) && !contains(lines, line) {
			t.Errorf("this line is new: %s", line)
		}
	}
	for _, line := range lines {
		if !contains(strings.Split(after, "\n"), line) {
			t.Errorf("there is no line %s in\n%s", line, after)
		}
	}
}

func contains(lines []string, line string) bool {
	for _, l := range lines {
		if l == line {
			return true
		}
	}
	return false
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAnEditChangesItsLineAndNothingElse(t *testing.T) {
	const config = "# mine\r\nmodel_provider = \"own\"\r\n\r\n[model_providers.own] # the gateway\r\nname = \"own\"\r\nbase_url = \"BASE\"\r\nwire_api   = 'chat'   # as ever\r\n"
	p := healthy(serve(t, model())+"/v1").withCodex(t, today, config)
	f := p.finds(t, "Codex: wire_api", doctor.Change)
	done, _, err := p.Codex.Config.Fix(f.Edits, noon)
	if err != nil {
		t.Fatal(err)
	}
	base := strings.Split(strings.Split(read(t, p.Codex.Config.Path), `base_url = "`)[1], `"`)[0]
	want := strings.ReplaceAll(strings.ReplaceAll(config, "'chat'", `"responses"`), "BASE", base)
	if diff := cmp.Diff(want, read(t, p.Codex.Config.Path)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]doctor.Edited{{Line: 7, Before: "wire_api = 'chat'", After: `wire_api = "responses"`}}, done); diff != "" {
		t.Error(diff)
	}
}

func TestWhateverStandsAroundALineIsKept(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		around := rapid.SliceOf(rapid.SampledFrom([]string{"", "# a note", "name = 'x'", "  # \"chat\"", "env_key = \"KEY\" # wire_api = \"chat\""}))
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(r, "line end")
		quote := rapid.SampledFrom([]string{`"`, `'`}).Draw(r, "quote")
		blank := rapid.SampledFrom([]string{"", " ", "\t"}).Draw(r, "blank")
		before, after := unique(around.Draw(r, "before")), rapid.SampledFrom([]string{"", " # as ever", "\t"}).Draw(r, "after")
		text := func(value string) string {
			lines := append([]string{"[model_providers.own]"}, before...)
			return strings.Join(append(lines, blank+"wire_api"+blank+"="+blank+value+after), end)
		}
		path := filepath.Join(folder, "config.toml")
		if err := os.WriteFile(path, []byte(text(quote+"chat"+quote)), 0o600); err != nil {
			r.Fatal(err)
		}
		x, err := doctor.ReadCodex(folder, "", folder)
		if err != nil {
			r.Fatal(err)
		}
		for _, f := range doctor.New(doctor.Setup{Upstream: "none", Codex: x, Getenv: func(string) string { return "" }}).Findings() {
			if f.Check != "Codex: wire_api" {
				continue
			}
			_, backup, err := x.Config.Fix(f.Edits, noon)
			if err != nil {
				r.Fatal(err)
			}
			if err := os.Remove(backup); err != nil {
				r.Fatal(err)
			}
		}
		if diff := cmp.Diff(text(`"responses"`), read(t, path)); diff != "" {
			r.Error(diff)
		}
	})
}

// unique drops settings that came before: TOML has each only once.
func unique(lines []string) []string {
	var kept []string
	for _, l := range lines {
		if strings.HasPrefix(strings.TrimSpace(l), "#") || l == "" || !contains(kept, l) {
			kept = append(kept, l)
		}
	}
	return kept
}

func TestAFileThatChangedMeanwhileIsLeftAlone(t *testing.T) {
	p := healthy(serve(t, model())+"/v1").withCodex(t, today, strings.Replace(goodConfig, `"responses"`, `"chat"`, 1))
	f := p.finds(t, "Codex: wire_api", doctor.Change)
	if err := os.WriteFile(p.Codex.Config.Path, []byte("model = \"other\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Codex.Config.Fix(f.Edits, noon); err == nil || !strings.Contains(err.Error(), "changed meanwhile") {
		t.Errorf("it says %v", err)
	}
	if got := read(t, p.Codex.Config.Path); got != "model = \"other\"\n" {
		t.Errorf("it wrote %s", got)
	}
}

func TestALinkToAConfigStaysALink(t *testing.T) {
	real := write(t, "dotfile.toml", "model_provider = \"own\"\n[model_providers.own]\nwire_api = \"chat\"\n")
	link := t.TempDir() + "/config.toml"
	if err := os.Symlink(real, link); err != nil {
		t.Skip("no links here:", err)
	}
	x, err := doctor.ReadCodex(t.TempDir(), link, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := healthy(serve(t, model()) + "/v1")
	p.Codex = x
	f := p.finds(t, "Codex: wire_api", doctor.Change)
	if _, _, err := x.Config.Fix(f.Edits, noon); err != nil {
		t.Fatal(err)
	}
	if status, err := os.Lstat(link); err != nil || status.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
	if !strings.Contains(read(t, real), `wire_api = "responses"`) {
		t.Error("the file behind the link is as it was")
	}
}
