package probe_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
	"github.com/ttftap/ttftap/proxy/probe"
	"github.com/ttftap/ttftap/proxy/simulator"
)

// picky refuses requests whose body or path has something, and says what.
func picky(status int, has func(r *http.Request, body string) bool, message string) func(http.Handler) http.Handler {
	return func(models http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body := string(must(io.ReadAll(r.Body)))
			r.Body = io.NopCloser(strings.NewReader(body))
			if !has(r, body) {
				models.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			io.WriteString(w, `{"error":{"message":"`+message+`"}}`)
		})
	}
}

func onPath(path string) func(*http.Request, string) bool {
	return func(r *http.Request, _ string) bool { return strings.HasSuffix(r.URL.Path, path) }
}

func inBody(field string) func(*http.Request, string) bool {
	return func(_ *http.Request, body string) bool { return gjson.Get(body, field).Exists() }
}

func never(*http.Request, string) bool { return false }

func TestACheckTellsOfEveryModelAndWay(t *testing.T) {
	p := simulator.DefaultProfiles()
	p[1].Usage, p[2].Cached = simulator.Unreported, simulator.Unreported
	scene{profiles: p, relay: new(simulator.Network)}.enter(t, func(l *lab) {
		s := setup()
		s.Models = []string{"sim-large", "sim-light", "sim-reasoning"}
		s.Upstreams = append(s.Upstreams, "straight")
		got, err := l.runner.Check(context.Background(), []*probe.Trial{trial(t, s, experiment.Models), trial(t, s, experiment.Direct)})
		want := []probe.Checked{
			{Model: "sim-large", Upstream: "default", Wire: "responses", Usage: true, Cached: true, Reasoning: "none"},
			{Model: "sim-light", Upstream: "default", Wire: "responses", Reasoning: "none"},
			{Model: "sim-reasoning", Upstream: "default", Wire: "responses", Usage: true, Reasoning: "hidden"},
			{Model: "sim-large", Upstream: "straight", Wire: "responses", Usage: true, Cached: true, Reasoning: "none"},
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
	})
}

func TestWhatACheckTellsIsALine(t *testing.T) {
	for want, c := range map[string]probe.Checked{
		"m answers over chat": {Model: "m", Upstream: "default", Wire: "chat", Usage: true, Cached: true, Reasoning: "visible"},
		"m of upstream lab answers over chat; usage is not reported: the budget counts the worst case; cached tokens are not reported": {Model: "m", Upstream: "lab", Wire: "chat"},
		"m answers over chat; its reasoning is hidden, and comes before the first token: --effort asks for less":                       {Model: "m", Upstream: "default", Wire: "chat", Usage: true, Cached: true, Reasoning: "summary"},
	} {
		if got := c.String(); got != want {
			t.Errorf("%q instead of %q", got, want)
		}
	}
}

func TestTheMannerOfAskingIsFound(t *testing.T) {
	for name, test := range map[string]struct {
		before     func(http.Handler) http.Handler
		wire       string // asked for
		want       string
		has, lacks string // fields
	}{
		"responses is tried first":           {picky(404, never, ""), "", probe.Responses, "max_output_tokens", "messages"},
		"chat where there is nothing else":   {picky(404, onPath("/responses"), "no such path"), "", probe.Chat, "max_tokens", "input"},
		"chat where nothing else is allowed": {picky(405, onPath("/responses"), "no"), "", probe.Chat, "stream_options", "input"},
		"chat where it is asked for":         {picky(404, never, ""), probe.Chat, probe.Chat, "max_tokens", "input"},
		"the newer name of the limit":        {picky(400, inBody("max_tokens"), "Use max_completion_tokens instead of max_tokens"), probe.Chat, probe.Chat, "max_completion_tokens", "max_tokens"},
		"no usage where nobody knows of it":  {picky(400, inBody("stream_options"), "stream_options: extra fields not permitted"), probe.Chat, probe.Chat, "max_tokens", "stream_options"},
		"an upstream that stumbles at first": {refuse(500, func(n int) bool { return n < 2 }), "", probe.Responses, "input", "messages"},
		"an upstream that is busy at first":  {refuse(429, func(n int) bool { return n < 2 }), "", probe.Responses, "input", "messages"},
	} {
		t.Run(name, func(t *testing.T) {
			scene{before: test.before}.enter(t, func(l *lab) {
				s := setup()
				s.Wire = test.wire
				made := trial(t, s, experiment.Burst)
				if _, err := l.run(context.Background(), made); err != nil || made.Wire != test.want {
					t.Errorf("%v, over %q", err, made.Wire)
				}
				last := l.bodies[len(l.bodies)-1]
				if !gjson.Get(last, test.has).Exists() || gjson.Get(last, test.lacks).Exists() {
					t.Errorf("%.300s", last)
				}
			})
		})
	}
}

func TestACheckThatIsRefusedSendsNoMore(t *testing.T) {
	for status, asked := range map[int]int{400: 1, 401: 1, 403: 1, 404: 2, 500: 3} { // 404: chat is asked, too
		scene{before: refuse(status, func(int) bool { return true })}.enter(t, func(l *lab) {
			_, err := l.run(context.Background(), trial(t, setup(), experiment.Burst))
			refusal, ok := errors.AsType[*probe.Refusal](err)
			if !ok || refusal.Status != int64(status) || len(l.bodies) != asked || len(l.begun) > 0 {
				t.Errorf("%d: %v after %d requests, %d experiments begun", status, err, len(l.bodies), len(l.begun))
			}
			if l.runner.Spent() != 0 {
				t.Errorf("%d: %d tokens are said to be spent", status, l.runner.Spent())
			}
		})
	}
}

func TestEachUpstreamGetsItsOwnKey(t *testing.T) {
	var got []string
	watch := func(models http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = append(got, r.Host+" "+r.Header.Get("Authorization"))
			models.ServeHTTP(w, r)
		})
	}
	scene{before: watch, relay: new(simulator.Network)}.enter(t, func(l *lab) {
		l.runner.Keys = map[string]string{probe.Default: " secret\n"}
		s := setup()
		s.Upstreams = append(s.Upstreams, "straight")
		if _, err := l.run(context.Background(), trial(t, s, experiment.Direct)); err != nil {
			t.Fatal(err)
		}
		for _, g := range got {
			if g != "relay.test Bearer secret" && g != "models.test " {
				t.Errorf("%q", g)
			}
		}
	})
}
