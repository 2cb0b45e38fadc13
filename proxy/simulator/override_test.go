package simulator

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestOverrideChangesWhatItNames(t *testing.T) {
	was := Behaviour{TPOT: 20 * ms, Output: 10, HopTime: ms, Reasoning: Visible, ReasoningTokens: 3}
	for value, change := range map[string]func(b *Behaviour){
		"":                                func(*Behaviour) {},
		" , ":                             func(*Behaviour) {},
		"network=80ms,floor=1s":           func(b *Behaviour) { b.Network, b.Floor = 80*ms, time.Second },
		"prefill=60us, growth=0.01":       func(b *Behaviour) { b.Prefill, b.PrefillGrowth = 60*time.Microsecond, 0.01 },
		"tpot=9ms, tpot=8ms, jitter=0.25": func(b *Behaviour) { b.TPOT, b.Jitter = 8*ms, 0.25 },
		"uncached,whole,progress,pseudo": func(b *Behaviour) {
			b.Uncached, b.Whole, b.Progress, b.Pseudo = true, true, true, true
		},
		"pseudo=false,uncached=true":            func(b *Behaviour) { b.Uncached = true },
		"chunk=4, output=0, tools=2, call=220":  func(b *Behaviour) { b.Chunk, b.Output, b.ToolRounds, b.ToolTokens = 4, 0, 2, 220 },
		"reasoning=hidden:640":                  func(b *Behaviour) { b.Reasoning, b.ReasoningTokens = Hidden, 640 },
		"reasoning=none":                        func(b *Behaviour) { b.Reasoning, b.ReasoningTokens = "", 0 },
		"stall=3s, at=40":                       func(b *Behaviour) { b.Stall, b.At = 3*time.Second, new(40) },
		"mishap=cut, headers=token, ping=1s":    func(b *Behaviour) { b.Mishap, b.Headers, b.Ping = Cut, AtToken, time.Second },
		"hop=4096":                              func(b *Behaviour) { b.HopBytes, b.HopTime = 4096, 0 },
		"hop=250ms":                             func(b *Behaviour) { b.HopTime = 250 * ms },
		"timings=llama":                         func(b *Behaviour) { b.Timings = LlamaTimings },
		"timings=fireworks-headers,crowding=.5": func(b *Behaviour) { b.Timings, b.Crowding = FireworksHeaders, 0.5 },
		"usage=unreported,cached=zero":          func(b *Behaviour) { b.Usage, b.Cached = Unreported, Zero },
		"cached=unreported, thoughts=apart":     func(b *Behaviour) { b.Cached, b.Thoughts = Unreported, Apart },
		"status=429, retry_after=1500ms,at=0  ": func(b *Behaviour) { b.Status, b.RetryAfter, b.At = 429, 1500*ms, new(0) },
	} {
		got, want := was, was
		change(&want)
		if err := got.override([]string{value}); err != nil {
			t.Errorf("%q: %v", value, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", value, diff)
		}
	}
}

func TestOverrideOfSeveralHeadersAddsUp(t *testing.T) {
	var got Behaviour
	if err := got.override([]string{"output=1, chunk=2", "output=3"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Behaviour{Output: 3, Chunk: 2}, got); diff != "" {
		t.Error(diff)
	}
}

// misreadings are values that are refused, with a part of the reason.
var misreadings = map[string]string{
	"speed=9":              `unknown key "speed"`,
	"output":               `output: want a number from 0 to 1000000, not ""`,
	"output=-1":            "output: want a number",
	"at=x":                 "at: want a number",
	"stall=3":              "stall: want a duration such as 250ms",
	"stall=-3s":            "stall: want a duration",
	"jitter=1.5":           "jitter: want a number from 0 to 1",
	"growth=NaN":           "growth: want a number from 0 to 10",
	"whole=maybe":          `whole: want true or false, not "maybe"`,
	"mishap=fire":          `mishap: want one of ["cut" "error"], not "fire"`,
	"headers=late":         "headers: want one of",
	"hop=soon":             "hop: want a duration",
	"reasoning=loud:3":     "reasoning: want one of",
	"reasoning=hidden":     "reasoning: want a number",
	"status=200":           "status: want a status from 400 to 599",
	"timings=sundial":      "timings: want one of",
	"usage=zero":           `usage: want one of ["unreported"], not "zero"`,
	"cached=apart":         `cached: want one of ["unreported" "zero"]`,
	"output=3, mishap=no!": "mishap: want one of",
}

func TestMisreadOverrideSaysWhatIsWanted(t *testing.T) {
	for value, reason := range misreadings {
		err := new(Behaviour).override([]string{value})
		if err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: error %v, want %q", value, err, reason)
		}
	}
}

func TestMisreadOverrideIsABadRequest(t *testing.T) {
	each(t, one(plain), func(b *bench, a api) {
		got := b.post(a.path, a.of("hello"), "output=many")
		if got.status != 400 || !strings.Contains(got.body.Get("error.message").Str, "X-Simulate: output: want a number") {
			b.t.Errorf("status %d, body %s", got.status, got.body.Raw)
		}
	})
}
