package doctor_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ttftap/ttftap/proxy/doctor"
)

// holding is a set-up whose variable holds a text.
func holding(t *testing.T, text string) *patient {
	p := healthy(serve(t, locked()) + "/v1")
	p.env["OPENAI_API_KEY"] = text
	return p
}

// locked takes the right key, as a bearer's, and nothing else.
func locked() http.Handler {
	h := model()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+key {
			fails(401, "invalid_api_key")(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})
}

func TestAMissingKeyIsSaidToBe(t *testing.T) {
	p := holding(t, "")
	p.Transport = leadingTo(p.Upstream)
	p.Upstream = "http://gateway.example/v1" // a server on this machine may need none
	p.finds(t, "key", doctor.Change, "OPENAI_API_KEY is not set", "export OPENAI_API_KEY=")
}

func TestALocalServerNeedsNoKey(t *testing.T) {
	healthyWithout := healthy(serve(t, model()) + "/v1")
	healthyWithout.env["OPENAI_API_KEY"] = ""
	all := healthyWithout.examine(t)
	if all["key"].State != doctor.OK || all["access"].State != doctor.OK {
		t.Errorf("%+v %+v", all["key"], all["access"])
	}
}

func TestAPlaceholderIsNoKey(t *testing.T) {
	for _, text := range []string{"sk-xxxxxxxx", "your-api-key", "<OPENAI_API_KEY>", "sk-your-key-here", "${OPENAI_API_KEY}", "changeme", "sk-..."} {
		t.Run(text, func(t *testing.T) { holding(t, text).finds(t, "key", doctor.Change, "placeholder") })
	}
}

func TestBlanksAroundTheKeyAreSeen(t *testing.T) {
	all := holding(t, " "+key+"\n").examine(t)
	if f := all["key"]; f.State != doctor.Change {
		t.Errorf("%+v", f)
	}
	if f := all["access"]; f.State != doctor.OK || f.Words != "the key is taken, once what is wrong with it is put right" {
		t.Errorf("%+v", f)
	}
}

func TestQuotesAroundTheKeyAreSeen(t *testing.T) {
	for _, text := range []string{`"` + key + `"`, "'" + key + "'", "“" + key + "”"} {
		holding(t, text).finds(t, "key", doctor.Change, "quotes")
	}
}

func TestASchemeWithinTheKeyIsSeen(t *testing.T) {
	holding(t, "Bearer "+key).finds(t, "key", doctor.Change, `"Bearer Bearer"`, "the key alone")
}

func TestAKeyThatNoHeaderTakesIsSeen(t *testing.T) {
	holding(t, "sk-with\x00-and-é-in-the-middle").finds(t, "key", doctor.Change, "no header takes")
}

func TestOfAGoodKeyOnlyTheLengthIsTold(t *testing.T) {
	holding(t, key).finds(t, "key", doctor.OK, "OPENAI_API_KEY, 28 characters")
}

func TestTheKeyIsTakenFromTheVariableThatIsNamed(t *testing.T) {
	p := holding(t, "")
	p.env["GATEWAY_KEY"], p.KeyEnv = key, "GATEWAY_KEY"
	p.finds(t, "access", doctor.OK, "the key is taken")
}

func TestAKeyThatBelongsIntoAnotherHeaderIsSaidTo(t *testing.T) {
	h := model()
	base := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") != key {
			fails(401, "unauthorized")(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})) + "/v1"
	healthy(base).finds(t, "access", doctor.Change, `env_http_headers = { "x-api-key" = "OPENAI_API_KEY" }`)
}

func TestAnAuthorizationWithoutItsSchemeIsSeen(t *testing.T) {
	for _, line := range []string{`env_http_headers = { Authorization = "OPENAI_API_KEY" }`, `http_headers = { "authorization" = "` + key + `" }`} {
		p := healthy(serve(t, model())+"/v1").withCodex(t, today, `model_provider = "own"
[model_providers.own]
name = "own"
base_url = "BASE"
`+line)
		if f := p.finds(t, "Codex: key", doctor.Change, "without its scheme", "env_key"); f.Line != 5 {
			t.Errorf("line %d", f.Line)
		}
	}
}

func TestAKeyInThePlaceOfAVariablesNameIsNeverShown(t *testing.T) {
	p := healthy(serve(t, model())+"/v1").withCodex(t, today, `model_provider = "own"
[model_providers.own]
name = "own"
base_url = "BASE"
env_key = "`+key+`" # mine
`)
	f := p.finds(t, "Codex: key", doctor.Change, "takes the name of a variable", `env_key = "OPENAI_API_KEY"`)
	edits(t, p, f, `env_key = "OPENAI_API_KEY" # mine`)
}

func TestAVariableThatIsNotSetIsNamed(t *testing.T) {
	p := healthy(serve(t, model())+"/v1").withCodex(t, today, `model_provider = "own"
[model_providers.own]
name = "own"
base_url = "BASE"
env_key = "GATEWAY_KEY"
`)
	if f := p.finds(t, "Codex: key", doctor.Change, "GATEWAY_KEY, which is not set"); f.Line != 5 {
		t.Errorf("line %d", f.Line)
	}
}

func TestASchemeWithinATokenOfTheConfigIsSeen(t *testing.T) {
	p := healthy(serve(t, model())+"/v1").withCodex(t, today, strings.Replace(goodConfig, `env_key = "OPENAI_API_KEY"`, `experimental_bearer_token = "Bearer `+key+`"`, 1))
	if f := p.finds(t, "Codex: key", doctor.Change, `"Bearer Bearer"`); f.Line != 7 {
		t.Errorf("line %d", f.Line)
	}
}

func TestAKeyThatCodexHasOfItsOwnIsNotMissed(t *testing.T) {
	p := healthy(serve(t, locked())+"/v1").withCodex(t, today, strings.Replace(goodConfig, `env_key = "OPENAI_API_KEY"`, `experimental_bearer_token = "`+key+`"`, 1))
	p.env["OPENAI_API_KEY"] = ""
	all := p.examine(t)
	for _, check := range []string{"key", "access"} {
		if all[check].State != doctor.Unchecked {
			t.Errorf("%s: %+v", check, all[check])
		}
	}
}

func TestALoginOfCodexIsNotTakenForAMissingKey(t *testing.T) {
	p := healthy(serve(t, locked()) + "/v1")
	p.env["OPENAI_API_KEY"], p.Codex.LoggedIn = "", true
	all := p.examine(t)
	for _, check := range []string{"key", "access"} {
		if all[check].State != doctor.Unchecked {
			t.Errorf("%s: %+v", check, all[check])
		}
	}
}
