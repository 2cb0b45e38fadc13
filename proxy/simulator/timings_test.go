package simulator

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTimingsFollowLlamaServer(t *testing.T) {
	want := `{"cache_n":384,"predicted_ms":180,"predicted_n":10,"predicted_per_second":50,"predicted_per_token_ms":20,` +
		`"prompt_ms":116,"prompt_n":116,"prompt_per_second":1000,"prompt_per_token_ms":1}`
	each(t, one(plain), func(b *bench, a api) {
		b.post(a.path, a.of(text(500)), "")
		var told []string
		for _, e := range events(b.post(a.path, a.of(text(500)), "timings=llama").messages) {
			if e.Get("timings").Exists() {
				told = append(told, e.Get("timings").Raw)
			}
		}
		expected := []string{want}
		if a.name == "messages" {
			expected = nil // llama-server has no place for them there
		}
		if diff := cmp.Diff(expected, told); diff != "" {
			b.t.Error(diff)
		}
	})
}

func TestTimingsOfNothingAreStillJSON(t *testing.T) {
	for name, s := range shapes {
		if s.tell != nil && !json.Valid(encode(s.tell(&Truth{}))) {
			t.Errorf("%s: %v", name, s.tell(&Truth{}))
		}
	}
}

// telling is a model with one slot that takes 2 s to load.
var telling = Config{Profiles: []Profile{{Name: "m", Slots: 1, Load: 2 * time.Second, Behaviour: Behaviour{Prefill: ms, TPOT: 20 * ms, Output: 10}}}}

// askInLine asks for an answer that waits for 3 s in line, 500 ms for its prompt,
// and takes 180 ms from its first token to its last.
func (b *bench) askInLine(a api, simulate string, more ...object) answer {
	go b.post(a.path, a.of("hold"), "prefill=0s, tpot=1001ms, output=1")
	time.Sleep(ms)
	return b.post(a.path, a.of(text(500), more...), simulate)
}

func TestEachShapeTellsTheSameTimesInItsPlace(t *testing.T) {
	usage := object{"stream_options": object{"include_usage": true}}
	for shape, want := range map[Timings]struct{ chat, responses, whole map[string]float64 }{
		LlamaTimings: {
			chat:      map[string]float64{"timings.prompt_ms": 500, "timings.predicted_ms": 180},
			responses: map[string]float64{"timings.prompt_ms": 500, "timings.predicted_ms": 180},
		},
		VLLMTimings: {
			chat:      map[string]float64{"metrics.queue_time_ms": 3000, "metrics.time_to_first_token_ms": 500, "metrics.generation_time_ms": 180},
			responses: map[string]float64{"response.metrics.queue_time_ms": 3000, "response.metrics.time_to_first_token_ms": 500, "response.metrics.generation_time_ms": 180},
		},
		GroqTimings: {
			chat: map[string]float64{"usage.queue_time": 3, "usage.prompt_time": 0.5, "usage.completion_time": 0.18, "usage.total_time": 0.68},
		},
		CerebrasTimings: {
			chat: map[string]float64{"time_info.queue_time": 3, "time_info.prompt_time": 0.5, "time_info.completion_time": 0.18, "time_info.total_time": 3.68},
		},
		FireworksTimings: {
			chat: map[string]float64{"perf_metrics.prefill-queue-duration": 3, "perf_metrics.prefill-duration": 0.5, "perf_metrics.generation-duration": 0.18},
		},
		LocalAITimings: {
			chat: map[string]float64{"usage.timing_prompt_processing": 500, "usage.timing_token_generation": 180},
		},
		NIMTimings: {
			chat: map[string]float64{"stats.time_in_queue_in_ms": 3000},
		},
	} {
		for name, wanted := range map[string]map[string]float64{"chat": want.chat, "responses": want.responses, "messages": nil} {
			for _, a := range apis {
				if a.name == name {
					inBubble(t, telling, func(b *bench) { b.expectTimes(a, shape, wanted, usage) })
				}
			}
		}
	}
}

// expectTimes fails the test where a stream tells other times, or times at all
// where none are wanted.
func (b *bench) expectTimes(a api, shape Timings, want map[string]float64, more object) {
	b.t.Helper()
	got := map[string]float64{}
	said := false
	for _, e := range events(b.askInLine(a, "timings="+string(shape), more).messages) {
		for path := range want {
			if v := e.Get(path); v.Exists() {
				got[path] = v.Num
			}
		}
		for _, key := range []string{"timings", "metrics", "time_info", "perf_metrics", "stats", "usage.queue_time", "usage.timing_prompt_processing"} {
			said = said || e.Get(key).Exists() || e.Get("response."+key).Exists()
		}
	}
	if diff := cmp.Diff(want, got); len(want) > 0 && diff != "" {
		b.t.Errorf("%s in %s: %s", shape, a.name, diff)
	}
	if len(want) == 0 && said {
		b.t.Errorf("%s: told in %s, which has no place for it", shape, a.name)
	}
}

func TestHeadTellsWhatIsOverWhenItIsSent(t *testing.T) {
	const queue, prefill, generation = "Fireworks-Prefill-Queue-Duration", "Fireworks-Prefill-Duration", "Fireworks-Generation-Duration"
	for _, c := range []struct {
		simulate string
		whole    bool
		want     map[string]string
	}{
		{"timings=fireworks-headers, headers=accept", false, map[string]string{}},
		{"timings=fireworks-headers, headers=slot", false, map[string]string{queue: "3"}},
		{"timings=fireworks-headers, headers=token", false, map[string]string{queue: "3", prefill: "0.5"}},
		{"timings=fireworks-headers", true, map[string]string{queue: "3", prefill: "0.5", generation: "0.18"}},
		{"timings=tgi-headers, headers=slot", false, map[string]string{"X-Queue-Time": "3000"}},
		{"", true, map[string]string{}},
	} {
		inBubble(t, telling, func(b *bench) {
			head := b.askInLine(apis[1], c.simulate, object{"stream": !c.whole}).header
			got := map[string]string{}
			for _, name := range []string{queue, prefill, generation, "X-Queue-Time"} {
				if v := head.Get(name); v != "" {
					got[name] = v
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%q: %s", c.simulate, diff)
			}
		})
	}
}
