package large

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// A share is a word and how often of 100 times it comes.
type share struct {
	word string
	of   int
}

var (
	models    = []share{{"gpt-5-codex", 55}, {"gpt-5-mini", 25}, {"o5", 12}, {"llama-3.3-70b", 7}, {"qwen3-coder", 1}}
	upstreams = []share{{"default", 90}, {"local", 10}}
	keys      = []share{{"k_5d1f09", 70}, {"k_77a2c1", 25}, {"k_0be344", 5}}
	clients   = []share{{"codex_cli_rs/0.171.0", 70}, {"openai-python/2.8.1", 25}, {"curl/8.14.1", 5}}
	outcomes  = []share{{"ok", 94}, {"client_abort", 3}, {"upstream_error", 1}, {"upstream_cut", 1}, {"incomplete", 1}}
)

// ordinary are exchanges as agents make them, with their prompts.
func ordinary(from time.Time) []*exchange.Exchange {
	r := rand.New(rand.NewPCG(1, 2))
	var all []*exchange.Exchange
	for i := range block {
		x := begun(r, i, from.Add(time.Duration(i)*Step))
		answer(r, x)
		x.Derive()
		x.CacheOutcome = diagnosis.CacheOutcome(x, nil)
		diagnosis.Judge(x, nil)
		all = append(all, x)
	}
	return all
}

func begun(r *rand.Rand, i int, at time.Time) *exchange.Exchange {
	x := &exchange.Exchange{
		ID: fmt.Sprintf("01K%011d%012X", i, r.Uint64()>>16), StartedAt: at,
		Upstream: pick(r, upstreams), KeyID: pick(r, keys), Client: pick(r, clients), RequestKind: "turn",
		Method: "POST", Path: "/v1/responses", Dialect: exchange.Responses, Transport: "sse", Streamed: new(true),
		ModelRequested: pick(r, models), Status: new(int64(200)), Outcome: exchange.Outcome(pick(r, outcomes)),
		SessionID: fmt.Sprintf("0199e5a0-0000-7000-8000-%08x", i/40), TurnID: fmt.Sprintf("0199e5a1-0000-7000-8000-%08x", i/6),
		RequestID: fmt.Sprintf("req_%016x%012x", r.Uint64(), r.Uint64()>>16),
	}
	x.ResponseID = fmt.Sprintf("resp_%016x%016x%012x", r.Uint64(), r.Uint64(), r.Uint64()>>16)
	x.ConnReused, x.RTT, x.Proxy, x.Concurrency = new(true), span(53), span(0.4), new(1+r.Int64N(3))
	x.Received, x.GotConn, x.Sent, x.IdleBefore = span(1), span(1.1), span(3.1), span(float64(r.Int64N(20_000)))
	x.RequestBytes, x.UpstreamClockOffset = new(200_000+r.Int64N(200_000)), span(-14)
	x.Prompt = prompt(r, i%40)
	return x
}

// prompt has a few sections more with each request of its session.
func prompt(r *rand.Rand, step int) []exchange.Boundary {
	parts := []exchange.Part{exchange.ModelPart, exchange.ToolsPart, exchange.InstructionsPart, exchange.UserPart}
	for range step / 2 {
		parts = append(parts, exchange.ToolCallPart, exchange.ToolResultPart)
	}
	var all []exchange.Boundary
	for _, p := range parts {
		all = append(all, exchange.Boundary{Part: p, Bytes: 100 + r.Int64N(20_000), Hash: r.Uint64()})
	}
	return all
}

// answer gives x an answer that suits its outcome.
func answer(r *rand.Rand, x *exchange.Exchange) {
	if x.Outcome == exchange.UpstreamError {
		x.Status, x.Error = new(int64(429)), "429 rate_limit_exceeded: too many requests"
		x.Headers, x.FirstByte, x.End, x.ResponseBytes = span(210), span(211), span(212), new(int64(312))
		return
	}
	uncached, output := 200+r.Int64N(9000), 20+r.Int64N(600)
	first := 400 + float64(uncached)/12 + float64(r.Int64N(300))
	perToken := 8 + 20*r.Float64()
	last := first + float64(output)*perToken
	x.Headers, x.FirstByte, x.FirstEvent = span(first-30), span(first-29), span(first-29)
	x.GenerationStarted, x.FirstToken, x.AnswerStart, x.FirstText = span(first-10), span(first), span(first), span(first)
	x.LastToken, x.End, x.MaxGap, x.Stalls = span(last), span(last+1), span(80), new(int64(0))
	x.Delivery, x.OutputEvents, x.ResponseBytes, x.Cadence = exchange.Streamed, new(output), new(output*180), cadence(last-first)
	if x.Outcome != exchange.OK {
		x.Error = "the stream ended before its terminal event"
		return
	}
	x.ModelServed, x.FinishReason, x.Terminal = x.ModelRequested, "completed", span(last+0.5)
	x.PromptTokens, x.CachedTokens, x.OutputTokens, x.TotalTokens = new(40_000+uncached), new(int64(40_000)), &output, new(40_000+uncached+output)
	x.ReasoningTokens, x.UsageSource, x.Reasoning = new(int64(0)), "reported", "none"
	x.UsageRaw = fmt.Sprintf(`{"input_tokens":%d,"input_tokens_details":{"cached_tokens":40000},"output_tokens":%d,"total_tokens":%d}`,
		*x.PromptTokens, output, *x.TotalTokens)
	x.TokensPerSec, x.TPOT, x.RateQuality = new(1e3/perToken), span(perToken), exchange.FairRate
}

// cadence is an even one, in the 42 steps or so that are kept of any.
func cadence(ms float64) *exchange.Cadence {
	return &exchange.Cadence{
		Step: time.Duration(ms/42) * time.Millisecond, First: exchange.Portion{Answer: 4},
		Steps: slices.Repeat([]exchange.Portion{{Answer: 31}}, 42),
	}
}

func pick(r *rand.Rand, from []share) string {
	n := r.IntN(100)
	for _, s := range from {
		if n -= s.of; n < 0 {
			return s.word
		}
	}
	return from[0].word
}

// span is a duration in milliseconds.
func span(ms float64) *time.Duration {
	return new(time.Duration(ms * float64(time.Millisecond)).Round(time.Microsecond))
}
