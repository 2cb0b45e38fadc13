package main

import "slices"

// check is one item of the list at the end of a report. Value is a share, nil
// where nothing tells it, and is fine up to Limit.
type check struct {
	Item       string   `json:"item"`
	Measured   string   `json:"measured"` // how
	Limit      float64  `json:"threshold"`
	Value      *float64 `json:"value"`
	Conclusion string   `json:"conclusion"`
	Next       string   `json:"next"` // the command that shows more; "" where nothing need be done
}

// finding is what a check concludes beyond its limit.
type finding struct{ words, next string }

func newCheck(item, measured string, limit float64, value *float64, beyond finding) check {
	c := check{Item: item, Measured: measured, Limit: limit, Value: value, Conclusion: "fine"}
	switch {
	case value == nil:
		c.Conclusion = "not known: no request tells"
	case *value > limit:
		c.Conclusion, c.Next = beyond.words, beyond.next
	}
	return c
}

// checks are the list, in the order in which one would look.
func (t *tally) checks() []check {
	return slices.Concat(t.waitChecks(), t.decodeChecks(), t.evidenceChecks())
}

func (t *tally) waitChecks() []check {
	return []check{
		newCheck("time before the first token", "wait in wait and decode together", 0.6, t.all.waitShare(),
			finding{"answers begin late: see network, queue and cache below", "ttftap export --bound prefill"}),
		newCheck("network", "connecting, upload and a round trip in the wait", 0.5, share(t.network, t.all.wait),
			finding{"the way to the upstream is most of the wait, whatever the model", "ttftap export --cause network"}),
		newCheck("queue spikes", "requests that mostly queued, of those whose queue is known", 0.05, share(t.queue.Spikes, t.queue.Known),
			finding{"the upstream lets requests queue: send fewer at once, or at another hour", "ttftap export --cause queue"}),
		newCheck("cache misses", "missed, expired or broken, of prompts whose beginning was sent before", 0.1, share(t.missed, t.reused),
			finding{"beginnings are paid for again: keep tools and instructions unchanged, pauses short", "ttftap export --cause cache_miss"}),
	}
}

func (t *tally) decodeChecks() []check {
	return []check{
		newCheck("hidden reasoning", "its part in the decode", 0.5, share(t.hidden, t.all.decode),
			finding{"most of the decode makes reasoning that nobody sees: ask for less effort", "ttftap export --cause hidden_reasoning"}),
		newCheck("slow decode", "requests under 0.7 of the model's usual rate, of those with a rate", 0.05, share(t.slow, t.coverage.Rates),
			finding{"the upstream is at times slower than usual: see the concurrency of these", "ttftap export --cause slow_decode"}),
		newCheck("stalls", "silences within the answer in all of the time", 0.05, share(t.stalled, t.all.total),
			finding{"answers stop midway", "ttftap export --bound stalled"}),
		newCheck("buffering", "streams that came in bursts or all at once", 0.05, share(t.buffered, t.streamed),
			finding{"something in between holds the stream back: first tokens are upper bounds", "ttftap export --cause buffered"}),
	}
}

func (t *tally) evidenceChecks() []check {
	n := t.all.requests
	return []check{
		newCheck("failures", "requests that neither ended well nor were given up", 0.05, share(t.failed, n),
			finding{"too many fail: their error says why", "ttftap export --cause error"}),
		newCheck("token counts", "answers without usage", 0.1, share(t.coverage.EndedWell-t.coverage.Usage, t.coverage.EndedWell),
			finding{"no rates without counts: have the client ask for usage in streams", "ttftap export --format jsonl"}),
		newCheck("baselines", "models of which too little is known to tell a queue from prefill", 0.5, t.unlearned(),
			finding{"send a few short and a few long prompts, then judge again", "ttftap rejudge"}),
		newCheck("verdicts", "requests whose time cannot be told", 0.2, share(t.coverage.Unknown, n),
			finding{"see what keeps it from being told", "ttftap export --bound unknown"}),
		newCheck("rules", "verdicts of other rules than today's", 0, share(t.coverage.OldRules, n),
			finding{"judge again", "ttftap rejudge"}),
	}
}

// unlearned is the share of the models without a curve, nil of none.
func (t *tally) unlearned() *float64 {
	var known int64
	learned := make(map[modelKey]bool)
	for _, b := range t.baselines {
		key := modelKey{upstream: b.Upstream, model: b.Model}
		if b.Curve != nil && t.models[key] != nil && !learned[key] {
			learned[key] = true
			known++
		}
	}
	var named int64
	for key := range t.models {
		if key.model != "" && key.model != otherModels {
			named++
		}
	}
	return share(named-known, named)
}
