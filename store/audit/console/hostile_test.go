package console

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/ttftap/ttftap/store/audit"
)

func readText(t *testing.T, name, text string) ([]audit.File, error) {
	t.Helper()
	return Read(name, strings.NewReader(text), int64(len(text)), Options{})
}

// zipOf is a zip of files by name, name, content, ...
func zipOf(t *testing.T, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i])
		if err == nil {
			_, err = io.WriteString(w, files[i+1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// book is a workbook of one sheet with this inside its sheetData, and these
// shared texts.
func book(t *testing.T, sheet, texts string) string {
	t.Helper()
	const ns = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"`
	return zipOf(t,
		"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
		"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
		"xl/workbook.xml", `<workbook `+ns+` xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="a" sheetId="1" r:id="r1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
		"xl/worksheets/sheet1.xml", `<worksheet `+ns+`><sheetData>`+sheet+`</sheetData></worksheet>`,
		"xl/sharedStrings.xml", `<sst `+ns+`>`+texts+`</sst>`)
}

const usageHeader = "start_time,end_time,model,num_model_requests,input_tokens,output_tokens\n"

func TestWhatCannotBeReadIsRefusedWithWhatToDo(t *testing.T) {
	claims := zipOf(t, "a.csv", strings.Repeat("x", 100))
	claims = strings.ReplaceAll(claims, "\x64\x00\x00\x00", "\xff\xff\xff\x7f") // 100 bytes become 2 GiB
	cases := []struct{ name, text, want string }{
		{"nothing", "", "it is empty"},
		{"blanks", "\n \n\n", "holds no table"},
		{"a zip within a zip", zipOf(t, "a.csv", zipOf(t, "b.csv", "x")), "an archive within an archive"},
		{"a zip that unpacks to much", claims, "unpack to more than 1.0 GiB"},
		{"a zip of nothing", zipOf(t), "no CSV or JSON"},
		{"a zip cut off", zipOf(t, "a.csv", usageHeader)[:60], "cut off"},
		{"a zip of many", zipOf(t, many(101)...), "more than 100 files"},
		{"an old workbook", "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "save it as .xlsx"},
		{"gzip", "\x1F\x8B\x08", "unpack it first"},
		{"a page", "<!DOCTYPE html><html>", "signed in"},
		{"a PDF", "%PDF-1.7", "export CSV"},
		{"a database", "SQLite format 3\x00", "export its table"},
		{"columns without end", usageHeader[:10] + strings.Repeat(",", 5000), "5001 columns"},
		{"a row without end", usageHeader + "\"" + strings.Repeat("x", 2*maxRow), "larger than 4.0 MiB"},
		{"a quote that is not closed", usageHeader + "1,2,\"gpt\n1,2,3,4,5,6\n", "not closed"},
		{"JSON cut off", `{"data":[{"start_time":1,"mod`, "middle of row 1: it was cut off"},
		{"JSON of numbers", `[1,2,3]`, "no rows"},
		{"JSON of other things", `{"a":1} 3`, "no JSON of rows"},
		{"broken JSON", "{\"data\":[\n{\"a\":1},\n{\"a\":x}]}", "line 3, column 1"},
		{"deep JSON", strings.Repeat(`{"data":`, 100_000), "no JSON of rows"},
		{"deep JSON in a row", `[{"a":` + strings.Repeat("[", 100_000) + `}]`, "no JSON of rows"},
		{"a row of JSON without end", `[{"a":"` + strings.Repeat("x", 2*maxRow) + `"}]`, "larger than 4.0 MiB"},
		{"an error of a gateway", `{"success":false,"message":"no such token","data":null}`, "an error of the console"},
		{"a workbook whose sheet breaks off", book(t, `<row><c><v>1</v>`, ""), "cut off"},
		{"a workbook of many columns", book(t, `<row>`+strings.Repeat(`<c><v>1</v></c>`, 2000)+`</row>`, ""), "more than 1000 columns"},
		{"a workbook nested deep", book(t, strings.Repeat(`<row>`, 1000), ""), "nested"},
		{"a workbook of a far column", book(t, `<row r="1"><c r="ZZZZZZ1"><v>1</v></c></row>`, ""), "cannot be read"},
		{"a workbook of formulas", book(t, strings.Repeat(`<row>`+strings.Repeat(`<c><f>CONCATENATE(A1,A1)</f></c>`, 6)+`</row>`, 20), ""), "holds no table"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := readText(t, "x.csv", c.text)
			var r *Refusal
			if !errors.As(err, &r) {
				t.Fatalf("got %v, want a refusal", err)
			}
			if !strings.Contains(r.Error(), c.want) || !strings.Contains(r.Error(), "x.csv") || r.Say.Zh == "" {
				t.Errorf("got %q, want it to hold %q and the file", r, c.want)
			}
		})
	}
}

func many(n int) (files []string) {
	for i := range n {
		files = append(files, fmt.Sprint(i, ".csv"), "x")
	}
	return files
}

func TestAFileBeyondTheLimitIsRefusedUnread(t *testing.T) {
	if _, err := Read("huge.csv", nil, 10<<30, Options{}); err == nil || !strings.Contains(err.Error(), "larger than 1.0 GiB") {
		t.Errorf("got %v", err)
	}
}

func TestFormulasCountAsWhatTheyWereSavedAs(t *testing.T) {
	cell := func(s string) string { return `<c t="str"><f>HYPERLINK("http://x.invalid")</f><v>` + s + `</v></c>` }
	row := func(cells ...string) string {
		s := "<row>"
		for _, c := range cells {
			s += cell(c)
		}
		return s + "</row>"
	}
	files, err := readText(t, "f.xlsx", book(t, row("start_time", "end_time", "model", "num_model_requests", "input_tokens", "output_tokens")+row("1803772800", "1803859200", "m", "2", "30", "4"), ""))
	if err != nil {
		t.Fatal(err)
	}
	if r := files[0].Records; len(r) != 1 || *r[0].Input != 30 || *r[0].Output != 4 {
		t.Errorf("got %+v", r)
	}
}

func TestRowsThatCannotBeReadAreNamedAndTheOthersAreRead(t *testing.T) {
	files, err := readText(t, "usage.csv", usageHeader+
		"1803772800,1803859200,a,1,10,1\n"+
		"1803772800,1803859200,b,1,ten,1\n"+
		"1803772800,1803859200,c,1\n"+
		"1803772800,1803859200,\"d\" e,1,10,1\n"+
		"1803772800,1803859200,g \"h\",1,10,1\n"+
		"1803772800,1803859200,f,1,10,1,\n")
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	for _, w := range files[0].Warnings {
		lines = append(lines, w.Line)
	}
	if fmt.Sprint(lines) != "[3 4 5 6]" || len(files[0].Records) != 2 {
		t.Errorf("warned of %v, read %d rows", lines, len(files[0].Records))
	}
}

func TestWarningsDoNotGrowWithoutEnd(t *testing.T) {
	files, err := readText(t, "usage.csv", usageHeader+strings.Repeat("never,1803859200,a,1,10,1\n", 5000))
	if err != nil {
		t.Fatal(err)
	}
	w := files[0].Warnings
	if len(w) != maxRemarks+1 || !strings.Contains(w[maxRemarks].Say.En, "5000 rows") {
		t.Errorf("%d warnings, the last is %q", len(w), w[len(w)-1].Say.En)
	}
}

// TestARowIsKeptAsItsRecordAlone allows 1 KiB for each, of what is 5 in the file:
// no text that is kept may hold the rest of its row.
func TestARowIsKeptAsItsRecordAlone(t *testing.T) {
	const rows, limit = 5000, 5000 << 10
	var csv strings.Builder
	csv.WriteString("created_at,type,content,token_name,model_name,quota,prompt_tokens,completion_tokens,use_time,request_id,other\n")
	for i := range rows {
		fmt.Fprintf(&csv, "%d,2,%s,desk,gpt-oss-120b,100,%d,20,3,2027022805%020d,\"{\"\"frt\"\":812.5,\"\"cache_tokens\"\":7}\"\n", 1803800000+i, strings.Repeat("not kept ", 500), i, i)
	}
	before := memory()
	files, err := readText(t, "big.csv", csv.String())
	if err != nil {
		t.Fatal(err)
	}
	if grown := memory() - before; len(files[0].Records) != rows || grown > limit {
		t.Errorf("%d rows keep %d KiB", len(files[0].Records), grown>>10)
	}
	runtime.KeepAlive(files)
	runtime.KeepAlive(&csv)
}

func memory() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestOfARowThatCannotBeReadItsIDsAndTimeAreKept(t *testing.T) {
	files, err := readText(t, "log.csv", "时间,类型,令牌,分组,模型,输入Tokens,输出Tokens,花费,用时(秒),流式,IP,Request ID,详情\n"+
		"2027-02-28 13:00:00,消费,laptop,default,gpt-5,10,ten,$0.01,4,是,,20270228130000000000001,\n"+
		"2027-02-28 13:01:00,消费,laptop,default,gpt-5,10,10,$0.01,4\n"+
		"soon,消费,laptop,default,gpt-5,10,10,$0.01,4,是,,,\n"+
		"2027-02-28 13:03:00,消费,laptop,default,gpt-5,10,10,$0.01,4,是,,20270228130300000000001,\n")
	if err != nil {
		t.Fatal(err)
	}
	unread := files[0].Unread
	if len(unread) != 2 || len(unread[0].IDs) != 1 || unread[1].From.IsZero() || unread[0].Output != nil {
		t.Errorf("%+v", unread)
	}
}
