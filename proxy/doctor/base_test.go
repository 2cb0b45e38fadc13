package doctor_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/ttftap/ttftap/proxy/doctor"
)

// below serves the model under a prefix alone, and a page elsewhere.
func below(prefix string, elsewhere http.HandlerFunc) http.Handler {
	h := model()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rest, ok := strings.CutPrefix(r.URL.Path, prefix); ok && !strings.HasPrefix(rest, "/v1") {
			r.URL.Path = rest
			h.ServeHTTP(w, r)
			return
		}
		elsewhere(w, r)
	})
}

func TestAWebPageIsNoAPI(t *testing.T) {
	base := serve(t, page) + "/docs"
	healthy(base).finds(t, "base URL", doctor.Change, "web page", "usually ends in /v1")
}

func TestBehindAWebPageTheAPIIsFound(t *testing.T) {
	origin := serve(t, below("/v1", page))
	healthy(origin+"/console/keys").finds(t, "base URL", doctor.Change, "web page", "--upstream "+origin+"/v1")
}

func TestALinkWithTrackingParametersIsSeen(t *testing.T) {
	origin := serve(t, below("/v1", page))
	f := healthy(origin+"/console?utm_source=secret-campaign").finds(t, "base URL", doctor.Change, "tracking parameters (utm_source)", origin+"/v1")
	if strings.Contains(f.Words, "secret-campaign") {
		t.Errorf("it repeats the query: %s", f.Words)
	}
}

func TestAMissingVersionIsFound(t *testing.T) {
	origin := serve(t, below("/v1", fails(404, "not_found")))
	healthy(origin).finds(t, "base URL", doctor.Change, "/v1 is missing", "--upstream "+origin+"/v1")
}

func TestADoubledVersionIsFound(t *testing.T) {
	origin := serve(t, below("/v1", fails(404, "not_found")))
	healthy(origin+"/v1/v1").finds(t, "base URL", doctor.Change, "/v1 is doubled", "--upstream "+origin+"/v1")
}

func TestAVersionTooManyIsFound(t *testing.T) {
	origin := serve(t, below("/api", fails(404, "not_found")))
	healthy(origin+"/api/v1").finds(t, "base URL", doctor.Change, "one too many", "--upstream "+origin+"/api")
}

func TestAPathWhereNothingIsIsSaidToBeEmpty(t *testing.T) {
	healthy(serve(t, fails(404, "not_found"))+"/v1").finds(t, "base URL", doctor.Change, "answers 404", "no API is found")
}

func TestAnUpstreamWithoutAListOfModelsIsFoundAllTheSame(t *testing.T) {
	base := serve(t, except(model(), fails(404, "not_found"), "/models")) + "/v1"
	all := healthy(base).examine(t)
	if all["base URL"].State != doctor.OK || all["model"].State != doctor.OK {
		t.Errorf("%+v %+v", all["base URL"], all["model"])
	}
}

func TestARedirectIsNotFollowedButTold(t *testing.T) {
	there := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the key went elsewhere") }))
	base := serve(t, http.RedirectHandler(there+"/v1/models", http.StatusMovedPermanently)) + "/v1"
	healthy(base).finds(t, "base URL", doctor.Change, "sends elsewhere", "--upstream "+there+"/v1")
}

func TestABaseURLIsReadAsItIsWritten(t *testing.T) {
	origin := serve(t, below("/v1", fails(404, "not_found")))
	for _, c := range []struct{ base, words string }{
		{origin + "/v1/responses", "ends in /responses"},
		{" " + origin + "/v1", "blanks or quotes"},
		{strings.Replace(origin, "http://", "http://user:pass@", 1) + "/v1", "holds a credential"},
		{origin + "/v1#/keys", "link of a page"},
		{origin + "/v1?api-version=1", "has a query"},
	} {
		t.Run(c.words, func(t *testing.T) {
			healthy(c.base).finds(t, "base URL", doctor.Change, c.words, "--upstream "+origin+"/v1")
		})
	}
	healthy("api.example/v1").finds(t, "base URL", doctor.Change, "does not begin with http")
}

func TestAWrongBaseURLInCodexConfigIsNamedByItsLine(t *testing.T) {
	origin := serve(t, below("/v1", fails(404, "not_found")))
	p := healthy(origin).withCodex(t, today, goodConfig)
	f := p.finds(t, "base URL", doctor.Change, `base_url = "`+origin+`/v1"`)
	if f.Line != 6 {
		t.Errorf("line %d", f.Line)
	}
	edits(t, p, f, `base_url = "`+origin+`/v1"`)
}

func TestTheQueryOfCodexConfigIsSentAlong(t *testing.T) {
	h := model()
	base := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "api-version=2025-01-01" {
			fails(404, "not_found")(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})) + "/v1"
	healthy(base).withCodex(t, today, goodConfig+"query_params = { api-version = \"2025-01-01\" }\n").finds(t, "base URL", doctor.OK)
}

func TestThePlaceOfAChatGPTLoginIsNotTakenForAWrongOne(t *testing.T) {
	p := healthy("https://chatgpt.com/backend-api/codex")
	transport := leadingTo(serve(t, says(403, "text/html", "<html>Just a moment</html>")))
	transport.DialTLSContext = transport.DialContext
	p.Transport, p.env["OPENAI_API_KEY"], p.Codex.LoggedIn = transport, "", true
	for check, f := range p.examine(t) {
		if f.State == doctor.Change {
			t.Errorf("%s: %s", check, f.Words)
		}
	}
}

func TestTheBaseURLComesFromTheEnvironmentWhereNothingElseNamesOne(t *testing.T) {
	p := healthy("")
	p.env["OPENAI_BASE_URL"] = serve(t, model()) + "/v1"
	p.finds(t, "base URL", doctor.OK, p.env["OPENAI_BASE_URL"]+" (OPENAI_BASE_URL)")
}
