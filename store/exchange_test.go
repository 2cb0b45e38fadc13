package store

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// leaves calls fn with every field of x that holds a value, but for the prompt,
// which has a table of its own.
func leaves(v reflect.Value, fn func(name string, leaf reflect.Value)) {
	for i := range v.NumField() {
		f, leaf := v.Type().Field(i), v.Field(i)
		switch {
		case f.Anonymous:
			leaves(leaf, fn)
		case f.Name != "Prompt":
			fn(f.Name, leaf)
		}
	}
}

// anyExchange draws an exchange whose every field is set or unknown.
func anyExchange(id string) *rapid.Generator[*exchange.Exchange] {
	return rapid.Custom(func(t *rapid.T) *exchange.Exchange {
		x := new(exchange.Exchange)
		leaves(reflect.ValueOf(x).Elem(), func(name string, leaf reflect.Value) {
			if leaf.Kind() != reflect.Pointer || rapid.Bool().Draw(t, name+" known") {
				leaf.Set(anyValue(t, name, leaf.Type()))
			}
		})
		x.ID, x.Outcome = id, rapid.SampledFrom(exchange.Outcomes).Draw(t, "outcome")
		x.Prompt = rapid.SliceOfN(anyBoundary, 1, 20).Draw(t, "prompt")
		return x
	})
}

var anyBoundary = rapid.Custom(func(t *rapid.T) exchange.Boundary {
	return exchange.Boundary{
		Part:  rapid.SampledFrom(exchange.Parts()).Draw(t, "part"),
		Inner: rapid.Bool().Draw(t, "inner"),
		Bytes: rapid.Int64Range(0, 1<<40).Draw(t, "bytes"),
		Hash:  rapid.Uint64().Draw(t, "hash"),
	}
})

var anyCadence = rapid.Custom(func(t *rapid.T) exchange.Cadence {
	milliseconds := rapid.Map(rapid.Int64Range(0, 1e9), func(n int64) time.Duration { return time.Duration(n) * time.Millisecond })
	portion := rapid.Custom(func(t *rapid.T) exchange.Portion {
		bytes := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 1<<40))
		return exchange.Portion{Reasoning: bytes.Draw(t, "reasoning"), Answer: bytes.Draw(t, "answer")}
	})
	c := exchange.Cadence{Step: milliseconds.Draw(t, "step"), First: portion.Draw(t, "first")}
	c.Steps = rapid.SliceOfN(portion, 1, 8).Draw(t, "steps")
	for range rapid.IntRange(0, 3).Draw(t, "gaps") {
		c.Gaps = append(c.Gaps, exchange.Gap{From: milliseconds.Draw(t, "from"), Took: milliseconds.Draw(t, "took")})
	}
	return c
})

func anyValue(t *rapid.T, name string, typ reflect.Type) reflect.Value {
	switch typ {
	case reflect.TypeFor[exchange.Cadence]():
		return reflect.ValueOf(anyCadence.Draw(t, name))
	case reflect.TypeFor[time.Time]():
		return reflect.ValueOf(time.Unix(0, rapid.Int64Range(1, 1<<62).Draw(t, name)).UTC())
	case reflect.TypeFor[time.Duration]():
		return reflect.ValueOf(time.Duration(rapid.Int64Range(-1e12, 1e12).Draw(t, name)) * time.Microsecond)
	}
	switch typ.Kind() {
	case reflect.Pointer:
		p := reflect.New(typ.Elem())
		p.Elem().Set(anyValue(t, name, typ.Elem()))
		return p
	case reflect.String:
		return reflect.ValueOf(rapid.String().Draw(t, name)).Convert(typ)
	case reflect.Int64:
		return reflect.ValueOf(rapid.Int64().Draw(t, name))
	case reflect.Float64:
		return reflect.ValueOf(rapid.Float64().Draw(t, name))
	case reflect.Bool:
		return reflect.ValueOf(rapid.Bool().Draw(t, name))
	}
	panic("no generator for " + name)
}

// typical is an exchange of the kind that is recorded most: a streamed answer
// with all its instants. It is the n-th of a log.
func typical(n int) *exchange.Exchange {
	at := func(ms int) *time.Duration {
		d := time.Duration(ms)*time.Millisecond + time.Duration(n%997)*time.Microsecond
		return &d
	}
	count := func(n int) *int64 { c := int64(n); return &c }
	rate := func(v float64) *float64 { return &v }
	yes := true
	return &exchange.Exchange{
		ID:        fmt.Sprintf("01K%023d", n),
		StartedAt: time.Date(2026, 9, 6, 6, 0, 0, 0, time.UTC).Add(time.Duration(n) * 1700 * time.Microsecond),
		Upstream:  "default", KeyID: fmt.Sprintf("k%07x", n%5), Client: "codex_cli_rs/0.171.0",
		SessionID: fmt.Sprintf("0199e5a0-0000-7000-8000-%012d", n/40), TurnID: fmt.Sprintf("0199e5a1-0000-7000-8000-%012d", n/6),
		RequestKind: "turn", Method: "POST", Path: "/v1/responses", Dialect: exchange.Responses, Transport: "sse", Streamed: &yes,
		ModelRequested: fmt.Sprintf("model-%d", n%7), ModelServed: fmt.Sprintf("model-%d-2026-08-01", n%7),
		Status: count(200), Outcome: exchange.OK, FinishReason: "completed",
		RequestID: fmt.Sprintf("req_%032x", n), ResponseID: fmt.Sprintf("resp_%048x", n),
		Tokens: exchange.Tokens{
			PromptTokens: count(40000 + n%9000), CachedTokens: count(39000), UncachedTokens: count(1000 + n%9000),
			OutputTokens: count(300 + n%200), ReasoningTokens: count(0), TotalTokens: count(40300 + n%9200),
			UsageSource: "reported", Reasoning: "none",
			UsageRaw: `{"input_tokens":40000,"input_tokens_details":{"cached_tokens":39000},"output_tokens":300,"total_tokens":40300}`,
		},
		Instants: exchange.Instants{
			ConnReused: &yes, RTT: at(12), Received: at(1), GotConn: at(2), Sent: at(5), Headers: at(900), FirstByte: at(901),
			FirstEvent: at(901), GenerationStarted: at(940), FirstToken: at(950), FirstText: at(950), AnswerStart: at(950),
			LastToken: at(5100), Terminal: at(5101), End: at(5102),
		},
		Figures: exchange.Figures{
			Upload: at(3), Network: at(15), Wait: at(930), Decode: at(4150), ClientWait: at(0), Proxy: at(0), TPOT: at(13),
			TokensPerSec: rate(72.31 + float64(n%100)/7), RateQuality: "fair", EndToEndTokensPerSec: rate(58.9),
			OutputEvents: count(300), TokensPerEvent: rate(1.02), MaxGap: at(80), Stalls: count(0), Delivery: exchange.Streamed,
			Cadence: &exchange.Cadence{
				Step: 100 * time.Millisecond, First: exchange.Portion{Answer: 4},
				Steps: slices.Repeat([]exchange.Portion{{Answer: 31}}, 42),
			},
			Concurrency: count(1), IdleBefore: at(2500), RequestBytes: count(180000), ResponseBytes: count(61000), UpstreamClockOffset: at(-14),
		},
		Verdict: exchange.Verdict{
			Bound: exchange.DecodeBound, Cause: "long_output",
			Reason: "decode took 4.15 s of 5.10 s: 300 tokens at 72.3 tokens/s", RulesVersion: count(1),
		},
	}
}

// opening is x as it is known when its request has been read.
func opening(x *exchange.Exchange) *exchange.Exchange {
	return &exchange.Exchange{
		ID: x.ID, StartedAt: x.StartedAt, Outcome: exchange.Open,
		Upstream: x.Upstream, KeyID: x.KeyID, Client: x.Client, SessionID: x.SessionID, TurnID: x.TurnID,
		RequestKind: x.RequestKind, Method: x.Method, Path: x.Path, Dialect: x.Dialect, ModelRequested: x.ModelRequested,
		Instants: exchange.Instants{Received: x.Received}, Figures: exchange.Figures{Concurrency: x.Concurrency},
		Prompt: x.Prompt,
	}
}

// prompted is a typical exchange with a prompt of some sections.
func prompted(n int) *exchange.Exchange {
	x := typical(n)
	for i := range 12 {
		x.Prompt = append(x.Prompt, exchange.Boundary{Part: exchange.Parts()[i%5], Bytes: int64(900 * i), Hash: uint64(n) * 0x9E3779B97F4A7C15 << i})
	}
	return x
}

// typicals are n of them, from the first-th on.
func typicals(first, n int) []*exchange.Exchange {
	rows := make([]*exchange.Exchange, n)
	for i := range rows {
		rows[i] = typical(first + i)
	}
	return rows
}

// bare is an exchange with hardly anything known.
func bare(id string, outcome exchange.Outcome) *exchange.Exchange {
	return &exchange.Exchange{ID: id, StartedAt: time.Date(2026, 9, 6, 6, 0, 0, 0, time.UTC), Outcome: outcome}
}

func save(t testing.TB, s *Store, rows ...*exchange.Exchange) {
	t.Helper()
	if err := s.Save(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
}
