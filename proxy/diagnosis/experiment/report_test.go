package experiment

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

var update = flag.Bool("update", false, "write the golden Markdown anew, to be checked by eye")

// golden compares text with the file of that name.
func golden(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join("testdata", name+".md")
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s: %s", file, diff)
	}
}

// troubled is a ladder in which all that can be told is: a spike, a failure, a
// rate limit, a new connection, drift and company.
func troubled() *Report {
	w := &world{network: 40, floor: 120, perK: 300, knee: 1000, beyond: 400, tpot: 20, noise: 0.02, drift: 0.2, rand: seeded(8)}
	p := ladder(9)
	xs := changed(w.rows(p, nil), func(i int, x *exchange.Exchange) {
		switch i {
		case 0:
			x.ConnReused, x.TLS = new(false), new(ms(90))
			*x.GotConn, *x.Sent = ms(90.1), ms(90.1)
			delay(x, ms(90))
		case 4:
			delay(x, 2*time.Second)
		case 7:
			x.Outcome, x.Status = exchange.UpstreamError, new(int64(503))
		case 11:
			x.Outcome, x.Status = exchange.UpstreamError, new(int64(429))
		case 13:
			x.Concurrency = new(int64(3))
		}
	})
	return Find(runOf(p), xs)
}

func cached() *Report {
	p := planned(Cache, 6, armsOf("cold", "repeated", "extended", "changed early")...)
	return found(&world{network: 40, floor: 120, perK: 300, tpot: 20, noise: 0.03, rand: seeded(2)}, p, func(arm int, a *asked) {
		if arm == 1 || arm == 2 {
			a.cached = 1920
		}
	})
}

func shaped() *Report {
	arms := armsOf("long in, short out", "short in, long out")
	arms[1].PromptTokens = 100
	w := &world{network: 40, floor: 120, perK: 300, tpot: 20, noise: 0.03, rand: seeded(3)}
	return found(w, planned(Shapes, 6, arms...), func(arm int, a *asked) { a.output = []int64{8, 256}[arm] })
}

func TestReportsReadAsTheyShould(t *testing.T) {
	later := troubled()
	later.ID = "F"
	steady := found(quiet(), ladder(5), nil)
	for _, lang := range []string{"en", "zh"} {
		golden(t, "ladder."+lang, troubled().Markdown(lang))
		golden(t, "cache."+lang, cached().Markdown(lang))
		golden(t, "comparison."+lang, Compare(steady, later).Markdown(lang))
		golden(t, "joint."+lang, Join([]*Report{troubled(), cached(), shaped()}).Markdown(lang))
	}
}

func TestNoSentenceLacksAFigureOrALanguage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, w := drawn(t)
		got := Find(runOf(p), w.rows(p, nil))
		said := append([]Sentence{got.Verdict}, got.Says...)
		for _, c := range got.Checks {
			said = append(said, c.Sentence)
		}
		for _, s := range said {
			if s.En == "" || s.Zh == "" || strings.ContainsAny(s.En+s.Zh, "?$") {
				t.Fatalf("%q, %q", s.En, s.Zh)
			}
		}
	})
}

func TestAReportSaysHowFarItHasCome(t *testing.T) {
	p := ladder(5)
	some := quiet().rows(p, nil)[:7]
	for _, c := range []struct {
		name  string
		run   Run
		rows  []*exchange.Exchange
		state State
		says  string
	}{
		{"nothing yet", Run{ID: "E", Plan: p}, nil, Running, "No request of it is in the log yet."},
		{"under way", Run{ID: "E", Plan: p}, some, Running, "Only 7 of 15 requests are there."},
		{"stopped", Run{ID: "E", Plan: p, EndedAt: &noon, Stopped: true}, some, Stopped, "It was stopped after 7 of 15 requests."},
		{"done", runOf(p), quiet().rows(p, nil), Done, "15 requests in 5 rounds."},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Find(c.run, c.rows)
			text := got.Markdown("en")
			if got.State != c.state || !strings.Contains(text, c.says) {
				t.Errorf("%s\n%s", got.State, text)
			}
		})
	}
}

func TestWhereMostFailItSaysSoAndNothingElse(t *testing.T) {
	fail := func(n int, status int64) []*exchange.Exchange {
		return changed(quiet().rows(ladder(5), nil), func(i int, x *exchange.Exchange) {
			if i < n {
				x.Outcome, x.Status, x.FirstToken = exchange.UpstreamError, new(status), nil
			}
		})
	}
	for _, p := range []promise{
		{"a wrong key", Find(runOf(ladder(5)), fail(15, 401)), []Finding{Failing}, []string{"Only 0 of 15 requests were answered; most of the others: HTTP 401. `ttftap doctor`"}},
		{"a limit", Find(runOf(ladder(5)), fail(9, 429)), []Finding{Failing}, []string{"Only 6 of 15 requests were answered: 9 were refused by a rate limit (429). That is no slowness"}},
		{"a few", Find(runOf(ladder(5)), fail(1, 500)), []Finding{Unresolved}, []string{"1 failed (most: HTTP 500). None of them is in a median."}},
	} {
		t.Run(p.name, p.check)
	}
}

func TestWhatARateLimitSentBackIsOneRequestOnceItIsAnswered(t *testing.T) {
	p := ladder(5)
	answered := quiet().rows(p, nil)
	var xs []*exchange.Exchange
	for i, x := range answered {
		for range 2 {
			back := *x
			back.ID, back.Outcome, back.Status, back.FirstToken = x.ID+"-", exchange.UpstreamError, new(int64(429)), nil
			xs = append(xs, &back)
		}
		xs = append(xs, answered[i])
	}
	got := Find(runOf(p), xs)
	if got.Found[0] != FoundPrefill || !strings.Contains(got.Markdown("en"), "15 requests of 15 planned") {
		t.Errorf("%v: %s", got.Found, got.Markdown("en"))
	}
	run := runOf(p)
	run.Stopped = true
	if got := Find(run, xs[:24]); !strings.Contains(got.Markdown("en"), "⚠ It was stopped after 8 of 15 requests.") {
		t.Errorf("%s", got.Markdown("en"))
	}
}

func TestALadderWithoutTokensSaysSo(t *testing.T) {
	xs := changed(quiet().rows(ladder(5), nil), func(_ int, x *exchange.Exchange) { x.PromptTokens, x.UncachedTokens = nil, nil })
	got := Find(runOf(ladder(5)), xs)
	if got.Found[0] != Unresolved || !strings.Contains(got.Verdict.En, "does not report how many tokens") || len(got.Changes) == 0 {
		t.Errorf("%v, %d changes: %s", got.Found, len(got.Changes), got.Verdict.En)
	}
}

func TestANameKeepsToItsLine(t *testing.T) {
	p := ladder(5)
	for i := range p.Arms {
		p.Arms[i].Model = "m\x1b[31m\n# heading"
	}
	if got := Find(runOf(p), quiet().rows(p, nil)).Markdown("en"); strings.Contains(got, "\x1b") || strings.Contains(got, "\n# heading") {
		t.Errorf("%q", got)
	}
}

func TestChecksTellWhatIsAmiss(t *testing.T) {
	each := func(change func(i int, x *exchange.Exchange)) *Report {
		return Find(runOf(ladder(5)), changed(quiet().rows(ladder(5), nil), change))
	}
	drifting := &world{network: 40, floor: 120, perK: 300, tpot: 20, drift: 0.5}
	for says, got := range map[string]*Report{
		"All became slower as it went on": found(drifting, ladder(8), nil),
		`The prompts of "100" came out at 150 tokens, 100 were meant.`: found(quiet(), ladder(5), func(arm int, a *asked) {
			a.prompt += 50 * int64(max(0, 1-arm))
		}),
		`The answers differ in length (8 tokens in "1000", 80 in "100")`: found(quiet(), ladder(5), func(arm int, a *asked) {
			a.output += 72 * int64(max(0, 1-arm))
		}),
		"While 2 of them began, other requests to the upstream were under way here.": each(func(i int, x *exchange.Exchange) {
			if i < 2 {
				x.Concurrency = new(int64(2))
			}
		}),
		"The upstream does not report tokens.": each(func(_ int, x *exchange.Exchange) { x.PromptTokens = nil }),
	} {
		fine := true
		for _, c := range got.Checks {
			if strings.Contains(c.Sentence.En, says) {
				fine = c.Fine
			}
		}
		if fine {
			t.Errorf("%q is not among %+v", says, got.Checks)
		}
	}
}

func TestASpikeIsMarkedAndCutInWhatIsCompared(t *testing.T) {
	got := Find(runOf(ladder(7)), changed(quiet().rows(ladder(7), nil), func(i int, x *exchange.Exchange) {
		if i == 3 {
			delay(x, 2*time.Second)
		}
	}))
	if s := got.Samples[3]; s.Over == nil || *s.Over != 2000 {
		t.Errorf("%+v", s)
	}
	if diff := cmp.Diff(&Spikes{Of: 21, Steps: []int{3}, Excess: new(2000.0)}, got.Spikes); diff != "" {
		t.Error(diff)
	}
	if c := got.Changes[0].Change; *c.High-*c.Low > 1e-6 {
		t.Errorf("it is in %+v", c)
	}
}

func TestConnectingIsLeftOutOfWhatIsCompared(t *testing.T) {
	first := changed(quiet().rows(ladder(5), nil), func(i int, x *exchange.Exchange) {
		if i == 0 {
			x.ConnReused, x.TLS = new(false), new(ms(800))
			*x.GotConn, *x.Sent = ms(800.1), ms(800.1)
			delay(x, ms(800))
		}
	})
	got := Find(runOf(ladder(5)), first)
	if c := got.Changes[0].Change; *c.High-*c.Low > 1e-6 {
		t.Errorf("it is in %+v", c)
	}
	if *got.Samples[0].Connect != 800 {
		t.Errorf("connecting took %v", *got.Samples[0].Connect)
	}
}
