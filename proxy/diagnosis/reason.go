package diagnosis

import (
	"os"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// phrase is what to say, in both languages. Figures stand in it as ${name}.
type phrase struct{ en, zh string }

// in is the phrase in one of the languages: "zh", or English.
func (p phrase) in(lang string) string {
	if lang == "zh" {
		return p.zh
	}
	return p.en
}

// Reason says in one to three sentences, with their numbers, why the exchange
// got its verdict and what would change it. It is computed from the row alone.
// Lang is "zh" or anything else for English.
func Reason(x *exchange.Exchange, lang string) string {
	t := teller{x, Weigh(x), lang}
	return t.tell(t.reason())
}

// teller puts the figures of one row into phrases.
type teller struct {
	x    *exchange.Exchange
	p    Phases
	lang string
}

func (t teller) tell(p phrase) string { return os.Expand(p.in(t.lang), t.figure) }

// reason finds the phrase for a verdict.
func (t teller) reason() phrase {
	switch t.x.Bound {
	case exchange.Unknown:
		return t.whyUnknown()
	case exchange.Stalled:
		return phrase{
			"Silences in the middle of the answer took ${stalled}, ${stalled share} of the total (${stalls} in all, the longest ${gap}). The upstream or the way to it paused; another route would tell which.",
			"回答中途卡顿共 ${stalled}，占总耗时的 ${stalled share}（${stalls} 次，最长 ${gap}）。是上游或中间链路停顿，换一条线路即可分辨。",
		}
	case exchange.DecodeBound:
		return t.whyDecode()
	case exchange.PrefillBound:
		return t.whyPrefill()
	case exchange.WaitBound:
		return t.whyWait()
	case exchange.Mixed:
		return t.whyMixed()
	}
	return phrase{"Under way.", "进行中。"}
}
