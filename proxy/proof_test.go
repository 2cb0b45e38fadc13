package proxy_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// scenariosVar names the variable that says how many scenarios to draw. With it,
// the outcome is printed.
const scenariosVar = "TTFTAP_SCENARIOS"

// scenarios is how many are drawn.
func scenarios(t *testing.T) int {
	text, set := os.LookupEnv(scenariosVar)
	switch n, err := strconv.Atoi(text); {
	case set && err != nil:
		t.Fatalf("%s: %v", scenariosVar, err)
	case set:
		return n
	case raceEnabled || testing.Short():
		return 200
	}
	return 4000
}

// TestVerdictsAgreeWithTheTruth draws models, ways to them and requests, judges
// each exchange from the wire alone and compares the verdict with what the model
// knows. What went wrong in a site is told again by running that site alone:
// go test -run 'TestVerdictsAgreeWithTheTruth/sites/17$'.
func TestVerdictsAgreeWithTheTruth(t *testing.T) {
	n, all := scenarios(t), newScore()
	t.Run("sites", func(t *testing.T) {
		for i := range (n + perSite - 1) / perSite {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				drive(t, uint64(i), all)
			})
		}
	})
	outcome := all.matrix() + "\n" + all.summary()
	if _, set := os.LookupEnv(scenariosVar); set {
		fmt.Println(outcome)
	} else {
		t.Log("\n" + outcome)
	}
	all.hold(t)
}

// perSite is how many scenarios are drawn for a site.
const perSite = 10

// drive draws a site and its scenarios from a seed, and scores them.
func drive(t *testing.T, seed uint64, all *score) {
	d := &draw{Rand: rand.New(rand.NewPCG(seed, 3))}
	s := d.site(seed)
	if !s.warm { // each scenario finds a proxy that knows nothing
		for k := range perSite {
			visit(t, s, func(p *place) {
				if d.chance(0.8) {
					p.wake()
				}
				all.play(p, d.scenario(&s), k)
			})
		}
		return
	}
	visit(t, s, func(p *place) {
		for _, a := range d.ladder(&s) {
			all.watch(fmt.Sprintf("site %d, ladder", seed), p.score(a, p.send(a)))
		}
		for k := range perSite {
			all.play(p, d.scenario(&s), k)
		}
	})
}

// play plays a scenario and scores each of its exchanges.
func (c *score) play(p *place, asks []ask, k int) {
	c.scenarios.Add(1)
	for _, a := range asks {
		c.add(fmt.Sprintf("site %d, scenario %d", p.seed, k), p.score(a, p.send(a)))
	}
}
