package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestAnIdIsToldWithTheFieldOfTheConsoleThatHasIt(t *testing.T) {
	for _, test := range []struct{ from, id, want string }{
		{"gateway", "2026031411585532947", "new-api"},
		{"request", "20260314115855329475Xk2m", "new-api"},
		{"gateway", "gen-1773460735-Zk3", "OpenRouter"},
		{"response", "gen-1773460735-Zk3", "OpenRouter"},
		{"gateway", "01JADMCQQQBWH3NXZ5GCRN98DP", "Cloudflare AI Gateway"},
		{"gateway", "5b2f9a10-77aa-4c1e-9e1b-0d5a3d2f8c11", "LiteLLM"},
		{"gateway", "k-77", "the gateway's own log"},
		{"request", "req_8d02c1f7", "not in usage exports"},
		{"request", "5b2f9a10-77aa-4c1e-9e1b-0d5a3d2f8c11", "Azure"},
		{"request", "8f1c22ab90d4e711-FRA", "Ray ID"},
		{"request", "x77", "the vendor's logs"},
		{"response", "resp_51aa", "OpenAI: dashboard"},
		{"response", "chatcmpl-51aa", "OpenAI: dashboard"},
		{"response", "msg_51aa", "the id in the answer's body"},
	} {
		if got := consoleOf(english, test.from, test.id); !strings.Contains(got, test.want) {
			t.Errorf("%s id %s: %q, want %q", test.from, test.id, got, test.want)
		}
		if got := consoleOf(chinese, test.from, test.id); got == "" || got == consoleOf(english, test.from, test.id) {
			t.Errorf("%s id %s in Chinese: %q", test.from, test.id, got)
		}
	}
}

func TestOnlyAnIdThatShowsWholeCanBeCopied(t *testing.T) {
	x := ended()
	x.RequestID, x.ResponseID, x.GatewayRequestID = "req_8d02c1f7", strings.Repeat("9", nameRunes+1), "a\u202eb"
	copied := map[string]string{}
	for _, f := range idList(english, x).Facts {
		copied[f.Name] = f.Copy
	}
	if copied["Upstream"] != "req_8d02c1f7" || copied["Response"] != "" || copied["Gateway"] != "" {
		t.Errorf("to be copied: %q", copied)
	}
}

func TestIdsHaveAButtonThatWaitsForTheScript(t *testing.T) {
	page := New(newConfig(t, conversation()...))
	body := get(t, page, "/-/requests/talk-4").Body.String()
	for _, id := range []string{"20260314115650329475Xk2m", "req_8d02c1f7", "resp_51aa", "talk-4"} {
		if !strings.Contains(body, `<button type="button" class="copy" data-copy="`+id+`"`) {
			t.Errorf("%s has no button", id)
		}
	}
}

func TestATurnLeadsToItsOwnView(t *testing.T) {
	x := &exchange.Exchange{TurnID: "turn/2 a"}
	if got, want := turnURL(x), "/-/turns/turn%2F2%20a"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, id := range []string{"", strings.Repeat("t", 1000)} {
		if x.TurnID = id; turnURL(x) != "" {
			t.Errorf("%.5s leads to %.20q", id, turnURL(x))
		}
	}
	page := New(newConfig(t, conversation()...))
	body := get(t, page, "/-/requests/talk-4").Body.String()
	if to := link(body, "This turn"); to != "/-/turns/turn%2F2" {
		t.Errorf("this turn is at %q", to)
	}
	if w := get(t, page, "/-/requests/talk-1"); w.Code != http.StatusOK || link(w.Body.String(), "This turn") != "" {
		t.Error("an exchange of no turn has one")
	}
}
