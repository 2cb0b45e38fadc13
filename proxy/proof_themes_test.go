package proxy_test

import (
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/proxy/simulator"
)

// theme makes an ordinary request one of a kind, and gives what is asked before
// it.
type theme struct {
	name string
	draw func(d *draw, s *site, a *ask) []ask
}

var themes = []theme{
	{"plain", func(*draw, *site, *ask) []ask { return nil }},
	{"queue", queued},
	{"queue", queued},
	{"prefill", long},
	{"prefill", long},
	{"decode", talkative},
	{"hidden", reasoning(simulator.Hidden)},
	{"hidden", reasoning(simulator.Hidden)},
	{"summary", reasoning(simulator.Summary)},
	{"visible", reasoning(simulator.Visible)},
	{"whole call", call},
	{"hop", hopping},
	{"pseudo", pretending},
	{"stall", stalling},
	{"network", faraway},
	{"upload", uploading},
	{"cold", asleep},
	{"slow", slow},
	{"crowded", crowded},
	{"abort", impatient},
	{"error", failing},
	{"whole", func(d *draw, _ *site, a *ask) []ask { a.whole = true; return nil }},
	{"silent", func(_ *draw, _ *site, a *ask) []ask { a.how.Output = 0; return nil }},
	{"agent", turns}, // what comes before these is decided by what they are
	{"hit", remembered},
	{"miss", forgotten},
	{"miss", forgotten},
}

// alone is how many of the themes go with another one.
var alone = len(themes) - 4

// scenario draws a request of some kind, now and then of two, and what comes
// before it.
func (d *draw) scenario(s *site) []ask {
	a := d.ask(s)
	first := pick(d, themes...)
	before := first.draw(d, s, &a)
	a.theme = first.name
	if d.chance(0.15) {
		prompt := a
		second := pick(d, themes[:alone]...)
		second.draw(d, s, &a)
		if a.theme += ", " + second.name; a.shared > 0 {
			a.api, a.tokens, a.tools = prompt.api, prompt.tokens, prompt.tools // else it would begin otherwise
		}
		if a.api == exchange.Completions {
			a.how.Reasoning = "" // it has no place for it
		}
	}
	return append(before, a)
}

func queued(d *draw, s *site, a *ask) []ask {
	a.others, a.holding, a.seen = s.profile.Slots, d.time(500*msec, 30*time.Second), d.chance(0.3)
	a.tokens, a.how.Output = d.count(20, s.longest/3), d.count(2, 60)
	return nil
}

func long(d *draw, s *site, a *ask) []ask {
	a.tokens, a.how.Output = d.count(s.longest/4, s.longest*7/5), d.count(2, 30)
	return nil
}

// before is the same request at another time, when nothing was known of it.
func (a ask) before() ask {
	a.theme, a.pause = "prime", time.Second
	return a
}

// remembered was asked before, or most of it.
func remembered(d *draw, s *site, a *ask) []ask {
	a.tokens, a.how.Output = d.count(1100, s.longest), d.count(2, 100)
	a.pause = d.time(msec, 4*time.Minute)
	first := a.before()
	a.shared = a.tokens
	if d.chance(0.5) {
		a.tokens += d.count(1, 2000)
	}
	return []ask{first}
}

// turns are those of an agent, whose prompt grows by what its tools told.
func turns(d *draw, s *site, a *ask) []ask {
	a.tokens, a.session = d.count(1100, s.longest/2), d.topic()
	var before []ask
	for range 1 + d.IntN(4) {
		a.how.Output = d.count(4, 120)
		before = append(before, a.before())
		a.shared = a.tokens
		a.tokens += d.count(30, 4000)
		a.pause = d.time(100*msec, time.Minute)
	}
	return before
}

// forgotten was asked before and is not in the cache any more, or not found there
// since it begins otherwise.
func forgotten(d *draw, s *site, a *ask) []ask {
	a.tokens, a.how.Output = d.count(max(1100, s.longest/4), s.longest), d.count(2, 30)
	a.session, a.head = d.topic(), "Be brief."
	first := a.before()
	switch n := d.IntN(3); {
	case n == 0 && s.profile.Cache.Idle > 0:
		a.pause = d.time(6*time.Minute, 30*time.Minute)
	case n == 1:
		a.head = "Be verbose: " + d.topic()
	default:
		a.how.Uncached = true
	}
	a.shared = a.tokens
	return []ask{first}
}

func talkative(d *draw, _ *site, a *ask) []ask {
	a.tokens, a.how.Output = d.count(20, 2000), d.count(100, 1000)
	return nil
}

func reasoning(shown simulator.Reasoning) func(*draw, *site, *ask) []ask {
	most := 6000
	if shown == simulator.Visible {
		most = 600
	}
	return func(d *draw, s *site, a *ask) []ask {
		if a.api == exchange.Completions {
			a.api = exchange.Responses // it has no place for reasoning
		}
		a.tokens, a.how.Output = d.count(20, s.longest/2), d.count(2, 300)
		a.how.Reasoning, a.how.ReasoningTokens = shown, d.count(30, most)
		return nil
	}
}

// call is of a tool and comes in one piece.
func call(d *draw, s *site, a *ask) []ask {
	if a.api == exchange.Completions {
		a.api = exchange.Responses // it has no tools
	}
	a.tools, a.tokens = true, d.count(20, s.longest/2)
	a.how.ToolRounds, a.how.ToolTokens, a.how.Whole = 1, d.count(9, 800), true
	return nil
}

func hopping(d *draw, _ *site, a *ask) []ask {
	a.tokens, a.how.Output = d.count(20, 4000), d.count(40, 600)
	a.how.HopBytes, a.how.HopTime = d.count(500, 60_000), 0
	if d.chance(0.5) {
		a.how.HopBytes, a.how.HopTime = 0, d.time(50*msec, 8*time.Second)
	}
	return nil
}

func pretending(d *draw, _ *site, a *ask) []ask {
	a.tokens, a.how.Output, a.how.Pseudo = d.count(20, 4000), d.count(9, 600), true
	return nil
}

func stalling(d *draw, _ *site, a *ask) []ask {
	const first = 5 // no chunk is longer
	a.how.Output = d.count(20, 200)
	a.how.Stall, a.how.At = d.time(2100*msec, time.Minute), new(first+d.IntN(a.how.Output-first))
	return nil
}

// faraway is the same model by another way.
func faraway(d *draw, s *site, a *ask) []ask {
	a.tokens, a.how.Output, a.pause = d.count(20, 1000), d.count(2, 40), d.time(msec, time.Minute)
	a.network = &simulator.Network{Connect: d.time(msec, 5*time.Second)}
	if s.tls {
		a.network.RoundTrip = d.time(200*msec, 3*time.Second)
	}
	return nil
}

// uploading sends a prompt that is long for the way it goes.
func uploading(d *draw, s *site, a *ask) []ask {
	way := s.network
	way.Upload = d.count(8_000, 200_000)
	a.tokens, a.how.Output, a.pause, a.network = d.count(s.longest/4, s.longest), d.count(2, 40), d.time(msec, time.Minute), &way
	return nil
}

// asleep comes when a model that must be loaded is not.
func asleep(d *draw, s *site, a *ask) []ask {
	a.pause = s.profile.Asleep + d.time(time.Minute, time.Hour)
	a.tokens, a.how.Output = d.count(20, s.longest/4), d.count(2, 40)
	return nil
}

func slow(d *draw, _ *site, a *ask) []ask {
	a.tokens, a.how.Output = d.count(20, 1000), d.count(66, 400)
	a.how.TPOT = time.Duration(d.scale(1.2, 5) * float64(a.how.TPOT))
	return nil
}

// crowded leaves one slot free.
func crowded(d *draw, s *site, a *ask) []ask {
	a.others, a.holding, a.seen = s.profile.Slots-1, 5*time.Minute, d.chance(0.5)
	a.tokens, a.how.Output = d.count(20, 1000), d.count(66, 300)
	return nil
}

func impatient(d *draw, _ *site, a *ask) []ask {
	a.leave = d.time(10*msec, 10*time.Second)
	return nil
}

func failing(d *draw, _ *site, a *ask) []ask {
	a.how.Mishap = pick(d, simulator.Cut, simulator.ErrorEvent)
	if d.chance(0.4) {
		a.how.Status = pick(d, 400, 401, 404, 429, 500, 503, 529)
	}
	return nil
}
