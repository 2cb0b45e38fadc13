package web

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

const (
	cacheID   = "01KB9V7N3QX2M8C4D5E6F7G8HA"
	laterID   = "01KB9V7N3QX2M8C4D5E6F7G8HB"
	runningID = "01KB9V7N3QX2M8C4D5E6F7G8HC"
	hostileID = "01KB9V7N3QX2M8C4D5E6F7G8HD"
)

// trial is an experiment of the log and its requests.
type trial struct {
	store.Experiment
	plan experiment.Plan
	rows []*exchange.Exchange
}

// tried is an experiment of so many rounds, each request a step that answer tells,
// begun some time before noon.
func tried(id string, ago time.Duration, plan experiment.Plan, rounds int, answer func(x *exchange.Exchange, arm, round int)) trial {
	for round := range rounds {
		for i := range plan.Arms {
			plan.Steps = append(plan.Steps, experiment.Step{Arm: (i + round) % len(plan.Arms), Round: round})
		}
	}
	began := noon.Add(-ago)
	t := trial{plan: plan, Experiment: store.Experiment{ID: id, StartedAt: began, EndedAt: new(began.Add(5 * time.Minute))}}
	for i, step := range plan.Steps {
		arm := plan.Arms[step.Arm]
		t.rows = append(t.rows, seeded(fmt.Sprintf("%s-%02d", id[20:], i), ago-time.Duration(i)*7*time.Second, func(x *exchange.Exchange) {
			x.Experiment, x.Step, x.ModelRequested, x.Upstream = id, new(int64(i)), arm.Model, arm.Upstream
			x.RequestID, x.ResponseID, x.Concurrency = "req_"+strconv.Itoa(1000+i), "resp_"+strconv.Itoa(2000+i), new(int64(1))
			answer(x, step.Arm, step.Round)
		}))
	}
	return t
}

// jitter is a noise of some per cent that is always the same.
func jitter(i int) float64 { return 1 + 0.03*float64((i*7919+3)%11-5)/5 }

// ladders is a ladder of some slope: with a spike, a failure and a refusal where
// it is the first.
func ladders(id string, ago time.Duration, perK float64) trial {
	plan := experiment.Plan{Kind: experiment.Ladder, Wire: "responses", Command: "ttftap probe ladder --model gpt-5-codex --seed 7"}
	sizes := []int64{100, 1000, 3000}
	for _, size := range sizes {
		plan.Arms = append(plan.Arms, experiment.Arm{
			Name: strconv.FormatInt(size, 10), Model: "gpt-5-codex", Upstream: "default", PromptTokens: size, OutputTokens: 96, AtOnce: 1,
		})
	}
	return tried(id, ago, plan, 8, func(x *exchange.Exchange, arm, round int) {
		wait := (320 + perK*float64(sizes[arm])/1000) * jitter(3*round+arm)
		switch {
		case id == ladderID && arm == 1 && round == 4:
			wait += 2400
		case id == ladderID && arm == 2 && round == 2:
			x.Outcome, x.Status = exchange.UpstreamError, new(int64(503))
			return
		case id == ladderID && arm == 0 && round == 6:
			x.Outcome, x.Status = exchange.UpstreamError, new(int64(429))
			return
		}
		prompted(x, sizes[arm]+4, 0)
		answered(x, 56+wait, 56+wait+1500*jitter(round), 90)
	})
}

// caches is one of a cache that works.
func caches() trial {
	plan := experiment.Plan{Kind: experiment.Cache, Wire: "chat", Command: "ttftap probe cache"}
	for _, name := range []string{"cold", "repeated", "extended", "changed early"} {
		plan.Arms = append(plan.Arms, experiment.Arm{Name: name, Model: "llama-3.3-70b", Upstream: "lab", PromptTokens: 2000, OutputTokens: 16, AtOnce: 1})
	}
	return tried(cacheID, 3*time.Hour, plan, 6, func(x *exchange.Exchange, arm, round int) {
		cached := []int64{0, 1920, 1920, 0}[arm]
		prompted(x, 2003, cached)
		first := 56 + (300+0.4*float64(2003-cached))*jitter(4*round+arm)
		answered(x, first, first+40, 3)
		x.RateQuality = exchange.NoisyRate
	})
}

// underWay has sent one of its requests.
func underWay() trial {
	t := ladders(runningID, time.Minute, 300)
	t.rows, t.EndedAt = t.rows[:7], nil
	return t
}

// hostileTrial is one whose names would be markup, and would turn what follows.
func hostileTrial() trial {
	plan := experiment.Plan{Kind: experiment.Load, Wire: `"><script>alert(1)</script>`, Command: `ttftap probe load --model '<img src=x onerror=alert(2)>'`}
	for i, name := range []string{`<b onmouseover=alert(3)>1</b>`, "4 at once \u202e`<i>`"} {
		plan.Arms = append(plan.Arms, experiment.Arm{
			Name: name, Model: `<img src=x onerror=alert(2)>`, Upstream: `javascript:alert(4)`, PromptTokens: 300, OutputTokens: 64, AtOnce: 1 + 3*i,
		})
	}
	return tried(hostileID, 5*time.Hour, plan, 5, func(x *exchange.Exchange, arm, round int) {
		x.RequestID = `"><script>alert(5)</script>`
		if round == 1 {
			x.Outcome, x.Status = exchange.Outcome(`<u>`), nil
			return
		}
		prompted(x, 300, 0)
		answered(x, 400+600*float64(arm), 2000, 64)
	})
}

// newLab is a page with these experiments, and the other rows of a log.
func newLab(t testing.TB, trials ...trial) Config {
	t.Helper()
	rows := telling()
	for _, one := range trials {
		rows = append(rows, one.rows...)
	}
	c := newConfig(t, rows...)
	for _, one := range trials {
		plan, err := json.Marshal(one.plan)
		if err != nil {
			t.Fatal(err)
		}
		one.Plan = plan
		if err := c.Store.SaveExperiment(context.Background(), one.Experiment); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// everyTrial are experiments in every state.
func everyTrial() []trial {
	return []trial{hostileTrial(), caches(), ladders(ladderID, 30*time.Minute, 300), ladders(laterID, 10*time.Minute, 600), underWay()}
}
