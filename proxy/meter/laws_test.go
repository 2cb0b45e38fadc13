package meter

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/dialect"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// A draw is any stream at all, whether or not an upstream would send it.
type draw struct {
	script script
	answer *dialect.Answer
	with   func(*exchange.Exchange)
}

func drawAny(t *rapid.T) draw {
	d := draw{script: drawScript(t), answer: &dialect.Answer{Choices: rapid.IntRange(0, 2).Draw(t, "choices")}}
	u := &d.answer.Usage
	for _, n := range []**int64{&u.Prompt, &u.Cached, &u.CacheWrite, &u.Output, &u.Reasoning, &u.Total} {
		*n = rapid.Ptr(rapid.OneOf(rapid.Int64Range(-2, 900), rapid.Int64()), true).Draw(t, "tokens")
	}
	span := rapid.Ptr(rapid.Int64Range(0, int64(time.Minute)), true)
	queue, prefill, decode, client := span.Draw(t, "queue"), span.Draw(t, "prefill"), span.Draw(t, "decode"), span.Draw(t, "client")
	rtt := span.Draw(t, "rtt")
	d.with = func(x *exchange.Exchange) {
		x.ServerQueue, x.ServerPrefill, x.ServerDecode = (*time.Duration)(queue), (*time.Duration)(prefill), (*time.Duration)(decode)
		x.RTT, x.ClientWait = (*time.Duration)(rtt), (*time.Duration)(client)
	}
	return d
}

func drawScript(t *rapid.T) script {
	gap := rapid.OneOf(rapid.Just(0), rapid.IntRange(0, 40), rapid.IntRange(0, 9000))
	kinds := rapid.OneOf(rapid.Just(dialect.Text), rapid.Map(rapid.Uint8Range(0, 127), func(k uint8) dialect.Kind { return dialect.Kind(k) }))
	item := rapid.Map(rapid.Uint8Range(0, 3), func(i uint8) dialect.Item { return dialect.Item(i) })
	var s script
	at := 10.
	for range rapid.IntRange(0, 60).Draw(t, "events") {
		at += float64(gap.Draw(t, "gap"))
		e := out(kinds.Draw(t, "kind"), rapid.IntRange(0, 3).Draw(t, "index"), rapid.IntRange(0, 300).Draw(t, "bytes"))
		e.Opens, e.Closes = item.Draw(t, "opens"), item.Draw(t, "closes")
		e.Terminal, e.Unread = rapid.Bool().Draw(t, "terminal"), rapid.Bool().Draw(t, "unread")
		s = append(s, step{at, e})
	}
	return s
}

// drawPlain is a stream that has a rate: text, a few tokens at a time.
func drawPlain(t *rapid.T) draw {
	var s script
	at := 1000.
	events := rapid.IntRange(6, 60).Draw(t, "events")
	for range events {
		at += float64(rapid.IntRange(21, 400).Draw(t, "gap"))
		s = append(s, step{at, out(dialect.Text, 0, rapid.IntRange(10, 12).Draw(t, "bytes"))})
	}
	each := rapid.IntRange(1, 10).Draw(t, "tokens an event")
	return draw{script: s, answer: usage(12, -1, int64(events*each)), with: func(*exchange.Exchange) {}}
}

func TestInstantsKeepTheirOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawAny(t)
		x := d.script.measure(d.answer, d.with)
		order := []*time.Duration{x.Headers, x.FirstByte, x.FirstEvent, x.FirstToken, x.AnswerStart, x.LastToken, x.End}
		last := time.Duration(0)
		for i, at := range order {
			if at == nil {
				continue
			}
			if *at < last {
				t.Fatalf("instant %d is at %v, before %v", i, *at, last)
			}
			last = *at
		}
		for _, at := range []*time.Duration{x.FirstReasoning, x.FirstText, x.FirstTool} {
			if at != nil && (*at < *x.FirstToken || *at > *x.LastToken) {
				t.Fatalf("%v is outside of the output", *at)
			}
		}
	})
}

func TestFiguresAreNeverNegativeNorInfinite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawAny(t)
		x := d.script.measure(d.answer, d.with)
		for _, part := range []any{x.Tokens, x.Instants, x.Figures} {
			checkSound(t, reflect.ValueOf(part))
		}
		if x.HostedTool != nil && x.FirstToken != nil && x.LastToken != nil && *x.HostedTool > *x.LastToken {
			t.Fatalf("hosted tools ran %v of %v", *x.HostedTool, *x.LastToken)
		}
	})
}

func checkSound(t *rapid.T, v reflect.Value) {
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		switch p := v.Field(i).Interface().(type) {
		case *time.Duration:
			if p != nil && *p < 0 {
				t.Fatalf("%s is %v", name, *p)
			}
		case *int64:
			if p != nil && *p < 0 {
				t.Fatalf("%s is %d", name, *p)
			}
		case *float64:
			if p != nil && (*p < 0 || math.IsNaN(*p) || math.IsInf(*p, 0)) {
				t.Fatalf("%s is %v", name, *p)
			}
		}
	}
}

func TestRateNeedsAllThatItIsMadeOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.OneOf(rapid.Custom(drawAny), rapid.Custom(drawPlain)).Draw(t, "stream")
		x := d.script.measure(d.answer, d.with)
		if (x.TokensPerSec == nil) != (x.TPOT == nil) || (x.TokensPerSec == nil) != (x.RateQuality == "") {
			t.Fatalf("rate %v, time per token %v, quality %q", x.TokensPerSec, x.TPOT, x.RateQuality)
		}
		if x.TokensPerSec == nil {
			return
		}
		n := x.SeenTokens()
		if n == nil || *n < 2 || x.Delivery != exchange.Streamed || x.Choices != nil ||
			*x.LastToken-*x.FirstToken < minSpan || *x.TPOT <= 0 || *x.TokensPerSec <= 0 ||
			x.ClientWait != nil && *x.ClientWait > (*x.LastToken-*x.FirstToken)/10 {
			t.Fatalf("rate %v from %v tokens, %s", *x.TokensPerSec, n, x.Delivery)
		}
	})
}

func TestStretchingTimeSlowsTheRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawPlain(t)
		by := float64(rapid.IntRange(2, 50).Draw(t, "by"))
		var slow script
		for _, st := range d.script {
			slow = append(slow, step{st.ms * by, st.Event})
		}
		a, b := d.script.measure(d.answer), slow.measure(d.answer)
		if ratio := *a.TokensPerSec / *b.TokensPerSec; math.Abs(ratio/by-1) > 1e-3 {
			t.Fatalf("%v times the time, %v of the rate", by, 1/ratio)
		}
	})
}

func TestCuttingAReadsEventsChangesNoTokensNorInstants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawAny(t)
		var cut script
		for _, st := range d.script {
			half := st.Event
			half.Opens, half.Closes, half.Terminal, half.Unread = 0, 0, false, false
			half.AnswerBytes, half.ThoughtBytes = st.AnswerBytes/2, st.ThoughtBytes/2
			rest := st.Event
			rest.AnswerBytes, rest.ThoughtBytes = st.AnswerBytes-half.AnswerBytes, st.ThoughtBytes-half.ThoughtBytes
			rest.Opens = 0
			first := dialect.Event{Opens: st.Opens, Index: st.Index}
			cut = append(cut, step{st.ms, first}, step{st.ms, half}, step{st.ms, rest})
		}
		a, b := d.script.measure(d.answer, d.with), cut.measure(d.answer, d.with)
		if diff := cmp.Diff(a.Tokens, b.Tokens); diff != "" {
			t.Fatalf("tokens:\n%s", diff)
		}
		if diff := cmp.Diff(a.Instants, b.Instants); diff != "" {
			t.Fatalf("instants:\n%s", diff)
		}
		if a.Delivery != b.Delivery || a.HostedTool != nil && *a.HostedTool != *b.HostedTool {
			t.Fatalf("delivery %q became %q", a.Delivery, b.Delivery)
		}
	})
}
