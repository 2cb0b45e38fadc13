package web

import (
	"cmp"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// tag is an exchange's verdict, or how it failed: a word, a shape and a colour
// of its own each, so that any one of them suffices.
type tag struct {
	Kind  string // names the word (tag.KIND), the shape and the colour
	Word  string
	Share string // of the bound's phase; "" where it has none
	Title string // "" for none
}

// ends are the outcomes that say more than a verdict can, and their tags.
var ends = map[exchange.Outcome]string{
	exchange.Open:          "running",
	exchange.ClientAbort:   "cancelled",
	exchange.UpstreamCut:   "cut",
	exchange.UpstreamError: "error",
	exchange.ErrorEvent:    "error",
	exchange.Unreachable:   "unreachable",
	exchange.Interrupted:   "interrupted",
	exchange.Refused:       "refused",
}

func tagOf(l language, x *exchange.Exchange) tag {
	if end, ok := ends[x.Outcome]; ok {
		return tag{Kind: end, Word: l.say("tag." + end)}
	}
	t := tag{Kind: cmp.Or(string(x.Bound), string(exchange.Unknown))}
	t.Word = l.say("tag." + t.Kind)
	if part, ok := diagnosis.Weigh(x).Share(x.Bound); ok {
		t.Share = figure.Percent(part)
	}
	return t
}

// BoundWord is what the page calls the bound of an exchange, however it ended.
// Lang is "zh" or anything else for English.
func BoundWord(x *exchange.Exchange, lang string) string {
	bound := cmp.Or(string(x.Bound), string(exchange.Unknown))
	if x.Outcome == exchange.Open {
		bound = "running"
	}
	return language(lang).value("tag.", bound)
}

// failed says whether an exchange's end needs a line in words.
func failed(x *exchange.Exchange) bool {
	_, ok := ends[x.Outcome]
	return ok && x.Outcome != exchange.Open
}

// tone is how an exchange's row is tinted: bad, gone, running, or not at all.
func tone(x *exchange.Exchange) string {
	switch {
	case x.Outcome == exchange.Open:
		return "running"
	case x.Outcome == exchange.ClientAbort:
		return "gone"
	case failed(x):
		return "bad"
	}
	return ""
}
