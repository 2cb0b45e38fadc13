package console

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func fixtureBytes(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestNumbersOfAnySpelling(t *testing.T) {
	cases := []struct {
		text         string
		decimalComma bool
		want         string
	}{
		{"10.0", false, "10"}, {"1,234", false, "1234"}, {"1,234,567.5", false, "1.2345675e+06"}, {"0,5", false, "0.5"}, {"0,012", false, "0.012"},
		{"3.584e-07", false, "3.584e-07"}, {"-0.003", false, "-0.003"}, {"１２３", false, "123"}, {"1 234", false, "1234"}, {"1\u00a0234", false, "1234"}, {"1'234", false, "1234"},
		{"1.234", false, "1.234"}, {"1.234", true, "1234"}, {"1.234,5", true, "1234.5"}, {"1.234,5", false, "1234.5"}, {"12,5", true, "12.5"}, {"0.5", true, "0.5"},
		{"", false, "no"}, {"ten", false, "no"}, {"1,2,3", false, "no"}, {"NaN", false, "no"}, {"Inf", false, "no"}, {"1e999", false, "no"}, {"=1+1", false, "no"},
	}
	for _, c := range cases {
		got := "no"
		if v, err := number(c.text, c.decimalComma); err == nil {
			got = fmt.Sprint(v)
		}
		if got != c.want {
			t.Errorf("%q, comma %v: got %s, want %s", c.text, c.decimalComma, got, c.want)
		}
	}
}

func TestNumbersAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, maxCount).Draw(t, "n")
		comma := rapid.Bool().Draw(t, "decimal comma")
		mark := rapid.SampledFrom([]string{",", " ", "'", "\u202f"}).Draw(t, "mark")
		if comma && mark == "," {
			mark = "."
		}
		r := row{cells: map[string]string{"n": group(n, mark)}}
		got, err := r.count("n", comma)
		if err != nil || *got != n {
			t.Fatalf("%q: %v %v", r.cells["n"], got, err)
		}
	})
}

// group writes n with a mark between its thousands.
func group(n int64, mark string) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + mark + s[i:]
	}
	return s
}

func TestAmountsTellTheirCurrency(t *testing.T) {
	for text, want := range map[string]string{
		"$0.012345": "0.012345 USD", "＄1,000.5": "1000.5 USD", "¥0.2": "0.2 CNY", "￥0.2": "0.2 CNY", "0.2 元": "0.2 CNY", "US$3": "3 USD", "-$0.5": "-0.5 USD", "€1": "1 EUR", "4": "4 ",
	} {
		units, currency, err := money(text, false)
		if got := fmt.Sprint(units, " ", currency); got != want || err != nil {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
	}
}

func TestTimesOfAnySpellingAndWhatTheyLeaveOpen(t *testing.T) {
	zone := time.FixedZone("", 8*3600)
	cases := []struct{ text, want string }{
		{"1803800000", "2027-02-28T07:33:20Z +1s"},
		{"1803800000125", "2027-02-28T07:33:20.125Z +1ms"},
		{"1803800000.5", "2027-02-28T07:33:20.5Z +100ms"},
		{"2027-02-28T05:34:00.100Z", "2027-02-28T05:34:00.1Z +1ms"},
		{"2027-02-28T13:34:00+08:00", "2027-02-28T05:34:00Z +1s"},
		{"2027-02-28 05:34:00 UTC", "2027-02-28T05:34:00Z +1s"},
		{"2027-02-28 13:34:00 +0800 CST", "2027-02-28T05:34:00Z +1s"},
		{"2027-02-28 13:34:00", "2027-02-28T05:34:00Z +1s zoneless"},
		{"2027/2/28 13:34", "2027-02-28T05:34:00Z +1m0s zoneless"},
		{"2027-02-28", "2027-02-27T16:00:00Z +24h0m0s zoneless"},
		{"20270228", "2027-02-27T16:00:00Z +24h0m0s zoneless"},
		{"2027年2月28日", "2027-02-27T16:00:00Z +24h0m0s zoneless"},
		{"46446", "2027-02-27T16:00:00Z +24h0m0s zoneless"},
		{"46446.565277778", "2027-02-28T05:34:00Z +1s zoneless"},
		{"2027-02-28 00:00:00 ~ 2027-02-28 23:59:59", "2027-02-27T16:00:00Z +24h0m0s zoneless"},
		{"yesterday", "no"}, {"12", "no"}, {"", "no"}, {"2027-02-30", "no"}, {"1903-01-01", "no"}, {"1e300", "no"}, {"~", "no"}, {"2027-02-28 ~ 2027-02-27", "no"},
	}
	for _, c := range cases {
		got := "no"
		if i, ok := clock(c.text, zone); ok {
			got = fmt.Sprintf("%s +%v", i.from.Format(time.RFC3339Nano), i.to.Sub(i.from))
			if i.zoneless {
				got += " zoneless"
			}
		}
		if got != c.want {
			t.Errorf("%q: got %s, want %s", c.text, got, c.want)
		}
	}
}

func TestADayOfTheCalendarCanHaveTwentyThreeHours(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	i, ok := clock("2027-03-28", berlin)
	if !ok || i.to.Sub(i.from) != 23*time.Hour {
		t.Errorf("got %v", i)
	}
}

func TestMappingsAreReadAsTheyAreWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Mapping{}
		for _, f := range rapid.SliceOfDistinct(rapid.SampledFrom(Fields()), rapid.ID[Field]).Draw(t, "fields") {
			want[f] = rapid.StringMatching(`[A-Za-z输入][A-Za-z =(),输入]{0,8}[a-z)]`).Draw(t, "column")
		}
		got, err := ParseMapping(want.String())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("%s: %s", want, d)
		}
	})
}

func TestABrokenMappingSaysWhy(t *testing.T) {
	for text, want := range map[string]string{
		"time":           "want FIELD=COLUMN",
		"when=a":         `no field "when"`,
		"time=":          "names no column",
		`model="a,b`:     "not closed",
		"time=a,output=": "output names no column",
	} {
		if _, err := ParseMapping(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

func TestAnUnknownHeaderIsToldWithAProposal(t *testing.T) {
	_, err := readText(t, "own.csv", "My report\nRequest Time,Model Used,Prompt Tokens,Total Output Tokens,Cost (USD)\n2027-02-28,m,1,2,3\n")
	u, ok := err.(*UnknownHeader)
	if !ok {
		t.Fatalf("got %v", err)
	}
	want := Mapping{Time: "Request Time", Model: "Model Used", Input: "Prompt Tokens", Output: "Total Output Tokens", Amount: "Cost (USD)"}
	if d := cmp.Diff(want, u.Proposed); d != "" || len(u.Missing) > 0 {
		t.Errorf("missing %v, (-want +got)\n%s", u.Missing, d)
	}
	files, err := Read("own.csv", strings.NewReader("Request Time,Model Used,Prompt Tokens,Total Output Tokens,Cost (USD)\n2027-02-28 01:00:00,m,1,2,3\n"), 102, Options{Map: u.Proposed})
	if err != nil || files[0].Source != Mapped || *files[0].Records[0].Output != 2 {
		t.Errorf("the proposal reads %+v, %v", files, err)
	}
}

func TestWhatIsMissingOfAMappingIsSaid(t *testing.T) {
	_, err := readText(t, "own.csv", "alpha,beta\n1,2\n")
	if err == nil || !strings.Contains(err.Error(), "still to be named: time, output") {
		t.Errorf("got %v", err)
	}
	text := "alpha,beta\n1,2\n"
	_, err = Read("own.csv", strings.NewReader(text), int64(len(text)), Options{Map: Mapping{Time: "gamma", Output: "beta"}})
	if err == nil || !strings.Contains(err.Error(), `no column "gamma" for time; the columns are: alpha, beta`) {
		t.Errorf("got %v", err)
	}
}

func TestTheZoneIsThatOfTheTextElseOfTheSourceElseAsAsked(t *testing.T) {
	east := time.FixedZone("", 9*3600)
	for name, want := range map[string]string{
		"new-api-page-2024.csv": "2027-02-28T04:34:21Z zoneless 540", // as asked
		"openrouter.csv":        "2027-02-28T05:34:00Z",              // by the source
		"fireworks.csv":         "2027-02-28T05:34:04Z",              // by the text
	} {
		b := fixtureBytes(t, name)
		files, err := Read(name, strings.NewReader(string(b)), int64(len(b)), Options{Zone: east})
		if err != nil {
			t.Fatal(err)
		}
		got := files[0].Records[0].From.Format("2006-01-02T15:04:05Z07:00")
		if files[0].Zoneless {
			got += fmt.Sprint(" zoneless ", files[0].ZoneOffset)
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestAGatewaysOwnRateOfQuotaIsUsed(t *testing.T) {
	b := fixtureBytes(t, "one-api.json")
	files, err := Read("one-api.json", strings.NewReader(string(b)), int64(len(b)), Options{QuotaPerUnit: 1000})
	if err != nil || files[0].Records[0].Money.Nano != 120_000_000 {
		t.Errorf("got %+v, %v", files[0].Records[0].Money, err)
	}
}
