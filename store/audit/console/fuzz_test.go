package console

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/ttftap/ttftap/store/audit"
)

// mapAll has a table of any header with these three be read.
var mapAll = Options{Map: Mapping{Time: "time", Output: "output", Model: "model"}}

// checkRead reads b, and checks what is true of any file.
func checkRead(t *testing.T, b []byte) {
	t.Helper()
	files, err := Read("x", bytes.NewReader(b), int64(len(b)), mapAll)
	var r *Refusal
	var u *UnknownHeader
	if err != nil && !errors.As(err, &r) && !errors.As(err, &u) {
		t.Fatalf("%T: %v", err, err)
	}
	for _, file := range files {
		for _, rec := range file.Records {
			checkLaws(t, rec)
		}
	}
}

// checkLaws are true of any record, whatever was read.
func checkLaws(t *testing.T, r audit.Record) {
	t.Helper()
	for _, n := range []*int64{r.Requests, r.Input, r.Cached, r.CacheWrite, r.Output, r.Reasoning} {
		if n != nil && *n < 0 {
			t.Errorf("a count below nothing: %+v", r)
		}
	}
	for _, d := range []*time.Duration{r.TTFT, r.Total} {
		if d != nil && *d < 0 {
			t.Errorf("a span below nothing: %+v", r)
		}
	}
	if r.To.Before(r.From) || r.Line < 1 || r.Kind == "" {
		t.Errorf("%+v", r)
	}
}

func FuzzSeparated(f *testing.F) {
	for _, name := range []string{"new-api-page.csv", "new-api-page-gb18030.csv", "openai-usage.csv", "mapped-utf16.tsv", "mapped.csv", "deepseek-amount-2025.csv", "langfuse.csv", "litellm.csv"} {
		f.Add(fixtureBytes(f, name))
	}
	f.Add([]byte("time,model,output\n2027-02-28,m,1\n"))
	f.Fuzz(checkRead)
}

func FuzzJSON(f *testing.F) {
	for _, name := range []string{"new-api.json", "langfuse.jsonl", "azure-metrics.json", "azure-log.jsonl", "openai-usage-1m.json", "volcengine.json", "litellm.json"} {
		f.Add(fixtureBytes(f, name))
	}
	f.Add([]byte(`{"data":[{"data":[{"data":[]}]}]}`))
	f.Fuzz(checkRead)
}

func FuzzZip(f *testing.F) {
	f.Add(fixtureBytes(f, "deepseek.zip"))
	f.Fuzz(checkRead)
}

// FuzzWorkbook changes what is within a workbook, since its checksums would
// refuse any change of the whole.
func FuzzWorkbook(f *testing.F) {
	const header = `<row r="1"><c t="inlineStr"><is><t>time</t></is></c><c t="s"><v>0</v></c><c t="str"><v>output</v></c></row>`
	f.Add(header+`<row r="2"><c><v>46446.5</v></c><c t="s"><v>0</v></c><c><v>7</v></c></row>`, `<si><t>model</t></si>`)
	f.Add(header+`<row r="9999999"><c r="XFD1"><f>A1</f></c></row>`, `<si><r><t>mo</t></r><r><t>del</t></r></si>`)
	f.Fuzz(func(t *testing.T, sheet, texts string) { checkRead(t, []byte(book(t, sheet, texts))) })
}
