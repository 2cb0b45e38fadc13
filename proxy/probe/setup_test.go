package probe

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
)

func full() Setup {
	return Setup{
		Models: []string{"a", "b"}, Upstreams: []string{"default", "lab"}, Sizes: []int64{100, 1000}, Size: 2000,
		Rounds: 4, Count: 5, Levels: []int{1, 3}, Seed: 5,
	}
}

func plannedAs(t *testing.T, s Setup, kind experiment.Kind) *Trial {
	t.Helper()
	made, err := s.Trial(kind)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestTheArmsAreThoseThatAreCompared(t *testing.T) {
	for kind, want := range map[experiment.Kind]string{
		experiment.Ladder:  "100, 1000",
		experiment.Burst:   "with nonce, identical",
		experiment.Cache:   "cold, repeated, extended, changed early",
		experiment.History: "full, summarised, bare",
		experiment.Models:  "a 100, a 1000, b 100, b 1000",
		experiment.Shapes:  "long in, short out, a; short in, long out, a; long in, short out, b; short in, long out, b",
		experiment.Load:    "1 at once, 3 at once",
		experiment.Direct:  "default, lab",
	} {
		made := plannedAs(t, full(), kind)
		var names []string
		for _, a := range made.Arms {
			names = append(names, a.Name)
		}
		separator := ", "
		if kind == experiment.Shapes {
			separator = "; "
		}
		if got := strings.Join(names, separator); got != want {
			t.Errorf("%s: %s", kind, got)
		}
		if len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(made.Arms) {
			t.Errorf("%s: %q", kind, names)
		}
	}
}

func TestEachRoundHasEachArmAsOftenAsItIsSentAtOnce(t *testing.T) {
	for _, kind := range experiment.Kinds {
		made := plannedAs(t, full(), kind)
		count := make(map[experiment.Step]int)
		for _, step := range made.Steps {
			count[step]++
		}
		rounds := full().Rounds
		if kind == experiment.Burst {
			rounds = full().Count
		}
		if len(count) != rounds*len(made.Arms) {
			t.Errorf("%s: %d rounds of %d arms", kind, rounds, len(count))
		}
		for step, n := range count {
			if n != made.Arms[step.Arm].AtOnce {
				t.Errorf("%s: %+v comes %d times", kind, step, n)
			}
		}
	}
}

func TestTheSameSeedMakesTheSamePlanAndPrompts(t *testing.T) {
	other := full()
	other.Seed++
	for _, kind := range experiment.Kinds {
		made, again, differs := plannedAs(t, full(), kind), plannedAs(t, full(), kind), plannedAs(t, other, kind)
		if diff := cmp.Diff(made.Plan, again.Plan); diff != "" {
			t.Errorf("%s: %s", kind, diff)
		}
		for i := range made.Steps {
			first := made.ask(i, size{}).messages()
			if diff := cmp.Diff(first, again.ask(i, size{}).messages()); diff != "" {
				t.Errorf("%s: step %d: %s", kind, i, diff)
			}
			if cmp.Equal(first, differs.ask(i, size{}).messages()) {
				t.Errorf("%s: step %d says the same by another seed", kind, i)
			}
		}
	}
}

func TestTheOrderDiffersFromRoundToRound(t *testing.T) {
	s := full()
	s.Rounds, s.Sizes = 12, []int64{1, 2, 3, 4}
	orders := make(map[string]bool)
	made := plannedAs(t, s, experiment.Ladder)
	for i := 0; i < len(made.Steps); i += 4 {
		var order strings.Builder
		for _, step := range made.Steps[i : i+4] {
			order.WriteString(made.Arms[step.Arm].Name)
		}
		orders[order.String()] = true
	}
	if len(orders) < 6 {
		t.Errorf("%d orders in 12 rounds: %v", len(orders), orders)
	}
	reversed := plannedAs(t, s, experiment.Direct)
	for i, step := range reversed.Steps {
		if want := []int{0, 1, 1, 0}[i%4]; step.Arm != want {
			t.Errorf("step %d of direct goes by way %d", i, step.Arm)
		}
	}
}

func TestWhatCannotBeComparedIsNoTrial(t *testing.T) {
	for kind, s := range map[experiment.Kind]Setup{
		"guess":           full(),
		experiment.Models: {Models: []string{"a"}, Upstreams: []string{"default"}},
		experiment.Direct: {Models: []string{"a"}, Upstreams: []string{"default"}},
		experiment.Ladder: {Upstreams: []string{"default"}},
	} {
		if _, err := s.Trial(kind); err == nil {
			t.Errorf("%s is a trial of %+v", kind, s)
		}
	}
}

func TestASummaryIsShorterAndKeepsTheLastTwoTurns(t *testing.T) {
	s := full()
	s.Size = 4000
	made := plannedAs(t, s, experiment.History)
	said := make(map[string]prompt)
	for i := range made.Steps[:3] {
		said[made.arm(i).Name] = made.ask(i, size{})
	}
	whole, short, bare := said["full"], said["summarised"], said["bare"]
	if len(whole.turns) != 19 || len(short.turns) != 3 || len(bare.turns) != 3 {
		t.Errorf("%d, %d and %d turns", len(whole.turns), len(short.turns), len(bare.turns))
	}
	if diff := cmp.Diff(whole.turns[17:], short.turns[1:], cmp.AllowUnexported(turn{})); diff != "" {
		t.Error(diff)
	}
	if !strings.HasSuffix(short.turns[0].text, whole.turns[16].text) || !strings.HasPrefix(short.turns[0].text, summaryHead) {
		t.Errorf("%.300s", short.turns[0].text)
	}
	if !(whole.words > 3*short.words && short.words > bare.words && len(bare.system) < 100) {
		t.Errorf("%d, %d, %d words", whole.words, short.words, bare.words)
	}
	for _, p := range said {
		for i, turn := range p.turns {
			if want := []string{user, assistant}[i%2]; turn.role != want {
				t.Errorf("turn %d is the %s's", i, turn.role)
			}
		}
	}
}
