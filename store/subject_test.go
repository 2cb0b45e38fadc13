package store

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// anyWord is a word over letters that a comparison may mistake.
func anyWord() *rapid.Generator[string] {
	return rapid.StringOfN(rapid.SampledFrom([]rune("aAbé%_\\É\n")), 0, 4, -1)
}

// anySubjects are exchanges whose words and numbers are often the same.
func anySubjects() *rapid.Generator[[]*exchange.Exchange] {
	return rapid.Custom(func(t *rapid.T) []*exchange.Exchange {
		var rows []*exchange.Exchange
		for i := range rapid.IntRange(1, 8).Draw(t, "rows") {
			x := bare(string(rune('a'+i)), rapid.SampledFrom([]exchange.Outcome{exchange.OK, exchange.Open, exchange.ClientAbort}).Draw(t, "outcome"))
			x.StartedAt = noon.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "second")) * time.Second)
			for _, p := range []*string{&x.Upstream, &x.ModelServed, &x.ModelRequested, &x.Client, &x.SessionID, &x.TurnID, &x.Error, &x.ResponseID} {
				*p = anyWord().Draw(t, "word")
			}
			x.FirstToken = rapid.Ptr(rapid.Map(rapid.Int64Range(0, 3_000_000), func(n int64) time.Duration { return time.Duration(n) }), true).Draw(t, "ttft")
			x.PromptTokens = rapid.Ptr(rapid.Int64Range(0, 3), true).Draw(t, "prompt")
			rows = append(rows, x)
		}
		return rows
	})
}

// anyConditions sets one or two of the names whose comparison could differ.
func anyConditions() *rapid.Generator[Filter] {
	return rapid.Custom(func(t *rapid.T) Filter {
		f := Filter{IncludeOpen: rapid.Bool().Draw(t, "open")}
		for range rapid.IntRange(0, 2).Draw(t, "conditions") {
			words := []*string{&f.Upstream, &f.Model, &f.Client, &f.Session, &f.Turn, &f.Search}
			switch n := rapid.IntRange(0, len(words)+2).Draw(t, "which"); {
			case n < len(words):
				*words[n] = strings.TrimSpace(anyWord().Draw(t, "value"))
			case n == len(words):
				f.From = When{Time: noon.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "from")) * time.Second)}
			case n == len(words)+1:
				f.To = When{Time: noon.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "to")) * time.Second)}
			default:
				f.MinFirstTokenMS = new(rapid.SampledFrom([]float64{0, 0.5, 1, 1.001, 3}).Draw(t, "least"))
			}
		}
		return f
	})
}

func TestAFilterFitsInMemoryWhatItFindsInTheLog(t *testing.T) {
	s := openTemp(t)
	rapid.Check(t, func(r *rapid.T) {
		wipe(t, s)
		rows := anySubjects().Draw(r, "rows")
		save(t, s, rows...)
		f := anyConditions().Draw(r, "filter")
		misfit, fits := f.Misfit(), []string(nil)
		for _, x := range rows {
			subject := SubjectOf(x)
			if n, name := misfit(&subject); n == 0 {
				fits = append(fits, x.ID)
			} else if n > 2 || n == 1 && name == "" && x.Outcome != exchange.Open {
				r.Fatalf("%d misfits, the first %q", n, name)
			}
		}
		slices.Sort(fits)
		if want := inOrder(ids(t, s, f)); strings.Join(fits, " ") != want {
			r.Fatalf("in memory %q, in the log %q", fits, want)
		}
	})
}

func TestAMisfitIsNamedWhereItIsTheOnlyOne(t *testing.T) {
	x := bare("a", exchange.OK)
	x.Upstream, x.ModelServed = "lab", "m"
	s := SubjectOf(x)
	for query, want := range map[string]string{
		"upstream=lab&model=m":     "",
		"upstream=lab&model=other": "model",
		"upstream=x&model=m":       "upstream",
	} {
		if n, name := parse(t, query).Misfit()(&s); name != want || n != min(len(want), 1) {
			t.Errorf("%s: %d misfits, %q", query, n, name)
		}
	}
	if n, _ := parse(t, "upstream=x&model=y&client=z").Misfit()(&s); n != 2 {
		t.Errorf("%d misfits, want the count to stop at 2", n)
	}
}
