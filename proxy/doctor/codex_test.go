package doctor_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ttftap/ttftap/proxy/doctor"
)

// configured is a set-up with this config of Codex.
func configured(t *testing.T, version, config string) *patient {
	return healthy(serve(t, model())+"/v1").withCodex(t, version, config)
}

func TestAConfigThatIsNoTOMLIsNamedByItsLine(t *testing.T) {
	f := configured(t, today, "model = \"sim-light\"\nbase_url = http://unquoted\n").finds(t, "Codex: config.toml", doctor.Change, "line 2 is no TOML", "does not start")
	if f.Line != 2 {
		t.Errorf("line %d", f.Line)
	}
}

func TestAByteOrderMarkStaysAtTheBeginning(t *testing.T) {
	p := configured(t, today, "\ufeffmodel = \"sim-light\"\n[model_providers.own]\nname = \"own\"\nbase_url = \"BASE\"\nmodel_provider = \"own\"\n")
	edits(t, p, p.finds(t, "Codex: provider", doctor.Change, "below [model_providers.own]"), `model = "sim-light"`, "\ufeff"+`model_provider = "own"`)
}

func TestOfABrokenConfigNothingElseIsClaimed(t *testing.T) {
	all := configured(t, today, "model_provider = \"own\"\nbroken\n[model_providers.own]\nname = \"own\"\n").examine(t)
	if f, there := all["Codex: provider"]; there {
		t.Errorf("%+v", f)
	}
}

func TestASettingThatIsGivenTwiceIsFound(t *testing.T) {
	configured(t, today, "model = \"a\"\nmodel = \"b\"\n").finds(t, "Codex: config.toml", doctor.Change, "line 2")
}

func TestAProviderThatIsChosenBelowATableIsMovedToTheTop(t *testing.T) {
	p := configured(t, today, `# my settings
model = "sim-light"

[model_providers.own]
name = "own"
base_url = "BASE"
model_provider = "own" # chosen
`)
	f := p.finds(t, "Codex: provider", doctor.Change, "below [model_providers.own]", `move the line to the top, before every table: model_provider = "own"`)
	if f.Line != 7 {
		t.Errorf("line %d", f.Line)
	}
	edits(t, p, f, `model_provider = "own" # chosen`)
	if text := read(t, p.Codex.Config.Path); strings.Index(text, "model_provider =") > strings.Index(text, "[model_providers") || strings.Count(text, "model_provider =") != 1 {
		t.Errorf("it was not moved:\n%s", text)
	}
}

func TestABaseURLBelowATableIsMovedToTheTop(t *testing.T) {
	f := configured(t, today, "[tui]\nopenai_base_url = \"BASE\"").finds(t, "Codex: provider", doctor.Change, "openai_base_url stands below [tui]")
	if f.Line != 2 || len(f.Edits) != 2 {
		t.Errorf("%+v", f)
	}
}

func TestAProviderOfAProfileIsNotMisplaced(t *testing.T) {
	configured(t, "codex-cli 0.144.6", "[profiles.work]\nmodel_provider = \"own\"\n").finds(t, "Codex: provider", doctor.OK)
}

func TestABuiltInProviderIsNotRedefined(t *testing.T) {
	p := configured(t, today, `model_provider = "openai"
[model_providers.openai] # mine
name = "mine"
base_url = "BASE"
[model_providers.openai.http_headers]
X-Team = "a"
`)
	f := p.finds(t, "Codex: provider", doctor.Change, "name of a built-in provider", "does not start", "[model_providers.openai-custom]")
	if f.Line != 2 {
		t.Errorf("line %d", f.Line)
	}
	edits(t, p, f, `model_provider = "openai-custom"`, "[model_providers.openai-custom] # mine", "[model_providers.openai-custom.http_headers]")
}

func TestABuiltInProviderThatMayBeAdjustedMayBe(t *testing.T) {
	configured(t, today, "model_provider = \"amazon-bedrock\"\n[model_providers.amazon-bedrock.aws]\nprofile = \"work\"\n").
		finds(t, "Codex: provider", doctor.OK, "amazon-bedrock")
}

func TestAProviderThatIsNotThereGetsTheNearest(t *testing.T) {
	p := configured(t, today, strings.Replace(goodConfig, `model_provider = "own"`, `model_provider = "onw"`, 1))
	f := p.finds(t, "Codex: provider", doctor.Change, "no [model_providers.onw]", `model_provider = "own"`)
	edits(t, p, f, `model_provider = "own"`)
	configured(t, today, "model_provider = \"gateway\"\n").finds(t, "Codex: provider", doctor.Change, "add the table: [model_providers.gateway]")
}

func TestAProfileInTheOldWayIsNamed(t *testing.T) {
	const config = "profile = \"work\"\n[profiles.work]\nmodel = \"sim-light\"\n"
	configured(t, today, config).finds(t, "Codex: provider", doctor.Change, `profile = "work" is an error`, "work.config.toml")
	configured(t, "codex-cli 0.80.0", config).finds(t, "Codex: provider", doctor.OK)
}

func TestChatIsRefusedByCodexFromSomeVersionOn(t *testing.T) {
	config := strings.Replace(goodConfig, `wire_api = "responses"`, `wire_api = "chat" # works`, 1)
	p := configured(t, "codex-cli 0.98.0", config)
	f := p.finds(t, "Codex: wire_api", doctor.Change, "from 0.98 on does not start", `wire_api = "responses"`)
	if f.Line != 8 {
		t.Errorf("line %d", f.Line)
	}
	edits(t, p, f, `wire_api = "responses" # works`)
	configured(t, "codex-cli 0.94.0", config).finds(t, "Codex: wire_api", doctor.OK, "chat")
}

func TestChatInAnyProviderKeepsCodexFromStarting(t *testing.T) {
	configured(t, today, goodConfig+"[model_providers.other]\nname = \"other\"\nwire_api = \"chat\"\n").
		finds(t, "Codex: wire_api", doctor.Change, `of "other"`)
}

func TestAWireFormatThatIsNoneIsNamed(t *testing.T) {
	configured(t, today, strings.Replace(goodConfig, `"responses"`, `"response"`, 1)).finds(t, "Codex: wire_api", doctor.Change, "no such format")
}

func TestChatAgainstAnUpstreamOfChatAloneIsNotCuredByASetting(t *testing.T) {
	config := strings.Replace(goodConfig, `"responses"`, `"chat"`, 1)
	healthy(serve(t, chatOnly())+"/v1").withCodex(t, today, config).finds(t, "Codex: wire_api", doctor.Change, "Codex needs another one")
}

func TestASettingThatCodexIgnoresInAProjectIsNamed(t *testing.T) {
	for _, line := range []string{`model_provider = "own"`, `openai_base_url = "http://127.0.0.1:1"`, "[model_providers.own]\nname = \"own\""} {
		p := healthy(serve(t, model()) + "/v1")
		p.Codex = inProject(t, "model = \"sim-light\"\n"+line+"\n")
		if f := p.finds(t, "Codex: project file", doctor.Change, "ignores", "home folder"); f.Line != 2 || f.File != p.Codex.Project.Path {
			t.Errorf("%+v", f)
		}
	}
	p := healthy(serve(t, model()) + "/v1")
	p.Codex = inProject(t, "model = \"sim-light\"\n")
	p.finds(t, "Codex: project file", doctor.OK)
}

// inProject is Codex in a folder below one with a config of its own.
func inProject(t *testing.T, config string) doctor.Codex {
	t.Helper()
	project := t.TempDir()
	below := filepath.Join(project, "src", "deep")
	if err := os.MkdirAll(below, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(project, ".codex"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(project, ".codex", "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	x, err := doctor.ReadCodex(t.TempDir(), "", below)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestTheUsersOwnConfigIsNoProjects(t *testing.T) {
	user := t.TempDir()
	home := filepath.Join(user, ".codex")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte("model_provider = \"own\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	x, err := doctor.ReadCodex(home, "", user)
	if err != nil || x.Project != nil || x.Config == nil {
		t.Errorf("%+v, %v", x, err)
	}
}

func TestTheBaseURLOfTheEnvironmentIsIgnoredByTodaysCodex(t *testing.T) {
	p := healthy("").withCodex(t, today, "model = \"sim-light\"\n")
	base := serve(t, model()) + "/v1"
	p.env["OPENAI_BASE_URL"] = base
	p.finds(t, "Codex: base URL", doctor.Change, "Codex 0.171 ignores OPENAI_BASE_URL", `openai_base_url = "`+base+`"`)
}

func TestTheBaseURLOfTheEnvironmentCountsForAnOldCodex(t *testing.T) {
	p := healthy("").withCodex(t, "codex-cli 0.104.0", "model = \"sim-light\"\n")
	p.env["OPENAI_BASE_URL"] = serve(t, model()) + "/v1"
	p.finds(t, "Codex: base URL", doctor.OK, "takes it from OPENAI_BASE_URL")
}

func TestBetweenTheVersionsThatWereTriedNothingIsClaimed(t *testing.T) {
	p := healthy("").withCodex(t, "codex-cli 0.120.0", "model = \"sim-light\"\n")
	p.env["OPENAI_BASE_URL"] = serve(t, model()) + "/v1"
	p.finds(t, "Codex: base URL", doctor.Change, "may ignore", "0.115 still took it, 0.125 did not")
}

func TestABaseURLInTheConfigIsIgnoredByAnOldCodex(t *testing.T) {
	p := configured(t, "codex-cli 0.104.0", "model = \"sim-light\"\nopenai_base_url = \"BASE\"\n")
	p.Upstream = serve(t, model()) + "/v1"
	if f := p.finds(t, "Codex: base URL", doctor.Change, "Codex 0.104 ignores openai_base_url", "export OPENAI_BASE_URL="); f.Line != 2 {
		t.Errorf("line %d", f.Line)
	}
}

func TestTwoBaseURLsAreToldApart(t *testing.T) {
	p := configured(t, today, goodConfig)
	p.env["OPENAI_BASE_URL"] = "https://elsewhere.example/v1"
	p.finds(t, "Codex: base URL", doctor.OK, "Codex takes base_url of its config", "other clients")
}

func TestAnOldConfigJSONIsSaidToBeIgnored(t *testing.T) {
	path := write(t, "config.json", `{"model":"sim-light"}`)
	x, err := doctor.ReadCodex(filepath.Dir(path), "", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := healthy(serve(t, model()) + "/v1")
	p.Codex = x
	p.finds(t, "Codex: config.json", doctor.Change, path+" is not read", "config.toml")
}

func TestSettingsAreFoundHoweverTheyAreWritten(t *testing.T) {
	for name, config := range map[string]string{
		"tables":       goodConfig,
		"dotted keys":  "model = \"sim-light\"\nmodel_provider = \"own\"\nmodel_providers.own.name = \"own\"\nmodel_providers.own.base_url = \"BASE\"\nmodel_providers.own.env_key = \"OPENAI_API_KEY\"\n",
		"inline table": "model = 'sim-light'\nmodel_provider = 'own'\n[model_providers]\nown = { name = 'own', base_url = 'BASE', env_key = 'OPENAI_API_KEY' }\n",
		"quoted names": "\"model\" = \"sim-light\"\nmodel_provider = \"own\"\n[model_providers.\"own\"]\n\"base_url\" = \"BASE\"\nenv_key = \"OPENAI_API_KEY\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			p := configured(t, today, config)
			all := p.examine(t)
			if f := all["base URL"]; f.State != doctor.OK || !strings.Contains(f.Words, p.Codex.Config.Path) {
				t.Errorf("%+v", f)
			}
			if f := all["Codex: key"]; f.Words != "from OPENAI_API_KEY" {
				t.Errorf("%+v", f)
			}
		})
	}
}
