package simulator

import (
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// behaviours draws any behaviour but the refusals.
func behaviours(t *rapid.T) Behaviour {
	span := func(name string, most time.Duration) time.Duration {
		return time.Duration(rapid.Int64Range(0, int64(most)).Draw(t, name))
	}
	how := Behaviour{
		Network: span("network", time.Second), Floor: span("floor", time.Second),
		Prefill: span("prefill", 2*ms), PrefillGrowth: rapid.Float64Range(0, 1).Draw(t, "growth"),
		Uncached: rapid.Bool().Draw(t, "uncached"),
		TPOT:     span("tpot", 50*ms), Jitter: rapid.Float64Range(0, 1).Draw(t, "jitter"),
		Crowding: rapid.Float64Range(0, 1).Draw(t, "crowding"),
		Chunk:    rapid.IntRange(0, 5).Draw(t, "chunk"), Output: rapid.IntRange(0, 60).Draw(t, "output"),
		Reasoning:       rapid.SampledFrom([]Reasoning{"", Hidden, Summary, Visible}).Draw(t, "reasoning"),
		ReasoningTokens: rapid.IntRange(0, 400).Draw(t, "reasoning tokens"),
		ToolRounds:      rapid.IntRange(0, 1).Draw(t, "rounds"), ToolTokens: rapid.IntRange(0, 60).Draw(t, "call"),
		Whole: rapid.Bool().Draw(t, "whole"),
		Stall: span("stall", 5*time.Second), Mishap: rapid.SampledFrom([]Mishap{"", Cut, ErrorEvent}).Draw(t, "mishap"),
		Headers: rapid.SampledFrom([]Stage{AtAccept, AtSlot, AtToken}).Draw(t, "headers"),
		Ping:    rapid.SampledFrom([]time.Duration{0, 200 * ms, time.Second}).Draw(t, "ping"), Progress: rapid.Bool().Draw(t, "progress"),
		HopBytes: rapid.IntRange(0, 4000).Draw(t, "hop bytes"), HopTime: span("hop time", time.Second),
		Pseudo:  rapid.Bool().Draw(t, "pseudo"),
		Timings: rapid.SampledFrom(slices.Sorted(maps.Keys(shapes))).Draw(t, "timings"),
		Usage:   rapid.SampledFrom([]Report{"", Unreported}).Draw(t, "usage"),
		Cached:  rapid.SampledFrom([]Report{"", Unreported, Zero}).Draw(t, "cached"), Thoughts: rapid.SampledFrom([]Report{"", Unreported, Apart}).Draw(t, "thoughts"),
	}
	if rapid.Bool().Draw(t, "placed") {
		how.At = new(rapid.IntRange(0, 70).Draw(t, "at"))
	}
	return how
}

func TestPhasesAddUpToWhatTheClientSees(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a := rapid.SampledFrom(apis).Draw(rt, "api")
		how := behaviours(rt)
		prompt := text(rapid.IntRange(1, 3000).Draw(rt, "prompt"))
		streamed := rapid.Bool().Draw(rt, "streamed")
		config := Config{Profiles: []Profile{{
			Name: "m", Slots: rapid.IntRange(1, 2).Draw(rt, "slots"), Load: time.Duration(rapid.IntRange(0, 3).Draw(rt, "load")) * time.Second, Behaviour: how,
		}}}
		inBubble(t, config, func(b *bench) {
			ask := a.of(prompt, a.tools(), object{"stream": streamed})
			go b.post(a.path, ask, "")
			time.Sleep(time.Microsecond)
			got := b.post(a.path, ask, "")
			synctest.Wait()
			for _, truth := range b.told() {
				phases := truth.Network + truth.Floor + truth.Load + truth.Queue + truth.Prefill + truth.Decode + truth.Stall
				if phases != truth.Total || truth.Hidden > truth.Decode || truth.Crowd > truth.Decode {
					rt.Errorf("phases of %v in a total of %v: %+v", phases, truth.Total, truth)
				}
			}
			second := latest(b.told())
			if got.end != second.Total {
				rt.Errorf("the client saw %v, truth tells %v", got.end, second.Total)
			}
			check(rt, a, got, second)
		})
	})
}

// check holds an answer against its truth.
func check(t *rapid.T, a api, got answer, truth Truth) {
	if broken := got.err != nil; broken != (truth.Outcome == exchange.UpstreamCut) {
		t.Errorf("outcome %s, the client got %v", truth.Outcome, got.err)
	}
	for _, e := range events(got.messages) {
		if !gjson.Valid(e.Raw) {
			t.Errorf("no JSON: %q", e.Raw)
		}
	}
	ready := truth.Network + truth.Floor + truth.Load + truth.Queue + truth.Prefill + truth.Hidden
	for _, m := range a.shown(got.messages) {
		if m.at < ready {
			t.Errorf("output at %v, before %v", m.at, ready)
		}
	}
	if truth.Outcome == exchange.OK && len(got.messages) > 0 && !a.done(got.messages[len(got.messages)-1]) {
		t.Errorf("a complete stream ends with %q", got.messages[len(got.messages)-1].data)
	}
	if truth.Outcome == exchange.OK && got.body.Get("error").IsObject() {
		t.Errorf("a complete answer is %s", got.body.Raw)
	}
}
