package web

import (
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/diagnosis"
)

var update = flag.Bool("update", false, "write the golden pages anew")

// contentHash is the part of a page that changes with the style sheet and the script.
var contentHash = regexp.MustCompile(`-[0-9a-f]{12}\.(css|js|svg)`)

// logFile is the part of it that is of one machine.
var logFile = regexp.MustCompile(`<code>[^<]*(log\.db</code>).*?[kM]?B<`)

// livePosition is the part of it that is of one run of the program.
var livePosition = regexp.MustCompile(`since=[0-9A-Z]{26}-[0-9]+`)

// auditID is the part of it that nobody guesses.
var auditID = regexp.MustCompile(`/-/audit/[A-Z2-7]{26}`)

func TestEveryViewLooksAsItDidInBothLanguages(t *testing.T) {
	full := New(newConfig(t, telling()...))
	long := New(newConfig(t, many(120)...))
	empty := New(newConfig(t))
	turns := New(newConfig(t, append(agent(), crew()...)...))
	locked := newConfig(t)
	locked.Token = "sesame"
	routed := newConfig(t)
	routed.Upstreams = append(routed.Upstreams, Upstream{"chat", "https://chatgpt.com/backend-api/codex"})
	judged := newConfig(t)
	judged.Models = usualModels()
	charted := newConfig(t, telling()...)
	charted.Models = func() []*diagnosis.Baseline { return []*diagnosis.Baseline{steep("gpt-5-codex")} }
	lab := New(newLab(t, everyTrial()...))
	audited, result := auditedPage(t)
	kept, keptAt := auditedPage(t)
	ask(t, kept, http.MethodPost, keptAt+"/keep", "")
	views := []struct {
		name   string
		page   http.Handler
		target string
	}{
		{"log", full, "/-/"},
		{"log-filtered", full, "/-/?from=-3h&bound=decode&min_first_token_ms=1000&sort=total_ms&order=asc&colour=red"},
		{"log-nomatch", full, "/-/?bound=stalled&session=none"},
		{"log-paged", long, "/-/?limit=3"},
		{"log-empty", empty, "/-/"},
		{"exchange-open", full, "/-/requests/under-way"},
		{"exchange-prefill", full, "/-/requests/prefill"},
		{"exchange-cut", full, "/-/requests/cut"},
		{"exchange-whole", full, "/-/requests/whole"},
		{"exchange-session", New(newConfig(t, conversation()...)), "/-/requests/talk-4"},
		{"exchange-missing", full, "/-/requests/nowhere"},
		{"charts", New(charted), "/-/charts"},
		{"charts-filtered", full, "/-/charts?bound=wait&from=-3h"},
		{"connect", full, "/-/connect"},
		{"connect-upstream", New(routed), "/-/connect?upstream=chat"},
		{"models", New(judged), "/-/models"},
		{"models-none", full, "/-/models?model=none"},
		{"turn", turns, "/-/turns/turn-9"},
		{"turn-overlapping", turns, "/-/turns/turn-crew"},
		{"turn-missing", turns, "/-/turns/turn-0"},
		{"compare", turns, "/-/compare?a=agent-4&b=agent-1"},
		{"compare-unlike", full, "/-/compare?a=prefill&b=cancelled"},
		{"compare-one", turns, "/-/compare?a=agent-4"},
		{"compare-missing", turns, "/-/compare?a=agent-4&b=nowhere"},
		{"experiments", lab, "/-/experiments"},
		{"experiments-none", empty, "/-/experiments"},
		{"experiment", lab, "/-/experiments/" + ladderID},
		{"experiment-cache", lab, "/-/experiments/" + cacheID},
		{"experiment-running", lab, "/-/experiments/" + runningID},
		{"experiment-hostile", lab, "/-/experiments/" + hostileID},
		{"experiment-missing", lab, "/-/experiments/nowhere"},
		{"experiment-compare", lab, "/-/experiments/compare?a=" + ladderID + "&b=" + laterID},
		{"experiment-compare-missing", lab, "/-/experiments/compare?a=" + ladderID + "&b=nowhere"},
		{"audit", full, "/-/audit"},
		{"audit-result", audited, result},
		{"audit-class", audited, result + "?class=matched"},
		{"audit-kept", kept, keptAt + "?class=tokens_differ"},
		{"audit-missing", full, "/-/audit/nowhere"},
		{"exchange-audited", kept, "/-/requests/audit-other"},
		{"login", New(locked), "/-/?q=x"},
	}
	for _, v := range views {
		for _, l := range []language{english, chinese} {
			t.Run(v.name+"/"+string(l), func(t *testing.T) {
				body := get(t, v.page, v.target, "Accept-Language", l.Tag()).Body.String()
				body = livePosition.ReplaceAllString(body, "since=HERE")
				body = auditID.ReplaceAllString(body, "/-/audit/RESULT")
				golden(t, v.name+"."+string(l)+".golden.html", logFile.ReplaceAllString(contentHash.ReplaceAllString(body, "-HASH.$1"), "<code>$1, SIZE<"))
			})
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("page differs from %s (go test -update writes it anew):\n%s", path, diff)
	}
}
