package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
	"github.com/ttftap/ttftap/proxy/probe"
	"github.com/ttftap/ttftap/proxy/simulator"
)

// quickModels are two simulated models that keep no test waiting.
func quickModels() http.Handler {
	quick := simulator.Behaviour{Floor: 5 * time.Millisecond, TPOT: 2 * time.Millisecond, Output: 64}
	return simulator.New(simulator.Config{Profiles: []simulator.Profile{{Name: "sim-large", Behaviour: quick}, {Name: "sim-light", Behaviour: quick}}})
}

// simulatedModels serves quickModels, and in folders beside them upstreams of which
// each has something of its own.
func simulatedModels(t testing.TB) (base string) {
	models := quickModels()
	mux := http.NewServeMux()
	mux.Handle("/v1/", models)
	beside := func(folder string, answer func(w http.ResponseWriter, r *http.Request) (done bool)) {
		mux.Handle("/"+folder+"/", http.StripPrefix("/"+folder, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !answer(w, r) {
				models.ServeHTTP(w, r)
			}
		})))
	}
	on := func(path, body string, status int, headers ...string) func(w http.ResponseWriter, r *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != path {
				return false
			}
			for i := 0; i+1 < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			io.WriteString(w, body)
			return true
		}
	}
	beside("unlisted", on("/v1/models", `{"error":{"message":"no list"}}`, http.StatusNotFound))
	beside("single", on("/v1/models", `{"data":[{"id":"the-only-one"}]}`, http.StatusOK))
	beside("chatonly", on("/v1/responses", `{"error":{"message":"no such path"}}`, http.StatusNotFound))
	beside("limited", on("/v1/responses", `{"error":{"message":"slower"}}`, http.StatusTooManyRequests, "Retry-After", "30"))
	beside("locked", func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") == "Bearer sesame" {
			return false
		}
		return on(r.URL.Path, `{"error":{"message":"who are you?","code":"invalid_api_key"}}`, http.StatusUnauthorized)(w, r)
	})
	var asked atomic.Int64
	beside("broken", func(w http.ResponseWriter, r *http.Request) bool { // after the first
		return r.Method == http.MethodPost && asked.Add(1) > 1 && on(r.URL.Path, `{"error":{"message":"out of order"}}`, http.StatusInternalServerError)(w, r)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// lone is a program that nothing stops.
func lone() stopping { return stopping{context.Background(), context.Background()} }

// probed runs a probe as main does, and returns what it writes.
func probed(t testing.TB, stop stopping, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out bytes.Buffer
	told := new(lockedBuffer)
	code = run(stop, append([]string{"probe"}, args...), &out, told)
	return out.String(), told.String(), code
}

// probeTheDemo runs all experiments against the model that the demo uses most: it
// takes 50 ms to start, 45 µs a token of the prompt, and 18 ms a token of the answer.
func probeTheDemo(t *testing.T, r *running) {
	out, told, code := probed(t, lone(), "all", "--via", r.base, "--yes", "--pause", "0s", "--levels", "1,12", "--json")
	if code != exitDone {
		t.Fatalf("exit %d: %s", code, told)
	}
	var found results
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		t.Fatal(err)
	}
	first, verdict := found.Joint.Found[0], found.Joint.Verdict.En
	if first == experiment.Unresolved { // a busy machine: what the report advises
		out, _, _ := probed(t, lone(), "ladder", "--via", r.base, "--yes", "--pause", "0s", "--sizes", "100,1000,12000", "--budget", "1000000", "--json")
		var ladder results
		if err := json.Unmarshal([]byte(out), &ladder); err != nil {
			t.Fatal(err)
		}
		first, verdict = ladder.Reports[0].Found[0], ladder.Reports[0].Verdict.En
	}
	if first != experiment.FoundPrefill || !strings.Contains(verdict, "Prefill is the largest part") {
		t.Errorf("%s: %s", first, verdict)
	}
	truths := map[experiment.Finding]float64{experiment.FoundPrefill: 3000 * 0.045, experiment.FoundFloor: 50, experiment.FoundDecode: 18}
	for _, part := range found.Joint.Parts {
		if truth, ok := truths[part.Of]; ok && (part.MS.At < 0.8*truth || part.MS.At > 1.4*truth) {
			t.Errorf("%s takes %.1f ms, not %.1f", part.Of, part.MS.At, truth)
		}
	}
	want := map[experiment.Kind]experiment.Finding{experiment.Cache: experiment.CacheWorks, experiment.Shapes: experiment.FoundPrefill, experiment.Load: experiment.Slower}
	for _, report := range found.Reports {
		if f, ok := want[report.Kind]; ok && report.Found[0] != f && report.Found[0] != experiment.Unresolved {
			t.Errorf("%s: %v: %s", report.Kind, report.Found, report.Verdict.En)
		}
		if len(report.Samples) != report.Planned || report.State != experiment.Done {
			t.Errorf("%s: %d of %d, %s", report.Kind, len(report.Samples), report.Planned, report.State)
		}
	}
}

func TestAProbeThatIsStoppedTellsWhatIsThere(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	models, came := quickModels(), new(atomic.Int32)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if came.Add(1) == 10 {
			stop()
		}
		models.ServeHTTP(w, r)
	}))
	t.Cleanup(upstream.Close)
	r := startProgram(t, "serve", "--upstream", upstream.URL+"/v1")
	out, told, code := probed(t, stopping{ctx, context.Background()}, "ladder", "--via", r.base, "--model", "sim-light", "--yes", "--rounds", "40", "--pause", "0s")
	if code != exitDone || !strings.Contains(out, "Stopped early. What was sent until then is in the log") || !strings.Contains(out, "stopped early: sim-light") {
		t.Errorf("exit %d: %s\n%s", code, out, told)
	}
	_, list := r.get("/-/api/experiments")
	if !strings.Contains(list, `"stopped":true`) {
		t.Errorf("the log says %s", list)
	}
}

func TestWhatIsFoundBeforeTheInstanceGoesIsTold(t *testing.T) {
	r := startProgram(t, "serve", "--upstream", simulatedModels(t)+"/v1")
	behind := httputil.NewSingleHostReverseProxy(must(url.Parse(r.base)))
	behind.FlushInterval = -1
	begun := 0
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path == "/-/api/experiments" && q.Method == http.MethodPost {
			begun++
		}
		if begun > 1 {
			panic(http.ErrAbortHandler)
		}
		behind.ServeHTTP(w, q)
	}))
	defer front.Close()
	out, told, code := probed(t, lone(), "all", "--via", front.URL, "--model", "sim-light", "--yes", "--pause", "0s", "--rounds", "1", "--sizes", "100,200", "--count", "1", "--json")
	var found results
	if err := json.Unmarshal([]byte(out), &found); err != nil || code != exitFailed || len(found.Reports) != 1 {
		t.Fatalf("exit %d, %v, %d reports: %s", code, err, len(found.Reports), told)
	}
	if want := "burst: the ttftap that its requests go through has no answer"; !strings.Contains(told, want) {
		t.Errorf("%q is not in %s", want, told)
	}
}

func TestAProbeShowsTheTokenOfThePage(t *testing.T) {
	models := simulatedModels(t)
	r := startProgram(t, "serve", "--upstream", models+"/v1", "--ui-token", "sesame")
	args := []string{"burst", "--via", r.base, "--model", "sim-light", "--yes", "--count", "1", "--pause", "0s"}
	if _, told, code := probed(t, lone(), args...); code != exitFailed || !strings.Contains(told, "--ui-token") {
		t.Errorf("without: exit %d: %s", code, told)
	}
	out, told, code := probed(t, lone(), append(args, "--ui-token", "sesame")...)
	if code != exitDone || strings.Contains(out, "sesame") {
		t.Errorf("with it: exit %d: %s\n%s", code, out, told)
	}
	t.Setenv("TTFTAP_UI_TOKEN", "sesame")
	if _, told, code := probed(t, lone(), args...); code != exitDone {
		t.Errorf("in the environment: exit %d: %s", code, told)
	}
}

func TestTwoExperimentsAreCompared(t *testing.T) {
	models := simulatedModels(t)
	r := startProgram(t, "serve", "--upstream", models+"/v1")
	link := regexp.MustCompile(regexp.QuoteMeta(r.base) + `/-/experiments/([0-9A-Z]{26})\n`)
	var ids []string
	for _, kind := range []string{"shapes", "shapes", "burst"} {
		args := []string{kind, "--via", r.base, "--model", "sim-light", "--yes", "--pause", "0s"}
		if kind == "burst" {
			args = append(args, "--count", "1")
		}
		out, told, code := probed(t, lone(), args...)
		found := link.FindStringSubmatch(out)
		if code != exitDone || found == nil {
			t.Fatalf("exit %d: %s\n%s", code, out, told)
		}
		ids = append(ids, found[1])
	}
	out, told, code := probed(t, lone(), "compare", ids[0], ids[1], "--via", r.base, "--json")
	var c experiment.Comparison
	if err := json.Unmarshal([]byte(out), &c); err != nil || code != exitDone || c.From != ids[0] || c.To != ids[1] || len(c.Arms) != 2 {
		t.Errorf("exit %d, %v: %s\n%s", code, err, out, told)
	}
	if _, told, code := probed(t, lone(), "compare", ids[0], ids[2], "--via", r.base); code != exitUsage || !strings.Contains(told, "nothing in common") {
		t.Errorf("exit %d: %s", code, told)
	}
}

func TestTheCommandAgainHasNoSecretAndNoAnswer(t *testing.T) {
	got := again([]string{"probe", "ladder", "--yes", "--ui-token", "sesame", "--json", "--sizes=1,2", "--ui-token=sesame", "--db", "my log.db", "-y"}, []string{"a b"})
	if want := `ttftap probe ladder --sizes=1,2 --db 'my log.db' --model 'a b'`; got != want {
		t.Errorf("%s", got)
	}
	if got := again([]string{"probe", "models", "--model=a", "--model", "b"}, []string{"a", "b"}); got != "ttftap probe models --model=a --model b" {
		t.Errorf("%s", got)
	}
}

func TestATerminalGetsTablesInColumns(t *testing.T) {
	markdown := "# A title\n\n**Bold** and `code`.\n\n| a | long head |\n| --- | --- |\n| 1 | x \\| y |\n|  | z |\n\n- item\n"
	want := "A TITLE\n\nBold and `code`.\n\n  a  long head\n  1  x | y\n     z\n\n- item\n"
	if got := terminal(markdown); got != want {
		t.Errorf("%q", got)
	}
	long := terminal("| n |\n| --- |\n" + strings.Repeat("| row |\n", 100))
	if n := strings.Count(long, "row\n"); n != tableRows-1 || !strings.Contains(long, "and 81 more") {
		t.Errorf("%d rows: %s", n, long)
	}
}

func TestTheBarIsALineOnATerminalAndRareElsewhere(t *testing.T) {
	made := must(probe.Setup{Models: []string{"m"}, Upstreams: []string{"default"}, Sizes: []int64{10, 20}, Rounds: 1}.Trial(experiment.Ladder))
	var out bytes.Buffer
	b := newProbeBar(&out, []*probe.Trial{made, made})
	tell := func(done int, ms float64) {
		b.tell(probe.Progress{Trial: made, Done: done, Spent: 1234, Step: made.Steps[0], Row: &probe.Row{FirstTokenMS: &ms}})
	}
	tell(1, 100)
	if out.Len() > 0 {
		t.Errorf("it says %q at once", out.String())
	}
	b.next = time.Now().Add(-time.Second)
	tell(2, 300)
	if got := out.String(); got != "ladder 2 of 4  "+made.Arms[made.Steps[0].Arm].Name+": 0.20 s  1,234 tokens\n" {
		t.Errorf("%q", got)
	}
	out.Reset()
	b.terminal = true
	tell(2, 300)
	b.end()
	if got := out.String(); !strings.HasPrefix(got, "\r[##########..........] ladder 2 of 4") || !strings.HasSuffix(got, "\n") {
		t.Errorf("%q", got)
	}
}

func TestWhatAnUpstreamNamesIsShownAndNotObeyed(t *testing.T) {
	const name = "m\x1b]0;title\a\nttftap: all is well"
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/models", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"data": []any{map[string]string{"id": name}}})
	})
	mux.Handle("/", simulator.New(simulator.Config{}))
	server := httptest.NewServer(mux)
	defer server.Close()
	db := filepath.Join(t.TempDir(), "log.db")
	out, told, code := probed(t, lone(), "ladder", "--via", "new", "--upstream", server.URL+"/v1", "--db", db, "--yes", "--pause", "0s", "--rounds", "1", "--sizes", "100,200")
	refused, toldRefused, _ := probed(t, lone(), "models", "--via", "new", "--upstream", server.URL+"/v1", "--db", db, "--dry-run")
	if code != exitDone {
		t.Errorf("exit %d: %s", code, told)
	}
	for _, text := range []string{out, told, refused, toldRefused} {
		if strings.ContainsAny(text, "\x1b\a") || strings.Contains(text, "\nttftap: all is well") {
			t.Errorf("%q", text)
		}
	}
	if !strings.Contains(out, "ttftap: all is well") || !strings.Contains(toldRefused, "ttftap: all is well") {
		t.Errorf("the model is not named: %s%s", out, toldRefused)
	}
}

func TestOnlyAYesIsOne(t *testing.T) {
	for said, want := range map[string]bool{"y\n": true, "YES\n": true, " y \n": true, "y": true, "n\n": false, "\n": false, "yesterday\n": false, "": false} {
		r, w := must2(os.Pipe())
		io.WriteString(w, said)
		w.Close()
		if yes, err := agreed(context.Background(), r); yes != want || (err == nil) != strings.HasSuffix(said, "\n") {
			t.Errorf("%q: %v, %v", said, yes, err)
		}
		r.Close()
	}
	r, w := must2(os.Pipe())
	defer r.Close()
	defer w.Close()
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if yes, err := agreed(ctx, r); yes || err == nil {
		t.Errorf("who stops it says %v, %v", yes, err)
	}
}

func must2(r, w *os.File, err error) (*os.File, *os.File) {
	if err != nil {
		panic(err)
	}
	return r, w
}

func TestAFileIsNoTerminal(t *testing.T) {
	f := must(os.Create(filepath.Join(t.TempDir(), "x")))
	defer f.Close()
	if isTerminal(f) {
		t.Error("a file is taken for a terminal")
	}
}
