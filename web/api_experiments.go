package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

const (
	planBytes       = 1 << 20 // the most that is read of a plan
	experimentsMost = 200     // in the list
	rangeMost       = 20_000  // exchanges that are compared
)

var ulidForm = regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{26}$`)

var errNoSuchExperiment = errors.New("no such experiment")

// brokenPlan is what a program has sent that is no experiment, and why.
type brokenPlan string

func (b brokenPlan) Error() string { return string(b) }

// apiExperiment is an experiment in the list of them.
type apiExperiment struct {
	ID        string          `json:"id"`
	StartedAt time.Time       `json:"started_at"`
	EndedAt   *time.Time      `json:"ended_at"` // null while it runs, and for one that was killed
	Stopped   bool            `json:"stopped"`  // before its last request
	Kind      experiment.Kind `json:"kind"`
	Command   string          `json:"command"`
	Arms      []string        `json:"arms"`
	Requests  int             `json:"requests"` // as planned
}

// apiBegin takes {"id": ..., "plan": ...}: the experiment that is about to send its
// first request.
func (s *site) apiBegin(w http.ResponseWriter, r *http.Request) error {
	var begun struct {
		ID   string          `json:"id"`
		Plan json.RawMessage `json:"plan"`
	}
	if err := readJSON(w, r, &begun); err != nil {
		return err
	}
	if !ulidForm.MatchString(begun.ID) {
		return brokenPlan("id must be a ULID")
	}
	if _, err := readPlan(begun.Plan); err != nil {
		return err
	}
	switch _, err := s.Store.Experiment(r.Context(), begun.ID); {
	case err == nil:
		return brokenPlan("there is an experiment with this id already")
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	e := store.Experiment{ID: begun.ID, StartedAt: s.Now().UTC(), Plan: begun.Plan}
	if err := s.Store.SaveExperiment(r.Context(), e); err != nil {
		return err
	}
	return writeJSON(w, http.StatusCreated, map[string]string{"id": e.ID})
}

// apiEnd takes {"stopped": ...}. What has ended stays as it ended.
func (s *site) apiEnd(w http.ResponseWriter, r *http.Request) error {
	var ended struct {
		Stopped bool `json:"stopped"`
	}
	if err := readJSON(w, r, &ended); err != nil {
		return err
	}
	e, err := s.experiment(r, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	if e.EndedAt == nil {
		e.EndedAt, e.Stopped = new(s.Now().UTC()), ended.Stopped
		if err := s.Store.SaveExperiment(r.Context(), e); err != nil {
			return err
		}
	}
	return writeJSON(w, http.StatusOK, map[string]string{"id": e.ID})
}

// apiExperiments answers with {"experiments": [...]}, the newest first.
func (s *site) apiExperiments(w http.ResponseWriter, r *http.Request) error {
	kept, err := s.Store.Experiments(r.Context(), experimentsMost)
	if err != nil {
		return err
	}
	list := []apiExperiment{}
	for _, e := range kept {
		plan, err := readPlan(e.Plan)
		if err != nil {
			return fmt.Errorf("experiment %s: %w", e.ID, err)
		}
		a := apiExperiment{
			ID: e.ID, StartedAt: e.StartedAt, EndedAt: e.EndedAt, Stopped: e.Stopped,
			Kind: plan.Kind, Command: plan.Command, Arms: []string{}, Requests: len(plan.Steps),
		}
		for _, arm := range plan.Arms {
			a.Arms = append(a.Arms, arm.Name)
		}
		list = append(list, a)
	}
	return writeJSON(w, http.StatusOK, map[string]any{"experiments": list})
}

// apiExperimentReport answers with what the experiment has found by now.
func (s *site) apiExperimentReport(w http.ResponseWriter, r *http.Request) error {
	report, err := s.experimentReport(r, chi.URLParam(r, "id"))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, report)
}

// experimentReport makes a report anew, from all of its exchanges that have ended.
func (s *site) experimentReport(r *http.Request, id string) (*experiment.Report, error) {
	e, err := s.experiment(r, id)
	if err != nil {
		return nil, err
	}
	return s.reportOf(r, e)
}

// reportOf is the report of an experiment that is kept.
func (s *site) reportOf(r *http.Request, e store.Experiment) (*experiment.Report, error) {
	plan, err := readPlan(e.Plan)
	if err != nil {
		return nil, fmt.Errorf("experiment %s: %w", e.ID, err)
	}
	rows, err := s.collect(r, store.Filter{Experiment: e.ID, Order: "asc"})
	if err != nil {
		return nil, err
	}
	run := experiment.Run{ID: e.ID, StartedAt: e.StartedAt, EndedAt: e.EndedAt, Stopped: e.Stopped, Plan: *plan}
	return experiment.Find(run, rows), nil
}

// apiRange answers with a report of exchanges that a filter chooses, the newest of
// them where they are too many, for comparison with another.
func (s *site) apiRange(w http.ResponseWriter, r *http.Request) error {
	f, err := s.strictFilter(r)
	if err != nil {
		return err
	}
	if f.Limit == 0 || f.Limit > rangeMost {
		f.Limit = rangeMost
	}
	rows, err := s.collect(r, f)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, experiment.Range(f.From.Text+".."+f.To.Text, rows))
}

func (s *site) collect(r *http.Request, f store.Filter) (rows []*exchange.Exchange, err error) {
	err = s.Store.Each(r.Context(), f, func(x *exchange.Exchange) error {
		kept := *x
		rows = append(rows, &kept)
		return nil
	})
	return rows, err
}

// experiment is what is kept of the experiment with this id.
func (s *site) experiment(r *http.Request, id string) (store.Experiment, error) {
	e, err := s.Store.Experiment(r.Context(), id)
	if errors.Is(err, fs.ErrNotExist) {
		err = errNoSuchExperiment
	}
	return e, err
}

// readPlan reads a plan that can be gone by: each of its steps has an arm.
func readPlan(raw []byte) (*experiment.Plan, error) {
	var p experiment.Plan
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, brokenPlan("plan: " + err.Error())
	}
	switch {
	case !slices.Contains(experiment.Kinds, p.Kind):
		return nil, brokenPlan(fmt.Sprintf("plan: there is no experiment of kind %q", p.Kind))
	case len(p.Arms) == 0 || len(p.Steps) == 0:
		return nil, brokenPlan("plan: it has no arms or no steps")
	}
	for i, step := range p.Steps {
		if step.Arm < 0 || step.Arm >= len(p.Arms) || step.Round < 0 {
			return nil, brokenPlan(fmt.Sprintf("plan: step %d has no arm", i))
		}
	}
	return &p, nil
}

// readJSON reads the body of a program's request.
func readJSON(w http.ResponseWriter, r *http.Request, v any) error {
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, planBytes)).Decode(v); err != nil {
		return brokenPlan("the body cannot be read as JSON: " + err.Error())
	}
	return nil
}
