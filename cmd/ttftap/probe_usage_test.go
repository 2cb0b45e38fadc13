package main

import (
	"strings"
	"testing"
)

// alone is an environment in which a probe starts a ttftap of its own, in front of
// simulated models.
func alone(t *testing.T) (models string) {
	models = simulatedModels(t)
	for name, value := range map[string]string{
		"HOME": t.TempDir(), "XDG_DATA_HOME": t.TempDir(), "TTFTAP_DB": "", "TTFTAP_VIA": newInstance, "TTFTAP_UPSTREAM": models + "/v1",
	} {
		t.Setenv(name, value)
	}
	return models
}

func TestWrongUsageOfAProbeSaysWhatToDo(t *testing.T) {
	alone(t)
	short := file(t, `{"model":"m","messages":[{"role":"user","content":"Hello"}]}`)
	long := file(t, `{"model":"sim-light","messages":[{"role":"system","content":"Answer in one word."},
		{"role":"user","content":"First?"},{"role":"assistant","content":"One."},{"role":"user","content":"Second?"},{"role":"assistant","content":"Two."},{"role":"user","content":"Third?"}]}`)
	for command, want := range map[string]string{
		"":                                                  "ladder",
		"guess":                                             "guess",
		"ladder --rounds 0 --model m":                       "--rounds 0",
		"ladder --sizes 100 --model m":                      "two lengths",
		"ladder --sizes 100,100 --model m":                  "two lengths",
		"ladder --sizes 100,0 --model m":                    "1 token or more",
		"models --model m --model m":                        "named twice",
		"load --levels 3 --model m":                         "--levels",
		"ladder --json --markdown --model m":                "exclude each other",
		"ladder --wire morse --model m":                     "responses",
		"ladder --budget=-1 --model m":                      "--budget",
		"ladder --key-env NOT_THERE --model m":              "NOT_THERE",
		"ladder --model m --upstream nonsense":              "begin with http",
		"direct --model m":                                  "--to NAME",
		"direct --model m --to x --direct http://a.example": "one of them is enough",
		"direct --model m --to x --to-key-env NOT_THERE":    "NOT_THERE",
		"direct --model m --via http://127.0.0.1:1 --direct http://a.b": "--via",
		"ladder --model m --via localhost:1":                            "--via takes the address of a running ttftap",
		"history --body none.json":                                      "none.json",
		"history --body " + short:                                       "nothing to summarise",
		"history --body " + long + " --wire responses":                  "chat request",
		"compare one two":                                               "neither the id",
		"compare 01KB9V7N3QX2M8C4D5E6F7G8H9 ..":                         "two of one sort",
		"compare .. ..":                                                 "no requests in it",
		"compare .. .. --json --markdown":                               "exclude each other",
	} {
		_, told, code := probed(t, lone(), strings.Fields(command)...)
		if code != exitUsage || !strings.Contains(told, want) {
			t.Errorf("probe %s: exit %d: %s", command, code, told)
		}
	}
}

func TestAProbeThatCannotReachWhatItNeedsSaysSo(t *testing.T) {
	models := alone(t)
	for command, want := range map[string]string{
		"ladder --model m --via http://127.0.0.1:1":                     "no ttftap answers at --via http://127.0.0.1:1",
		"ladder --model m --via " + models:                              "is no ttftap",
		"compare 01KB9V7N3QX2M8C4D5E6F7G8H9 01KB9V7N3QX2M8C4D5E6F7G8H9": "No experiment with this id",
	} {
		_, told, code := probed(t, lone(), strings.Fields(command)...)
		if code != exitFailed || !strings.Contains(told, want) {
			t.Errorf("probe %s: exit %d: %s", command, code, told)
		}
	}
}

func TestAProbeAsksWhichModelUnlessThereIsButOne(t *testing.T) {
	models := alone(t)
	for command, wants := range map[string][]string{
		"ladder":                   {"which model? ", ": sim-large, sim-light"},
		"models --model sim-light": {"give --model ID twice: sim-large"},
		"ladder --upstream " + models + "/unlisted/v1": {"which model", "404"},
	} {
		_, told, code := probed(t, lone(), strings.Fields(command)...)
		for _, want := range wants {
			if code == exitDone || !strings.Contains(told, want) {
				t.Errorf("probe %s: exit %d: %s", command, code, told)
			}
		}
	}
	plan, told, code := probed(t, lone(), "ladder", "--dry-run", "--upstream", models+"/single/v1")
	if code != exitDone || !strings.Contains(plan, "the-only-one") {
		t.Errorf("exit %d: %s%s", code, plan, told)
	}
}
