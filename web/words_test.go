package web

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store/audit/console"
)

// families are the keys that end in a value.
var families = map[string][]string{
	"phase.": {"network", "floor", "queue", "prefill", "wait", "hidden", "unseen", "reasoning", "decode", "tool", "tail", "underway",
		"yours", "several", "lost", "all_wait"},
	"turn.part.": {"network", "floor", "queue", "prefill", "wait", "hidden", "unseen", "reasoning", "decode", "tool", "tail", "underway",
		"yours", "several", "lost"},
	"noun.":      {"network", "all_wait", "floor", "queue", "prefill", "wait", "hidden", "unseen", "reasoning", "decode", "tool", "tail"},
	"tokens.of.": {"uncached", "prompt", "output", "reasoning"},
	"differ.":    {"models", "upstreams", "tiers"},
	"cached.":    {"new", "too_short", "unreported", "broken", "hit", "expired", "missed", "partial"},
	"came.":      {"streamed", "bursty", "pseudo", "single", "none"},
	"legend.":    {"network", "queue", "wait", "prefill", "tool", "hidden", "reasoning", "decode", "tail"},
	"cause.": {"error", "aborted", "not_streamed", "no_output", "buffered", "hidden_reasoning", "stall", "whole_output", "slow_decode",
		"long_output", "network", "floor", "cold_start", "queue", "cache_miss", "long_input", "unseparated", "both"},
	"sign.":   {"rough", "attempt", "served", "cut", "slow", "strong", "meter"},
	"column.": {"time", "status", "model", "bound", "timeline", "ttft", "rate", "prompt", "output", "total", "cached"},
	"filter.": {"from", "to", "upstream", "model", "bound", "cause", "outcome", "session", "turn", "client", "key",
		"experiment", "min_first_token_ms", "min_prompt_tokens", "min_excess_ms", "q"},
	"filter.any.":       {"from", "model", "upstream", "client", "key", "session", "outcome", "bound"},
	"from.":             periods,
	"say.":              {"none_bound", "bound", "cold", "all_cold"},
	"transport.":        {"http", "sse", "ndjson", "websocket"},
	"usage.":            {"reported", "estimated", "absent"},
	"reasoning.":        {"visible", "summary", "hidden", "none"},
	"quality.":          {"steady", "fair", "noisy"},
	"delivery.":         {"streamed", "bursty", "pseudo", "single", "none"},
	"server.":           {"part", "wait", "wait.seen", "decode.seen", "mingled", "all", "all.seen"},
	"section.":          {"model", "tools", "instructions", "user", "assistant", "reasoning", "tool_call", "tool_result", "image", "file", "other", "compaction"},
	"reuse.":            {"new", "too_short", "unreported", "broken", "hit", "expired", "missed", "partial"},
	"ids.":              {"newapi", "openrouter", "cloudflare", "litellm", "vendor", "ray", "azure", "openai", "gateway", "request", "response"},
	"client.":           clientKeys(),
	"usual.":            {},
	"why.":              {"open", "usual", "slower", "faster", "similar.first", "similar.wait"},
	"keys.":             keyWords(),
	"audit.broken.":     {"form", "none", "many", "large", "zone", "attempts"},
	"audit.field.":      fieldWords(),
	"stage.":            {string(stageReasoning), string(stageAnswering)},
	"experiment.state.": {"running", "stopped", "done", "silent"},
	"experiments.run.":  {"all", "ladder", "burst", "cache", "history", "shapes", "load", "models", "direct"},
	"resolution.":       {"same", "resolved", "unresolved"},
	"nav.":              {},
	"chart.":            {},
	"charts.column.":    {"requests", "ttft50", "ttft95", "rate", "total50", "total95", "failed"},
	"charts.by.":        {"model", "upstream", "hour"},
	"tag.":              {},
	"bound.":            {},
	"outcome.":          {},
	"problem.":          {},
	"instant.":          {},
	"fact.":             {},
}

// clientKeys are those of what is said of each client.
func clientKeys() []string {
	var keys []string
	for _, c := range clients {
		keys = append(keys, c.id+".where", c.id+".know")
		if c.name == "" {
			keys = append(keys, c.id+".name")
		}
	}
	return keys
}

// keyWords are those of the list of keys.
func keyWords() (all []string) {
	for _, k := range hotkeys {
		all = append(all, k.Word)
	}
	return append(all, "title", "on", "close", "then")
}

// literals are the keys that the code and the templates name whole.
func literals(t *testing.T) map[string]bool {
	t.Helper()
	named := map[string]bool{}
	patterns := []*regexp.Regexp{
		regexp.MustCompile(`(?:say|rich|page|newLister|newVersus)\((?:[a-z, ]*, )?"([a-z_.-]+[a-z_0-9]+)"`),
		regexp.MustCompile(`(?:\bt|rich) "([a-z_.-]+)"`),
	}
	titled := regexp.MustCompile(`about\("([a-z_.-]+)"\)`)
	number := regexp.MustCompile(`number\("([a-z_.-]+)"`)
	files, _ := filepath.Glob("*.go")
	fs.WalkDir(os.DirFS("templates"), ".", func(path string, _ fs.DirEntry, err error) error {
		files = append(files, filepath.Join("templates", path))
		return err
	})
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, p := range patterns {
			for _, m := range p.FindAllStringSubmatch(string(text), -1) {
				named[m[1]] = true
			}
		}
		for _, m := range titled.FindAllStringSubmatch(string(text), -1) {
			named[m[1]+".title"] = true
		}
		for _, m := range number.FindAllStringSubmatch(string(text), -1) {
			named[m[1]+".one"], named[m[1]+".many"] = true, true
		}
	}
	return named
}

func TestEveryPhraseThatIsNamedIsInTheCatalogue(t *testing.T) {
	named := literals(t)
	if len(named) < 80 {
		t.Fatalf("only %d phrases found in the code", len(named))
	}
	for prefix, values := range families {
		for _, v := range values {
			named[prefix+v] = true
		}
	}
	for _, b := range exchange.Bounds {
		named["bound."+string(b)], named["tag."+string(b)], named["why."+string(b)] = true, true, true
	}
	for _, o := range exchange.Outcomes {
		named["outcome."+string(o)] = true
	}
	for _, f := range findings {
		named["say."+f.name] = true
	}
	for _, end := range ends {
		named["tag."+end] = true
	}
	for key := range named {
		if _, ok := catalogue[key]; !ok {
			t.Errorf("the catalogue has no %q", key)
		}
	}
}

func TestEveryPhraseOfTheCatalogueIsUsed(t *testing.T) {
	named := literals(t)
	for key := range catalogue {
		prefix := key[:strings.LastIndex(key, ".")+1]
		_, family := families[prefix]
		_, family2 := families[key[:strings.Index(key, ".")+1]]
		if !named[key] && !family && !family2 {
			t.Errorf("nothing says %q", key)
		}
	}
}

func TestBothLanguagesTakeTheSameArguments(t *testing.T) {
	verb := regexp.MustCompile(`%(?:\[\d\])?[sq]`)
	for key, p := range catalogue {
		if p.en == "" || p.zh == "" {
			t.Errorf("%s lacks a language", key)
		}
		args := make([]any, len(verb.FindAllString(p.en, -1)))
		for i := range args {
			args[i] = "x"
		}
		if len(args) == 0 {
			continue
		}
		for _, format := range []string{p.en, p.zh} {
			if s := fmt.Sprintf(format, args...); strings.Contains(s, "%!") {
				t.Errorf("%s: %s", key, s)
			}
		}
	}
}

func TestABoundIsCalledByTheNameOfItsTag(t *testing.T) {
	for _, x := range telling() {
		if tag := tagOf(chinese, x); !failed(x) && BoundWord(x, "zh") != tag.Word {
			t.Errorf("%s: %q, the tag says %q", x.ID, BoundWord(x, "zh"), tag.Word)
		}
	}
	cancelled := &exchange.Exchange{Outcome: exchange.ClientAbort}
	if got := BoundWord(cancelled, "en"); got != "Unknown" {
		t.Errorf("an exchange that was given up is bound by %q", got)
	}
}

func TestNoPageShowsAKeyInsteadOfItsPhrase(t *testing.T) {
	page := New(newConfig(t, telling()...))
	targets := append([]string{}, everywhere...)
	for _, x := range telling() {
		targets = append(targets, "/-/requests/"+x.ID)
	}
	missing := regexp.MustCompile(`\?[a-z]+\.[a-z_.]+`)
	for _, target := range targets {
		for _, l := range []language{english, chinese} {
			body := get(t, page, target, "Accept-Language", string(l)).Body.String()
			if m := missing.FindString(body); m != "" {
				t.Errorf("%s in %s has no phrase for %s", target, l, m)
			}
		}
	}
}

// fieldWords are the ends of the phrases of what a column can be.
func fieldWords() []string {
	all := []string{"none"}
	for _, f := range console.Fields() {
		all = append(all, string(f))
	}
	return all
}
