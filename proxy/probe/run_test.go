package probe_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/proxy/probe"
	"github.com/ttftap/ttftap/proxy/simulator"
)

func TestEveryStepOfEveryKindIsSentOnceAndKnownByItsPlace(t *testing.T) {
	for _, kind := range experiment.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			scene{relay: new(simulator.Network)}.enter(t, func(l *lab) {
				s := setup()
				s.Models = append(s.Models, "sim-light")
				s.Upstreams = append(s.Upstreams, "straight")
				made := trial(t, s, kind)
				outcomes, err := l.run(context.Background(), made)
				if err != nil {
					t.Fatal(err)
				}
				o := outcomes[0]
				if o.Sent != len(made.Steps) || o.Stopped != nil || len(o.Failed) > 0 || made.Wire != probe.Responses {
					t.Errorf("%+v over %q", o, made.Wire)
				}
				var steps []int
				for _, x := range l.of(map[string][]string{"experiment": {o.ID}}) {
					arm := made.Arms[made.Steps[*x.Step].Arm]
					steps = append(steps, int(*x.Step))
					if x.ModelRequested != arm.Model || x.Upstream != arm.Upstream || x.Outcome != exchange.OK && x.Outcome != exchange.Incomplete {
						t.Errorf("step %d asked %s of %s: %s", *x.Step, x.ModelRequested, x.Upstream, x.Outcome)
					}
					if x.PromptTokens == nil {
						t.Fatalf("step %d tells no usage: %s %s", *x.Step, x.Outcome, x.Error)
					}
					if off := float64(*x.PromptTokens)/float64(arm.PromptTokens) - 1; off < -0.15 || off > 0.15 {
						t.Errorf("step %d of arm %q had %d tokens instead of %d", *x.Step, arm.Name, *x.PromptTokens, arm.PromptTokens)
					}
				}
				if slices.Sort(steps); len(steps) != len(made.Steps) || len(slices.Compact(steps)) != len(steps) {
					t.Errorf("steps %v", steps)
				}
				if run := l.begun[o.ID]; run.EndedAt == nil || run.Stopped {
					t.Errorf("it did not end: %+v", run)
				}
			})
		})
	}
}

func TestNothingIsSentThatTheBudgetCouldNotBear(t *testing.T) {
	for _, budget := range []int64{0, 300, 500, 1500, 5000, 9000, 20_000} {
		scene{}.enter(t, func(l *lab) {
			l.runner.Budget = budget
			outcomes, err := l.run(context.Background(), trial(t, setup(), experiment.Ladder), trial(t, setup(), experiment.Load))
			if l.spent() > budget || l.spent() != l.runner.Spent() {
				t.Errorf("budget %d: %d spent, %d known", budget, l.spent(), l.runner.Spent())
			}
			if all := budget == 20_000; all == errors.Is(err, probe.ErrBudget) {
				t.Errorf("budget %d: %v", budget, err)
			}
			for _, o := range outcomes {
				if errors.Is(o.Stopped, probe.ErrBudget) != l.begun[o.ID].Stopped {
					t.Errorf("budget %d: %+v", budget, l.begun[o.ID])
				}
			}
		})
	}
}

func TestWithoutUsageTheWorstCaseIsSpent(t *testing.T) {
	p := simulator.DefaultProfiles()[:1]
	p[0].Usage = simulator.Unreported
	scene{profiles: p}.enter(t, func(l *lab) {
		made := trial(t, setup(), experiment.Burst)
		_, checked := probe.CheckCost([]*probe.Trial{made})
		worst := made.Worst() + checked
		if _, err := l.run(context.Background(), made); err != nil {
			t.Fatal(err)
		}
		if got := l.runner.Spent(); got < l.spent() || got > worst {
			t.Errorf("%d counted, %d spent, %d at worst", got, l.spent(), worst)
		}
	})
}

func TestRequestsAreSpacedUnlessTheyBelongTogether(t *testing.T) {
	scene{}.enter(t, func(l *lab) {
		l.runner.Pause = 3 * time.Second
		made := trial(t, setup(), experiment.Load)
		if _, err := l.run(context.Background(), made); err != nil {
			t.Fatal(err)
		}
		for i := 2; i < len(l.clock); i++ { // the first is the check
			together := made.Steps[i-1] == made.Steps[i-2]
			if gap := l.clock[i].Sub(l.clock[i-1]); together != (gap < 100*time.Millisecond) || !together && gap < l.runner.Pause {
				t.Errorf("step %d came %v after the one before, together %v", i-1, gap, together)
			}
		}
	})
}

func TestWhoIsToldToWaitWaitsAndIsCountedApart(t *testing.T) {
	busy := refuse(http.StatusTooManyRequests, func(n int) bool { return n == 2 || n == 3 }, "Retry-After", "7")
	scene{before: busy}.enter(t, func(l *lab) {
		made := trial(t, setup(), experiment.Burst)
		outcomes, err := l.run(context.Background(), made)
		if err != nil || outcomes[0].Limited != 2 || outcomes[0].Sent != len(made.Steps)+2 || len(outcomes[0].Failed) > 0 {
			t.Fatalf("%v: %+v", err, outcomes)
		}
		for i := 3; i <= 4; i++ {
			if gap := l.clock[i].Sub(l.clock[i-1]); gap < 7*time.Second || gap > 8*time.Second {
				t.Errorf("request %d came after %v", i, gap)
			}
		}
		rows := l.of(map[string][]string{"experiment": {outcomes[0].ID}})
		if *rows[1].Step != 1 || *rows[2].Step != 1 || *rows[3].Step != 1 {
			t.Errorf("another step was sent meanwhile: %d, %d, %d", *rows[1].Step, *rows[2].Step, *rows[3].Step)
		}
	})
}

func TestPatienceEnds(t *testing.T) {
	for _, after := range []string{"61", "", "Sat, 01 Jan 2000 01:00:00 GMT", "soon"} {
		busy := refuse(http.StatusTooManyRequests, func(n int) bool { return n >= 2 }, "Retry-After", after)
		scene{before: busy}.enter(t, func(l *lab) {
			start := time.Now()
			outcomes, err := l.run(context.Background(), trial(t, setup(), experiment.Burst))
			if !errors.Is(err, probe.ErrPatience) || !l.begun[outcomes[0].ID].Stopped || len(outcomes[0].Failed) != 1 {
				t.Errorf("Retry-After %q: %v, %+v", after, err, outcomes)
			}
			if took := time.Since(start); took > 70*time.Second {
				t.Errorf("Retry-After %q: it waited %v", after, took)
			}
		})
	}
}

func TestItIsSaidHowLongTheWaitWouldBe(t *testing.T) {
	scene{before: refuse(http.StatusTooManyRequests, func(n int) bool { return n >= 2 }, "Retry-After", "61")}.enter(t, func(l *lab) {
		_, err := l.run(context.Background(), trial(t, setup(), experiment.Burst))
		if err == nil || !strings.Contains(err.Error(), "1m1s more") {
			t.Error(err)
		}
	})
}

func TestAnAnswerThatDoesNotEndIsSaidByTheTimeItHad(t *testing.T) {
	s := setup()
	s.Count = 20
	var asked atomic.Int64
	hang := func(models http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asked.Add(1) == 1 { // the check
				models.ServeHTTP(w, r)
				return
			}
			<-r.Context().Done()
		})
	}
	scene{before: hang}.enter(t, func(l *lab) {
		l.runner.Timeout = 7 * time.Second
		_, err := l.run(context.Background(), trial(t, s, experiment.Burst))
		if want := "does not answer: not whole after 7s, the --timeout: run ttftap doctor"; err == nil || !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
	})
}

func TestThreeRefusalsInARowEndTheRun(t *testing.T) {
	for _, status := range []int{400, 401, 403, 404} {
		scene{before: refuse(status, func(n int) bool { return n >= 3 })}.enter(t, func(l *lab) {
			outcomes, err := l.run(context.Background(), trial(t, setup(), experiment.Burst))
			refusal, ok := errors.AsType[*probe.Refusal](err)
			if !ok || refusal.Status != int64(status) || !strings.Contains(err.Error(), "ttftap doctor") || outcomes[0].Sent != 5 {
				t.Errorf("%d: %v, %+v", status, err, outcomes)
			}
		})
	}
}

func TestFailuresAreCountedByArmAndTheRunGoesOn(t *testing.T) {
	scene{before: refuse(500, func(n int) bool { return n == 2 || n == 3 || n == 6 })}.enter(t, func(l *lab) {
		outcomes, err := l.run(context.Background(), trial(t, setup(), experiment.Burst))
		if o := outcomes[0]; err != nil || o.Failed["with nonce"] != 2 || o.Failed["identical"] != 1 || o.Sent != 8 {
			t.Errorf("%v: %+v", err, o)
		}
	})
}

func TestAnUpstreamThatIsGoneEndsTheRun(t *testing.T) {
	s := setup()
	s.Count = 40
	scene{before: refuse(503, func(n int) bool { return n >= 5 })}.enter(t, func(l *lab) {
		outcomes, err := l.run(context.Background(), trial(t, s, experiment.Burst))
		if refusal, ok := errors.AsType[*probe.Refusal](err); !ok || refusal.Status != 503 || outcomes[0].Sent != 14 {
			t.Errorf("%v: %+v", err, outcomes[0])
		}
	})
}

func TestARunThatIsStoppedKeepsWhatIsThere(t *testing.T) {
	scene{}.enter(t, func(l *lab) {
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		told := 0
		l.runner.Told = func(p probe.Progress) {
			if told = p.Done; told == 3 {
				time.AfterFunc(800*time.Millisecond, stop) // within the next request
			}
		}
		outcomes, err := l.run(ctx, trial(t, setup(), experiment.Ladder))
		if !errors.Is(err, context.Canceled) || len(outcomes[0].Failed) > 0 {
			t.Fatalf("%v: %+v", err, outcomes)
		}
		run := l.begun[outcomes[0].ID]
		rows := l.of(map[string][]string{"experiment": {run.ID}})
		if !run.Stopped || run.EndedAt == nil || len(rows) != 4 || rows[3].Outcome != exchange.ClientAbort {
			t.Errorf("%+v, %d rows, the last %s", run, len(rows), rows[len(rows)-1].Outcome)
		}
	})
}

func TestProgressIsToldOfEachStep(t *testing.T) {
	scene{}.enter(t, func(l *lab) {
		made := trial(t, setup(), experiment.Cache)
		var told []probe.Progress
		l.runner.Told = func(p probe.Progress) { told = append(told, p) }
		if _, err := l.run(context.Background(), made); err != nil {
			t.Fatal(err)
		}
		var spent int64
		for i, p := range told {
			if p.Done != i+1 || p.Spent <= spent || p.Step != made.Steps[i] || p.Row == nil || p.Row.FirstTokenMS == nil {
				t.Errorf("%d: %+v", i, p)
			}
			spent = p.Spent
		}
		if len(told) != len(made.Steps) {
			t.Errorf("told %d times", len(told))
		}
	})
}

func TestALogThatTellsNothingCostsNoStep(t *testing.T) {
	scene{blind: true}.enter(t, func(l *lab) {
		made := trial(t, setup(), experiment.Burst)
		outcomes, err := l.run(context.Background(), made)
		if err != nil || outcomes[0].Sent != len(made.Steps) || len(outcomes[0].Failed) > 0 {
			t.Errorf("%v: %+v", err, outcomes)
		}
	})
}

func TestTheSecondOfACacheRoundFindsTheFirst(t *testing.T) {
	scene{}.enter(t, func(l *lab) {
		made := trial(t, setup(), experiment.Cache)
		outcomes, err := l.run(context.Background(), made)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range l.of(map[string][]string{"experiment": {outcomes[0].ID}}) {
			name := made.Arms[made.Steps[*x.Step].Arm].Name
			hit := *x.CachedTokens > 1500
			if want := name == "repeated" || name == "extended"; hit != want {
				t.Errorf("%s: %d of %d cached", name, *x.CachedTokens, *x.PromptTokens)
			}
		}
	})
}

func TestABurstIsAlikeButForItsNonce(t *testing.T) {
	scene{}.enter(t, func(l *lab) {
		if _, err := l.run(context.Background(), trial(t, setup(), experiment.Burst)); err != nil {
			t.Fatal(err)
		}
		bodies := l.bodies[1:] // behind the check
		if other := slices.Compact(slices.Clone(bodies[4:])); len(other) != 1 {
			t.Errorf("%d bodies are to be identical: %q", len(other), other)
		}
		for i, body := range bodies[:4] {
			if len(body) != len(bodies[4]) || slices.Contains(bodies[i+1:], body) {
				t.Errorf("%q beside %q", body, bodies[4])
			}
		}
	})
}

func TestEveryOtherPromptIsCold(t *testing.T) {
	p := simulator.DefaultProfiles()
	for i := range p {
		p[i].Cache = simulator.Cache{Block: 16}
	}
	for _, kind := range []experiment.Kind{experiment.Ladder, experiment.History, experiment.Models, experiment.Shapes, experiment.Load, experiment.Direct} {
		scene{profiles: p, relay: new(simulator.Network)}.enter(t, func(l *lab) {
			s := setup()
			s.Models, s.Upstreams = append(s.Models, "sim-light"), append(s.Upstreams, "straight")
			outcomes, err := l.run(context.Background(), trial(t, s, kind))
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range l.of(map[string][]string{"experiment": {outcomes[0].ID}}) {
				if *x.CachedTokens > 0 {
					t.Errorf("%s, step %d: %d of %d are cached", kind, *x.Step, *x.CachedTokens, *x.PromptTokens)
				}
			}
		})
	}
}

func TestTheEffortIsAskedFor(t *testing.T) {
	for wire, path := range map[string]string{probe.Responses: "reasoning.effort", probe.Chat: "reasoning_effort"} {
		scene{}.enter(t, func(l *lab) {
			l.runner.Effort = "low"
			s := setup()
			s.Wire = wire
			if _, err := l.run(context.Background(), trial(t, s, experiment.Burst)); err != nil {
				t.Fatal(err)
			}
			for _, body := range l.bodies {
				if gjson.Get(body, path).String() != "low" || !gjson.Get(body, "stream").Bool() {
					t.Errorf("%.200s", body)
				}
			}
		})
	}
}
