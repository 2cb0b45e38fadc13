package main

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/proxy/simulator"
)

var updateClients = flag.Bool("update", false, "write docs/clients.md anew, from a run of all clients")

// trial is one thing that a client is made to do, first against the model itself
// and then through the proxy.
type trial struct {
	name     string
	model    conduct
	base     string                  // of the upstream's path; "" is /v1
	flags    []string                // of serve
	run      func(r *ride) string    // what the client printed
	http2    bool                    // so that the client's own bytes cannot be read
	differs  string                  // why the direct run cannot be the same; "" if it must be
	outcomes string                  // of the rows, in order; "" if all must be ok
	rows     func(testing.TB, []row) // what else must hold of them
}

type row = map[string]string

// ride is one run of a client.
type ride struct {
	*client
	model  *modelServer
	prefix string // where it is installed
	base   string // what it gets as its base URL, without a version
}

// matrix collects what was seen.
type matrix struct {
	t       *testing.T
	lines   []string
	started time.Time
}

// TestClients installs each client and runs it for real, which takes minutes and
// downloads gigabytes: make test-clients. TTFTAP_CLIENTS is all, or words of the
// names of those to be run; without it only what is at hand is run.
func TestClients(t *testing.T) {
	m := &matrix{t: t, started: time.Now()}
	if os.Getenv("TTFTAP_CLIENTS") == "" {
		m.atHand()
		return
	}
	for _, c := range codexes(t) {
		m.try(c.String(), []string{"@openai/codex@" + c.version}, c.trials())
	}
	for _, c := range slices.Concat(libraries(), tools()) {
		m.try(c.name, c.packages, c.trials)
	}
	if *updateClients && os.Getenv("TTFTAP_CLIENTS") == "all" {
		m.write(filepath.Join("..", "..", "docs", "clients.md"))
	}
}

// atHand runs the Codex that other tests use too, and the tools of the machine.
func (m *matrix) atHand() {
	m.t.Run("Codex", func(t *testing.T) {
		m.run(t, "Codex", needs(t, os.Getenv("TTFTAP_CODEX"), "the Codex CLI (TTFTAP_CODEX)"), pinnedCodexes[len(pinnedCodexes)-1].trials())
	})
	for _, c := range tools() {
		m.t.Run(c.name, func(t *testing.T) { m.run(t, c.name, "", c.trials) })
	}
}

// try installs a client, has it do its trials, and deletes it.
func (m *matrix) try(name string, packages []string, trials []trial) {
	if !chosen(name) {
		return
	}
	m.t.Run(name, func(t *testing.T) {
		prefix := t.TempDir()
		if err := install(prefix, packages); err != nil {
			m.add(name, "", "", "not run: "+err.Error())
			t.Skipf("SKIPPED: %v", err)
		}
		m.run(t, name, prefix, trials)
	})
}

// chosen says whether a client is among those to be run.
func chosen(name string) bool {
	words := os.Getenv("TTFTAP_CLIENTS")
	return words == "all" || slices.ContainsFunc(strings.Fields(words), func(w string) bool { return strings.Contains(name, w) })
}

func (m *matrix) run(t *testing.T, name, prefix string, trials []trial) {
	for _, one := range trials {
		t.Run(one.name, func(t *testing.T) {
			seen, result := "", "FAILED"
			defer func() {
				if t.Skipped() {
					result = "not run: this machine lacks what it needs"
				}
				m.add(name, one.name, seen, result)
			}()
			seen = one.try(t, prefix)
			if !t.Failed() {
				result = cmp.Or(one.differs, "same bytes, rows right")
			}
		})
	}
}

func install(prefix string, packages []string) error {
	if len(packages) == 0 {
		return nil
	}
	out, err := exec.Command("npm", append([]string{"install", "--silent", "--no-audit", "--no-fund", "--prefix", prefix}, packages...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("npm could not install %s: %w %.200s", strings.Join(packages, " "), err, out)
	}
	return nil
}

func (m *matrix) add(client, trial, seen, result string) {
	if os.Getenv("TTFTAP_CLIENTS") != "" {
		m.t.Logf("%6.1f s  %s, %s: %s; %s", time.Since(m.started).Seconds(), client, trial, seen, result)
	}
	m.lines = append(m.lines, fmt.Sprintf("| %s | %s | %s | %s |", client, trial, seen, result))
}

func (m *matrix) write(path string) {
	text := fmt.Sprintf("# Clients\n\nWritten by `make test-clients` on %s, which took %s on %d cores. Each client is installed, run against a simulated model, "+
		"and run again with ttftap between them.\n\nIn each run through ttftap, what the client sent and got is compared with what the model took and answered: method, target, headers and body, "+
		"byte for byte. The two runs are compared by all that the model was sent, and by what the client printed, ids and times left out. "+
		"Of each call the row must tell the model's own counts, ids, outcome, wire format and transport, and the client's session and turn.\n\n"+
		"After that, Codex 0.94, Claude Code, Continue, curl and the OpenAI SDKs for Node and Python are run with what the connect page has to paste for them.\n\n"+
		"| client | doing | model calls | seen |\n|---|---|---|---|\n%s\n",
		m.started.Format(time.DateOnly), time.Since(m.started).Round(time.Second), runtime.NumCPU(), strings.Join(m.lines, "\n"))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		m.t.Error(err)
	}
}

// try is the whole trial; it returns what was seen.
func (one trial) try(t *testing.T, prefix string) string {
	base, home := cmp.Or(one.base, "/v1"), t.TempDir()
	var printed []string
	var told [][]string
	if one.differs == "" {
		direct := serveModel(t, one.model)
		printed = append(printed, one.ride(t, home, &ride{model: direct, prefix: prefix, base: direct.URL}))
		told = append(told, letters(direct.all()))
	}
	through := serveModel(t, one.model)
	r := startProgram(t, append([]string{"serve", "--upstream", through.URL + base}, one.flags...)...)
	front := relayTo(t, strings.TrimPrefix(r.base, "http://"))
	printed = append(printed, one.ride(t, home, &ride{model: through, prefix: prefix, base: "http://" + front.Addr().String()}))
	sent, got := front.heard(t), through.all()
	told = append(told, letters(got))
	if !one.http2 {
		checkBytes(t, base, sent, got)
	}
	if one.differs == "" {
		checkSame(t, printed, told)
	}
	want := asked(sent)
	if one.http2 {
		want = len(got)
	}
	rows := r.rows(want)
	if len(rows) != want {
		t.Errorf("%d rows of %d requests", len(rows), want)
	}
	return one.check(t, rows, through) + one.compressed(got)
}

// compressed says what of the bodies was.
func (one trial) compressed(got []*taken) (said string) {
	requests, answers := "", ""
	for _, g := range got {
		requests, answers = cmp.Or(requests, g.header.Get("Content-Encoding")), cmp.Or(answers, g.encoding)
	}
	if requests != "" {
		said += ", requests in " + requests
	}
	switch {
	case answers != "":
		said += ", answers in " + answers
	case one.model.answers != "":
		said += ", no compression asked for"
	}
	return said
}

// ride runs the client in a new home at the same place.
func (one trial) ride(t *testing.T, home string, r *ride) string {
	t.Helper()
	if err := os.RemoveAll(home); err != nil {
		t.Fatal(err)
	}
	r.client = &client{t, home, nil}
	if err := os.MkdirAll(filepath.Join(home, "work"), 0o700); err != nil {
		t.Fatal(err)
	}
	return one.run(r)
}

func checkSame(t *testing.T, printed []string, told [][]string) {
	t.Helper()
	if a, b := normal(printed[0]), normal(printed[1]); a != b {
		t.Errorf("the client printed something else through the proxy, %s", firstDifference(a, b))
	}
	if len(told[0]) != len(told[1]) {
		t.Errorf("the model was sent %d requests, and %d through the proxy: %q and %q", len(told[0]), len(told[1]), heads(told[0]), heads(told[1]))
		return
	}
	for i, a := range told[0] {
		if b := told[1][i]; a != b {
			t.Errorf("the model was sent something else through the proxy, %s", firstDifference(a, b))
		}
	}
}

// heads are the first lines of letters.
func heads(letters []string) (list []string) {
	for _, l := range letters {
		head, _, _ := strings.Cut(l, "\n")
		list = append(list, head)
	}
	return list
}

// check compares the rows with what the model knows.
func (one trial) check(t *testing.T, rows []row, s *modelServer) string {
	t.Helper()
	calls, outcomes := 0, []string(nil)
	seen := map[string]int{}
	for _, x := range rows {
		if x["method"] != http.MethodPost && x["transport"] != "websocket" {
			continue
		}
		calls++
		outcomes = append(outcomes, x["outcome"])
		seen[strings.Join([]string{x["dialect"], x["transport"], x["status"]}, " ")]++
		s.checkRow(t, x)
	}
	if got := strings.Join(slices.Compact(outcomes), " "); got != cmp.Or(one.outcomes, "ok") {
		t.Errorf("outcomes %q", got)
	}
	if calls == 0 {
		t.Error("no call was made")
	}
	if one.rows != nil {
		one.rows(t, rows)
	}
	var told []string
	for _, kind := range slices.Sorted(maps.Keys(seen)) {
		told = append(told, fmt.Sprintf("%d × %s", seen[kind], strings.TrimSpace(kind)))
	}
	return strings.Join(told, ", ")
}

// checkRow compares a row with the truth and with what the client said of itself.
func (s *modelServer) checkRow(t *testing.T, x row) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if x["status"] == "" {
		return // nobody answered
	}
	truth, known := s.truths[cmp.Or(x["response_id"], x["request_id"])]
	if !known {
		t.Errorf("the model knows of no answer %q (%s): %v", x["response_id"], x["request_id"], x)
		return
	}
	if x["dialect"] != string(truth.Dialect) || x["transport"] == "websocket" && x["status"] != "101" || x["transport"] != "websocket" && x["request_id"] != truth.RequestID {
		t.Errorf("dialect, transport or id: %v", x)
	}
	if truth.Outcome == exchange.OK && x["outcome"] != "ok" {
		t.Errorf("the answer was ok, and the row says %s: %v", x["outcome"], x)
	}
	if x["usage_source"] == "reported" || truth.Outcome == exchange.OK && truth.Dialect != exchange.Chat {
		checkCounts(t, x, truth)
	}
	for _, g := range s.taken {
		if g.requestID == x["request_id"] && !g.upgraded() {
			checkIDs(t, x, g)
		}
	}
}

func checkCounts(t *testing.T, x row, truth simulator.Truth) {
	t.Helper()
	for name, n := range map[string]int{"prompt_tokens": truth.PromptTokens, "cached_tokens": truth.CachedTokens, "output_tokens": truth.OutputTokens} {
		if truth.Dialect == exchange.Embeddings && name != "prompt_tokens" {
			continue
		}
		if x[name] != strconv.Itoa(n) {
			t.Errorf("%s is %q in the row, and %d by the model", name, x[name], n)
		}
	}
	if truth.Streamed && truth.OutputTokens > 0 && x["first_token_ms"] == "" && x["request_kind"] != "compaction" {
		t.Errorf("a stream without a first token: %v", x)
	}
}

// checkIDs compares the ids of a row with those in the headers of its request.
func checkIDs(t *testing.T, x row, g *taken) {
	t.Helper()
	h := g.header
	for name, want := range map[string]string{
		"session_id":   cmp.Or(h.Get("Session-Id"), h.Get("session_id"), h.Get("conversation_id")),
		"turn_id":      gjson.Get(h.Get("X-Codex-Turn-Metadata"), "turn_id").String(),
		"request_kind": gjson.Get(h.Get("X-Codex-Turn-Metadata"), "request_kind").String(),
	} {
		if want != "" && x[name] != want {
			t.Errorf("%s is %q in the row, and %q in the request", name, x[name], want)
		}
	}
	product, _, _ := strings.Cut(h.Get("User-Agent"), "/")
	if !strings.HasPrefix(x["client"], product) {
		t.Errorf("the client is %q in the row, and %q in the request", x["client"], h.Get("User-Agent"))
	}
}
