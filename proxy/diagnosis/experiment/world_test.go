package experiment

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// world is an upstream whose truth is known. Durations are in milliseconds.
type world struct {
	network float64
	floor   float64
	perK    float64 // for 1,000 uncached tokens
	beyond  float64 // for 1,000 more, past knee
	knee    float64 // 0: none
	tpot    float64

	noise  float64 // spread of a wait, as a share
	spikes float64 // how often a request meets a queue
	queue  float64 // mean of it
	drift  float64 // by how much all is slower in the last round than in the first

	rand *rand.Rand
}

// wait is the truth: what uncached tokens take without noise or queue.
func (w *world) wait(uncached float64) float64 {
	over := 0.0
	if w.knee > 0 {
		over = max(0, uncached-w.knee) / 1000 * w.beyond
	}
	return w.floor + uncached/1000*w.perK + over
}

// asked is one request as the world answers it.
type asked struct {
	step             int
	prompt, cached   int64
	output           int64
	progress         float64 // 0 in the first round, 1 in the last
	network, slowing float64 // beyond the world's, for an arm of its own
}

func (w *world) answer(a asked) *exchange.Exchange {
	wait := (w.wait(float64(a.prompt-a.cached)) + a.slowing) * (1 + w.noise*w.normal()) * (1 + w.drift*a.progress)
	if w.rand != nil && w.rand.Float64() < w.spikes {
		wait += w.queue * (0.5 + w.rand.ExpFloat64())
	}
	network := (w.network + a.network) * (1 + w.noise/4*w.normal())
	first := network + wait
	decode := w.tpot * float64(a.output-1)
	x := &exchange.Exchange{
		ID: fmt.Sprintf("x%04d", a.step), StartedAt: noon.Add(time.Duration(a.step) * 10 * time.Second), Experiment: "E", Step: new(int64(a.step)),
		Outcome: exchange.OK, Status: new(int64(200)), RequestID: "req-" + strconv.Itoa(a.step),
		Tokens: exchange.Tokens{
			PromptTokens: new(a.prompt), CachedTokens: new(a.cached), OutputTokens: new(a.output), UsageSource: "reported",
		},
		Instants: exchange.Instants{
			ConnReused: new(true), GotConn: new(ms(0.1)), Sent: new(ms(0.1)), RTT: new(ms(network)), FirstToken: new(ms(first)),
			LastToken: new(ms(first + decode)), End: new(ms(first + decode + 1)),
		},
	}
	x.Delivery, x.Concurrency = exchange.Streamed, new(int64(1))
	if a.output >= 64 {
		x.RateQuality, x.TokensPerSec = exchange.FairRate, new(1000/w.tpot)
	}
	x.Derive()
	return x
}

// delay has an answer come later.
func delay(x *exchange.Exchange, by time.Duration) {
	*x.FirstToken += by
	*x.LastToken += by
	*x.End += by
}

func (w *world) normal() float64 {
	if w.rand == nil {
		return 0
	}
	return w.rand.NormFloat64()
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func ms(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }

// planned is a plan with a step of each arm in every round, the order turned from
// round to round.
func planned(kind Kind, rounds int, arms ...Arm) Plan {
	p := Plan{Kind: kind, Wire: "responses", Command: "ttftap probe " + string(kind), Seed: 1, Arms: arms}
	for round := range rounds {
		for i := range arms {
			p.Steps = append(p.Steps, Step{Arm: (i + round) % len(arms), Round: round})
		}
	}
	return p
}

func ladderOf(model string, sizes ...int64) []Arm {
	var arms []Arm
	for _, size := range sizes {
		arms = append(arms, Arm{Name: strconv.FormatInt(size, 10), Model: model, Upstream: "default", PromptTokens: size, OutputTokens: 8, AtOnce: 1})
	}
	return arms
}

func laddersOf(models ...string) []Arm {
	var arms []Arm
	for _, model := range models {
		for _, arm := range ladderOf(model, 100, 3000) {
			arm.Name = model + " " + arm.Name
			arms = append(arms, arm)
		}
	}
	return arms
}

func armsOf(names ...string) []Arm {
	var arms []Arm
	for _, name := range names {
		arms = append(arms, Arm{Name: name, Model: "large", Upstream: "default", PromptTokens: 2000, OutputTokens: 8, AtOnce: 1})
	}
	return arms
}

// rows are a plan's requests as the world answers them; adapt may change what is
// asked by the arm.
func (w *world) rows(p Plan, adapt func(arm int, a *asked)) []*exchange.Exchange {
	var xs []*exchange.Exchange
	last := max(p.Steps[len(p.Steps)-1].Round, 1)
	for i, s := range p.Steps {
		a := asked{step: i, prompt: p.Arms[s.Arm].PromptTokens, output: 8, progress: float64(s.Round) / float64(last)}
		if adapt != nil {
			adapt(s.Arm, &a)
		}
		xs = append(xs, w.answer(a))
	}
	return xs
}

func runOf(p Plan) Run {
	return Run{ID: "E", StartedAt: noon, EndedAt: new(noon.Add(time.Hour)), Plan: p}
}

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }
