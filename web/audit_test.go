package web

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/store"
	"github.com/ttftap/ttftap/store/audit"
)

func TestAnAuditFindsWhatDiffersAndSaysSo(t *testing.T) {
	page, at := auditedPage(t)
	var result audit.Result
	if err := json.Unmarshal(get(t, page, at+"/result.json").Body.Bytes(), &result); err != nil {
		t.Fatal(err)
	}
	got := make(map[audit.Class]int)
	for _, n := range result.Counts {
		got[n.Class] = n.Rows
	}
	want := map[audit.Class]int{
		audit.Matched: 2, audit.TokensDiffer: 1, audit.OnlyLocal: 1, audit.OnlyConsole: 1, audit.AbortedBilled: 1, audit.OutOfScope: 3,
	}
	if diff := cmp.Diff(want, got); diff != "" || result.Verdict != audit.Differences {
		t.Errorf("%s %s", result.Say.En, diff)
	}
	if result.Zone == nil || result.Zone.Used != 480 {
		t.Errorf("the file's times are of UTC+8, read as %+v", result.Zone)
	}
	rows, err := csv.NewReader(get(t, page, at+"/result.csv").Body).ReadAll()
	if err != nil || len(rows) != len(result.Rows)+1 {
		t.Errorf("%d rows as CSV, %v", len(rows), err)
	}
}

func TestTheRowsOfAnAuditAreThoseOfTheChosenClass(t *testing.T) {
	page, at := auditedPage(t)
	rows := regexp.MustCompile(`(?s)<table class="grid findings">.*?</table>`)
	for class, want := range map[string][]string{
		"":              {"audit-other", "audit-lost", "audit-left"},
		"matched":       {"audit-same", "audit-again"},
		"tokens_differ": {"audit-other"},
		"only_console":  {},
	} {
		shown := rows.FindString(get(t, page, at+"?class="+class).Body.String())
		var got []string
		for _, x := range billedOnce() {
			if strings.Contains(shown, "/-/requests/"+x.ID) {
				got = append(got, x.ID)
			}
		}
		if diff := cmp.Diff(want, got, cmp.Transformer("none", func(s []string) []string { return append([]string{}, s...) })); diff != "" {
			t.Errorf("class %q: %s", class, diff)
		}
	}
}

func TestWhatIsKeptOfAnAuditIsShownBesideTheRequest(t *testing.T) {
	c := newConfig(t, billedOnce()...)
	page := New(c)
	before := get(t, page, "/-/requests/audit-other").Body.String()
	at := posted(t, page, billOf(billedOnce()), nil).Header().Get("Location")
	if row, err := c.Store.ConsoleRow(t.Context(), "audit-other"); row != nil || err != nil {
		t.Fatalf("kept unasked: %+v, %v", row, err)
	}
	if w := ask(t, page, http.MethodPost, at+"/keep", ""); w.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	row, err := c.Store.ConsoleRow(t.Context(), "audit-other")
	if err != nil {
		t.Fatal(err)
	}
	want := &store.ConsoleRow{
		ExchangeID: "audit-other", KeptAt: noon.UTC(), Place: "export.csv: 4", Class: "tokens_differ", Model: "gpt-5-codex", Key: "laptop",
		Input: new(int64(21_877)), Cached: new(int64(19_072)), Output: new(int64(2917)), Amount: "0.045213", Currency: "USD", MoneyKind: "quota",
	}
	if diff := cmp.Diff(want, row); diff != "" {
		t.Error(diff)
	}
	after := get(t, page, "/-/requests/audit-other").Body.String()
	if strings.Contains(before, "2,917") || !strings.Contains(after, "2,917") {
		t.Error("the console's count is not shown after it was kept, or was before")
	}
}

func TestAnUnknownHeaderIsMappedByTheReader(t *testing.T) {
	page := New(newConfig(t, billedOnce()...))
	file := "when,which,asked,told\n"
	for _, x := range billedOnce()[1:3] {
		file += x.EndedAt().UTC().Format(time.RFC3339) + ",gpt-5-codex," + strconv.FormatInt(*x.PromptTokens, 10) + "," + strconv.FormatInt(*x.OutputTokens, 10) + "\n"
	}
	w := posted(t, page, file, nil)
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `name="map.time"`) || !strings.Contains(w.Body.String(), `value="told"`) {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	golden(t, "audit-mapping.en.golden.html", contentHash.ReplaceAllString(w.Body.String(), "-HASH.$1"))
	w = posted(t, page, file, map[string]string{"map.time": "when", "map.model": "which", "map.input": "asked", "map.output": "told"})
	if w.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if body := get(t, page, w.Header().Get("Location"), "Accept-Language", "en").Body.String(); !strings.Contains(body, `verdict clean`) {
		t.Error(body)
	}
}

func TestAnUploadThatCannotBeComparedIsRefusedInWords(t *testing.T) {
	page := New(newConfig(t, billedOnce()...))
	for name, tt := range map[string]struct {
		file   string
		fields map[string]string
		status int
		words  string
	}{
		"empty":        {"", nil, http.StatusBadRequest, "export.csv"},
		"no such zone": {billOf(nil), map[string]string{"zone": "17"}, http.StatusBadRequest, "no such zone"},
		"too large":    {strings.Repeat("x", uploadMost), nil, http.StatusRequestEntityTooLarge, "larger than 64 MB"},
	} {
		t.Run(name, func(t *testing.T) {
			w := posted(t, page, tt.file, tt.fields)
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.words) {
				t.Errorf("%d %.600s", w.Code, w.Body)
			}
		})
	}
	w := ask(t, page, http.MethodPost, "/-/audit", "x", "Content-Type", "text/plain")
	if w.Code != http.StatusBadRequest {
		t.Errorf("no form: %d", w.Code)
	}
}

func TestAnotherSiteCannotSendAnAudit(t *testing.T) {
	page, at := auditedPage(t)
	for _, target := range []string{"/-/audit", at + "/keep"} {
		w := ask(t, page, http.MethodPost, target, "", "Sec-Fetch-Site", "cross-site", "Origin", "https://elsewhere.example")
		if w.Code != http.StatusForbidden {
			t.Errorf("%s: %d", target, w.Code)
		}
	}
}

func TestAResultIsForgottenAfterAWhile(t *testing.T) {
	c, now := newConfig(t, billedOnce()...), noon
	c.Now = func() time.Time { return now }
	page := New(c)
	var first string
	for i := range auditsHeld + 1 {
		at := posted(t, page, billOf(billedOnce()), nil).Header().Get("Location")
		if i == 0 {
			first = at
		}
		if i == auditsHeld {
			if get(t, page, first).Code != http.StatusNotFound || get(t, page, at).Code != http.StatusOK {
				t.Error("the oldest is not the one that gave way")
			}
			now = now.Add(auditLife)
			if get(t, page, at).Code != http.StatusNotFound {
				t.Error("it is held for ever")
			}
		}
	}
}
