package web

import (
	"html"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// blocks are what a connect page has to paste, by the client, and the clients in
// their order.
func blocks(body string) (texts map[string]string, order []string) {
	texts = map[string]string{}
	for _, m := range regexp.MustCompile(`(?s)<pre id="([a-z-]+)-text">(.*?)</pre>`).FindAllStringSubmatch(body, -1) {
		texts[m[1]] = html.UnescapeString(m[2])
		order = append(order, m[1])
	}
	return texts, order
}

// routed is a page in front of these upstreams, the default one first.
func routed(t *testing.T, upstreams ...Upstream) http.Handler {
	t.Helper()
	c := newConfig(t)
	c.Upstreams = upstreams
	return New(c)
}

var (
	openAIHome    = Upstream{"default", "https://api.openai.com/v1"}
	chatGPTHome   = Upstream{"chat", "https://chatgpt.com/backend-api/codex"}
	anthropicHome = Upstream{"claude", "https://api.anthropic.com"}
	gateway       = Upstream{"gate", "https://gateway.example.com/api"}
)

func TestEachClientIsSentToAnUpstreamThatUnderstandsIt(t *testing.T) {
	const here = "http://localhost:8838"
	for name, test := range map[string]struct {
		upstreams            []Upstream
		query                string
		first                string
		codex, login, openai string // base URLs
		claude               string
		starts               int // clients that need another upstream first
	}{
		"OpenAI": {
			upstreams: []Upstream{openAIHome}, first: "codex", codex: here, login: here + "/to/chatgpt", openai: here,
			claude: here + "/to/anthropic", starts: 2,
		},
		"all three": {
			upstreams: []Upstream{openAIHome, chatGPTHome, anthropicHome}, first: "codex",
			codex: here, login: here + "/to/chat", openai: here, claude: here + "/to/claude",
		},
		"all three, ChatGPT chosen": {
			upstreams: []Upstream{openAIHome, chatGPTHome, anthropicHome}, query: "?upstream=chat", first: "codex-chatgpt",
			codex: here, login: here + "/to/chat", openai: here + "/to/chat", claude: here + "/to/claude",
		},
		"all three, Anthropic chosen": {
			upstreams: []Upstream{openAIHome, chatGPTHome, anthropicHome}, query: "?upstream=claude", first: "claude",
			codex: here, login: here + "/to/chat", openai: here, claude: here + "/to/claude",
		},
		"ChatGPT alone": {
			upstreams: []Upstream{{"default", chatGPTHome.URL + "/"}}, first: "codex-chatgpt",
			codex: here + "/to/openai", login: here, openai: here, claude: here + "/to/anthropic", starts: 12,
		},
		"a gateway may understand all but the login": {
			upstreams: []Upstream{openAIHome, gateway}, query: "?upstream=gate", first: "codex",
			codex: here + "/to/gate", login: here + "/to/chatgpt", openai: here + "/to/gate", claude: here + "/to/gate", starts: 1,
		},
	} {
		body := get(t, routed(t, test.upstreams...), "/-/connect"+test.query).Body.String()
		texts, order := blocks(body)
		got := map[string]string{"first": order[0], "claude": baseIn(texts["claude"]), "codex": baseIn(texts["codex"]), "login": baseIn(texts["codex-chatgpt"]), "openai": baseIn(texts["codex-openai"])}
		want := map[string]string{"first": test.first, "claude": test.claude, "codex": test.codex, "login": test.login, "openai": test.openai}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if n := strings.Count(body, "First start ttftap with <code>--upstream "); n != test.starts {
			t.Errorf("%s: %d clients need another upstream, want %d", name, n, test.starts)
		}
	}
}

func baseIn(block string) string {
	return regexp.MustCompile(`http://localhost:8838[a-z/]*`).FindString(block)
}

func TestEveryBlockHasItsAddressAndNothingElseIsTouched(t *testing.T) {
	texts, order := blocks(get(t, routed(t, openAIHome), "/-/connect").Body.String())
	if len(order) != len(clients) {
		t.Fatalf("%d blocks for %d clients", len(order), len(clients))
	}
	for id, text := range texts {
		if strings.Count(text, "http://localhost:8838") != 1 || strings.Contains(text, "{base}") {
			t.Errorf("%s:\n%s", id, text)
		}
	}
	for id, line := range map[string]string{
		"codex": `wire_api = "responses"`, "codex-chat": `wire_api = "chat"`, "codex-chatgpt": "requires_openai_auth = true",
		"codex-openai": `openai_base_url = "http://localhost:8838"`, "aider": "export OPENAI_API_BASE=http://localhost:8838",
		"claude": "export ANTHROPIC_BASE_URL=http://localhost:8838/to/anthropic", "continue": "    apiBase: http://localhost:8838",
	} {
		if !strings.Contains("\n"+texts[id], "\n"+line+"\n") {
			t.Errorf("%s lacks %s:\n%s", id, line, texts[id])
		}
	}
	if texts["codex"] != CodexBlock("http://localhost:8838", openAIHome.URL) {
		t.Error("the page and the command tell Codex different things")
	}
}

func TestEveryBlockCanBeCopiedAndJumpedTo(t *testing.T) {
	body := get(t, routed(t, openAIHome), "/-/connect").Body.String()
	for _, c := range clients {
		for _, part := range []string{`<a href="#` + c.id + `">`, `<section id="` + c.id + `"`, `<button type="button" class="copy" data-copy-from="` + c.id + `-text"`} {
			if strings.Count(body, part) != 1 {
				t.Errorf("%s: no %s", c.id, part)
			}
		}
	}
}

func TestAnUpstreamThatIsNoMoreIsSaidToBeNone(t *testing.T) {
	page := routed(t, openAIHome, gateway)
	body := get(t, page, "/-/connect?upstream=gone%22%3E").Body.String()
	if !strings.Contains(body, "There is no upstream “gone&#34;&gt;” any more") {
		t.Error("not said")
	}
	if got := link(body, "gate"); got != "/-/connect?upstream=gate" {
		t.Errorf("the other upstream is at %q", got)
	}
	if body := get(t, page, "/-/connect?model=m&upstream=gate").Body.String(); link(body, "default") != "/-/connect?model=m&upstream=default" {
		t.Error("a choice drops what else is filtered")
	}
}

func TestThePageWaitsForTheFirstRequestAndThenTellsTheNewest(t *testing.T) {
	waiting := get(t, New(newConfig(t)), "/-/connect?lang=en").Body.String()
	for _, part := range []string{`data-live="first" data-state="waiting"`, `<span data-when="waiting">`, `<a class="unscripted" href="/-/connect?lang=en">`, `<span data-when="arrived" hidden>`} {
		if !strings.Contains(waiting, part) {
			t.Errorf("before it has come there is no %s", part)
		}
	}
	x := seeded("new", 3*time.Second, func(x *exchange.Exchange) {
		x.Client = "codex_exec/0.171.0"
		answered(x, 300, 2000, 100)
	})
	c := newConfig(t, append(telling()[1:], x)...)
	arrived := get(t, New(c), "/-/connect").Body.String()
	for _, part := range []string{`data-state="arrived"`, `<span data-when="waiting" hidden>`, `<span data-when="arrived"><a href="/-/requests/new"><bdi>Last request: 3 s ago, codex_exec/0.171.0, Decode-bound</bdi></a>`} {
		if !strings.Contains(arrived, part) {
			t.Errorf("after it has come there is no %s", part)
		}
	}
}

func TestATimeSinceIsRoughWhereItIsLong(t *testing.T) {
	for d, want := range map[time.Duration]string{-time.Second: "0 s", 3900 * time.Millisecond: "3 s", 119 * time.Second: "119 s", 5 * time.Minute: "5 min", 30 * time.Hour: "30 h"} {
		if got := ago(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func TestTheChecksTellTroubleWithTheLog(t *testing.T) {
	c := newConfig(t, many(3)...)
	page := New(c)
	body := get(t, page, "/-/connect").Body.String()
	if !strings.Contains(body, c.Store.Path()+"</code>, ") || strings.Contains(body, `<li class="trouble">`) {
		t.Error("a sound log is not said to be one")
	}
	if err := os.Rename(c.Store.Path(), c.Store.Path()+".away"); err != nil {
		t.Fatal(err)
	}
	c.State = func() store.State { return store.State{Error: "no such file"} }
	body = get(t, New(c), "/-/connect").Body.String()
	if strings.Count(body, `<li class="trouble">`) != 2 || !strings.Contains(body, "cannot be seen") {
		t.Error("a lost file is not said to be one")
	}
}

func TestALogThatWasBegunAnewIsSaidToBe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be moved there")
	}
	c := newConfig(t, many(3)...)
	if err := os.Remove(c.Store.Path()); err != nil {
		t.Fatal(err)
	}
	if err := c.Store.Save(t.Context(), many(1)); err != nil {
		t.Fatal(err)
	}
	c.State = func() store.State { return store.State{Late: 1234} }
	page := New(c)
	for target, words := range map[string][]string{
		"/-/connect":         {"recorder trouble", "The log was begun anew", "the file had been taken away", "1,234 answers began before"},
		"/-/connect?lang=zh": {"日志已重新开始", "原文件已被移走", "1,234 个回答"},
		"/-/healthz":         {"\nanew 20"},
	} {
		body := get(t, page, target).Body.String()
		for _, word := range words {
			if !strings.Contains(body, word) {
				t.Errorf("%s does not say %q", target, word)
			}
		}
	}
}

func TestThePageSaysWhatTheLogKeeps(t *testing.T) {
	c := newConfig(t)
	for _, keeps := range []struct {
		what store.Retention
		says string
	}{
		{store.Retention{Keep: 30 * 24 * time.Hour}, "Requests are deleted from it after 30d"},
		{store.Retention{MaxRows: 1_000_000}, "It keeps the newest 1,000,000 requests"},
	} {
		c.Keeps = keeps.what
		if body := get(t, New(c), "/-/connect").Body.String(); !strings.Contains(body, keeps.says) {
			t.Errorf("%+v: %q is not said", keeps.what, keeps.says)
		}
		c.Keeps = store.Retention{}
		if body := get(t, New(c), "/-/connect").Body.String(); strings.Contains(body, keeps.says) {
			t.Errorf("%q is said of a log that keeps all", keeps.says)
		}
	}
}
