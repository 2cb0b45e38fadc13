package experiment

import (
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// crowds is a load of so many rounds, in each of which an arm sends as many
// requests as it has at a time.
func crowds(rounds int, atOnce ...int) Plan {
	p := Plan{Kind: Load, Wire: "responses", Command: "ttftap probe load", Seed: 1}
	for _, n := range atOnce {
		p.Arms = append(p.Arms, Arm{Name: count(n).En + " at once", Model: "large", Upstream: "default", PromptTokens: 300, OutputTokens: 8, AtOnce: n})
	}
	for round := range rounds {
		for arm, n := range atOnce {
			for range n {
				p.Steps = append(p.Steps, Step{Arm: arm, Round: round})
			}
		}
	}
	return p
}

func TestAQueueThatSomeOfACrowdStandInIsFound(t *testing.T) {
	p := crowds(5, 1, 2, 4, 8)
	queued := func(of ...int) *Report { // so many requests of each arm wait for a slot
		left := append([]int(nil), of...)
		return Find(runOf(p), changed(quiet().rows(p, nil), func(i int, x *exchange.Exchange) {
			if arm := p.Steps[i].Arm; left[arm] > 0 {
				left[arm]--
				delay(x, 1200*time.Millisecond)
				x.Derive()
			}
		}))
	}
	for _, c := range []promise{
		{"ten of the most", queued(0, 0, 0, 10), []Finding{Slower}, []string{"From 8 requests at a time on some wait: a queue.", "At 8 at a time 10 of 40 requests waited about 1.20 s longer than the others; with fewer at a time 0 of 35 did."}},
		{"too few to tell", queued(0, 0, 0, 3), []Finding{Unresolved}, []string{"3 of 40 requests waited", "More rounds would tell whether that comes of their number."}},
		{"as many with few", queued(1, 2, 4, 8), []Finding{Same}, []string{"Up to 8 requests at a time the first token does not wait."}},
		{"none", queued(0, 0, 0, 0), []Finding{Same}, []string{"Up to 8 requests at a time the first token does not wait."}},
	} {
		t.Run(c.name, c.check)
	}
}

func TestTheChanceOfSpikesIsFishers(t *testing.T) {
	for _, c := range []struct {
		crowding
		want float64
	}{
		{crowding{spikes: 10, of: 40, before: 0, ofFewer: 35}, 0.0010226},
		{crowding{spikes: 3, of: 4, before: 1, ofFewer: 4}, 0.24286}, // the lady tasting tea
		{crowding{spikes: 0, of: 4, before: 3, ofFewer: 4}, 1},
	} {
		if got := c.chance(); got < 0.999*c.want || got > 1.001*c.want {
			t.Errorf("%+v: %v, want %v", c.crowding, got, c.want)
		}
	}
}
