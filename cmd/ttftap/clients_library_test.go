package main

import (
	"cmp"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// library is a client that is no Codex.
type library struct {
	name     string
	packages []string // of npm
	trials   []trial
}

const (
	openAINode   = "7.59.0"
	openAIPython = "3.51.0"
	claudeCode   = "2.1.332"
	continueCLI  = "1.5.47"
	vercel       = "7.0.173"
	vercelOnes   = "4.0.118"
	anthropicJS  = "1.14.0"
	openAIGo     = "3.99.0" // as in testdata/clients/gosdk/go.mod
)

// libraries are what programs are built with.
func libraries() []library {
	return []library{
		{"OpenAI SDK for Node " + openAINode, []string{"openai@" + openAINode}, withBodies(script("openai.mjs"))},
		{"Vercel AI SDK " + vercel, []string{"ai@" + vercel, "@ai-sdk/openai@" + vercelOnes}, withBodies(script("vercel.mjs"))},
		{"Anthropic SDK " + anthropicJS, []string{"@anthropic-ai/sdk@" + anthropicJS}, withBodies(script("anthropic.mjs"))},
		{"OpenAI SDK for Go " + openAIGo, nil, withBodies(goSDK)},
	}
}

// tools are the clients that a machine has.
func tools() []library {
	return []library{
		{"curl " + curlVersion(), nil, []trial{
			{name: "--compressed, gzip", model: conduct{answers: "gzip"}, run: curl("--compressed")},
			{name: "--compressed, zstd", model: conduct{answers: "zstd"}, run: curl("--compressed")},
			{name: "--http2 (an upgrade offered)", run: curl("--http2"), differs: "rows right; over HTTP/1.1, the offer declined"},
			{name: "--http2-prior-knowledge", run: curl("--http2-prior-knowledge"), http2: true},
		}},
		{"Chromium", nil, []trial{{name: "fetch from another origin, with a pre-flight", model: conduct{external: "*"}, run: browse, rows: preflight}}},
	}
}

// withBodies are the trials of a client whose answers may be compressed.
func withBodies(run func(*ride) string) []trial {
	return []trial{{name: "each of its APIs", run: run}, {name: "gzipped answers", model: conduct{answers: "gzip"}, run: run}}
}

// script runs a program of testdata/clients beside the modules that it needs.
func script(name string) func(*ride) string {
	return func(r *ride) string {
		r.Helper()
		text, err := os.ReadFile(filepath.Join("testdata", "clients", name))
		if err == nil {
			err = os.Symlink(filepath.Join(r.prefix, "node_modules"), filepath.Join(r.home, "node_modules"))
		}
		if err != nil {
			r.Fatal(err)
		}
		return r.must("node", r.write(name, string(text)))
	}
}

// must runs a program that must not fail.
func (r *ride) must(name string, args ...string) string {
	r.Helper()
	out := r.try(name, args...)
	if !strings.HasSuffix(out, "exit 0\n") {
		r.Errorf("%s failed", name)
	}
	return out
}

// goSDK is a program of a module of its own: the first build takes minutes.
func goSDK(r *ride) string {
	r.Helper()
	bin := filepath.Join(r.prefix, "gosdk")
	if _, err := os.Stat(bin); err != nil {
		build := exec.Command("go", "build", "-o", bin, ".")
		build.Dir = filepath.Join("testdata", "clients", "gosdk")
		if out, err := build.CombinedOutput(); err != nil {
			r.Skipf("SKIPPED: it could not be built: %v: %.200s", err, out)
		}
	}
	return r.must(bin)
}

func curlVersion() string {
	out, _ := exec.Command("curl", "--version").Output()
	return strings.Join(append(strings.Fields(string(out)), "", "")[1:2], "")
}

const askOfCurl = `{"model":"sim-plain","input":"Say hello.","stream":true}`

// curl asks for a stream, with a flag.
func curl(flag string) func(*ride) string {
	return func(r *ride) string {
		r.Helper()
		needs(r.T, findIn("curl"), "curl")
		return r.must("curl", "-sSN", flag, r.base+"/v1/responses", "-H", "Authorization: Bearer sk-not-a-key", "-H", "Content-Type: application/json", "-d", askOfCurl)
	}
}

// preflight: the browser asked first whether it may.
func preflight(t testing.TB, rows []row) {
	t.Helper()
	if len(rows) != 2 || rows[0]["method"] != http.MethodOptions || rows[0]["status"] != "204" {
		t.Errorf("%d rows, the first is %s %s", len(rows), rows[0]["method"], rows[0]["status"])
	}
}

const fetch = `fetch(BASE + "/v1/responses", {method: "POST", headers: {"content-type": "application/json", authorization: "Bearer sk-not-a-key"},
	body: '` + askOfCurl + `'}).then(async r => r.status + " " + await r.text())`

// browse has a page of another origin ask.
func browse(r *ride) string {
	r.Helper()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/html") }))
	r.Cleanup(page.Close)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.ExecPath(needs(r.T, cmp.Or(os.Getenv("TTFTAP_CHROMIUM"), findIn("chromium")), "Chromium")))
	ctx, cancel := chromedp.NewExecAllocator(context.WithoutCancel(r.Context()), options...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(page.URL)); err != nil {
		r.Fatal(err)
	}
	out, err := chromedp.Run(ctx, chromedp.Evaluate[string](strings.Replace(fetch, "BASE", `"`+r.base+`"`, 1), chromedp.EvalAwaitPromise))
	if err != nil {
		r.Fatal(err)
	}
	return out
}
