package proxy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/proxy/simulator"
)

// item is an item of a conversation in Codex' shape.
type item map[string]any

func said(role, text string) item {
	return item{"type": "message", "role": role, "content": []item{{"type": "input_text", "text": text}}}
}

// round is a call of a tool and its result.
func round(n int) []item {
	id := fmt.Sprintf("call_%d", n)
	return []item{
		{"type": "function_call", "name": "exec_command", "arguments": fmt.Sprintf(`{"cmd":"ls %d"}`, n), "call_id": id},
		{"type": "function_call_output", "call_id": id, "output": filling(fmt.Sprint("listing ", n), 2_400)},
	}
}

// filling is a text of so many bytes about something.
func filling(about string, bytes int) string {
	return strings.Repeat(about+", and so on at length. ", bytes/8+1)[:bytes]
}

// request is a request in the order of Codex: the input before the tools.
type request struct {
	model, previous string
	input           []item
	tools           string
}

// opening is the first request of an agent.
func opening() request {
	return request{model: "m", tools: filling("run a command", 9_000), input: []item{
		said("developer", filling("you are an agent", 16_000)), said("user", "look into it"),
	}}
}

// with is the request with more items at its end.
func (r request) with(items ...item) request {
	r.input = append(slices.Clip(r.input), items...)
	return r
}

func (r request) body() string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"model":%s,"stream":true,`, quoted(r.model))
	if r.previous != "" {
		fmt.Fprintf(&b, `"previous_response_id":%s,`, quoted(r.previous))
	}
	fmt.Fprintf(&b, `"input":%s,"tools":[{"type":"function","name":"exec_command","description":%s}],"store":false}`, quoted(r.input), quoted(r.tools))
	return b.String()
}

func quoted(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// caching is a simulated model that keeps prompts in blocks of 128 tokens, for
// five minutes, and takes 8 ms for 1,000 tokens.
func caching(truths *truths) http.Handler {
	return simulator.New(simulator.Config{Done: truths.add, Profiles: []simulator.Profile{{
		Name: "m", Cache: simulator.Cache{Min: 1024, Idle: 5 * time.Minute},
		Behaviour: simulator.Behaviour{Floor: 20 * time.Millisecond, Prefill: 8 * time.Microsecond, TPOT: time.Millisecond, Output: 4},
	}}})
}

// truths are what the simulated model knows of each request.
type truths struct {
	mu  sync.Mutex
	all []simulator.Truth
}

func (t *truths) add(truth simulator.Truth) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, truth)
}

func (t *truths) last() simulator.Truth {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all[len(t.all)-1]
}

// turn sends a request of the session and returns its row.
func (w *world) turn(r request, headers ...string) exchange.Exchange {
	w.t.Helper()
	_, x := w.exchange("/v1/responses", r.body(), append([]string{"Session-Id", "s", "Authorization", "Bearer key"}, headers...)...)
	return x
}

// kindly is the header by which Codex says what a request is for.
func kindly(kind string) []string {
	return []string{"X-Codex-Turn-Metadata", `{"turn_id":"t","request_kind":"` + kind + `"}`}
}

// sharedTokens is the row's, -1 for nil.
func sharedTokens(x exchange.Exchange) int64 {
	if x.PrefixSharedTokens == nil {
		return -1
	}
	return *x.PrefixSharedTokens
}

func TestAnAgentsTurnsThroughACachingModel(t *testing.T) {
	one, two := opening().with(round(1)...), opening().with(slices.Concat(round(1), round(2))...)
	otherTools, otherMessage := two, two
	otherTools.tools = filling("do a command", 9_000)
	otherMessage.input = append([]item{two.input[0], said("user", "look into this")}, two.input[2:]...)
	summary := request{model: "m", tools: one.tools, input: []item{one.input[0], said("user", filling("what was done", 3_000))}}
	for _, c := range []struct {
		name    string
		pause   time.Duration
		next    request
		headers []string
		outcome string
		changed string
	}{
		{"a round later", time.Second, two, nil, "hit", ""},
		{"two questions later", time.Second, two.with(said("user", "and?"), said("user", "well?")), nil, "hit", ""},
		{"the same again", time.Second, one, nil, "hit", ""},
		{"after five minutes", 5*time.Minute + time.Second, two, nil, "expired", ""},
		{"without a cache", time.Second, two, []string{simulator.OverrideHeader, "uncached"}, "missed", ""},
		{"with other tools", time.Second, otherTools, nil, "broken", "tools"},
		{"with an early message changed", time.Second, otherMessage, nil, "broken", "user"},
		{"asking for a summary", time.Second, two.with(said("user", "sum up")), kindly("compaction"), "hit", ""},
		{"another conversation", time.Second, summary, nil, "hit", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var truths truths
			inBubble(t, caching(&truths), func(t *testing.T, w *world) {
				if x := w.turn(opening()); x.CacheOutcome != "new" || x.PrefixIdle != nil || len(x.Prompt) < 20 {
					t.Errorf("the first is %q", x.CacheOutcome)
				}
				w.turn(one)
				time.Sleep(c.pause)
				x := w.turn(c.next, c.headers...)
				if x.CacheOutcome != c.outcome || x.ChangedSection != c.changed {
					t.Errorf("%q, changed %q; want %q, %q (shared %d, cached %d)", x.CacheOutcome, x.ChangedSection, c.outcome, c.changed, sharedTokens(x), *x.CachedTokens)
				}
				if cached := int64(truths.last().CachedTokens); c.outcome == "hit" && (sharedTokens(x) < cached || sharedTokens(x) > cached+256) {
					t.Errorf("%d shared, %d of them cached", sharedTokens(x), cached)
				}
			})
		})
	}
}

func TestAfterACompactionThePromptIsSaidToBeACompactedOne(t *testing.T) {
	var truths truths
	inBubble(t, caching(&truths), func(t *testing.T, w *world) {
		long := opening().with(slices.Concat(round(1), round(2))...)
		w.turn(long)
		w.turn(long.with(item{"type": "compaction_trigger"}), kindly("compaction")...)
		short := opening().with(item{"type": "compaction", "encrypted_content": filling("opaque", 900)})
		x := w.turn(short, kindly("turn")...)
		if x.CacheOutcome != "broken" || x.ChangedSection != "compaction" || *x.ChangedIndex != 4 {
			t.Errorf("%q, changed %q at %d", x.CacheOutcome, x.ChangedSection, *x.ChangedIndex)
		}
		if x := w.turn(short.with(said("user", "go on"))); x.CacheOutcome != "hit" || x.ChangedSection != "" {
			t.Errorf("then %q, changed %q", x.CacheOutcome, x.ChangedSection)
		}
	})
}

// Whatever a client does with its conversation, what is said to be shared is
// what the model had cached, but for the blocks that it counts in.
func TestSharedTokensAreThoseThatTheModelHadCached(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.IntRange(0, 4), 1, 12).Draw(rt, "steps")
		var truths truths
		inBubble(t, caching(&truths), func(t *testing.T, w *world) {
			r := opening()
			for i, step := range steps {
				switch step {
				case 0:
					r = r.with(said("user", filling(fmt.Sprint("change ", i), 700)))
				case 1:
					r.tools = filling(fmt.Sprint("tools ", i), 9_000)
				case 2:
					r.input = append([]item{r.input[0], said("user", fmt.Sprint("look at ", i))}, r.input[2:]...)
				case 3:
					r.input = slices.Clip(r.input[:max(2, len(r.input)-2)])
				}
				r = r.with(round(i)...)
				x := w.turn(r)
				cached := int64(truths.last().CachedTokens)
				if off := sharedTokens(x) - cached; off < -256 || off > 256 {
					rt.Errorf("steps %v: %d shared, %d cached", steps[:i+1], sharedTokens(x), cached)
				}
				if x.CacheOutcome == "missed" || x.CacheOutcome == "expired" || x.CacheOutcome == "partial" {
					rt.Errorf("steps %v: %d of %d tokens were cached: %q", steps[:i+1], cached, sharedTokens(x), x.CacheOutcome)
				}
			}
		})
	})
}

// answering is an upstream that numbers its responses and says of the cache
// nothing.
func answering() http.Handler {
	var n atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", eventStream)
		fmt.Fprintf(w, `data: {"type":"response.completed","response":{"id":"resp_%d","status":"completed","model":"m","usage":{"input_tokens":9000,"output_tokens":5,"total_tokens":9005}}}`+"\n\n", n.Add(1))
	})
}

func TestAResponseThatGoesOnFromAnotherHasItsPromptToo(t *testing.T) {
	w := onSockets(t, "/v1", answering())
	first := w.turn(opening())
	next := request{model: "m", tools: opening().tools, previous: "resp_1", input: round(1)[1:]}
	x := w.turn(next)
	n := len(first.Prompt)
	if len(x.Prompt) < n+3 || !cmp.Equal(first.Prompt, x.Prompt[:n]) {
		t.Fatalf("the first has %d boundaries, what goes on from it %d", n, len(x.Prompt))
	}
	if x.CacheOutcome != "unreported" || sharedTokens(x) != 9_000 || !*x.PrefixCounted {
		t.Errorf("%q with %d shared", x.CacheOutcome, sharedTokens(x))
	}
	again := w.turn(next)
	if !cmp.Equal(x.Prompt, again.Prompt) {
		t.Error("the same request has another prompt")
	}
	next.previous = "resp_2"
	if other := w.turn(next); len(other.Prompt) != len(x.Prompt)+len(x.Prompt)-n {
		t.Errorf("two rounds have %d boundaries, one %d, none %d", len(other.Prompt), len(x.Prompt), n)
	}
	next.previous = "resp_99"
	if x := w.turn(next); x.Prompt != nil || x.CacheOutcome != "" || x.PrefixSharedTokens != nil {
		t.Errorf("what goes on from nothing known has %d boundaries, %q", len(x.Prompt), x.CacheOutcome)
	}
}

func TestOtherToolsBreakWhatGoesOnFromAResponse(t *testing.T) {
	w := onSockets(t, "/v1", answering())
	first := w.turn(opening())
	next := request{model: "m", tools: filling("more tools", 9_000), previous: "resp_1", input: round(1)[1:]}
	x := w.turn(next)
	if x.ChangedSection != "tools" || *x.ChangedIndex != 1 || sharedTokens(x) != 0 {
		t.Errorf("changed %q, %d shared", x.ChangedSection, sharedTokens(x))
	}
	sizes := func(bs []exchange.Boundary) (all []exchange.Boundary) {
		for _, b := range bs {
			b.Hash = 0
			all = append(all, b)
		}
		return all
	}
	if diff := cmp.Diff(sizes(first.Prompt), sizes(x.Prompt[:len(first.Prompt)])); diff != "" {
		t.Errorf("sections (-want +got):\n%s", diff)
	}
	if x := w.turn(next); sharedTokens(x) != 9_000 {
		t.Errorf("the same tools again: %d shared", sharedTokens(x))
	}
}

func TestAPromptIsTheSameHoweverItIsSent(t *testing.T) {
	w := onSockets(t, "/v1", answering())
	plain := w.turn(opening())
	var packed bytes.Buffer
	z, err := zstd.NewWriter(&packed)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(z, opening().body())
	z.Close()
	_, x := w.exchange("/v1/responses", packed.String(), "Content-Encoding", "zstd", "Authorization", "Bearer key")
	if diff := cmp.Diff(plain.Prompt, x.Prompt); diff != "" {
		t.Errorf("packed (-plain +packed):\n%s", diff)
	}
	other := w.turn(opening(), "Authorization", "Bearer another key")
	if other.Prompt[0].Hash == plain.Prompt[0].Hash || sharedTokens(other) != 0 {
		t.Error("two keys share a prefix")
	}
	for _, body := range []string{opening().body()[1:], strings.Replace(opening().body(), `"store"`, `"conversation":"conv_1","store"`, 1)} {
		if _, x := w.exchange("/v1/responses", body); x.Prompt != nil || x.PrefixSharedTokens != nil {
			t.Errorf("%.20s... has a prompt of %d boundaries", body, len(x.Prompt))
		}
	}
}

func TestALargeImageDoesNotOutweighThePrompt(t *testing.T) {
	w := onSockets(t, "/v1", answering())
	x := w.turn(opening().with(item{"role": "user", "content": []item{{"type": "input_image", "image_url": "data:" + filling("pixels", 1<<20)}}}))
	last := x.Prompt[len(x.Prompt)-1]
	if last.Part != exchange.ImagePart || last.Bytes > 6<<10 || len(x.Prompt) > 40 {
		t.Errorf("it counts for %d bytes, in %d boundaries", last.Bytes, len(x.Prompt))
	}
}

// The longest of prompts are kept in a bounded number of boundaries.
func TestAHugePromptHasABoundedNumberOfBoundaries(t *testing.T) {
	w := onSockets(t, "/v1", answering())
	body := `{"model":"m","input":` + quoted(filling("all of it", 17<<20)) + `}`
	_, x := w.exchange("/v1/responses", body)
	if len(x.Prompt) != 16_384 || x.Prompt[len(x.Prompt)-1].Bytes < 1<<20 {
		t.Errorf("%d boundaries, the last of %d bytes", len(x.Prompt), x.Prompt[len(x.Prompt)-1].Bytes)
	}
}
