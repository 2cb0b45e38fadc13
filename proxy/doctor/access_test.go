package doctor_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ttftap/ttftap/proxy/doctor"
)

// answering is a set-up whose upstream answers everything in one way.
func answering(t *testing.T, h http.HandlerFunc) *patient { return healthy(serve(t, h) + "/v1") }

func TestARefusedKeyIsToldFromAMissingOne(t *testing.T) {
	answering(t, fails(401, "invalid_api_key")).finds(t, "access", doctor.Change, "401 (invalid_api_key)", "does not know this key", "make a new key")
	p := answering(t, fails(401, "invalid_api_key"))
	p.env["OPENAI_API_KEY"] = ""
	p.finds(t, "access", doctor.Change, "it wants a key, and there is none")
}

func TestAKeyThatMayNotIsToldFromAWrongOne(t *testing.T) {
	answering(t, fails(403, "model_not_allowed")).finds(t, "access", doctor.Change, "403 (model_not_allowed)", "may not do this", "sim-light")
}

func TestWhatAnUpstreamNamesItsErrorCannotCommandATerminal(t *testing.T) {
	h := says(403, "application/json", `{"error":{"type":"x","code":"no\u001b[2J`+key+`"}}`)
	f := answering(t, h).finds(t, "access", doctor.Change, "no[2J(the key)")
	if strings.Contains(f.Words, "\x1b") {
		t.Errorf("%q", f.Words)
	}
}

func TestAFirewallIsToldFromAWrongKey(t *testing.T) {
	h := except(model(), says(403, "text/html", "<html>Just a moment</html>"), "/responses", "/completions")
	healthy(serve(t, h)+"/v1").finds(t, "access", doctor.Change, "403 with a web page", "without VPN")
}

func TestAKeyThatOnlyMayNotListIsTaken(t *testing.T) {
	h := except(model(), fails(403, "insufficient_permissions"), "/models")
	healthy(serve(t, h)+"/v1").finds(t, "access", doctor.OK, "the key is taken")
}

func TestTooManyRequestsAreToldWithTheTimeToWait(t *testing.T) {
	answering(t, fails(429, "rate_limit_exceeded", "Retry-After", "7")).finds(t, "limits", doctor.Change, "429", "wait 7 s")
}

func TestTooManyRequestsWithoutATimeToWaitAreSaidToEndCodexTurn(t *testing.T) {
	answering(t, fails(429, "rate_limit_exceeded")).finds(t, "limits", doctor.Change, "without retry-after", "gives such a turn up at once")
}

func TestAnEmptyAccountIsToldFromTooManyRequests(t *testing.T) {
	answering(t, fails(429, "insufficient_quota", "Retry-After", "7")).finds(t, "limits", doctor.Change, "nothing left to spend", "waiting does not help")
}

func TestAnUpstreamThatHasHadEnoughIsAskedNoMore(t *testing.T) {
	questions := 0
	h := except(model(), func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			questions++
		}
		fails(429, "rate_limit_exceeded")(w, r)
	}, "/responses", "/completions")
	healthy(serve(t, h) + "/v1").examine(t)
	if questions != 1 {
		t.Errorf("it was asked %d times", questions)
	}
}

func TestAGatewayThatFailsWithAPageIsNotTakenForAConsole(t *testing.T) {
	all := answering(t, says(502, "text/html", "<html>502 Bad Gateway</html>")).examine(t)
	if f := all["base URL"]; f.State != doctor.OK {
		t.Errorf("%+v", f)
	}
	if f := all["limits"]; f.State != doctor.Change || !strings.Contains(f.Words, "fails by itself: 502") {
		t.Errorf("%+v", f)
	}
}

func TestAFirewallIsNotTakenForAConsole(t *testing.T) {
	all := answering(t, says(403, "text/html", "<html>Just a moment</html>")).examine(t)
	if f := all["base URL"]; f.State != doctor.Unchecked {
		t.Errorf("%+v", f)
	}
	if f := all["access"]; f.State != doctor.Change {
		t.Errorf("%+v", f)
	}
}

func TestAFailingUpstreamIsSaidToFailByItself(t *testing.T) {
	answering(t, fails(503, "server_is_overloaded")).finds(t, "limits", doctor.Change, "fails by itself: 503 (server_is_overloaded)")
}
