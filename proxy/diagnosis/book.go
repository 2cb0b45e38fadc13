package diagnosis

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// Book learns what is usual for each model from the exchanges that have ended.
// It is safe for concurrent use; what it keeps is bounded. The zero value knows
// nothing yet.
type Book struct {
	mu     sync.Mutex
	models map[model]*history
	heads  map[string]*heads // by upstream
}

// model is what has a baseline of its own.
type model struct{ upstream, name, tier string }

// maxModels bounds the models that are known at a time: a client may ask for any
// name.
const maxModels = 256

// Add learns from an exchange that has ended and been judged, be it just now or
// long ago, in any order.
func (b *Book) Add(x *exchange.Exchange) {
	key := model{x.Upstream, x.Model(), x.ServiceTier}
	if x.Outcome == exchange.Open || key.name == "" {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.history(key).add(sampled(x))
	if t := timingOf(x); t != nil {
		b.head(x.Upstream).add(*t)
	}
}

// Baseline is what was usual for the model of x by what has been added, nil
// where nothing is known of it. Ask before x itself is added.
func (b *Book) Baseline(x *exchange.Exchange) *Baseline {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := model{x.Upstream, x.Model(), x.ServiceTier}
	h := b.models[key]
	if h == nil {
		if !b.heads[x.Upstream].atSlot() {
			return nil
		}
		h = new(history)
	}
	h.forget(x.StartedAt)
	if h.stale() {
		h.refit()
	}
	known := b.signed(key, h)
	known.Idle = h.idle(x.StartedAt)
	return known
}

// Baselines are those of all models, in the order of their names.
func (b *Book) Baselines() []*Baseline {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []*Baseline
	for key, h := range b.models {
		if h.news > 0 {
			h.refit()
		}
		known := b.signed(key, h)
		known.LeftOut = maps.Clone(known.LeftOut)
		all = append(all, known)
	}
	slices.SortFunc(all, func(a, b *Baseline) int {
		return cmp.Or(cmp.Compare(a.Upstream, b.Upstream), cmp.Compare(a.Model, b.Model), cmp.Compare(a.ServiceTier, b.ServiceTier))
	})
	return all
}

// signed is a copy of a model's baseline that says whose it is.
func (b *Book) signed(key model, h *history) *Baseline {
	known := *h.baseline
	known.Upstream, known.Model, known.ServiceTier = key.upstream, key.name, key.tier
	known.HeadersAtSlot = b.heads[key.upstream].atSlot()
	return &known
}

func (b *Book) history(key model) *history {
	if b.models == nil {
		b.models = make(map[model]*history)
	}
	if b.models[key] == nil {
		if len(b.models) == maxModels {
			delete(b.models, b.oldest())
		}
		b.models[key] = new(history)
	}
	return b.models[key]
}

// oldest is the model that has been silent for the longest time.
func (b *Book) oldest() model {
	return slices.MinFunc(slices.Collect(maps.Keys(b.models)), func(k, l model) int {
		return b.models[k].last().Compare(b.models[l].last())
	})
}

func (b *Book) head(upstream string) *heads {
	if b.heads == nil {
		b.heads = make(map[string]*heads)
	}
	if b.heads[upstream] == nil {
		b.heads[upstream] = new(heads)
	}
	return b.heads[upstream]
}

const (
	maxSamples = 500
	memory     = 7 * 24 * time.Hour
)

// history is what is known of one model.
type history struct {
	fitted, others samples // those whose waits can be compared, and the rest
	baseline       *Baseline
	news           int // samples that the baseline does not know of
	points         int // of these, those whose waits can be compared
}

func (h *history) add(s sample) {
	if s.left == "" {
		h.fitted = h.fitted.with(s)
		h.points++
	} else {
		h.others = h.others.with(s)
	}
	h.news++
	h.forget(h.last())
}

// forget drops what is older than 7 days.
func (h *history) forget(now time.Time) {
	since := now.Add(-memory)
	fitted, others := h.fitted.since(since), h.others.since(since)
	h.points += len(h.fitted) - len(fitted)
	h.news += len(h.fitted) - len(fitted) + len(h.others) - len(others)
	h.fitted, h.others = fitted, others
}

// stale says whether enough has changed for another fit to be worth its time.
func (h *history) stale() bool {
	return h.baseline == nil || h.points > len(h.fitted)/10 || h.news > (len(h.fitted)+len(h.others))/10
}

func (h *history) refit() {
	h.baseline, h.news, h.points = average(h.fitted, h.others), 0, 0
}

func (h *history) last() time.Time {
	var last time.Time
	for _, ss := range []samples{h.fitted, h.others} {
		if n := len(ss); n > 0 && ss[n-1].from.After(last) {
			last = ss[n-1].from
		}
	}
	return last
}

// idle is the time from the end of what began before to the start of the next. The
// newest are looked at first: mostly one of them was still under way.
func (h *history) idle(start time.Time) *time.Duration {
	var end time.Time // of the last to end
	for _, ss := range []samples{h.fitted, h.others} {
		for i := len(ss) - 1; i >= 0 && end.Before(start); i-- {
			if s := &ss[i]; s.answered && s.from.Before(start) && s.to.After(end) {
				end = s.to
			}
		}
	}
	if end.IsZero() {
		return nil
	}
	return new(max(0, start.Sub(end)))
}

// samples are in the order of their starts, no more than 500.
type samples []sample

func (ss samples) with(s sample) samples {
	at := len(ss)
	for at > 0 && ss[at-1].from.After(s.from) {
		at--
	}
	ss = slices.Insert(ss, at, s)
	return ss[max(0, len(ss)-maxSamples):]
}

func (ss samples) since(t time.Time) samples {
	i := 0
	for i < len(ss) && ss[i].from.Before(t) {
		i++
	}
	return ss[i:]
}
