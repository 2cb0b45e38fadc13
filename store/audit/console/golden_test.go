package console

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/store/audit"
)

var update = flag.Bool("update", false, "write the golden files anew")

// mappings are those of the fixtures whose header no source has.
var mappings = map[string]string{
	"mapped.csv":       "time=Start,model=Modell,id=Anfrage,input=Eingabe,output=Ausgabe,money=Kosten EUR,total_ms=Dauer",
	"mapped-utf16.tsv": "time=日期,model=模型,requests=调用次数,input=输入,output=输出",
}

// fixtures are the invented exports of testdata.
func fixtures(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("testdata/*.*")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, path := range all {
		if filepath.Ext(path) != ".golden" {
			names = append(names, filepath.Base(path))
		}
	}
	return names
}

func readFixture(t *testing.T, name string) ([]audit.File, error) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	o := Options{}
	if m := mappings[name]; m != "" {
		if o.Map, err = ParseMapping(m); err != nil {
			t.Fatal(err)
		}
	}
	return Read(name, bytes.NewReader(b), int64(len(b)), o)
}

func TestEachFixtureIsReadAsItsGoldenRecords(t *testing.T) {
	for _, name := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			files, err := readFixture(t, name)
			if err != nil {
				t.Fatal(err)
			}
			got := golden(t, files)
			path := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), string(got)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// golden writes files as lines: each file, its warnings, its records without
// what they do not say.
func golden(t *testing.T, files []audit.File) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, f := range files {
		records, warnings := f.Records, f.Warnings
		f.Records, f.Warnings, f.Unread = nil, nil, nil
		line(t, &b, f)
		for _, w := range warnings {
			line(t, &b, w)
		}
		for _, r := range records {
			line(t, &b, r)
		}
	}
	return b.Bytes()
}

func line(t *testing.T, b *bytes.Buffer, v any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var said map[string]any
	if err := json.Unmarshal(text, &said); err != nil {
		t.Fatal(err)
	}
	for name, value := range said {
		if value == nil || value == "" || value == false || value == "0001-01-01T00:00:00Z" {
			delete(said, name)
		}
	}
	text, err = json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	b.Write(append(text, '\n'))
}

func TestEachSourceHasAFixture(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range fixtures(t) {
		files, err := readFixture(t, name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, f := range files {
			seen[f.Source] = true
		}
	}
	for _, s := range sources {
		if !seen[s.name] {
			t.Errorf("no file in testdata is read as %s", s.name)
		}
	}
}

func TestTheTableNamesColumnsInTheirNormalForm(t *testing.T) {
	for _, s := range sources {
		columns := strings.Join([]string{s.needs, s.lacks, s.time, s.until, s.id, s.model, s.also, s.key, s.status,
			s.input, s.cached, s.write, s.output, s.reasoning, s.requests, s.money, strings.TrimPrefix(s.currency, "="), s.ttft, s.total,
			s.failed, s.cancelled, s.fromCache, s.embeds}, " ")
		for _, column := range strings.FieldsFunc(columns, func(r rune) bool { return r == ' ' || r == '|' }) {
			if n := normal(column); n != column && column != "USD" {
				t.Errorf("%s: %q is %q", s.name, column, n)
			}
		}
	}
}

func TestNothingBesideTheMappedColumnsIsKept(t *testing.T) {
	for _, name := range fixtures(t) {
		files, err := readFixture(t, name)
		if err != nil {
			t.Fatal(err)
		}
		if kept := string(golden(t, files)); strings.Contains(kept, "never") || strings.Contains(kept, "192.0.2.") || strings.Contains(kept, "sk-not-real") {
			t.Errorf("%s: a prompt, an address or a key was kept:\n%s", name, kept)
		}
	}
}
