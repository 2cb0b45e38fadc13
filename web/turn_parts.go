package web

import (
	"html/template"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
)

// split is the kinds of a turn's time laid end to end on its scale, and in words.
func (t turnTime) split(l language, s scale) (all []stretch, alt string) {
	laid := timeline{total: t.Length}
	for _, k := range turnKinds {
		laid.lay(k, t.Spent[k])
	}
	for _, p := range laid.phases {
		share := float64(p.Length) / float64(t.Length)
		all = append(all, stretch{
			rect:  rect{p.Kind, s.x(p.Start), s.x(p.Length)},
			Word:  l.say("phase."+string(p.Kind)) + " " + figure.Duration(&p.Length),
			Share: figure.Percent(share),
		})
	}
	return all, inPhrases(l, laid.phases)
}

// inWords is times by kind, of at least so long each.
func inWords(l language, took map[kind]time.Duration, least time.Duration) string {
	var parts []string
	for _, k := range turnKinds {
		if d := took[k]; d > 0 && d >= least {
			parts = append(parts, l.say("turn.part."+string(k), figure.Duration(&d)))
		}
	}
	return l.list(parts)
}

// say is the finding: how long, and on what most of it went.
func (t turnTime) say(l language) template.HTML {
	n := l.number("turn.requests", int64(len(t.Exchanges)))
	parts := inWords(l, t.Spent, t.Length/20)
	switch took := figure.Duration(&t.Length); {
	case parts == "":
		return l.strong(l.say("turn.nothing", n))
	case t.Open:
		return l.strong(l.say("turn.so_far", took, n, parts))
	case t.Broken || t.Cut:
		return l.strong(l.say("turn.at_least", took, n, parts))
	default:
		return l.strong(l.say("turn.took", took, n, parts))
	}
}

// notes say what the bar alone would leave open.
func (t turnTime) notes(l language, rowsURL string) []note {
	var notes []note
	n, drawn := len(t.Exchanges), turnDrawn
	switch {
	case t.Cut:
		notes = append(notes, note{l.say("turn.first", countOf(n), countOf(drawn)), l.say("turn.rows"), rowsURL})
	case n > drawn:
		notes = append(notes, note{l.say("turn.drawn", countOf(drawn), countOf(n)), l.say("turn.rows"), rowsURL})
	}
	if t.overlapped() {
		notes = append(notes, note{Text: l.say("turn.overlapped", inWords(l, t.Summed, 0))})
	}
	if t.Spent[lost] > 0 || t.Broken {
		notes = append(notes, note{Text: l.say("turn.lost")})
	}
	return notes
}

// listing are the exchanges on the clock of the turn, each behind the silence that
// it ended.
func (t turnTime) listing(l language, s scale, now time.Time) listing {
	silences := map[time.Duration]phase{} // by their ends
	for _, p := range t.Pieces {
		if p.Kind == yours {
			silences[p.Start+p.Length] = p
		}
	}
	sh := sheet{l: l, now: now, scale: s}
	var rows []row
	for _, p := range t.Exchanges[:min(len(t.Exchanges), turnDrawn)] {
		ps := p.phases
		if silence, ok := silences[p.from]; ok {
			ps = append([]phase{silence}, ps...)
			delete(silences, p.from)
		}
		r := sh.row(p.Exchange)
		r.Bar = new(s.draw(l, p.Exchange, ps, p.end))
		rows = append(rows, r)
	}
	return sh.listing(rows)
}
