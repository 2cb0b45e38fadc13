package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
	"github.com/ttftap/ttftap/proxy/exchange"
)

const ladderID = "01KB9V7N3QX2M8C4D5E6F7G8H9"

const ladderPlan = `{"kind":"ladder","wire":"chat","command":"ttftap probe ladder","seed":7,` +
	`"arms":[{"name":"100","model":"m","upstream":"default","prompt_tokens":100,"output_tokens":16,"at_once":1}],` +
	`"steps":[{"arm":0,"round":0},{"arm":0,"round":1}]}`

// beginLadder starts the ladder.
func beginLadder(t *testing.T, page http.Handler) {
	t.Helper()
	w := ask(t, page, http.MethodPost, "/-/api/experiments", `{"id":"`+ladderID+`","plan":`+ladderPlan+`}`)
	if w.Code != http.StatusCreated || !strings.Contains(w.Body.String(), ladderID) {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
}

// answerOf asks for JSON.
func answerOf[T any](t *testing.T, page http.Handler, target string) (v T) {
	t.Helper()
	w := get(t, page, target)
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%s: status %d, %v: %s", target, w.Code, err, w.Body)
	}
	return v
}

type listed struct {
	Experiments []apiExperiment `json:"experiments"`
}

func TestAnExperimentIsListedFromItsBeginningToItsEnd(t *testing.T) {
	page := New(newConfig(t))
	if w := get(t, page, "/-/api/experiments"); w.Body.String() != `{"experiments":[]}`+"\n" {
		t.Errorf("before any: %s", w.Body)
	}
	beginLadder(t, page)
	want := apiExperiment{
		ID: ladderID, StartedAt: noon.UTC(), Kind: experiment.Ladder, Command: "ttftap probe ladder", Arms: []string{"100"}, Requests: 2,
	}
	if diff := cmp.Diff(listed{[]apiExperiment{want}}, answerOf[listed](t, page, "/-/api/experiments")); diff != "" {
		t.Errorf("begun: %s", diff)
	}
	for _, stopped := range []string{"true", "false"} { // the first end counts
		if w := ask(t, page, http.MethodPost, "/-/api/experiments/"+ladderID+"/end", `{"stopped":`+stopped+`}`); w.Code != http.StatusOK {
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
	}
	want.EndedAt, want.Stopped = new(noon.UTC()), true
	if diff := cmp.Diff(listed{[]apiExperiment{want}}, answerOf[listed](t, page, "/-/api/experiments")); diff != "" {
		t.Errorf("ended: %s", diff)
	}
}

func TestAReportIsMadeOfTheExchangesThatAreThereByNow(t *testing.T) {
	rows := telling()
	for _, x := range rows[:5] { // the first is under way
		x.Experiment, x.Step = ladderID, new(int64(0))
	}
	page := New(newConfig(t, rows...))
	beginLadder(t, page)
	r := answerOf[experiment.Report](t, page, "/-/api/experiments/"+ladderID)
	if r.ID != ladderID || r.Kind != experiment.Ladder || !r.StartedAt.Equal(noon) || r.EndedAt != nil || r.Sent != 4 {
		t.Errorf("%+v", r)
	}
}

func TestARangeOfTheLogIsReportedLikeAnExperiment(t *testing.T) {
	page := New(newConfig(t, telling()...))
	ended := 0
	for _, x := range telling() {
		if x.Outcome != exchange.Open {
			ended++
		}
	}
	if r := answerOf[experiment.Report](t, page, "/-/api/experiments/range?from=-24h"); r.Sent != ended || r.ID != "-24h.." {
		t.Errorf("%q has %d exchanges, want %d", r.ID, r.Sent, ended)
	}
	if r := answerOf[experiment.Report](t, page, "/-/api/experiments/range?from=-24h&limit=3"); r.Sent != 3 {
		t.Errorf("%d exchanges, want 3", r.Sent)
	}
	if w := get(t, page, "/-/api/experiments/range?from=yesterday"); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "yesterday") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}

func TestWhatIsNoExperimentIsRefusedWithTheReason(t *testing.T) {
	page := New(newConfig(t))
	beginLadder(t, page)
	id := strings.Replace(ladderID, "01", "02", 1)
	for body, reason := range map[string]string{
		`{`:                             "JSON",
		`{"id":"x","plan":{}}`:          "ULID",
		`{"id":"` + id + `"}`:           "plan",
		`{"id":"` + id + `","plan":[]}`: "plan",
		`{"id":"` + id + `","plan":{"kind":"guess"}}`:                                                     "guess",
		`{"id":"` + id + `","plan":{"kind":"load"}}`:                                                      "no arms",
		`{"id":"` + id + `","plan":{"kind":"load","arms":[{}],"steps":[{"arm":1}]}}`:                      "step 0",
		`{"id":"` + id + `","plan":{"kind":"load","arms":[{}],"steps":[{"arm":0},{"arm":0,"round":-1}]}}`: "step 1",
		`{"id":"` + ladderID + `","plan":` + ladderPlan + `}`:                                             "already",
		`{"id":"` + id + `","plan":{"kind":"load","command":"` + strings.Repeat("x", planBytes) + `"}}`:   "too large",
	} {
		w := ask(t, page, http.MethodPost, "/-/api/experiments", body)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), reason) {
			t.Errorf("%.80s: status %d, %s; want %q", body, w.Code, w.Body, reason)
		}
	}
	if got := answerOf[listed](t, page, "/-/api/experiments"); len(got.Experiments) != 1 {
		t.Errorf("%d experiments are kept", len(got.Experiments))
	}
}

func TestNobodyKnowsAnExperimentThatNeverBegan(t *testing.T) {
	page := New(newConfig(t))
	for _, w := range []int{
		get(t, page, "/-/api/experiments/"+ladderID).Code,
		ask(t, page, http.MethodPost, "/-/api/experiments/"+ladderID+"/end", `{}`).Code,
	} {
		if w != http.StatusNotFound {
			t.Errorf("status %d", w)
		}
	}
}

func TestOnlyThoseWithTheTokenBeginAnExperiment(t *testing.T) {
	c := newConfig(t)
	c.Token = "sesame"
	page := New(c)
	body := `{"id":"` + ladderID + `","plan":` + ladderPlan + `}`
	if w := ask(t, page, http.MethodPost, "/-/api/experiments", body); w.Code != http.StatusUnauthorized {
		t.Errorf("without: status %d", w.Code)
	}
	if w := ask(t, page, http.MethodPost, "/-/api/experiments", body, "Authorization", "Bearer sesame"); w.Code != http.StatusCreated {
		t.Errorf("with it: status %d: %s", w.Code, w.Body)
	}
	w := ask(t, page, http.MethodPost, "/-/api/experiments/"+ladderID+"/end", `{}`, "Sec-Fetch-Site", "cross-site", "Authorization", "Bearer sesame")
	if w.Code != http.StatusForbidden {
		t.Errorf("from another site: status %d", w.Code)
	}
}
