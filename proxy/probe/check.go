package probe

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/oklog/ulid/v2"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
)

// Checked is what one short request has told of a model before any experiment.
type Checked struct {
	Model, Upstream string
	Wire            string
	Usage           bool   // is reported
	Cached          bool   // tokens are reported, be it as none
	Reasoning       string // how its reasoning is sent: hidden, summary, visible, or none
}

const (
	checkPrompt = 200 // tokens
	checkTries  = 3
)

// checkWorst is the most tokens that the check of one place costs, as far as it can
// be known.
func checkWorst() int64 { return size{}.most(checkPrompt) + shortAnswer }

// CheckCost is what Check costs for the trials, if no request is refused: a request
// for each pair of model and upstream, and so many tokens at most.
func CheckCost(trials []*Trial) (requests int, tokens int64) {
	n := len(places(trials))
	return n, int64(n) * checkWorst()
}

func places(trials []*Trial) (list []place) {
	for _, t := range trials {
		for _, arm := range t.Arms {
			if p := placeOf(arm); !slices.Contains(list, p) {
				list = append(list, p)
			}
		}
	}
	return list
}

// Check sends one short request to each place of the trials, finds the wire format
// where they have none yet, and tells them. An error is a *Refusal, or that of ctx
// or the budget.
func (r *Runner) Check(ctx context.Context, trials []*Trial) ([]Checked, error) {
	r.manners, r.sizes = make(map[place]manner), make(map[place]size)
	id, wire := ulid.Make().String(), trials[0].Wire
	var list []Checked
	for i, p := range places(trials) {
		s, err := r.check(ctx, &shot{
			experiment: id, step: i, wire: wire, worst: checkWorst(),
			arm: experiment.Arm{Model: p.model, Upstream: p.upstream, OutputTokens: shortAnswer},
		})
		if err != nil {
			return list, err
		}
		wire = s.wire
		list = append(list, s.told())
	}
	for _, t := range trials {
		t.Wire = wire
	}
	return list, nil
}

// check asks until there is an answer, in another manner where the one before was
// not liked.
func (r *Runner) check(ctx context.Context, s *shot) (*shot, error) {
	m := manner{effort: r.Effort}
	p := Setup{}.said(nonce(luck(0, s.experiment, s.step)), passage(luck(0, s.experiment), size{}.words(checkPrompt)), shortRequest)
	open := s.wire == ""
	if open {
		s.wire = Responses
	}
	for tries := 0; tries < checkTries; {
		if r.spent+s.worst > r.Budget {
			return nil, ErrBudget
		}
		s.body, s.words, s.sent = m.body(s.wire, s.arm, p), p.words, 0
		r.fire(ctx, s)
		r.account(s)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		better, ok := m.concede(s.complaint)
		switch {
		case s.answered():
			r.manners[placeOf(s.arm)] = m
			return s, nil
		case s.impatient > 0:
			return nil, s.impatience()
		case open && s.wire == Responses && slices.Contains([]int{http.StatusNotFound, http.StatusMethodNotAllowed}, s.status):
			s.wire = Chat
		case ok && (s.status == http.StatusBadRequest || s.status == http.StatusUnprocessableEntity):
			m = better
		case s.refused():
			return nil, s.refusal()
		default:
			tries++
		}
	}
	return nil, s.refusal()
}

// told is what a check that was answered tells.
func (s *shot) told() Checked {
	c := Checked{Model: s.arm.Model, Upstream: s.arm.Upstream, Wire: s.wire, Reasoning: "none"}
	if row := s.row; row != nil {
		c.Usage, c.Cached = row.counted(), row.CachedTokens != nil
		if row.Reasoning != "" {
			c.Reasoning = row.Reasoning
		}
	}
	return c
}

// String says it in a line.
func (c Checked) String() string {
	said := fmt.Sprintf("%s answers over %s", c.Model, c.Wire)
	if c.Upstream != Default {
		said = fmt.Sprintf("%s of upstream %s answers over %s", c.Model, c.Upstream, c.Wire)
	}
	for _, lack := range []struct {
		is    bool
		words string
	}{
		{!c.Usage, "usage is not reported: the budget counts the worst case"},
		{!c.Cached, "cached tokens are not reported"},
		{c.Reasoning == "hidden" || c.Reasoning == "summary", "its reasoning is hidden, and comes before the first token: --effort asks for less"},
	} {
		if lack.is {
			said += "; " + lack.words
		}
	}
	return said
}
