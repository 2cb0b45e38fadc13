package probe

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
)

// Setup is what trials are made from.
type Setup struct {
	Wire      string   // Responses or Chat
	Models    []string // the first is asked, the others by what compares models
	Upstreams []string // names; the first is asked, the second by Direct
	Sizes     []int64  // prompts of the ladder, in tokens
	Size      int64    // long prompts of the others
	Rounds    int
	Count     int   // requests of a burst
	Levels    []int // requests at a time
	Seed      uint64
	Command   string // that runs it again
	Body      *Body  // the conversation of History; nil for one that is made up
}

const (
	shortPrompt  = 100 // tokens
	loadPrompt   = 300
	shortAnswer  = 16 // the least that some APIs take for a limit
	loadAnswer   = 64
	longAnswer   = 256
	extendedBy   = 1.1
	firstArm     = 0
	shortRequest = "\n\nReply with the single word OK and nothing else."
	longRequest  = "\n\nNow write the whole numbers from 1 on, with blanks between them. Do not stop before 500."
)

// Trial makes the trial of a kind.
func (s Setup) Trial(kind experiment.Kind) (*Trial, error) {
	made, known := map[experiment.Kind]func() *Trial{
		experiment.Ladder: s.ladder, experiment.Burst: s.burst, experiment.Cache: s.cache, experiment.History: s.history,
		experiment.Models: s.models, experiment.Shapes: s.shapes, experiment.Load: s.load, experiment.Direct: s.direct,
	}[kind]
	switch {
	case !known:
		return nil, fmt.Errorf("there is no experiment %q", kind)
	case len(s.Models) == 0 || len(s.Upstreams) == 0:
		return nil, fmt.Errorf("%s needs a model and an upstream", kind)
	case kind == experiment.Models && len(s.Models) < 2:
		return nil, fmt.Errorf("models needs two models or more")
	case kind == experiment.Direct && len(s.Upstreams) < 2:
		return nil, fmt.Errorf("direct needs a second upstream")
	}
	return made(), nil
}

// ladder is the same model at prompts of several lengths.
func (s Setup) ladder() *Trial {
	t := s.trial(experiment.Ladder)
	for _, tokens := range s.Sizes {
		t.Arms = append(t.Arms, s.arm(strconv.FormatInt(tokens, 10), tokens, shortAnswer))
	}
	t.Steps = s.shuffled(t, s.Rounds)
	t.ask = s.fresh(t)
	return t
}

// models is the ladder on each model.
func (s Setup) models() *Trial {
	t := s.trial(experiment.Models)
	for _, model := range s.Models {
		for _, tokens := range s.Sizes {
			arm := s.arm(fmt.Sprintf("%s %d", model, tokens), tokens, shortAnswer)
			arm.Model = model
			t.Arms = append(t.Arms, arm)
		}
	}
	t.Steps = s.shuffled(t, s.Rounds)
	t.ask = s.fresh(t)
	return t
}

// burst is short prompts that differ in their nonce alone, and others that do not
// differ.
func (s Setup) burst() *Trial {
	t := s.trial(experiment.Burst)
	t.Arms = []experiment.Arm{s.arm("with nonce", shortPrompt, shortAnswer), s.arm("identical", shortPrompt, shortAnswer)}
	for i := range t.Arms {
		for round := range s.Count {
			t.Steps = append(t.Steps, experiment.Step{Arm: i, Round: round})
		}
	}
	t.ask = func(i int, z size) prompt {
		step, names := t.Steps[i], []any{t.Kind}
		if step.Arm == firstArm {
			names = append(names, step.Round)
		}
		return s.said(nonce(luck(s.Seed, append(names, "nonce")...)), passage(luck(s.Seed, t.Kind), z.words(shortPrompt)), shortRequest)
	}
	return t
}

// cache is a long prompt, sent again, sent again with something behind it, and with
// something else before it. The round's first comes first, for the others to find.
func (s Setup) cache() *Trial {
	t := s.trial(experiment.Cache)
	extended := int64(float64(s.Size) * extendedBy)
	t.Arms = []experiment.Arm{
		s.arm("cold", s.Size, shortAnswer), s.arm("repeated", s.Size, shortAnswer),
		s.arm("extended", extended, shortAnswer), s.arm("changed early", s.Size, shortAnswer),
	}
	for round := range s.Rounds {
		t.Steps = append(t.Steps, experiment.Step{Arm: firstArm, Round: round})
		for _, i := range s.order(t.Kind, round).Perm(len(t.Arms) - 1) {
			t.Steps = append(t.Steps, experiment.Step{Arm: i + 1, Round: round})
		}
	}
	t.ask = func(i int, z size) prompt {
		step := t.Steps[i]
		head := nonce(luck(s.Seed, t.Kind, step.Round))
		text := passage(luck(s.Seed, t.Kind, step.Round, "text"), z.words(s.Size))
		switch t.Arms[step.Arm].Name {
		case "extended":
			text += " " + passage(luck(s.Seed, t.Kind, step.Round, "suffix"), z.words(extended)-z.words(s.Size))
		case "changed early":
			head = nonce(luck(s.Seed, t.Kind, step.Round, "changed"))
		}
		return s.said(head, text, shortRequest)
	}
	return t
}

// shapes are a long prompt with a short answer and the reverse, on each model.
func (s Setup) shapes() *Trial {
	t := s.trial(experiment.Shapes)
	for _, model := range s.Models {
		suffix := ""
		if len(s.Models) > 1 {
			suffix = ", " + model
		}
		arms := []experiment.Arm{s.arm("long in, short out"+suffix, s.Size, shortAnswer), s.arm("short in, long out"+suffix, shortPrompt, longAnswer)}
		for i := range arms {
			arms[i].Model = model
		}
		t.Arms = append(t.Arms, arms...)
	}
	t.Steps = s.shuffled(t, s.Rounds)
	t.ask = s.fresh(t)
	return t
}

// load is more and more requests at a time. They begin together.
func (s Setup) load() *Trial {
	t := s.trial(experiment.Load)
	for _, level := range s.Levels {
		arm := s.arm(fmt.Sprintf("%d at once", level), loadPrompt, loadAnswer)
		arm.AtOnce = level
		t.Arms = append(t.Arms, arm)
	}
	for round := range s.Rounds {
		for _, i := range s.order(t.Kind, round).Perm(len(t.Arms)) {
			for range t.Arms[i].AtOnce {
				t.Steps = append(t.Steps, experiment.Step{Arm: i, Round: round})
			}
		}
	}
	t.ask = s.fresh(t)
	return t
}

// direct is two ways to a model, the order of one round the reverse of the last.
func (s Setup) direct() *Trial {
	t := s.trial(experiment.Direct)
	for _, upstream := range s.Upstreams[:2] {
		arm := s.arm(upstream, s.Size, shortAnswer)
		arm.Upstream = upstream
		t.Arms = append(t.Arms, arm)
	}
	for round := range s.Rounds {
		for i := range t.Arms {
			t.Steps = append(t.Steps, experiment.Step{Arm: (i + round) % len(t.Arms), Round: round})
		}
	}
	t.ask = s.fresh(t)
	return t
}

func (s Setup) trial(kind experiment.Kind) *Trial {
	return &Trial{Plan: experiment.Plan{Kind: kind, Wire: s.Wire, Command: s.Command, Seed: s.Seed}}
}

func (s Setup) arm(name string, in, out int64) experiment.Arm {
	return experiment.Arm{Name: name, Model: s.Models[0], Upstream: s.Upstreams[0], PromptTokens: in, OutputTokens: out, AtOnce: 1}
}

// shuffled has each arm once a round, in an order that differs from round to round.
func (s Setup) shuffled(t *Trial, rounds int) (steps []experiment.Step) {
	for round := range rounds {
		for _, arm := range s.order(t.Kind, round).Perm(len(t.Arms)) {
			steps = append(steps, experiment.Step{Arm: arm, Round: round})
		}
	}
	return steps
}

func (s Setup) order(kind experiment.Kind, round int) *rand.Rand {
	return luck(s.Seed, kind, round, "order")
}
