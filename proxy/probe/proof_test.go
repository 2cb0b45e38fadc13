package probe_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
	"github.com/ttftap/ttftap/proxy/probe"
)

// The proof: models and ways to them are drawn, every experiment is run against
// each, through the real proxy, and what it concludes is put beside the truth.
// TTFTAP_PLACES draws more of them.
func TestExperimentsConcludeWhatIsTrue(t *testing.T) {
	places := 6
	if n, err := strconv.Atoi(os.Getenv("TTFTAP_PLACES")); err == nil {
		places = n
	}
	sum := newTally()
	t.Run("places", func(t *testing.T) {
		for seed := range uint64(places) {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				drawWorld(seed).prove(t, sum)
			})
		}
	})
	sum.judge(t)
}

// prove runs every experiment against one world.
func (w world) prove(t *testing.T, sum *tally) {
	for _, kind := range experiment.Kinds {
		w.scene(kind).enter(t, func(l *lab) {
			s := setup()
			s.Models, s.Seed = []string{"m"}, w.seed
			s.Rounds, s.Count, s.Size = 6, 12, w.long
			s.Sizes, s.Levels = []int64{100, w.long / 3, w.long}, []int{1, 2, 4, 8}
			switch kind {
			case experiment.Models:
				s.Models = append(s.Models, "other")
			case experiment.Direct:
				s.Upstreams, s.Size = append(s.Upstreams, "straight"), 300
			}
			made := trial(t, s, kind)
			outcomes, err := l.run(context.Background(), made)
			if err != nil {
				t.Errorf("%s of %+v: %v", kind, w, err)
				return
			}
			sum.add(t, w, made, l, l.report(outcomes[0].ID))
		})
	}
}

// add puts a report beside the truth.
func (s *tally) add(t *testing.T, w world, made *probe.Trial, l *lab, r *experiment.Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.kinds[r.Kind]
	k.of++
	want := w.wants(l, made, r)
	switch got := r.Found[0]; {
	case want.allows(got) && got != experiment.Unresolved:
		k.right++
	case got != experiment.Unresolved:
		k.wrong++
		t.Logf("WRONG %s, world %d: %q instead of %q: %s", r.Kind, w.seed, got, want.findings, r.Verdict.En)
	case want.clear:
		k.missed++
		t.Logf("missed %s, world %d: %q: %s", r.Kind, w.seed, want.findings, r.Verdict.En)
	default:
		k.open++
	}
	for _, f := range w.figures(made, r) {
		if f.e.Low == nil {
			continue
		}
		k.stated++
		if *f.e.Low-tolerance <= f.truth && f.truth <= *f.e.High+tolerance {
			k.held++
		} else {
			t.Logf("not held: %s, world %d: %s is %.1f, stated %.1f (%.1f to %.1f)", r.Kind, w.seed, f.name, f.truth, f.e.At, *f.e.Low, *f.e.High)
		}
	}
}

// judge fails where more conclusions are wrong than intervals that are stated may
// miss, or too many are missing, or intervals hold the truth too seldom.
func (s *tally) judge(t *testing.T) {
	of, wrong, stated, held := 0, 0, 0, 0
	for _, kind := range experiment.Kinds {
		k := s.kinds[kind]
		t.Logf("%-8s of %3d: %3d right, %d wrong, %3d rightly open, %d missed; %d of %d intervals hold the truth", kind, k.of, k.right, k.wrong, k.open, k.missed, k.held, k.stated)
		of, wrong, stated, held = of+k.of, wrong+k.wrong, stated+k.stated, held+k.held
		if 50*k.wrong > k.of || 4*k.missed > k.of || k.right == 0 {
			t.Errorf("%s: %d wrong and %d missed of %d", kind, k.wrong, k.missed, k.of)
		}
		if 10*(k.held+1) < 9*k.stated { // of a few, one may miss by chance
			t.Errorf("%s: of %d intervals %d hold the truth", kind, k.stated, k.held)
		}
	}
	t.Logf("%d of %d conclusions are wrong, %d of %d intervals hold the truth", wrong, of, held, stated)
	if 100*held < 95*stated {
		t.Errorf("of %d intervals %d hold the truth", stated, held)
	}
	if 200*wrong > of {
		t.Errorf("%d of %d conclusions are wrong", wrong, of)
	}
}
