package web

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ttftap/ttftap/store"
)

func TestExperimentsAreListedWithStateAndVerdict(t *testing.T) {
	body := get(t, New(newLab(t, everyTrial()...)), "/-/experiments").Body.String()
	rows := regexp.MustCompile(`(?s)<tr><th scope="row"><a href="/-/experiments/(\w+)".*?</tr>`).FindAllStringSubmatch(body, -1)
	want := []struct{ id, sent, state, verdict string }{
		{hostileID, "10/10", "done", "First token: not resolved"},
		{runningID, "7/24", "running", "Not resolved which of them is the largest"},
		{laterID, "24/24", "done", "Prefill is the largest part"},
		{cacheID, "24/24", "done", "The cache works"},
		{ladderID, "24/24", "done", "Prefill is the largest part"},
	}
	if len(rows) != len(want) {
		t.Fatalf("%d rows", len(rows))
	}
	for i, w := range want {
		row := rows[i][0]
		if rows[i][1] != w.id || !strings.Contains(row, `>`+w.sent+`</a>`) || !strings.Contains(row, `state-`+w.state+`"`) || !strings.Contains(row, w.verdict) {
			t.Errorf("row %d: %s; want %+v", i, row, w)
		}
	}
}

func TestWhatRunsAnExperimentGoesThroughThisInstance(t *testing.T) {
	c := newConfig(t)
	c.Listen = "http://nas.lan:9000/"
	body := get(t, New(c), "/-/experiments").Body.String()
	for _, kind := range []string{"all", "ladder", "burst", "cache", "history", "shapes", "load", "models", "direct"} {
		if !strings.Contains(body, ">ttftap probe "+kind+" --via http://nas.lan:9000") {
			t.Errorf("nothing runs %s", kind)
		}
	}
	if !strings.Contains(body, " --to lab<") || strings.Contains(body, "TTFTAP_UI_TOKEN") {
		t.Error("the second upstream is not named, or a token where there is none")
	}
	c.Token = "sesame"
	body = get(t, New(c), "/-/experiments", "Authorization", "Bearer sesame").Body.String()
	if !strings.Contains(body, "TTFTAP_UI_TOKEN") || strings.Contains(body, "sesame") {
		t.Error("the token is not asked for, or shown")
	}
}

func TestAnExperimentThatNobodyEndedIsBrokenOffAfterAWhile(t *testing.T) {
	c := newLab(t, underWay())
	for after, state := range map[time.Duration]string{0: "running", silence - time.Minute: "running", silence + time.Minute: "silent"} {
		c.Now = func() time.Time { return noon.Add(after) }
		page := New(c)
		for _, target := range []string{"/-/experiments", "/-/experiments/" + runningID} {
			body := get(t, page, target).Body.String()
			if !strings.Contains(body, `state-`+state+`"`) {
				t.Errorf("%s after %s is not %s", target, after, state)
			}
			if isLive := strings.Contains(body, "data-reload="); isLive != (state == "running" && target != "/-/experiments") {
				t.Errorf("%s after %s: live is %t", target, after, isLive)
			}
		}
	}
}

func TestAnExperimentOfALaterVersionIsListedAllTheSame(t *testing.T) {
	c := newLab(t, caches())
	later := store.Experiment{ID: laterID, StartedAt: noon, Plan: []byte(`{"kind":"telepathy","arms":[{}],"steps":[{}]}`)}
	if err := c.Store.SaveExperiment(context.Background(), later); err != nil {
		t.Fatal(err)
	}
	page := New(c)
	body := get(t, page, "/-/experiments").Body.String()
	if !strings.Contains(body, "This version cannot read") || !strings.Contains(body, "The cache works") {
		t.Error("one of the two is not listed")
	}
	if w := get(t, page, "/-/experiments/"+laterID); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "telepathy") {
		t.Errorf("its report: status %d", w.Code)
	}
}

func TestOnlyTheNewestExperimentsAreListed(t *testing.T) {
	var all []trial
	for i := range experimentsShown + 1 {
		one := caches()
		one.ID, one.rows = fmt.Sprintf("01KB9V7N3QX2M8C4D5E6F7G%03d", i), nil
		all = append(all, one)
	}
	body := get(t, New(newLab(t, all...)), "/-/experiments").Body.String()
	if n := strings.Count(body, `name="a"`); n != experimentsShown || strings.Contains(body, all[0].ID) || !strings.Contains(body, "the newest 50") {
		t.Errorf("%d are listed", n)
	}
}

func TestTwoExperimentsAreComparedAndSwapped(t *testing.T) {
	page := New(newLab(t, everyTrial()...))
	body := get(t, page, experimentPairURL(ladderID, laterID)).Body.String()
	if !strings.Contains(body, "&#34;B&#34; (2.16 s) is higher than &#34;A&#34; (1.26 s)") {
		t.Error("the verdict is missing")
	}
	if n := strings.Count(body, `<tr class="part">`); n != 3 {
		t.Errorf("%d arms in common", n)
	}
	if swap := link(body, "Swap"); swap != experimentPairURL(laterID, ladderID) {
		t.Errorf("swapped at %q", swap)
	}
	for query, want := range map[string]int{
		"": http.StatusOK, "?a=" + ladderID: http.StatusOK, "?a=" + ladderID + "&b=nowhere": http.StatusNotFound,
		"?a=" + ladderID + "&b=" + cacheID: http.StatusOK, "?a=" + ladderID + "&b=" + ladderID: http.StatusOK,
	} {
		if w := get(t, page, "/-/experiments/compare"+query); w.Code != want {
			t.Errorf("%q: status %d", query, w.Code)
		}
	}
}
