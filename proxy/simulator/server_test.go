package simulator

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPathsAreServedWithAndWithoutTheirVersion(t *testing.T) {
	each(t, one(plain), func(b *bench, a api) {
		for _, path := range []string{a.path, strings.TrimPrefix(a.path, "/v1")} {
			if got := b.post(path, a.of("hello"), ""); got.status != 200 || len(got.messages) == 0 {
				b.t.Errorf("%s: status %d", path, got.status)
			}
		}
	})
}

func TestRefusalComesInTheShapeOfItsAPI(t *testing.T) {
	each(t, one(plain), func(b *bench, a api) {
		for status, kind := range map[string]string{
			"400": "invalid_request_error", "401": "authentication_error", "404": "invalid_request_error not_found_error",
			"429": "rate_limit_error", "500": "server_error api_error", "503": "server_error overloaded_error",
		} {
			got := b.post(a.path, a.of("hello"), "status="+status+", retry_after=1500ms")
			if said := got.body.Get("error.type").Str; !strings.Contains(kind, said) || said == "" {
				b.t.Errorf("%s: %s", status, got.body.Raw)
			}
			if got.header.Get("Retry-After") != "2" || got.header.Get("X-Request-Id") == "" {
				b.t.Errorf("%s: headers %v", status, got.header)
			}
			equal(b.t, "refusal", got.end, 60*ms)
			if isMessages := got.body.Get("type").Str == "error"; isMessages != (a.name == "messages") {
				b.t.Errorf("%s: %s", status, got.body.Raw)
			}
		}
		if truth := b.told()[0]; truth.Outcome != "upstream_error" || truth.Queue != 0 {
			b.t.Errorf("truth: %+v", truth)
		}
	})
}

func TestBadRequestsSayWhatIsMissing(t *testing.T) {
	inBubble(t, one(plain), func(b *bench) {
		for body, want := range map[string]string{
			`{"model":`:                "not JSON",
			`{"input":"x"}`:            "model is required",
			`{"model":"m","prompt":1}`: "input is required",
		} {
			got := b.send(http.MethodPost, "/v1/responses", body, nil)
			if got.status != 400 || !strings.Contains(got.body.Get("error.message").Str, want) {
				b.t.Errorf("%s: status %d, body %s", body, got.status, got.body.Raw)
			}
		}
	})
}

// send is a request of any kind.
func (b *bench) send(method, path, body string, header http.Header) answer {
	b.t.Helper()
	req, err := http.NewRequest(method, "http://simulator"+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	for key, values := range header {
		req.Header[key] = values
	}
	return b.do(req)
}

func TestWhatIsNotServedIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		method, path string
		header       http.Header
		status       int
	}{
		"WebSocket":         {"GET", "/v1/embeddings", http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}}, 426},
		"unknown path":      {"POST", "/v1/speech", nil, 404},
		"version twice":     {"POST", "/v1/v1/responses", nil, 404},
		"GET of an answer":  {"GET", "/v1/responses", nil, 405},
		"POST of models":    {"POST", "/v1/models", nil, 404},
		"unknown encoding":  {"POST", "/v1/responses", http.Header{"Content-Encoding": {"zstd"}}, 415},
		"gzip that is none": {"POST", "/v1/responses", http.Header{"Content-Encoding": {"gzip"}}, 400},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, one(plain), func(b *bench) {
				got := b.send(c.method, c.path, `{"model":"m","input":"x"}`, c.header)
				if got.status != c.status || !got.body.Get("error.message").Exists() {
					b.t.Errorf("status %d, body %s, want %d", got.status, got.body.Raw, c.status)
				}
			})
		})
	}
}

func TestModelsAreListedForEachKindOfClient(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		var names []string
		for _, m := range b.send("GET", "/v1/models", "", nil).body.Get("data.#.id").Array() {
			names = append(names, m.Str)
		}
		if diff := cmp.Diff([]string{"sim-large", "sim-light", "sim-reasoning", "sim-codex", "sim-local"}, names); diff != "" {
			b.t.Error(diff)
		}
		if got := b.send("GET", "/models?client_version=0.171.0", "", nil).body.Raw; got != `{"models":[]}` {
			b.t.Errorf("Codex is told %s", got)
		}
	})
}

func TestUnknownModelIsAnsweredByTheFirst(t *testing.T) {
	inBubble(t, Config{Profiles: []Profile{
		{Name: "first", Behaviour: Behaviour{Output: 3}},
		{Name: "second", Behaviour: Behaviour{Output: 5}},
	}}, func(b *bench) {
		for model, want := range map[string]int64{"first": 3, "second": 5, "other": 3} {
			got := b.post("/v1/chat/completions", object{"model": model, "messages": []object{{"content": "hi"}}}, "").body
			if got.Get("usage.completion_tokens").Int() != want || got.Get("model").Str != model {
				b.t.Errorf("%s: %s", model, got.Raw)
			}
		}
	})
}

func TestEmbeddingsTakeTheirPrefillAndNoMore(t *testing.T) {
	inBubble(t, one(plain), func(b *bench) {
		got := b.post("/v1/embeddings", object{"model": "m", "input": []string{text(200), text(300)}}, "")
		equal(b.t, "end", got.end, 600*ms)
		if n := got.body.Get("data.#").Int(); n != 2 {
			b.t.Errorf("%d vectors, want 2", n)
		}
		if got.body.Get("usage").Raw != `{"prompt_tokens":500,"total_tokens":500}` {
			b.t.Errorf("usage %s", got.body.Get("usage"))
		}
		if id := b.truth().ResponseID; id != "" {
			b.t.Errorf("truth has the response id %q", id)
		}
	})
}

func TestProfilesByDefaultAnswer(t *testing.T) {
	for _, p := range DefaultProfiles() {
		t.Run(p.Name, func(t *testing.T) {
			inBubble(t, Config{}, func(b *bench) {
				body := apis[0].of("hello", object{"model": p.Name})
				if got := b.post("/v1/responses", body, ""); !apis[0].done(got.messages[len(got.messages)-1]) {
					b.t.Error("the stream has no end")
				}
				if got := b.truth().OutputTokens; got != p.Output+p.ReasoningTokens {
					b.t.Errorf("%d output tokens", got)
				}
			})
		})
	}
}
