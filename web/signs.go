package web

import "strings"

// sign explains a mark in the rows that has no word beside it.
type sign struct {
	Kind string // names its picture in the template and its word: sign.KIND
	Word string
}

// marks are the kinds of signs, each with the rows that show it.
var marks = []struct {
	kind string
	in   func(row) bool
}{
	{"rough", func(r row) bool { return r.Rate.Faint || r.Output.Faint }},
	{"attempt", func(r row) bool { return r.Attempt != nil }},
	{"served", func(r row) bool { return strings.HasPrefix(r.Model, "→") }},
	{"cut", func(r row) bool { return r.Bar != nil && r.Bar.Cut }},
	{"slow", func(r row) bool { return r.Slow }},
	{"strong", func(r row) bool { return r.TTFT.Strong || r.Rate.Strong }},
	{"meter", func(r row) bool { return r.Meter != nil }},
}

// signsOf explains the marks that occur.
func signsOf(l language, rows []row) []sign {
	var all []sign
	for _, m := range marks {
		for _, r := range rows {
			if m.in(r) {
				all = append(all, sign{m.kind, l.say("sign." + m.kind)})
				break
			}
		}
	}
	return all
}
