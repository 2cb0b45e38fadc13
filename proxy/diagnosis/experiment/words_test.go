package experiment

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestAChangeIsToldInBothLanguages(t *testing.T) {
	change := func(f Figure, before, after float64, by Estimate) Change {
		c := newChange(&Estimate{At: before}, &Estimate{At: after}, by)
		c.Figure, c.From, c.To = f, "cold", "repeated"
		return c
	}
	for _, c := range []struct {
		name   string
		change Change
		want   Sentence
	}{
		{"longer", change(TTFT, 1000, 1420, *estimate(420, 310, 530, 6)), Sentence{
			`First token: "repeated" (1.42 s) is higher than "cold" (1.00 s) by 0.42 s (0.31 s to 0.53 s), 42 %.`,
			"首字延迟：“repeated”（1.42 s）比“cold”（1.00 s）高 0.42 s（0.31 s 至 0.53 s），即 42 %。",
		}},
		{"shorter", change(Total, 1000, 580, *estimate(-420, -530, -310, 6)), Sentence{
			`Total: "repeated" (0.58 s) is lower than "cold" (1.00 s) by 0.42 s (0.31 s to 0.53 s), 42 %.`,
			"总耗时：“repeated”（0.58 s）比“cold”（1.00 s）低 0.42 s（0.31 s 至 0.53 s），即 42 %。",
		}},
		{"a rate", change(Rate, 40, 60, *estimate(20, 18, 22, 6)), Sentence{
			`Decode rate: "repeated" (60.0 tokens/s) is higher than "cold" (40.0 tokens/s) by 20.0 tokens/s (18.0 tokens/s to 22.0 tokens/s), 50 %.`,
			"生成速度：“repeated”（60.0 tokens/s）比“cold”（40.0 tokens/s）高 20.0 tokens/s（18.0 tokens/s 至 22.0 tokens/s），即 50 %。",
		}},
		{"no difference", change(Wait, 1000, 1010, *estimate(10, -30, 45, 6)), Sentence{
			`Wait: no difference beyond 5 % between "cold" (1.00 s) and "repeated" (1.01 s); +10.0 ms (−30.0 ms to +45.0 ms).`,
			"等待：“cold”（1.00 s）与“repeated”（1.01 s）相差不超过 5 %；+10.0 ms（−30.0 ms 至 +45.0 ms）。",
		}},
		{"not resolved", change(Network, 100, 110, *estimate(10, -30, 45, 6)), Sentence{
			`Network: not resolved between "cold" (0.10 s) and "repeated" (0.11 s): +10.0 ms (−30.0 ms to +45.0 ms). More rounds would tell.`,
			"网络：“cold”（0.10 s）与“repeated”（0.11 s）的差别无法判断：+10.0 ms（−30.0 ms 至 +45.0 ms）。增加轮数即可分辨。",
		}},
		{"too few", change(TTFT, 100, 900, Estimate{At: 800, N: 3}), Sentence{
			`First token: not resolved between "cold" (0.10 s) and "repeated" (0.90 s): five rounds at least would tell, 3 have both.`,
			"首字延迟：“cold”（0.10 s）与“repeated”（0.90 s）的差别无法判断：至少要五轮，两者都有的只有 3 轮。",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.change.words()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAFigureThatIsMissingIsSeen(t *testing.T) {
	if got := (Sentence{"${one} and ${two}", "${two}"}).with(figures{"one": plain("1")}); got.En != "1 and ?two" || got.Zh != "?two" {
		t.Errorf("%+v", got)
	}
}

func TestSentencesFollowOneAnotherAsTheLanguageHasIt(t *testing.T) {
	one, two := Sentence{"One.", "一。"}, Sentence{"Two.", "二。"}
	for _, c := range []struct{ got, want Sentence }{
		{one.then(two), Sentence{"One. Two.", "一。二。"}},
		{one.then(Sentence{}), one},
		{Sentence{}.then(two), two},
		{list([]Sentence{one, two}), Sentence{"One., Two.", "一。、二。"}},
	} {
		if c.got != c.want {
			t.Errorf("%+v, want %+v", c.got, c.want)
		}
	}
	if one.In("en") != "One." || one.In("zh") != "一。" || one.In("") != "One." {
		t.Error("a language is another's")
	}
}

func TestEveryNameThatIsToldHasWords(t *testing.T) {
	for _, k := range append(Kinds, Observed) {
		if _, ok := kindNames[k]; !ok {
			t.Errorf("the kind %s has no name", k)
		}
	}
	for _, k := range Kinds {
		if judges[k] == nil {
			t.Errorf("nobody judges %s", k)
		}
	}
	for _, of := range compared {
		if figureNames[of].Zh == "" {
			t.Errorf("the figure %s has no name", of)
		}
	}
	for _, r := range []Resolution{NoChange, Resolved, Undecided} {
		if resolutionNames[r].Zh == "" {
			t.Errorf("the resolution %s has no name", r)
		}
	}
	for _, part := range []Finding{FoundNetwork, FoundFloor, FoundQueue, FoundPrefill} {
		if partNames[part].Zh == "" || largest[part].Zh == "" {
			t.Errorf("the part %s has no words", part)
		}
	}
}

func TestAWayToFailIsNamed(t *testing.T) {
	for want, w := range map[string]Failure{
		"HTTP 503":     {Outcome: exchange.UpstreamError, Status: new(int64(503))},
		"unreachable":  {Outcome: exchange.Unreachable},
		"upstream_cut": {Outcome: exchange.UpstreamCut, Status: new(int64(200))},
	} {
		if got := w.words(); got != plain(want) {
			t.Errorf("%+v is named %+v", w, got)
		}
	}
}
