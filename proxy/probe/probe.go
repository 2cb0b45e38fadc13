// Package probe runs experiments: it is a client of a running ttftap, through which
// its requests go like those of any other, and from whose log it learns what came
// of them. It says what is to be sent before it sends anything, and sends nothing
// that its budget could not bear. What the answers tell is not its business: that
// is read from the log, by another.
package probe

import (
	"errors"
	"fmt"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// The wire formats that are spoken.
const (
	Responses = string(exchange.Responses)
	Chat      = string(exchange.Chat)
)

// Trial is an experiment with what its requests say.
type Trial struct {
	experiment.Plan
	// ask is what the step with this index says. The size tells how long.
	ask func(step int, z size) prompt
}

// Worst is the most tokens that a trial can cost, prompts and answers together, as
// far as it can be known before anything is sent.
func (t *Trial) Worst() int64 {
	var sum int64
	for i := range t.Steps {
		sum += t.worst(i, size{})
	}
	return sum
}

// worst is the most tokens that a step can cost.
func (t *Trial) worst(step int, z size) int64 {
	return z.most(t.ask(step, z).words) + t.arm(step).OutputTokens
}

func (t *Trial) arm(step int) experiment.Arm { return t.Arms[t.Steps[step].Arm] }

// Progress is how far a run is, told after each request.
type Progress struct {
	Trial *Trial
	Done  int   // steps
	Spent int64 // tokens, by all trials so far
	Step  experiment.Step
	Row   *Row // what the log says of the request; nil where it says nothing
}

// Outcome is how a trial went.
type Outcome struct {
	ID      string
	Sent    int            // requests, those that were refused for now among them
	Limited int            // of them, that got 429
	Failed  map[string]int // that failed otherwise, by arm
	Stopped error          // why it ended before its last step; nil if it did not
}

// The reasons for which a run ends early, besides the end of its context.
var (
	ErrBudget   = errors.New("the next request could exceed the budget")
	ErrPatience = errors.New("the upstream answers 429, and waiting for it would take longer than --patience allows")
)

// Refusal is an answer that every further request would get, too.
type Refusal struct {
	Model, Upstream string
	Status          int64  // 0 where there was no answer
	Words           string // as the log tells them
}

// Error says what was refused, and what tells more.
func (r *Refusal) Error() string {
	does := "answers"
	if r.Status == 0 {
		does = "does not answer:"
	}
	return fmt.Sprintf("%s of upstream %s %s %s: run ttftap doctor, it says what to change", r.Model, r.Upstream, does, r.Words)
}

const (
	fatalMost   = 3  // refusals in a row that end a run
	failureMost = 10 // failures in a row that do
	rowPatience = 3 * time.Second
	rowPause    = 15 * time.Millisecond
)
