package store

import (
	"strings"
	"time"
	"unique"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// Subject is what a filter asks of an exchange, as the log has it. It is small,
// so that very many can be held in memory.
type Subject struct {
	ID        string
	StartedAt time.Time

	Upstream, Model, Client, Key, Session, Turn, Experiment string

	Bound   exchange.Bound
	Cause   string
	Outcome exchange.Outcome
	Error   string

	RequestID, ResponseID, GatewayRequestID string

	FirstToken   *time.Duration
	PromptTokens *int64
	Excess       *time.Duration
}

// SubjectOf is what a filter asks of x.
func SubjectOf(x *exchange.Exchange) Subject {
	return Subject{
		ID: x.ID, StartedAt: x.StartedAt.Round(0).UTC(), // of the wall clock alone, as the log has it
		Upstream: kept(x.Upstream), Model: kept(x.Model()), Client: kept(x.Client), Key: kept(x.KeyID),
		Session: kept(x.SessionID), Turn: kept(x.TurnID), Experiment: kept(x.Experiment),
		Bound: kept(x.Bound), Cause: kept(x.Cause), Outcome: kept(x.Outcome), Error: kept(x.Error),
		RequestID: valid(x.RequestID), ResponseID: valid(x.ResponseID), GatewayRequestID: valid(x.GatewayRequestID),
		FirstToken: x.FirstToken, PromptTokens: x.PromptTokens, Excess: x.Excess,
	}
}

// kept is a string as the log has it, in one copy however often it occurs.
func kept[T ~string](s T) T { return T(unique.Make(valid(string(s))).Value()) }

// valid is a text as the log has it.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// Misfit counts the conditions of f that s does not meet, two at most, and names
// the first: a row that misses one alone still counts where that one may be
// chosen otherwise. Cursor and limit are no conditions.
type Misfit func(s *Subject) (n int, name string)

// Misfit makes f's. It is the one that the table is asked for by List, tried on
// exchanges in hand.
func (f Filter) Misfit() Misfit {
	var conditions []term
	for _, t := range f.terms(time.Time{}) {
		if t.text != "" && t.holds != nil {
			conditions = append(conditions, t)
		}
	}
	if f.Outcome == "" && !f.IncludeOpen {
		conditions = append(conditions, term{holds: func(s *Subject) bool { return s.Outcome != exchange.Open }})
	}
	return func(s *Subject) (n int, name string) {
		for _, c := range conditions {
			if c.holds(s) {
				continue
			}
			if n++; n == 2 {
				break
			}
			name = c.name
		}
		return n, name
	}
}
