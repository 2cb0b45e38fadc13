package web

import (
	"encoding/csv"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// reportPage is the page of an experiment and the report that it shows.
func reportPage(t *testing.T, id string) (string, experiment.Report) {
	t.Helper()
	page := New(newLab(t, everyTrial()...))
	return get(t, page, "/-/experiments/"+id).Body.String(), answerOf[experiment.Report](t, page, "/-/api/experiments/"+id)
}

// places are numbers of the page, by a pattern with one group.
func places(t *testing.T, body, pattern string) (all []float64) {
	t.Helper()
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(body, -1) {
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

func TestAReportsPageSaysAllThatTheReportSays(t *testing.T) {
	page := New(newLab(t, everyTrial()...))
	for _, id := range []string{ladderID, cacheID, runningID} {
		r := answerOf[experiment.Report](t, page, "/-/api/experiments/"+id)
		for _, l := range []language{english, chinese} {
			body := get(t, page, "/-/experiments/"+id, "Accept-Language", l.Tag()).Body.String()
			said := append([]experiment.Sentence{r.Verdict}, r.Says...)
			for _, c := range r.Checks {
				said = append(said, c.Sentence)
			}
			for _, s := range said {
				if !strings.Contains(body, string(l.told(s))) {
					t.Errorf("%s in %s does not say %q", id, l, s.In(string(l)))
				}
			}
			for _, sample := range r.Samples {
				if !strings.Contains(body, `href="/-/requests/`+sample.Exchange+`"`) {
					t.Errorf("%s in %s does not lead to %s", id, l, sample.Exchange)
				}
			}
		}
	}
}

func TestIntervalsLieOnTheAxisWhereTheyAre(t *testing.T) {
	body, r := reportPage(t, ladderID)
	result := body[strings.Index(body, `class="groups result"`):strings.Index(body, `class="changes"`)]
	at := places(t, result, `<circle cx="([0-9.]+)%"`)
	low := places(t, result, `class="reach" x1="([0-9.]+)%"`)
	high := places(t, result, `class="reach" x1="[0-9.]+%" x2="([0-9.]+)%"`)
	if len(at) != 3 || len(low) != 3 || len(high) != 3 {
		t.Fatalf("%d medians, %d lower and %d upper ends", len(at), len(low), len(high))
	}
	scale := at[2] / r.Arms[2].TTFT.At
	for i, arm := range r.Arms {
		for what, pair := range map[string][2]float64{"median": {at[i], arm.TTFT.At}, "low": {low[i], *arm.TTFT.Low}, "high": {high[i], *arm.TTFT.High}} {
			if d := pair[0] - scale*pair[1]; d > 0.02 || d < -0.02 {
				t.Errorf("arm %d: the %s lies at %v, want %v", i, what, pair[0], scale*pair[1])
			}
		}
	}
}

func TestAChangeIsCalledOneOnlyWhereItIsSure(t *testing.T) {
	body, r := reportPage(t, cacheID)
	changes := body[strings.Index(body, `class="changes"`):strings.Index(body, `class="pictures"`)]
	counts := map[experiment.Resolution]int{}
	for _, c := range r.Changes {
		counts[c.Resolution]++
	}
	for of, pattern := range map[experiment.Resolution]string{
		experiment.Resolved: `class="number sure">`, experiment.NoChange: ">no difference<", experiment.Undecided: ">not resolved<",
	} {
		if got := strings.Count(changes, pattern); got != counts[of] || got == 0 {
			t.Errorf("%s: %d on the page, %d in the report", of, got, counts[of])
		}
	}
	if filled := strings.Count(changes, `<svg class="whisker" height="18"`); filled != counts[experiment.Resolved] {
		t.Errorf("%d marks are filled", filled)
	}
}

func TestAFigureNextToNothingDoesNotSquashTheOthers(t *testing.T) {
	change := func(before, low, high float64, of experiment.Resolution) experiment.Change {
		return experiment.Change{Before: before, Change: experiment.Estimate{At: (low + high) / 2, Low: &low, High: &high}, Resolution: of}
	}
	small, tiny := change(1000, 80, 120, experiment.Resolved), change(0.1, -5, 4, experiment.Undecided)
	for _, test := range []struct {
		changes  []experiment.Change
		low, top int64
	}{
		{[]experiment.Change{small}, 0, 1500},
		{[]experiment.Change{small, tiny}, -6000, 6000},
		{[]experiment.Change{change(100, 900, 1100, experiment.Resolved)}, 0, 30000},
		{[]experiment.Change{change(0, 1, 2, experiment.Resolved)}, 0, 1000},
	} {
		x := newShareAxis(test.changes)
		if x.lo != test.low || x.hi != test.top {
			t.Errorf("the axis goes from %d to %d, want %d to %d", x.lo, x.hi, test.low, test.top)
		}
	}
}

func TestStripsHaveTheRequestsInTheOrderOfSending(t *testing.T) {
	body, r := reportPage(t, ladderID)
	strips := body[strings.Index(body, `chart-strips_ttft`):strings.Index(body, `chart-strips_rate`)]
	drawn := map[string]float64{}
	for _, m := range regexp.MustCompile(`/-/requests/([\w-]+)" tabindex="-1"><use href="#m-\w+" x="[0-9.]+%" y="([0-9.]+)"`).FindAllStringSubmatch(strips, -1) {
		drawn[m[1]], _ = strconv.ParseFloat(m[2], 64)
	}
	last := map[int]float64{}
	for _, s := range r.Samples {
		y, ok := drawn[s.Exchange]
		if ok != (s.TTFT != nil) {
			t.Errorf("%s: drawn is %t", s.Exchange, ok)
		}
		if !ok {
			continue
		}
		if y <= last[s.Arm] || int(y)/stripHeight != s.Arm {
			t.Errorf("%s of arm %d lies at %v, after one at %v", s.Exchange, s.Arm, y, last[s.Arm])
		}
		last[s.Arm] = y
	}
	if len(drawn) != 22 {
		t.Errorf("%d marks", len(drawn))
	}
}

func TestALineGoesThroughItsBandsWithinItsIntervals(t *testing.T) {
	estimate := func(low, at, high float64) experiment.Estimate {
		return experiment.Estimate{At: at, Low: &low, High: &high}
	}
	l := experiment.Line{
		Floor: estimate(300, 320, 330),
		Bands: []experiment.Band{{From: 100, To: 1000, Slope: estimate(280, 300, 340)}, {From: 1000, To: 3000, Slope: estimate(500, 600, 650)}},
	}
	line := verticesOf(l, middleOf)
	for i, want := range []vertex{{0, 320e6}, {100, 350e6}, {1000, 620e6}, {3000, 1820e6}} {
		if line[i] != want {
			t.Errorf("vertex %d is %v, want %v", i, line[i], want)
		}
	}
	room := slack(l)
	if len(room) != 2*len(line) || room[0] != (vertex{0, 300e6}) || room[len(room)-1] != (vertex{0, 330e6}) || room[3].x != 3000 || room[4].x != 3000 {
		t.Errorf("the band is %v", room)
	}
	l.Bands[1].Slope.Low = nil
	if slack(l) != nil {
		t.Error("a band without an interval")
	}
}

func TestThePartsOfAFirstTokenFillTheBar(t *testing.T) {
	body, r := reportPage(t, ladderID)
	bar := body[strings.Index(body, `class="filling"`):]
	bar = bar[:strings.Index(bar, "</div>")]
	widths, sum := places(t, bar, ` width="([0-9.]+)%"`), 0.0
	for _, w := range widths {
		sum += w
	}
	if len(widths) != len(r.Parts) || sum < 99.9 || sum > 100.1 {
		t.Errorf("%v of %d parts make up %v %%", widths, len(r.Parts), sum)
	}
	if n, f, p := strings.Index(bar, "f-network"), strings.Index(bar, "f-floor"), strings.Index(bar, "f-prefill"); n < 0 || n > f || f > p {
		t.Error("the parts are not in the order of time")
	}
}

func TestFailuresAreCountedArmByArmAndLeadToTheirRows(t *testing.T) {
	page := New(newLab(t, everyTrial()...))
	body := get(t, page, "/-/experiments/"+ladderID).Body.String()
	if !regexp.MustCompile(`<bdi>3000</bdi></span></th><td>error of the upstream</td><td>503</td><td class="number"><a [^>]*>1<`).MatchString(body) ||
		!regexp.MustCompile(`<bdi>100</bdi></span></th><td>refused by a rate limit</td><td>429</td><td class="number"><a [^>]*>1<`).MatchString(body) {
		t.Error("the failure or the refusal is missing")
	}
	rows := shown(get(t, page, "/-/?experiment="+ladderID+"&outcome="+string(exchange.UpstreamError)).Body.String())
	if len(rows) != 2 {
		t.Errorf("they lead to %v", rows)
	}
}

func TestAReportCanBeTakenAway(t *testing.T) {
	page := New(newLab(t, everyTrial()...))
	body := get(t, page, "/-/experiments/"+ladderID, "Accept-Language", "zh").Body.String()
	w := get(t, page, link(body, "Markdown"))
	if !strings.HasPrefix(w.Body.String(), "# 阶梯实验\n") || !strings.Contains(w.Header().Get("Content-Disposition"), ladderID+".md") {
		t.Errorf("Markdown: %v %.80s", w.Header(), w.Body)
	}
	if r := answerOf[experiment.Report](t, page, link(body, "JSON")); r.ID != ladderID {
		t.Errorf("JSON of %q", r.ID)
	}
	lines, err := csv.NewReader(get(t, page, link(body, "样本 CSV")).Body).ReadAll()
	if err != nil || len(lines) != 25 {
		t.Errorf("CSV of %d lines, %v", len(lines), err)
	}
}

func TestARunningReportIsLookedAtAnew(t *testing.T) {
	one := underWay()
	page := New(newLab(t, one))
	w := get(t, page, "/-/experiments/"+runningID)
	if link(w.Body.String(), "Refresh") != "/-/experiments/"+runningID || w.Header().Get("Refresh") != "" {
		t.Error("it cannot be looked at anew, or is unasked")
	}
	if w := get(t, page, "/-/experiments/"+runningID+"?refresh="+refreshEvery); w.Header().Get("Refresh") != refreshEvery {
		t.Error("it is not looked at anew by itself")
	}
	one.plan.Steps = one.plan.Steps[:len(one.rows)]
	if w := get(t, New(newLab(t, one)), "/-/experiments/"+runningID); w.Header().Get("Refresh") != refreshEvery {
		t.Error("its end is not waited for")
	}
}

func TestNamesOfAnExperimentAreShownAndDoNothing(t *testing.T) {
	page := New(newLab(t, everyTrial()...))
	for _, target := range []string{"/-/experiments", "/-/experiments/" + hostileID, experimentPairURL(hostileID, hostileID)} {
		body := ownScript.ReplaceAllString(get(t, page, target).Body.String(), "")
		if !strings.Contains(body, "&lt;b onmouseover=alert(3)&gt;1&lt;/b&gt;") {
			t.Errorf("%s does not show the names", target)
		}
		for _, bad := range []string{"<script", "<img", "<b onmouseover", "<u>", "<i>`", "\u202e", `href="javascript:`} {
			if strings.Contains(body, bad) {
				t.Errorf("%s has %q", target, bad)
			}
		}
	}
}

func TestARequestAndTheFilterLeadToTheExperiment(t *testing.T) {
	page := New(newLab(t, everyTrial()...))
	one := get(t, page, "/-/requests/"+ladderID[20:]+"-03").Body.String()
	if !strings.Contains(one, `<a href="/-/experiments/`+ladderID+`"><bdi>`+ladderID) || !strings.Contains(one, "step 3") {
		t.Error("the request does not name its experiment")
	}
	if chip := link(get(t, page, "/-/?experiment="+ladderID).Body.String(), "<bdi>"+ladderID); chip != "/-/experiments/"+ladderID {
		t.Errorf("the chip leads to %q", chip)
	}
	if body := get(t, page, "/-/?experiment=%3Cb%3E").Body.String(); strings.Contains(body, `href="/-/experiments/%3Cb`) || strings.Contains(body, `class="names"`) {
		t.Error("what is no experiment has an address")
	}
	if w := get(t, page, "/-/experiments/nowhere"); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "No such experiment") {
		t.Errorf("status %d", w.Code)
	}
}
