package web

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fetchAll reads every page of the API.
func fetchAll(t *testing.T, page http.Handler, query string) []map[string]any {
	t.Helper()
	var all []map[string]any
	for cursor := ""; ; {
		target := "/-/api/requests?limit=7" + query
		if cursor != "" {
			target += "&cursor=" + cursor
		}
		var p struct {
			Requests []map[string]any `json:"requests"`
			Next     *string          `json:"next"`
		}
		if err := json.Unmarshal(get(t, page, target).Body.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p.Requests...)
		if p.Next == nil {
			return all
		}
		cursor = *p.Next
	}
}

func TestTheCSVHasTheRowsOfTheAPIAndAsManyAsTheButtonSays(t *testing.T) {
	page := New(newConfig(t, append(telling(), many(40)...)...))
	for _, query := range []string{"", "&bound=decode", "&sort=total_ms&order=asc", "&from=-1h&min_first_token_ms=1000", "&q=nothing"} {
		rows, err := csv.NewReader(get(t, page, "/-/export.csv?"+query).Body).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		var fromCSV, fromAPI []string
		for _, row := range rows[1:] {
			fromCSV = append(fromCSV, row[0])
		}
		for _, x := range fetchAll(t, page, query) {
			fromAPI = append(fromAPI, x["id"].(string))
		}
		if diff := cmp.Diff(fromAPI, fromCSV); diff != "" {
			t.Errorf("%q: API and CSV differ:\n%s", query, diff)
		}
		body := get(t, page, "/-/?"+strings.TrimPrefix(query, "&")).Body.String()
		if got := buttonCount(t, body); got != humanCount(len(fromCSV)) {
			t.Errorf("%q: the button says %q, the file has %d rows", query, got, len(fromCSV))
		}
	}
}

func buttonCount(t *testing.T, body string) string {
	t.Helper()
	m := regexp.MustCompile(`Export CSV <span class="dim">([^<]+)<`).FindStringSubmatch(body)
	if m == nil {
		t.Fatal("no button")
	}
	return m[1]
}

func humanCount(n int) string { return english.number("filter.csv", int64(n)) }

func TestTheAPIsKeysAreTheCSVsColumns(t *testing.T) {
	page := New(newConfig(t, telling()...))
	header, err := csv.NewReader(get(t, page, "/-/export.csv").Body).Read()
	if err != nil {
		t.Fatal(err)
	}
	var one map[string]any
	if err := json.Unmarshal(get(t, page, "/-/api/requests/prefill").Body.Bytes(), &one); err != nil {
		t.Fatal(err)
	}
	for _, name := range header {
		if _, ok := one[name]; !ok {
			t.Errorf("the API has no %s", name)
		}
	}
	if one["prompt_tokens"] != 96210.0 || one["idle_before_ms"] != nil {
		t.Errorf("prompt_tokens %v, idle_before_ms %v", one["prompt_tokens"], one["idle_before_ms"])
	}
}

func TestAnExportIsAFileWithTheTimeInItsName(t *testing.T) {
	page := New(newConfig(t, telling()...))
	for target, want := range map[string][3]string{
		"/-/export.csv":       {"text/csv; charset=utf-8", "requests-20260314T0400Z.csv", "id,"},
		"/-/export.csv?bom=1": {"text/csv; charset=utf-8", "requests-20260314T0400Z.csv", "\ufeffid,"},
		"/-/export.jsonl":     {"application/jsonl", "requests-20260314T0400Z.jsonl", `{"id":`},
	} {
		w := get(t, page, target)
		if got := w.Header().Get("Content-Type"); got != want[0] {
			t.Errorf("%s is %q", target, got)
		}
		if got := w.Header().Get("Content-Disposition"); got != `attachment; filename="`+want[1]+`"` {
			t.Errorf("%s is called %q", target, got)
		}
		if !strings.HasPrefix(w.Body.String(), want[2]) {
			t.Errorf("%s begins with %.20q", target, w.Body)
		}
	}
}

func TestAProgramsBrokenFilterIsRefusedWithTheReason(t *testing.T) {
	page := New(newConfig(t, telling()...))
	for _, target := range []string{"/-/api/requests", "/-/export.csv", "/-/export.jsonl"} {
		w := get(t, page, target+"?from=yesterday&colour=red")
		if w.Code != http.StatusBadRequest {
			t.Errorf("%s: status %d", target, w.Code)
		}
		for _, want := range []string{"from=", "yesterday", "colour=", "there is no such filter"} {
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("%s: the reason lacks %q: %s", target, want, w.Body)
			}
		}
		if w.Header().Get("Content-Disposition") != "" {
			t.Errorf("%s: the refusal would be saved as a file", target)
		}
	}
}

func TestAnUnknownIdIsNotFoundByTheAPI(t *testing.T) {
	w := get(t, New(newConfig(t)), "/-/api/requests/nowhere")
	var told struct {
		Error struct{ Message string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &told); err != nil || w.Code != http.StatusNotFound || told.Error.Message == "" {
		t.Errorf("status %d, %v: %s", w.Code, err, w.Body)
	}
}

// deaf is a reader who leaves after the header.
type deaf struct{ *httptest.ResponseRecorder }

func (deaf) Write([]byte) (int, error) { return 0, errors.New("gone") }

func TestAnExportThatFailsOnItsWayIsBrokenOff(t *testing.T) {
	c := newConfig(t, many(300)...)
	logged := c.capturedLog()
	page := New(c)
	defer func() {
		if got := recover(); got != http.ErrAbortHandler {
			t.Errorf("it ended with %v: the file looks whole", got)
		}
		if !strings.Contains(logged(), "gone") {
			t.Errorf("the reason was not logged: %s", logged())
		}
	}()
	r := httptest.NewRequest(http.MethodGet, "/-/export.csv", nil)
	r.Host = "localhost"
	page.ServeHTTP(deaf{httptest.NewRecorder()}, r)
}
