package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/alecthomas/kong"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
	"github.com/ttftap/ttftap/proxy/probe"
)

// probing is a run of experiments from the command line.
type probing struct {
	*terms
	out    *console
	human  io.Writer // takes what is no result
	via    *reached
	keys   map[string]string
	trials []*probe.Trial
}

// run runs experiments.
func (a *terms) run(out *console, line *kong.Context, s probe.Setup, kinds ...experiment.Kind) (err error) {
	s.Sizes, s.Levels = inOrder(s.Sizes), inOrder(s.Levels)
	if err := a.check(s); err != nil {
		return err
	}
	p := &probing{terms: a, out: out, human: out.stdout}
	if a.JSON || a.Markdown {
		p.human = out.stderr
	}
	s.Upstreams = []string{probe.Default}
	var extra []string
	switch {
	case a.second.Direct != "":
		extra, s.Upstreams = []string{"direct=" + a.second.Direct}, append(s.Upstreams, "direct")
	case a.second.To != "":
		s.Upstreams = append(s.Upstreams, a.second.To)
	}
	if p.keys, err = a.keys(s.Upstreams, a.second.ToKeyEnv); err != nil {
		return err
	}
	if p.via, err = a.reach(out, extra...); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.via.close()) }()
	if err := p.plan(line, s, kinds); err != nil {
		return err
	}
	p.showPlan()
	if a.DryRun {
		return nil
	}
	if err := p.confirm(); err != nil {
		return err
	}
	return p.send()
}

// inOrder is each number once, the least first; nil of none.
func inOrder[T cmp.Ordered](numbers []T) []T {
	return slices.Compact(slices.Sorted(slices.Values(numbers)))
}

// plan makes the trials.
func (p *probing) plan(line *kong.Context, s probe.Setup, kinds []experiment.Kind) (err error) {
	if s.Models, s.Wire, err = p.choose(p.out.stop, p.via.Instance, p.keys[probe.Default]); err != nil {
		return err
	}
	if slices.Contains(kinds, experiment.Models) && len(s.Models) < 2 {
		listed, _ := p.listed(p.out.stop, p.via.Instance, p.keys[probe.Default]) // the list only helps
		return unchosen(listed, "models compares two or more: give --model ID twice")
	}
	s.Rounds, s.Seed, s.Command = p.Rounds, p.Seed, again(line.Args, s.Models)
	if s.Seed == 0 {
		s.Seed = rand.Uint64()
	}
	for _, kind := range kinds {
		t, err := s.Trial(kind)
		if err != nil {
			return usageError{err}
		}
		p.trials = append(p.trials, t)
	}
	return nil
}

// showPlan says what is to be sent.
func (p *probing) showPlan() {
	way := p.via.Base
	if p.via.started {
		way += ", started for this"
	}
	fmt.Fprintf(p.human, "through:  %s\n", way)
	fmt.Fprintf(p.human, "wire:     %s\n", cmp.Or(p.trials[0].Wire, "responses, else chat"))
	t := tabwriter.NewWriter(p.human, 0, 0, 2, ' ', 0)
	requests, tokens := probe.CheckCost(p.trials)
	fmt.Fprintf(t, "\ncheck\t%s\t%s tokens at most\t%s\n", plural(int64(requests), "request"), counted(tokens), printable(strings.Join(modelsOf(p.trials), ", ")))
	for _, trial := range p.trials {
		requests, tokens = requests+len(trial.Steps), tokens+trial.Worst()
		fmt.Fprintf(t, "%s\t%s\t%s tokens at most\t%s\n",
			trial.Kind, plural(int64(len(trial.Steps)), "request"), counted(trial.Worst()), printable(strings.Join(armsOf(trial), "; ")))
	}
	fmt.Fprintf(t, "together\t%s\t%s tokens at most\tbudget %s\n", plural(int64(requests), "request"), counted(tokens), counted(p.Budget))
	_ = t.Flush() // as any line before it
	if tokens > p.Budget {
		fmt.Fprintf(p.human, "The budget may end it early: it stops before a request that could exceed --budget %d.\n", p.Budget)
	}
	fmt.Fprintln(p.human)
}

func counted(n int64) string { return figure.Count(&n) }

func armsOf(t *probe.Trial) (names []string) {
	for _, a := range t.Arms {
		names = append(names, a.Name)
	}
	return names
}

func modelsOf(trials []*probe.Trial) (names []string) {
	for _, t := range trials {
		for _, a := range t.Arms {
			if !slices.Contains(names, a.Model) {
				names = append(names, a.Model)
			}
		}
	}
	return names
}

// confirm asks whether to send.
func (p *probing) confirm() error {
	if p.Yes {
		return nil
	}
	const nobody = "nothing was sent: nobody is there to say yes, so say --yes (or --dry-run, to see the plan alone)"
	if !isTerminal(os.Stdin) {
		return usagef(nobody)
	}
	fmt.Fprint(p.human, "Send them? [y/N] ")
	switch yes, err := agreed(p.out.stop, os.Stdin); {
	case yes:
		return nil
	case errors.Is(err, io.EOF):
		return usagef(nobody)
	}
	return errors.New("nothing was sent")
}

// agreed says whether the next line is a yes.
func agreed(ctx context.Context, f *os.File) (bool, error) {
	answer, err := readLine(ctx, f)
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", err
}

// readLine reads a line, unless it is told to stop before there is one.
func readLine(ctx context.Context, f *os.File) (string, error) {
	type said struct {
		line string
		err  error
	}
	came := make(chan said, 1)
	go func() { // it may wait for a line until the program ends
		line, err := bufio.NewReader(f).ReadString('\n')
		came <- said{line, err}
	}()
	select {
	case s := <-came:
		return s.line, s.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// isTerminal says whether a person may be there. The null device is such a file,
// too: what is read from it is the end.
func isTerminal(f *os.File) bool {
	s, err := f.Stat()
	return err == nil && s.Mode()&os.ModeCharDevice != 0
}

// send sends, and tells what came of it.
func (p *probing) send() error {
	r := &probe.Runner{
		Instance: p.via.Instance, Version: version, Keys: p.keys, Effort: p.Effort,
		Pause: p.Pause, Patience: p.Patience, Timeout: p.Timeout, Budget: p.Budget,
	}
	checked, err := r.Check(p.out.stop, p.trials)
	for _, c := range checked {
		fmt.Fprintf(p.human, "checked:  %s\n", printable(c.String()))
	}
	if err != nil {
		return p.why(err)
	}
	reports, stopped, err := p.runAll(r)
	if err != nil {
		return err
	}
	if err := p.tell(reports, r.Spent()); err != nil {
		return err
	}
	fmt.Fprintf(p.human, "\n%s tokens were spent.\n", counted(r.Spent()))
	if stopped == nil && slices.ContainsFunc(reports, failing) {
		return errFound
	}
	return p.ended(stopped)
}

// failing says whether too many requests failed for anything to be found.
func failing(r *experiment.Report) bool { return slices.Contains(r.Found, experiment.Failing) }

// runAll runs the trials until one is stopped, and says why it was.
func (p *probing) runAll(r *probe.Runner) (reports []*experiment.Report, stopped, err error) {
	bar := newProbeBar(p.out.stderr, p.trials)
	defer bar.end()
	r.Told = bar.tell
	for _, t := range p.trials {
		report, stopped, err := p.runOne(r, t)
		switch {
		case err != nil && len(reports) > 0:
			return reports, err, nil // what is there is told
		case err != nil:
			return nil, nil, err
		}
		if reports = append(reports, report); stopped != nil {
			return reports, stopped, nil
		}
	}
	return reports, nil, nil
}

// runOne runs a trial and reads what it has found. The error is of the instance.
func (p *probing) runOne(r *probe.Runner, t *probe.Trial) (report *experiment.Report, stopped, err error) {
	o, err := r.Run(p.out.stop, t)
	if err == nil {
		report, err = p.report(o.ID)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: the ttftap that its requests go through has no answer: %w", t.Kind, err)
	}
	return report, o.Stopped, nil
}

// report is what an experiment has found, told even to one who has said stop.
func (p *probing) report(id string) (*experiment.Report, error) {
	ctx, cancel := context.WithTimeout(p.out.stop.now, listTimeout)
	defer cancel()
	return p.via.Report(ctx, id)
}

// ended says why a run ended early. Who stops it, or gives it a budget, gets what
// was asked for.
func (p *probing) ended(stopped error) error {
	switch {
	case stopped == nil:
		return nil
	case errors.Is(stopped, context.Canceled):
		fmt.Fprintln(p.human, "Stopped early. What was sent until then is in the log, and in the report.")
		return nil
	case errors.Is(stopped, probe.ErrBudget):
		fmt.Fprintf(p.human, "Stopped early: %v of %s tokens. --budget raises it.\n", stopped, counted(p.Budget))
		return nil
	}
	return p.why(stopped)
}

// why adds to a refusal what only the command line knows.
func (p *probing) why(err error) error {
	var refusal *probe.Refusal
	if !errors.As(err, &refusal) || refusal.Status != 401 && refusal.Status != 403 || p.keys[refusal.Upstream] != "" {
		return err
	}
	if refusal.Upstream != probe.Default {
		return fmt.Errorf("%w; no key was sent there: name the variable that holds it with --to-key-env", err)
	}
	return fmt.Errorf("%w; no key was sent: set OPENAI_API_KEY, or name the variable that holds it with --key-env", err)
}
