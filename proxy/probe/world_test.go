package probe_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
	"github.com/ttftap/ttftap/proxy/probe"
	"github.com/ttftap/ttftap/proxy/simulator"
)

// world is what an experiment is to find out.
type world struct {
	seed         uint64
	model, other simulator.Behaviour
	slots        int
	cached       bool // prompts are kept
	network      simulator.Network
	relay        time.Duration // that another way costs, in round trips
	noise        float64       // of what a request takes, either way
	queue        float64       // how many requests wait; no more than would be the rule
	wait         time.Duration // that long
	long         int64         // tokens of the longest prompts
}

const usec = time.Microsecond

func drawWorld(seed uint64) world {
	d := rand.New(rand.NewPCG(seed, 77))
	between := func(from, to time.Duration) time.Duration {
		return time.Duration(float64(from) * math.Pow(float64(to)/float64(from), d.Float64()))
	}
	behaviour := func() simulator.Behaviour {
		return simulator.Behaviour{
			Floor: between(5*time.Millisecond, time.Second), Prefill: between(20*usec, time.Millisecond), PrefillGrowth: d.Float64() * 0.05,
			TPOT: between(4*time.Millisecond, 40*time.Millisecond), Jitter: d.Float64() * 0.3, Output: 400, Headers: simulator.AtAccept,
		}
	}
	w := world{
		seed: seed, model: behaviour(), other: behaviour(), slots: 1 + d.IntN(12), cached: d.Float64() < 0.6,
		network: simulator.Network{Connect: time.Millisecond, RoundTrip: between(time.Millisecond, 400*time.Millisecond)},
		relay:   between(time.Millisecond, 300*time.Millisecond), noise: 0.002 + 0.08*d.Float64(), long: 2000 + d.Int64N(6000),
	}
	w.model.Cached = []simulator.Report{"", "", simulator.Unreported}[d.IntN(3)]
	if d.Float64() < 0.3 {
		w.queue, w.wait = 0.1+0.3*d.Float64(), between(time.Second, 10*time.Second)
	}
	return w
}

// scene is where an experiment of some kind is run. A queue that comes and goes is
// there for all but Load, which has its own.
func (w world) scene(kind experiment.Kind) scene {
	c := simulator.Cache{Block: 16}
	if !w.cached {
		c.Min = math.MaxInt
	}
	s := scene{
		seed: w.seed, network: w.network, tls: true,
		profiles: []simulator.Profile{
			{Name: "m", Slots: w.slots, Cache: c, Behaviour: w.model}, {Name: "other", Slots: w.slots, Cache: c, Behaviour: w.other},
		},
		before: w.unsteady(kind),
	}
	if kind == experiment.Direct {
		way := w.network
		way.RoundTrip += w.relay
		s.relay = &way
	}
	return s
}

// unsteady has each request take somewhat more or less than another.
func (w world) unsteady(kind experiment.Kind) func(http.Handler) http.Handler {
	var mu sync.Mutex
	d := rand.New(rand.NewPCG(w.seed, 78))
	about := func(t time.Duration) time.Duration {
		return time.Duration(float64(t) * (1 + w.noise*(2*d.Float64()-1)))
	}
	return func(models http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			body := must(io.ReadAll(r.Body))
			r.Body = io.NopCloser(bytes.NewReader(body))
			mu.Lock()
			b := w.behaviour(gjson.GetBytes(body, "model").String())
			var wait time.Duration
			if d.Float64() < w.queue && kind != experiment.Load {
				wait = about(w.wait)
			}
			knobs := fmt.Sprintf("floor=%v, prefill=%v, network=%v", about(b.Floor), about(b.Prefill), wait)
			mu.Unlock()
			r.Header.Set(simulator.OverrideHeader, knobs)
			models.ServeHTTP(rw, r)
		})
	}
}

func (w world) behaviour(model string) simulator.Behaviour {
	if model == "other" {
		return w.other
	}
	return w.model
}

// cost is what a prompt without a cache takes, in milliseconds.
func cost(b simulator.Behaviour, tokens float64) float64 {
	return ms(b.Prefill) * tokens * (1 + b.PrefillGrowth/1000*tokens/2)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// first is when the first token of an arm comes, in milliseconds.
func (w world) first(a experiment.ArmReport) float64 {
	b, way := w.behaviour(a.Model), ms(w.network.RoundTrip)
	prefill := cost(b, a.Prompt.At)
	if w.cached && (a.Name == "repeated" || a.Name == "extended" || a.Name == "identical") {
		prefill -= cost(b, w.kept(a))
	}
	return way + ms(b.Floor) + prefill
}

// kept is how much of an arm's prompts a cache has.
func (w world) kept(a experiment.ArmReport) float64 {
	shared := a.Prompt.At
	if a.Name == "extended" {
		shared = a.Prompt.At * float64(w.long) / float64(a.PromptTokens)
	}
	return math.Floor(shared/16) * 16
}

// want is what may be found.
type want struct {
	findings []experiment.Finding
	clear    bool // so much so that it must be
}

func (w want) allows(f experiment.Finding) bool { return slices.Contains(w.findings, f) }

// wants is what an experiment may find of its world.
func (w world) wants(l *lab, t *probe.Trial, r *experiment.Report) want {
	last := r.Arms[len(r.Arms)-1]
	switch r.Kind {
	case experiment.Ladder:
		return largest(map[experiment.Finding]float64{
			experiment.FoundFloor: ms(w.model.Floor), experiment.FoundPrefill: cost(w.model, last.Prompt.At), experiment.FoundNetwork: ms(w.network.RoundTrip),
		}, w.queue == 0)
	case experiment.Burst:
		return w.wantOfBurst(l, r)
	case experiment.Cache:
		return w.wantOfCache()
	case experiment.Shapes:
		gain := cost(w.model, r.Arms[0].Prompt.At) - cost(w.model, last.Prompt.At)
		return want{[]experiment.Finding{experiment.FoundPrefill}, w.queue == 0 && gain > 5*w.noise*w.first(r.Arms[0])}
	case experiment.Load:
		return w.wantOfLoad(t)
	}
	if r.Kind == experiment.Models { // the longest prompt of each
		return w.wantOfChange(r.Arms[len(r.Arms)/2-1], last)
	}
	return w.wantOfChange(r.Arms[0], r.Arms[1])
}

// largest is the greatest of several parts, clear where no other is near.
func largest(parts map[experiment.Finding]float64, steady bool) want {
	var name experiment.Finding
	for f, v := range parts {
		if name == "" || v > parts[name] {
			name = f
		}
	}
	clear := steady
	for f, v := range parts {
		clear = clear && (f == name || parts[name] > 2*v)
	}
	return want{[]experiment.Finding{name}, clear}
}

// wantOfBurst goes by the waits that there were.
func (w world) wantOfBurst(l *lab, r *experiment.Report) want {
	level := largest(map[experiment.Finding]float64{
		experiment.FoundFloor: ms(w.model.Floor) + cost(w.model, r.Arms[0].Prompt.At), experiment.FoundNetwork: ms(w.network.RoundTrip),
	}, true)
	if w.queue == 0 {
		return level
	}
	waited, n := 0.0, 0
	for _, truth := range l.truths[1:13] { // the burst's own, behind the check
		if waited += ms(truth.Network); truth.Network >= time.Second/2 {
			n++
		}
	}
	base := w.first(r.Arms[0])
	if mean := waited / 12; n > 1 && mean > base*1.2 {
		return want{[]experiment.Finding{experiment.FoundQueue}, n < 11 && mean > 2*base}
	} else if n > 1 && mean > base*0.8 {
		level.findings = append(level.findings, experiment.FoundQueue)
	}
	level.clear = false
	return level
}

func (w world) wantOfCache() want {
	switch {
	case w.model.Cached == simulator.Unreported:
		return want{[]experiment.Finding{experiment.CacheUnreported}, true}
	case w.cached:
		return want{[]experiment.Finding{experiment.CacheWorks}, true}
	}
	return want{[]experiment.Finding{experiment.CacheIdle}, true}
}

// wantOfLoad is that a first token waits where there are more at once than slots.
func (w world) wantOfLoad(t *probe.Trial) want {
	var waiting []experiment.Finding
	most := t.Arms[len(t.Arms)-1].AtOnce
	if most > w.slots {
		waiting = append(waiting, experiment.Slower)
	}
	if most/2 < w.slots { // no more than half of them wait
		waiting = append(waiting, experiment.Same)
	}
	return want{waiting, most/2 >= w.slots+1}
}

func (w world) wantOfChange(a, b experiment.ArmReport) want {
	if a.Upstream != b.Upstream {
		return w.wantOfDifference(w.first(a)+ms(w.relay), w.first(b))
	}
	return w.wantOfDifference(w.first(a), w.first(b))
}

func (w world) wantOfDifference(before, after float64) want {
	share := (after - before) / before
	clear := w.queue == 0 && math.Abs(share) > 4*w.noise
	var all []experiment.Finding
	if share < 0 {
		all = append(all, experiment.Faster)
	} else {
		all = append(all, experiment.Slower)
	}
	if math.Abs(share) <= 0.05 {
		all = append(all, experiment.Same)
	}
	return want{all, clear}
}
