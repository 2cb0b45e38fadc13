package probe_test

import (
	"sync"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
	"github.com/ttftap/ttftap/proxy/probe"
)

// tally counts how often experiments are right.
type tally struct {
	mu    sync.Mutex
	kinds map[experiment.Kind]*score
}

type score struct {
	of, right, wrong, open, missed int
	stated, held                   int // intervals
}

func newTally() *tally {
	s := &tally{kinds: make(map[experiment.Kind]*score)}
	for _, kind := range experiment.Kinds {
		s.kinds[kind] = new(score)
	}
	return s
}

// tolerance is what the words round to, in milliseconds.
const tolerance = 0.1

// claim is a figure with its interval beside the truth.
type claim struct {
	name  string
	e     experiment.Estimate
	truth float64
}

// figures are what a report states of a first token, beside the truth.
func (w world) figures(t *probe.Trial, r *experiment.Report) (all []claim) {
	if r.Kind == experiment.Load {
		return nil // a queue has no such truth
	}
	arms := make(map[string]experiment.ArmReport)
	for _, a := range r.Arms {
		arms[a.Name] = a
	}
	for _, c := range r.Changes {
		if c.Figure != experiment.TTFT {
			continue
		}
		truth := w.first(arms[c.To]) - w.first(arms[c.From])
		if r.Kind == experiment.Direct {
			truth -= ms(w.relay)
		}
		all = append(all, claim{c.From + " to " + c.To, c.Change, truth})
	}
	if r.Kind == experiment.Ladder && len(r.Lines) > 0 {
		all = append(all, w.lineFigures(r.Lines[0])...)
	}
	return all
}

// lineFigures are a line's: its bands and its slope are secants of the curve.
func (w world) lineFigures(l experiment.Line) (all []claim) {
	steep := func(from, to float64) float64 { return 1000 * (cost(w.model, to) - cost(w.model, from)) / (to - from) }
	for _, b := range l.Bands {
		all = append(all, claim{"a band", b.Slope, steep(b.From, b.To)})
	}
	from := l.Bands[0]
	start := ms(w.model.Floor) + cost(w.model, from.From) - from.From*steep(from.From, from.To)/1000
	return append(all, claim{"the start", l.Floor, max(start, 0)})
}
