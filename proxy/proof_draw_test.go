package proxy_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/proxy/simulator"
)

// site is a model, the way to it, and whether it was used before.
type site struct {
	seed    uint64
	profile simulator.Profile
	how     simulator.Behaviour // how it answers, unless a scenario changes that
	network simulator.Network
	tls     bool
	warm    bool    // a ladder of prompts has given a baseline
	longest int     // prompt of the ladder, in tokens
	noise   float64 // of what it takes, from request to request
	busy    float64 // how many of the ladder's requests wait for a slot
}

// ask is one request, and what goes on about it.
type ask struct {
	theme   string
	api     exchange.Dialect
	head    string // instructions
	topic   string // prompts of one topic begin alike
	tokens  int    // of the prompt
	whole   bool   // no stream is asked for
	unasked bool   // no usage is asked for, where it must be
	tools   bool
	session string
	how     simulator.Behaviour

	pause   time.Duration      // before it
	network *simulator.Network // from it on; nil: as before
	others  int                // requests in slots beside it
	holding time.Duration      // for so long
	seen    bool               // they go through the proxy
	leave   time.Duration      // the client gives up; 0: it does not
	shared  int                // tokens of the prompt that were sent before
}

// draw draws from one seed.
type draw struct {
	*rand.Rand
	topics int
}

func (d *draw) chance(p float64) bool { return d.Float64() < p }

// scale draws between two numbers, each order of magnitude alike.
func (d *draw) scale(from, to float64) float64 {
	return math.Exp(math.Log(from) + d.Float64()*(math.Log(to)-math.Log(from)))
}

func (d *draw) count(from, to int) int { return int(d.scale(float64(from), float64(to)) + 0.5) }

func (d *draw) time(from, to time.Duration) time.Duration {
	return time.Duration(d.scale(float64(from), float64(to)))
}

// about is a factor near 1: what noise there is between two requests.
func (d *draw) about(spread float64) float64 { return 1 + spread*(2*d.Float64()-1) }

func pick[T any](d *draw, from ...T) T { return from[d.IntN(len(from))] }

func (d *draw) topic() string {
	d.topics++
	return fmt.Sprintf("%016x", d.Uint64())
}

const (
	msec = time.Millisecond
	usec = time.Microsecond
)

// site draws a model and the way to it.
func (d *draw) site(seed uint64) site {
	s := site{
		seed: seed, network: d.network(), tls: d.chance(0.85), warm: d.chance(0.7), longest: d.count(4000, 40_000), noise: d.scale(0.005, 0.12), busy: d.Float64() * 0.35,
		how: simulator.Behaviour{
			Floor: d.time(5*msec, 400*msec), PrefillGrowth: d.Float64() * 0.05,
			TPOT: d.time(4*msec, 60*msec), Jitter: d.Float64() * 0.3,
			Headers: pick(d, simulator.AtAccept, simulator.AtSlot, simulator.AtToken),
			Ping:    pick(d, 0, 0, time.Second, 10*time.Second), Progress: d.chance(0.1),
		},
	}
	s.how.Prefill = d.time(time.Second, 20*time.Second) / time.Duration(s.longest)
	s.profile = simulator.Profile{
		Name: "m", Slots: 1 + d.IntN(4), Asleep: pick(d, 10*time.Minute, 20*time.Minute, time.Hour),
		Cache: simulator.Cache{
			Block: pick(d, 1, 16, 128), Min: pick(d, 0, 1024), Idle: pick(d, 0, 5*time.Minute), PerSlot: d.chance(0.3),
		},
	}
	if d.chance(0.3) {
		s.profile.Load = d.time(2*time.Second, 40*time.Second)
	}
	if d.chance(0.1) {
		s.how.Floor = d.time(time.Second, 6*time.Second)
	}
	if d.chance(0.4) {
		s.how.Crowding = d.Float64() * 0.5
	}
	if !s.tls {
		s.network.RoundTrip = 0 // which nobody could know
	}
	d.quirks(&s.how)
	return s
}

// quirks draw what the server tells of itself.
func (d *draw) quirks(how *simulator.Behaviour) {
	if d.chance(0.5) {
		how.Timings = pick(d, simulator.LlamaTimings, simulator.LlamaTimings, simulator.VLLMTimings, simulator.GroqTimings,
			simulator.CerebrasTimings, simulator.FireworksTimings, simulator.FireworksHeaders, simulator.LocalAITimings,
			simulator.NIMTimings, simulator.TGIHeaders)
	}
	if d.chance(0.2) {
		how.Cached = pick(d, simulator.Unreported, simulator.Unreported, simulator.Zero)
	}
	if d.chance(0.2) {
		how.Thoughts = pick(d, simulator.Apart, simulator.Apart, simulator.Unreported)
	}
}

func (d *draw) network() simulator.Network {
	n := simulator.Network{Connect: d.time(100*usec, 50*msec), RoundTrip: d.time(msec, 300*msec)}
	if d.chance(0.08) {
		n.RoundTrip = d.time(300*msec, 1500*msec)
	}
	if d.chance(0.6) {
		n.Upload = d.count(200_000, 20_000_000)
	}
	return n
}

// ask draws an ordinary request to a site.
func (d *draw) ask(s *site) ask {
	a := ask{
		theme: "plain", api: pick(d, exchange.Chat, exchange.Chat, exchange.Responses, exchange.Responses, exchange.Messages, exchange.Completions),
		topic: d.topic(), tokens: d.count(20, s.longest), how: s.how, pause: d.time(msec, 20*time.Second),
		unasked: d.chance(0.06), whole: d.chance(0.03),
	}
	a.how.Output = d.count(2, 200)
	a.how.Prefill = time.Duration(d.about(s.noise) * float64(s.how.Prefill))
	a.how.Floor = time.Duration(d.about(2*s.noise) * float64(s.how.Floor))
	a.how.TPOT = time.Duration(d.about(s.noise) * float64(s.how.TPOT))
	if d.chance(0.15) {
		a.how.Chunk = 2 + d.IntN(4)
	}
	if d.chance(0.03) {
		a.how.Usage = simulator.Unreported
	}
	return a
}

// ladder is the prompts that give a baseline, from short to long in no order, a
// few of them delayed, a few repeated.
func (d *draw) ladder(s *site) []ask {
	var asks []ask
	for i := range 14 + d.IntN(10) {
		a := d.ask(s)
		a.theme, a.tokens, a.how.Output = "ladder", d.count(100, s.longest), d.count(2, 10)
		a.unasked, a.whole, a.how.Usage = false, false, ""
		switch {
		case i == 0:
			a.tokens = s.longest
		case i < 6:
			a.how.Output = 70 + d.IntN(20)
		case d.chance(s.busy):
			a.others, a.holding = s.profile.Slots, d.time(300*msec, 5*time.Second)
		case d.chance(0.12):
			asks = append(asks, a)
		}
		asks = append(asks, a)
	}
	return asks
}

// holder is a request that does nothing but keep a slot.
func (a ask) holder() ask {
	return ask{api: exchange.Chat, topic: "hold", tokens: 4, how: simulator.Behaviour{
		Floor: a.how.Floor, TPOT: a.holding, Output: 1,
	}}
}

// filler is what prompts are filled with.
var filler = strings.Repeat("The quick brown fox jumps over the lazy dog, and then again. ", 6000)

func (a ask) body() string {
	text := a.topic
	if more := 4*a.tokens - len(text); more > 0 {
		text += filler[:min(more, len(filler))]
	}
	body := map[string]any{"model": "m", "stream": !a.whole}
	said := []map[string]any{{"role": "user", "content": text}}
	switch a.api {
	case exchange.Responses:
		body["instructions"], body["input"] = a.head, said
	case exchange.Completions:
		body["prompt"] = a.head + text
	case exchange.Messages:
		body["system"], body["messages"], body["max_tokens"] = a.head, said, 1_000_000
	case exchange.Chat:
		if a.head != "" {
			said = append([]map[string]any{{"role": "system", "content": a.head}}, said...)
		}
		body["messages"] = said
	}
	if !a.unasked {
		body["stream_options"] = map[string]bool{"include_usage": true}
	}
	if a.tools {
		body["tools"] = a.offer()
	}
	encoded, err := json.Marshal(body)
	if err != nil { // it is made of strings and numbers
		panic(err)
	}
	return string(encoded)
}

// offer is one tool as an API has it.
func (a ask) offer() []map[string]any {
	tool := map[string]any{"name": "exec_command"}
	switch a.api {
	case exchange.Messages:
		return []map[string]any{tool}
	case exchange.Chat:
		return []map[string]any{{"type": "function", "function": tool}}
	}
	tool["type"] = "function"
	return []map[string]any{tool}
}
