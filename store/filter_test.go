package store

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func TestParseFilterReadsEveryName(t *testing.T) {
	q, err := url.ParseQuery("from=2026-11-01T00:00:00Z&to=-2h&upstream=lab&model=m&bound=prefill&cause=queue&outcome=ok" +
		"&session=s&turn=t&client=codex&key=k&experiment=e&min_first_token_ms=1500.5&min_prompt_tokens=1000&min_excess_ms=-3" +
		"&q=req_1&sort=excess_ms&order=asc&limit=20")
	if err != nil {
		t.Fatal(err)
	}
	first, least, excess := 1500.5, 1000.0, -3.0
	want := Filter{
		From: When{time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), "2026-11-01T00:00:00Z"}, To: When{noon.Add(-2 * time.Hour), "-2h"},
		Upstream: "lab", Model: "m", Bound: exchange.PrefillBound, Cause: "queue", Outcome: exchange.OK,
		Session: "s", Turn: "t", Client: "codex", Key: "k", Experiment: "e",
		MinFirstTokenMS: &first, MinPromptTokens: &least, MinExcessMS: &excess,
		Search: "req_1", Sort: "excess_ms", Order: "asc", Limit: 20,
	}
	got, problems := ParseFilter(q, noon)
	if diff := cmp.Diff(want, got); diff != "" || problems != nil {
		t.Errorf("problems %v, want (-), got (+):\n%s", problems, diff)
	}
}

func TestParseFilterLeavesOutWhatItCannotUseAndSaysSo(t *testing.T) {
	other, err := Filter{Sort: "total_ms"}.cursor(1.5, "01")
	if err != nil {
		t.Fatal(err)
	}
	for query, wantName := range map[string]string{
		"from=yesterday":                       "from",
		"from=2h":                              "from",
		"from=--2h":                            "from",
		"from=-2parsecs":                       "from",
		"from=-99999d":                         "from",
		"from=-d":                              "from",
		"from=1066-10-14T00:00:00Z":            "from",
		"to=9999-01-01T00:00:00Z":              "to",
		"from=2026-11-30&to=2026-11-29":        "to",
		"bound=prefil":                         "bound",
		"outcome=fine":                         "outcome",
		"sort=id;DROP TABLE exchange":          "sort",
		"sort=reason":                          "sort",
		"order=up":                             "order",
		"limit=0":                              "limit",
		"q=\x00abc":                            "q",
		"model=\xff":                           "model",
		"q=" + strings.Repeat("x", wordMost+1): "q",
		"limit=-1":                             "limit",
		"limit=many":                           "limit",
		"min_first_token_ms=NaN":               "min_first_token_ms",
		"min_first_token_ms=Inf":               "min_first_token_ms",
		"min_excess_ms=3 apples":               "min_excess_ms",
		"cursor=!":                             "cursor",
		"cursor=e30":                           "cursor", // {}
		"cursor=" + other:                      "cursor",
		"modle=m":                              "modle",
	} {
		t.Run(query, func(t *testing.T) {
			q := url.Values{}
			for pair := range strings.SplitSeq(query, "&") {
				name, value, _ := strings.Cut(pair, "=")
				q.Set(name, value)
			}
			f, problems := ParseFilter(q, noon)
			if len(problems) != 1 || problems[0].Name != wantName || problems[0].Reason == "" || problems[0].Value == "" {
				t.Fatalf("problems: %+v", problems)
			}
			q.Del(wantName)
			want, _ := ParseFilter(q, noon)
			if diff := cmp.Diff(want, f); diff != "" {
				t.Errorf("left (-), got (+):\n%s", diff)
			}
		})
	}
}

func TestANameThatIsGivenTwiceIsReported(t *testing.T) {
	f, problems := ParseFilter(url.Values{"bound": {"wait", "prefill"}}, noon)
	if f.Bound != exchange.WaitBound || len(problems) != 1 || problems[0].Name != "bound" || problems[0].Value != "prefill" {
		t.Errorf("%+v, problems %+v", f, problems)
	}
}

func TestEmptyValuesAreNoFilter(t *testing.T) {
	q := url.Values{}
	for _, term := range new(Filter).terms(noon) {
		q.Set(term.name, " ")
	}
	f, problems := ParseFilter(q, noon)
	if diff := cmp.Diff(Filter{}, f); diff != "" || problems != nil {
		t.Errorf("problems %v:\n%s", problems, diff)
	}
}

func TestParseWhen(t *testing.T) {
	for text, want := range map[string]time.Time{
		"2026-11-30T12:00:00Z":         noon,
		"2026-11-30T14:00:00 02:00":    noon, // as a query without %2B gives it
		"2026-11-30T12:00:00.0000005Z": noon.Add(500),
		"2026-11-30T12:00":             noon,
		"2026-11-30":                   noon.Add(-12 * time.Hour),
		"-2h":                          noon.Add(-2 * time.Hour),
		"-90m":                         noon.Add(-90 * time.Minute),
		"-30d":                         noon.AddDate(0, 0, -30),
		"-1d12h":                       noon.Add(-36 * time.Hour),
	} {
		if got, err := parseWhen(text, noon); err != nil || !got.Equal(want) {
			t.Errorf("%s: got %v, want %v (%v)", text, got.Time, want, err)
		}
	}
}

func TestALinkKeepsARelativeTimeRelative(t *testing.T) {
	f, _ := ParseFilter(url.Values{"from": {"-2h"}}, noon)
	if got := f.Query().Encode(); got != "from=-2h" {
		t.Errorf("the link is %s", got)
	}
	f = Filter{From: When{Time: noon}}
	if got := f.Query().Get("from"); got != "2026-11-30T12:00:00Z" {
		t.Errorf("an absolute time becomes %s", got)
	}
}

func TestAFilterReadsBackFromItsOwnQuery(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		want, _ := ParseFilter(anyQuery().Draw(r, "query"), noon)
		got, problems := ParseFilter(want.Query(), noon)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || problems != nil {
			r.Fatalf("problems %v, want (-), got (+):\n%s", problems, diff)
		}
	})
}

// anyQuery draws a query of right, wrong and unknown names and values.
func anyQuery() *rapid.Generator[url.Values] {
	names := []string{"nonsense"}
	for _, term := range new(Filter).terms(noon) {
		names = append(names, term.name)
	}
	value := rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`-?[0-9]{1,4}(d|h|m|\.5)?`),
		rapid.SampledFrom([]string{"2026-11-30T12:00:00+01:00", "2026-11-29", "prefill", "ok", "open", "asc", "desc", "time", "total_ms"}),
	)
	return rapid.Custom(func(t *rapid.T) url.Values {
		q := url.Values{}
		for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID).Draw(t, "names") {
			q.Set(name, value.Draw(t, name))
		}
		return q
	})
}
