package doctor_test

import (
	"testing"

	"github.com/ttftap/ttftap/proxy/doctor"
)

func TestAModelThatIsNotInTheListGetsTheNearest(t *testing.T) {
	h := except(model(), fails(404, "model_not_found"), "/responses", "/completions")
	p := healthy(serve(t, h) + "/v1")
	p.Model = "sim-lite"
	p.finds(t, "model", doctor.Change, "no model sim-lite", `model = "sim-light"`)
}

func TestAModelOfTheConfigIsNamedByItsLine(t *testing.T) {
	h := except(model(), fails(404, "model_not_found"), "/responses", "/completions")
	p := healthy(serve(t, h)+"/v1").withCodex(t, today, "model = \"sim-ligth\" # small\nopenai_base_url = \"BASE\"\n")
	f := p.finds(t, "model", doctor.Change, `model = "sim-light"`)
	if f.Line != 1 {
		t.Errorf("line %d", f.Line)
	}
	edits(t, p, f, `model = "sim-light" # small`)
}

func TestAModelUnlikeAnyIsNotReplacedByChance(t *testing.T) {
	h := except(model(), fails(404, "model_not_found"), "/responses", "/completions")
	p := healthy(serve(t, h) + "/v1")
	p.Model = "gpt-9"
	p.finds(t, "model", doctor.Change, "no model gpt-9", "take one of")
}

func TestAModelThatAnswersNeedNotBeListed(t *testing.T) {
	p := healthy(serve(t, model()) + "/v1")
	p.Model = "alias-of-the-house"
	p.finds(t, "model", doctor.OK, "alias-of-the-house answers")
}

func TestOneOfTheListIsAskedWhereNoModelIsNamed(t *testing.T) {
	list := says(200, "application/json", `{"object":"list","data":[{"id":"text-embedding-3"},{"id":"sim-light"}]}`)
	p := healthy(serve(t, except(model(), list, "/models")) + "/v1")
	p.Model = ""
	p.finds(t, "model", doctor.OK, "asked sim-light, of 2 in the list")
}

func TestWithoutAModelAndAListOneIsAskedFor(t *testing.T) {
	p := healthy(serve(t, except(model(), fails(401, "invalid_api_key"), "/models")) + "/v1")
	p.Model = ""
	p.finds(t, "model", doctor.Unchecked, "ttftap doctor --model NAME")
}
