package web

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// usualModels are baselines as the proxy learns them: of a model with a curve, of
// one that was asked too little, and of one whose prompts were too much alike.
func usualModels() func() []*diagnosis.Baseline {
	book := new(diagnosis.Book)
	for i := range 40 {
		n := float64(250 * (1 + i%12))
		wait := 400 + 0.08*n + 0.12*max(n-1500, 0)
		book.Add(asked("large", i, int64(n), wait))
		book.Add(asked("alike", i, 1000, 700))
	}
	for i := range 3 {
		book.Add(asked("seldom", i, 100, 700))
		failed := asked("large", 50+i, 100, 700)
		failed.Outcome = exchange.UpstreamCut
		book.Add(failed)
	}
	return book.Baselines
}

// asked is a request to a model, none of whose prompt was cached.
func asked(model string, i int, prompt int64, wait float64) *exchange.Exchange {
	return seeded(fmt.Sprintf("%s-%02d", model, i), time.Duration(100-i)*time.Minute, func(x *exchange.Exchange) {
		x.ModelServed = model
		prompted(x, prompt, 0)
		answered(x, wait, wait+2000, 101)
		x.CachedTokens, x.UncachedTokens = new(int64(0)), &prompt
	})
}

func modelsPage(t *testing.T, target string) string {
	t.Helper()
	c := newConfig(t)
	c.Models = usualModels()
	return get(t, New(c), target).Body.String()
}

func TestAModelsCurveIsTheOneOfItsBaseline(t *testing.T) {
	body := modelsPage(t, "/-/models?model=large")
	knots := regexp.MustCompile(`<circle class="curve-knot" cx="([0-9.]+)%" cy="([0-9.]+)" r="3"><title>([0-9,]+) tokens: ([0-9.]+) (m?s)</title>`).FindAllStringSubmatch(body, -1)
	var curve *diagnosis.Curve
	for _, b := range usualModels()() {
		if b.Model == "large" {
			curve = b.Curve
		}
	}
	if curve == nil || len(knots) != len(curve.Knots) || len(knots) < 3 {
		t.Fatalf("%d knots drawn of %+v", len(knots), curve)
	}
	lastX, lastY := -1.0, curveTop+curveHeight+1.0
	for i, k := range knots {
		var x, y float64
		fmt.Sscan(k[1], &x)
		fmt.Sscan(k[2], &y)
		if x <= lastX || y >= lastY || x > 100 || y < curveTop {
			t.Errorf("knot %d is at %v, %v", i, x, y)
		}
		lastX, lastY = x, y
	}
	if bands := strings.Count(body, `<tr><th scope="row">`); bands != len(knots)-1 {
		t.Errorf("%d bands between %d knots", bands, len(knots))
	}
}

func TestWhatLittleIsKnownOfAModelIsSaidAndNothingMore(t *testing.T) {
	for model, want := range map[string]string{
		"seldom": "Too few exchanges to tell start, queue and prefill apart: 3 can be compared, 8 are needed.",
		"alike":  "Not enough spread to tell start, queue and prefill apart",
	} {
		body := modelsPage(t, "/-/models?model="+model)
		if !strings.Contains(body, want) || strings.Contains(body, "curve-piece") || strings.Contains(body, "Fixed start") {
			t.Errorf("%s:\n%s", model, body)
		}
	}
}

func TestTheModelThatMostRestsOnComesFirst(t *testing.T) {
	var got []string
	for _, m := range regexp.MustCompile(`class="model"><h2><bdi>([a-z]+)</bdi>`).FindAllStringSubmatch(modelsPage(t, "/-/models"), -1) {
		got = append(got, m[1])
	}
	if strings.Join(got, " ") != "alike large seldom" {
		t.Errorf("in the order %v", got)
	}
}

func TestAModelLeadsToItsRows(t *testing.T) {
	c := newConfig(t, asked("large", 1, 100, 300), asked("seldom", 2, 100, 300))
	c.Models = usualModels()
	page := New(c)
	models := get(t, page, "/-/models?model=large").Body.String()
	rows, slow := link(models, "Its requests"), link(models, "Slower than usual by 1 s or more")
	body := get(t, page, rows).Body.String()
	if !strings.Contains(body, `"/-/requests/large-01"`) || strings.Contains(body, `"/-/requests/seldom-02"`) {
		t.Errorf("%s shows others, or not its own", rows)
	}
	if slow == "" || strings.Contains(get(t, page, slow).Body.String(), "note warn") {
		t.Errorf("%q is no filter", slow)
	}
}

func TestAFilterChoosesTheModels(t *testing.T) {
	for target, want := range map[string]int{"/-/models": 3, "/-/models?model=large": 1, "/-/models?upstream=lab": 0, "/-/models?upstream=default&bound=wait": 3} {
		body := modelsPage(t, target)
		if got := strings.Count(body, `class="model"`); got != want {
			t.Errorf("%s: %d models", target, got)
		}
		if all := link(body, "All models"); (all == "/-/models") != (want < 3) {
			t.Errorf("%s: all are at %q", target, all)
		}
	}
}

func TestManyModelsAreAllListedAndTheFirstToldAtLength(t *testing.T) {
	c := newConfig(t)
	c.Models = func() (all []*diagnosis.Baseline) {
		for i := range 256 {
			all = append(all, &diagnosis.Baseline{Upstream: "default", Model: fmt.Sprintf("m %d", i), Rows: 1000 - i})
		}
		return all
	}
	page := New(c)
	body := get(t, page, "/-/models").Body.String()
	if lines, parts := strings.Count(body, `<tr><th scope="row">`), strings.Count(body, `class="model"`); lines != 256 || parts != partsMost {
		t.Errorf("%d lines, %d at length", lines, parts)
	}
	to := "/-/models?model=m+200&upstream=default"
	if link(body, "m 23") != "#model-24" || link(body, "m 200") != to {
		t.Errorf("they lead to %q and %q", link(body, "m 23"), link(body, "m 200"))
	}
	if body := get(t, page, to).Body.String(); strings.Count(body, `class="model"`) != 1 {
		t.Error("the last ones cannot be seen at length")
	}
}

func TestHostileModelNamesAreShownAndDoNothing(t *testing.T) {
	c := newConfig(t)
	big := strings.Repeat("m", 100<<10)
	c.Models = func() []*diagnosis.Baseline {
		return []*diagnosis.Baseline{
			{Upstream: hostile, Model: hostile, ServiceTier: hostile, Rows: 2, LeftOut: map[string]int{hostile: 1}},
			{Upstream: "default", Model: big, Rows: 1},
		}
	}
	page := New(c)
	for _, target := range []string{"/-/models", "/-/models?model=" + url.QueryEscape(hostile)} {
		body := get(t, page, target).Body.String()
		if !strings.Contains(body, "&lt;script&gt;alert(1)") || len(body) > 60<<10 {
			t.Errorf("%s: the name is not shown, or %d bytes", target, len(body))
		}
		for _, bad := range []string{"<script>", "<img", "\u2028", "\u202e", `href="javascript:`} {
			if strings.Contains(body, bad) {
				t.Errorf("%s has %q", target, bad)
			}
		}
	}
}

func TestATokenScaleEndsAtARoundNumberNotFarBehindTheLast(t *testing.T) {
	for n, want := range map[int64][2]int64{1: {1, 1}, 5: {1, 5}, 9: {2, 10}, 60: {10, 60}, 61: {20, 80}, 3000: {500, 3000}, 96_210: {20_000, 100_000}, 1 << 30: {200_000_000, 1_200_000_000}} {
		if step, end := tokenScale(n); step != want[0] || end != want[1] {
			t.Errorf("%d: steps of %d to %d, want %v", n, step, end, want)
		}
	}
}
