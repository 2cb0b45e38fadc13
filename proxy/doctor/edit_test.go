package doctor_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
