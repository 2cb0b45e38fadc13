package probe

import (
	"context"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
)

// Runner runs trials, one after the other, on one budget.
type Runner struct {
	Instance *Instance
	Version  string            // of the program
	Keys     map[string]string // credentials by upstream; none is sent where there is none
	Effort   string            // of reasoning; "" says nothing of it
	Pause    time.Duration     // between requests
	Patience time.Duration     // that one request may spend waiting for its turn, where the upstream says 429
	Timeout  time.Duration     // of a request; 0: none
	Budget   int64             // tokens of all trials
	Told     func(Progress)    // nil: nobody is told

	spent   int64            // tokens, those of requests that told none at their worst
	manners map[place]manner // those that were checked
	sizes   map[place]size
}

// place is what answers.
type place struct{ model, upstream string }

func placeOf(arm experiment.Arm) place { return place{arm.Model, arm.Upstream} }

// Spent is how many tokens were, those of requests that told none at their worst.
func (r *Runner) Spent() int64 { return r.spent }

// Run sends the requests of a trial whose places were checked. What ends it early
// stands in its outcome; the error is of the instance, without which nothing is
// sent.
func (r *Runner) Run(ctx context.Context, t *Trial) (*Outcome, error) {
	o := &Outcome{ID: ulid.Make().String(), Failed: make(map[string]int)}
	if err := r.Instance.begin(ctx, o.ID, &t.Plan); err != nil {
		return nil, err
	}
	u := run{Runner: r, trial: t, outcome: o, round: -1}
	o.Stopped = u.steps(ctx)
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), rowPatience)
	defer cancel()
	return o, r.Instance.end(ending, o.ID, o.Stopped != nil)
}

// run is a trial under way.
type run struct {
	*Runner
	trial   *Trial
	outcome *Outcome

	round   int            // -1 before the first
	known   map[place]size // by which prompts are made
	done    int            // steps
	refused int            // in a row
	failed  int            // in a row
}

// steps sends those that belong together at once, and the others one by one.
func (u *run) steps(ctx context.Context) error {
	for first := 0; first < len(u.trial.Steps); {
		behind := u.together(first)
		if first > 0 && u.trial.Kind != experiment.Burst {
			if err := sleep(ctx, u.Pause); err != nil {
				return err
			}
		}
		if err := u.volley(ctx, first, behind); err != nil {
			return err
		}
		first = behind
	}
	return nil
}

// together is the step behind those that are sent with the first one.
func (u *run) together(first int) (behind int) {
	for behind = first + 1; behind < len(u.trial.Steps) && behind-first < u.trial.arm(first).AtOnce; behind++ {
		if u.trial.Steps[behind] != u.trial.Steps[first] {
			break
		}
	}
	return behind
}

// enter takes in, at the beginning of a round, what was learned of sizes: what is
// compared within it is of one size. The prompts of a burst are alike in all.
func (u *run) enter(round int) {
	if u.round < 0 || round != u.round && u.trial.Kind != experiment.Burst {
		u.known = maps.Clone(u.sizes)
	}
	u.round = round
}

// volley sends steps together, if the budget can bear them all.
func (u *run) volley(ctx context.Context, first, behind int) error {
	u.enter(u.trial.Steps[first].Round)
	shots := make([]*shot, 0, behind-first)
	var worst int64
	for i := first; i < behind; i++ {
		s := u.aim(i)
		shots = append(shots, s)
		worst += s.worst
	}
	if u.spent+worst > u.Budget {
		return ErrBudget
	}
	var flying sync.WaitGroup
	var landing sync.Mutex
	for _, s := range shots {
		flying.Go(func() {
			u.fire(ctx, s)
			landing.Lock()
			defer landing.Unlock()
			u.land(ctx, s)
		})
	}
	flying.Wait()
	return u.verdict(ctx, shots)
}

// aim makes the request of a step.
func (u *run) aim(i int) *shot {
	arm := u.trial.arm(i)
	z := u.known[placeOf(arm)]
	p := u.trial.ask(i, z)
	return &shot{
		experiment: u.outcome.ID, step: i, arm: arm, words: p.words, worst: z.most(p.words) + arm.OutputTokens,
		wire: u.trial.Wire, body: u.manners[placeOf(arm)].body(u.trial.Wire, arm, p),
	}
}

// land takes in what came of a request.
func (u *run) land(ctx context.Context, s *shot) {
	u.done++
	u.outcome.Sent += s.sent
	u.outcome.Limited += s.limited
	u.account(s)
	switch {
	case s.answered():
		u.refused, u.failed = 0, 0
	case ctx.Err() == nil:
		u.outcome.Failed[s.arm.Name]++
		u.failed++
		if s.refused() {
			u.refused++
		}
	}
	if u.Told != nil {
		u.Told(Progress{Trial: u.trial, Done: u.done, Spent: u.spent, Step: u.trial.Steps[s.step], Row: s.row})
	}
}

// verdict says whether the run is at its end.
func (u *run) verdict(ctx context.Context, shots []*shot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, s := range shots {
		switch {
		case s.impatient > 0:
			return s.impatience()
		case u.refused >= fatalMost && s.refused(), u.failed >= failureMost && !s.answered():
			return s.refusal()
		}
	}
	return nil
}

// account adds what a request cost, and learns from what it tells.
func (r *Runner) account(s *shot) {
	switch row := s.row; {
	case row.counted():
		r.spent += *row.PromptTokens + *row.OutputTokens
		p := placeOf(s.arm)
		r.sizes[p] = r.sizes[p].learn(s.words, *row.PromptTokens)
	case s.status < http.StatusBadRequest: // what is refused costs nothing
		r.spent += s.worst
	}
}

// sleep waits, unless something ends that.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}
