package web

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// noon is the time at which the tests look at the page, in its zone.
var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.FixedZone("", 8*3600))

// telling are exchanges of every kind that the log tells apart, the newest
// first.
func telling() []*exchange.Exchange {
	return []*exchange.Exchange{
		seeded("under-way", 3200*time.Millisecond, func(x *exchange.Exchange) {
			begun(x)
			x.Outcome = exchange.Open
		}),
		seeded("decode", 20*time.Second, func(x *exchange.Exchange) {
			prompted(x, 99_100, 97_280)
			answered(x, 1190, 4640, 180)
			x.SessionID, x.TurnID, x.RequestKind = "019ae2-session", "turn-7", "turn"
			x.Client, x.KeyID = "codex_cli_rs/0.171.0", "k_5d1f09"
			filled(x, 240_000)
			x.PrefixSharedTokens, x.PrefixCounted, x.PrefixIdle = new(int64(97_402)), new(true), span(8200)
		}),
		seeded("prefill", 65*time.Second, func(x *exchange.Exchange) {
			prompted(x, 96_210, 0)
			hidTheReasoning(x, 64)
			answered(x, 9284, 11_434, 188)
			x.ServerQueue, x.ServerPrefill, x.ServerDecode, x.ServerSource = span(361), span(7400), span(3100), "timings"
			x.GatewayRequestID, x.RequestID, x.ResponseID = "2026031411585532947", "req_8d02c1f7", "resp_51aa"
			x.ModelServed, x.ServiceTier = "gpt-5-codex-2026-01-15", "default"
			filled(x, 220_000)
			x.PrefixSharedTokens, x.ChangedSection, x.ChangedIndex = new(int64(0)), "tools", new(int64(1))
			x.UsageRaw = `{"input_tokens":96210,"input_tokens_details":{"cached_tokens":0},` +
				`"output_tokens":188,"output_tokens_details":{"reasoning_tokens":64},"total_tokens":96398}`
		}),
		seeded("hidden", 120*time.Second, func(x *exchange.Exchange) {
			prompted(x, 89_100, 86_016)
			hidTheReasoning(x, 2011)
			answered(x, 41_400, 51_400, 2522)
		}),
		seeded("visible", 150*time.Second, func(x *exchange.Exchange) {
			prompted(x, 31_871, 30_720)
			x.Reasoning, x.ReasoningTokens = "visible", new(int64(433))
			answered(x, 1020, 14_200, 911)
			x.FirstReasoning, x.AnswerStart, x.FirstText = span(1020), span(7300), span(7300)
			x.Attempt, x.RetryGroup = new(int64(2)), "retry-3"
		}),
		seeded("cut", 215*time.Second, func(x *exchange.Exchange) {
			x.Outcome, x.Error = exchange.UpstreamCut, "the stream ended before its terminal event"
			broken(x, 900, 6100, 31_000)
		}),
		seeded("cancelled", 280*time.Second, func(x *exchange.Exchange) {
			x.Outcome = exchange.ClientAbort
			broken(x, 1660, 11_600, 11_700)
		}),
		seeded("limited", 300*time.Second, func(x *exchange.Exchange) {
			x.Outcome, x.Status, x.Error = exchange.UpstreamError, new(int64(429)), "429 rate_limit_exceeded: too many requests"
			x.Headers, x.FirstByte, x.End, x.ResponseBytes = span(210), span(211), span(212), new(int64(312))
		}),
		seeded("wait", 320*time.Second, func(x *exchange.Exchange) {
			prompted(x, 640, 0)
			answered(x, 3100, 3420, 12)
			x.RateQuality = "noisy"
		}),
		seeded("stalled", 400*time.Second, func(x *exchange.Exchange) {
			answered(x, 1400, 21_900, 402)
			x.Stalls, x.StallTime, x.MaxGap = new(int64(2)), span(14_300), span(9100)
		}),
		seeded("unreachable", 500*time.Second, func(x *exchange.Exchange) {
			x.Outcome, x.Status, x.Error = exchange.Unreachable, nil, "dns: lookup api.example.com: no such host"
			x.ConnReused, x.DNS, x.GotConn, x.End = new(false), span(30), nil, span(31)
		}),
		seeded("whole", 20*time.Minute, func(x *exchange.Exchange) {
			x.Dialect, x.Path, x.Transport, x.Streamed = exchange.Chat, "/v1/chat/completions", "http", new(false)
			x.ModelRequested, x.ModelServed = "auto", "llama-3.3-70b"
			x.Delivery, x.Headers, x.FirstByte, x.End = exchange.NotStreamed, span(2590), span(2595), span(2600)
			x.PromptTokens, x.OutputTokens, x.UsageSource = new(int64(412)), new(int64(96)), "reported"
		}),
		seeded("mixed", 25*time.Minute, func(x *exchange.Exchange) {
			prompted(x, 18_230, 9_216)
			answered(x, 2400, 4650, 96)
			x.UnreadEvents, x.Note = new(int64(3)), "an event was no JSON"
		}),
		seeded("interrupted", 13*time.Hour, func(x *exchange.Exchange) {
			begun(x)
			x.Outcome, x.Error = exchange.Interrupted, "the proxy was stopped"
		}),
	}
}

// seeded is an exchange that began some time before noon, judged as the proxy
// does it.
func seeded(id string, ago time.Duration, set func(*exchange.Exchange)) *exchange.Exchange {
	x := &exchange.Exchange{
		ID: id, StartedAt: noon.Add(-ago), Upstream: "default", Method: "POST", Path: "/responses",
		Dialect: exchange.Responses, Transport: "sse", Streamed: new(true), ModelRequested: "gpt-5-codex",
		Status: new(int64(200)), Outcome: exchange.OK,
	}
	x.ConnReused, x.RTT, x.Proxy = new(true), span(53), span(0.4)
	x.Received, x.GotConn, x.Sent = span(1), span(1.1), span(3.1)
	x.RequestBytes, x.ResponseBytes = new(int64(412_000)), new(int64(61_000))
	set(x)
	x.Derive()
	x.CacheOutcome = diagnosis.CacheOutcome(x, nil)
	diagnosis.Judge(x, nil)
	return x
}

// filled gives it a prompt of an agent, with so many bytes of tool results.
func filled(x *exchange.Exchange, results int64) {
	x.Prompt = []exchange.Boundary{
		{Part: exchange.ModelPart}, {Part: exchange.ToolsPart, Bytes: 26_200}, {Part: exchange.InstructionsPart, Bytes: 17_700},
		{Part: exchange.UserPart, Bytes: 2_100}, {Part: exchange.ReasoningPart, Bytes: 30_400}, {Part: exchange.ToolCallPart, Bytes: 9_800},
		{Part: exchange.ToolResultPart, Inner: true, Bytes: 1024}, {Part: exchange.ToolResultPart, Bytes: results - 1024},
		{Part: exchange.AssistantPart, Bytes: 700}, {Part: exchange.UserPart, Bytes: 130},
	}
}

// begun leaves of it what is written before it has ended.
func begun(x *exchange.Exchange) {
	x.Status, x.Streamed, x.Transport = nil, nil, ""
	x.Instants, x.Figures = exchange.Instants{Received: x.Received}, exchange.Figures{}
}

func prompted(x *exchange.Exchange, prompt, cached int64) {
	x.PromptTokens, x.CachedTokens = &prompt, &cached
}

func hidTheReasoning(x *exchange.Exchange, tokens int64) {
	x.Reasoning, x.ReasoningTokens = "hidden", &tokens
}

// answered gives it a whole stream, the counts of its prompt and reasoning
// being set.
func answered(x *exchange.Exchange, first, last float64, tokens int64) {
	broken(x, first, last, last)
	x.Terminal, x.OutputTokens, x.UsageSource = span(last), &tokens, "reported"
	perSec := float64(*x.SeenTokens()-1) / (last - first) * 1e3
	x.TokensPerSec, x.TPOT, x.RateQuality = &perSec, span(1e3/perSec), "fair"
}

// broken gives it a stream without its end.
func broken(x *exchange.Exchange, first, last, end float64) {
	x.Headers, x.FirstByte, x.FirstEvent = span(first-30), span(first-29), span(first-29)
	x.FirstToken, x.AnswerStart, x.FirstText = span(first), span(first), span(first)
	x.LastToken, x.End = span(last), span(end)
	x.Delivery, x.MaxGap = exchange.Streamed, span(80)
}

// span is a duration in milliseconds.
func span(ms float64) *time.Duration {
	return new(time.Duration(ms * float64(time.Millisecond)))
}

// newStore is a real log with these rows.
func newStore(t testing.TB, rows ...*exchange.Exchange) *store.Store {
	t.Helper()
	s, err := store.Open(context.Background(), filepath.Join(t.TempDir(), "log.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if err := s.Save(context.Background(), rows); err != nil {
		t.Fatal(err)
	}
	return s
}

// newConfig is a page at noon over these rows.
func newConfig(t testing.TB, rows ...*exchange.Exchange) Config {
	t.Helper()
	return Config{
		Store:     newStore(t, rows...),
		State:     func() store.State { return store.State{Committed: int64(len(rows))} },
		Listen:    "http://localhost:8838",
		Upstreams: []Upstream{{"default", "https://api.example.com/v1"}, {"lab", "http://10.0.0.7:8000/v1"}},
		UnderWay:  func() []*exchange.Exchange { return open(rows) },
		Version:   "v0",
		Now:       func() time.Time { return noon },
	}
}

// open are the rows under way, the earliest first.
func open(rows []*exchange.Exchange) (all []*exchange.Exchange) {
	for _, x := range slices.Backward(rows) {
		if x.Outcome == exchange.Open {
			all = append(all, x)
		}
	}
	return all
}

// get asks for a target of the page; the headers are NAME, VALUE pairs.
func get(t *testing.T, page http.Handler, target string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	return ask(t, page, http.MethodGet, target, "", headers...)
}

func ask(t *testing.T, page http.Handler, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Host = "localhost:8838"
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	page.ServeHTTP(w, r)
	return w
}

// many are n quick answers, one a second.
func many(n int) []*exchange.Exchange {
	var all []*exchange.Exchange
	for i := range n {
		all = append(all, seeded(fmt.Sprintf("many-%03d", i), time.Duration(n-i)*time.Second, func(x *exchange.Exchange) {
			answered(x, 300+float64(i), 900+2*float64(i), 40)
		}))
	}
	return all
}

// getIn asks in a context of its own.
func getIn(t testing.TB, ctx context.Context, page http.Handler, target string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	r.Host = "localhost"
	w := httptest.NewRecorder()
	page.ServeHTTP(w, r)
	return w
}

// newServer serves a page on a real socket and returns its base URL.
func newServer(t *testing.T, c Config) string {
	t.Helper()
	server := httptest.NewServer(New(c))
	t.Cleanup(server.Close)
	return server.URL
}

// fetched is an answer over a real socket.
type fetched struct {
	status            int
	contentType, body string
}

func fetch(t *testing.T, method, url string) fetched {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fetched{answer.StatusCode, answer.Header.Get("Content-Type"), string(body)}
}

// capturedLog collects what the page logs.
func (c *Config) capturedLog() (logged func() string) {
	var b bytes.Buffer
	c.Log = slog.New(slog.NewTextHandler(&b, nil))
	return b.String
}
