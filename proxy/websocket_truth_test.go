package proxy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/proxy/simulator"
)

// What a model does is read alike, over a socket and over HTTP.
func TestTheSameAnswerOverASocketAndOverHTTPIsTheSameRow(t *testing.T) {
	for name, how := range map[string]string{
		"a long answer":        "output=300, tpot=20ms",
		"a long prompt":        "output=40, prefill=2ms",
		"hidden reasoning":     "reasoning=hidden:400, output=40",
		"summaries":            "reasoning=summary:400, output=40",
		"a tool call in one":   "tools=1, whole, call=200",
		"a stall":              "output=100, stall=9s",
		"held by a hop":        "output=300, hop=1500ms",
		"a refusal":            "status=429, retry_after=2s",
		"an error in the way":  "output=100, mishap=error",
		"a slow way to it":     "network=900ms",
		"a gateway that waits": "floor=2s, output=12",
	} {
		t.Run(name, func(t *testing.T) {
			input := fmt.Sprintf(`"model":"sim-light","tools":[{"type":"function","name":"run"}],"input":[{"role":"user","content":%q}]`, strings.Repeat("some words ", 900))
			seen := make(map[bool]exchange.Exchange)
			for _, socket := range []bool{false, true} {
				inBubble(t, simulator.New(simulator.Config{}), func(t *testing.T, w *world) {
					if !socket {
						_, seen[socket] = w.exchange("/v1/responses", `{"stream":true,`+input+`}`, simulator.OverrideHeader, how)
						return
					}
					c := w.socket(t, simulator.OverrideHeader, how)
					c.tell(`{"type":"response.create",` + input + `}`)
					go func() {
						for _, err := c.hear(); err == nil; _, err = c.hear() {
						}
					}()
					seen[socket] = w.row()
					c.Close()
				})
			}
			if diff := cmp.Diff(asSeen(seen[false]), asSeen(seen[true])); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// asSeen is what a row tells, but for how it came.
func asSeen(x exchange.Exchange) map[string]any {
	rate := 0.0
	if x.TokensPerSec != nil {
		rate = *x.TokensPerSec
	}
	delivery := x.Delivery
	outcome := x.Outcome
	if outcome == exchange.UpstreamError { // which is an event here
		outcome, delivery = exchange.ErrorEvent, exchange.Streamed
	}
	if x.FirstToken == nil {
		delivery = ""
	}
	return map[string]any{
		"first token": x.FirstToken, "answer start": x.AnswerStart, "last token": x.LastToken,
		"in": x.PromptTokens, "cached": x.CachedTokens, "out": x.OutputTokens, "reasoning": x.ReasoningTokens, "how": x.Reasoning,
		"rate": rate, "delivery": delivery, "outcome": outcome, "bound": x.Bound, "cause": x.Cause,
		"wait": x.Wait, "decode": x.Decode, "stalls": x.Stalls, "model": x.ModelServed,
	}
}
