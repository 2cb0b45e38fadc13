package proxy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// capture is one recorded exchange with a real server, with its arrival times
// and the server's own truth.
type capture struct {
	method, path string
	body         string
	status       int
	header       map[string]string
	headersAt    time.Duration
	writes       []timed
	trimmed      bool // events in the middle were left out
	left         bool // the client left before the end
	truth        truth
}

// timed is what arrived together.
type timed struct {
	at   time.Duration
	text string
}

type truth struct {
	End        float64  `json:"t_end_ms"`
	FirstToken *float64 `json:"client_t_first_token_ms"`
	LastToken  *float64 `json:"client_t_last_token_ms"`
	Usage      *struct {
		Prompt        *int64 `json:"prompt_tokens"`
		Completion    *int64 `json:"completion_tokens"`
		Input         *int64 `json:"input_tokens"`
		Output        *int64 `json:"output_tokens"`
		CacheRead     *int64 `json:"cache_read_input_tokens"`
		PromptDetails cached `json:"prompt_tokens_details"`
		InputDetails  cached `json:"input_tokens_details"`
	} `json:"usage"`
	Timings *struct {
		PromptMS    float64 `json:"prompt_ms"`
		PredictedN  float64 `json:"predicted_n"`
		PredictedMS float64 `json:"predicted_ms"`
	} `json:"timings"`
}

type cached struct {
	Tokens *int64 `json:"cached_tokens"`
}

// shared finds a folder of recordings beside the repository. They are no part of
// it: without them the test is skipped.
func shared(t *testing.T, name string) string {
	t.Helper()
	root := os.Getenv("TTFTAP_SHARED")
	if root == "" {
		dir, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		for ; filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
			if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
				break
			}
		}
		root = filepath.Join(filepath.Dir(dir), "shared")
	}
	path := filepath.Join(root, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("SKIPPED: no recordings at %s", path)
	}
	return path
}

func readCapture(t *testing.T, file string) *capture {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c := new(capture)
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		c.add(t, lines.Bytes())
	}
	return c
}

func (c *capture) add(t *testing.T, line []byte) {
	t.Helper()
	var l struct {
		Kind    string
		Method  string
		Path    string
		Body    json.RawMessage
		Status  int
		Headers map[string]string
		HeadAt  float64 `json:"t_headers_ms"`
		At      float64 `json:"t_ms"`
		Event   string
		Data    string
		Comment string
	}
	if err := json.Unmarshal(line, &l); err != nil {
		t.Fatal(err)
	}
	switch l.Kind {
	case "request":
		c.method, c.path, c.body = l.Method, l.Path, textOf(l.Body)
	case "response":
		c.status, c.header, c.headersAt = l.Status, l.Headers, fromMS(l.HeadAt)
	case "body":
		c.write(l.At, textOf(l.Body))
	case "cut":
		c.trimmed = true
	case "truth":
		if err := json.Unmarshal(line, &c.truth); err != nil {
			t.Fatal(err)
		}
	default:
		var b strings.Builder
		if l.Comment != "" {
			b.WriteString(l.Comment + "\n")
		}
		if l.Event != "" {
			b.WriteString("event: " + l.Event + "\n")
		}
		if l.Data != "" {
			b.WriteString("data: " + l.Data + "\n")
		}
		c.write(l.At, b.String()+"\n")
	}
}

// textOf is a body: a string stands for itself, anything else for its JSON.
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func (c *capture) write(at float64, text string) {
	if n := len(c.writes); n > 0 && c.writes[n-1].at == fromMS(at) {
		c.writes[n-1].text += text
		return
	}
	c.writes = append(c.writes, timed{fromMS(at), text})
}

func fromMS(v float64) time.Duration { return time.Duration(math.Round(v*1000)) * time.Microsecond }

// ServeHTTP answers as the real server did, at its times.
func (c *capture) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	io.Copy(io.Discard, r.Body)
	for name, v := range c.header {
		if name != "transfer-encoding" && name != "connection" && name != "content-length" {
			w.Header().Set(name, v)
		}
	}
	time.Sleep(c.headersAt - time.Since(start))
	w.WriteHeader(c.status)
	w.(http.Flusher).Flush()
	for _, out := range c.writes {
		time.Sleep(out.at - time.Since(start))
		io.WriteString(w, out.text)
		w.(http.Flusher).Flush()
	}
	if c.left {
		<-r.Context().Done()
	}
	time.Sleep(fromMS(c.truth.End) - time.Since(start))
}

func TestRecordingsOfARealServer(t *testing.T) {
	folder := shared(t, "captures")
	files, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	if err != nil || len(files) < 32 {
		t.Fatalf("%d recordings in %s, %v", len(files), folder, err)
	}
	late := 0 // first tokens that are not where the server's own prefill ends
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			c := readCapture(t, file)
			c.left = name == "chat-stream-aborted"
			inBubble(t, c, func(t *testing.T, w *world) {
				x := w.replay(c)
				c.checkTokens(t, &x)
				c.checkTimes(t, &x)
				c.checkOutcome(t, name, &x)
				if !c.agreesOnPrefill(&x) {
					t.Logf("first token %.1f ms after the headers, the server's prefill took %.1f ms", ms(x.FirstToken)-ms(x.Headers), c.truth.Timings.PromptMS)
					late++
				}
			})
		})
	}
	// One holds text back until it fits a grammar, one until its thinking block is
	// open: the first token that anyone can see is later than the first one made.
	if late > 2 {
		t.Errorf("%d first tokens are off the server's prefill by over 10 ms", late)
	}
}

// replay sends the recorded request and reads the answer to its end, or leaves
// when the recorded client did.
func (w *world) replay(c *capture) exchange.Exchange {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	if c.left {
		ctx, cancel = context.WithTimeout(w.t.Context(), fromMS(c.truth.End))
		defer cancel()
	}
	r, err := http.NewRequestWithContext(ctx, c.method, w.url+c.path, strings.NewReader(c.body))
	if err != nil {
		w.t.Fatal(err)
	}
	res, err := w.client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	var want strings.Builder
	for _, out := range c.writes {
		want.WriteString(out.text)
	}
	got, err := io.ReadAll(res.Body)
	if string(got) != want.String() || (err != nil) != c.left {
		w.t.Errorf("%d of %d bytes came through, %v", len(got), want.Len(), err)
	}
	res.Body.Close()
	return w.row()
}

func (c *capture) checkTokens(t *testing.T, x *exchange.Exchange) {
	t.Helper()
	var in, hit, out *int64
	if u := c.truth.Usage; u != nil {
		in, hit, out = u.Prompt, u.PromptDetails.Tokens, u.Completion
		if u.Input != nil {
			in, hit, out = u.Input, u.InputDetails.Tokens, u.Output
		}
		if u.CacheRead != nil { // this dialect leaves the cached part out of the input
			sum := *u.Input + *u.CacheRead
			in, hit = &sum, u.CacheRead
		}
	}
	for what, pair := range map[string][2]*int64{"prompt": {in, x.PromptTokens}, "cached": {hit, x.CachedTokens}, "output": {out, x.OutputTokens}} {
		if number(pair[0]) != number(pair[1]) {
			t.Errorf("%s tokens %d, want %d", what, number(pair[1]), number(pair[0]))
		}
	}
}

func (c *capture) checkTimes(t *testing.T, x *exchange.Exchange) {
	t.Helper()
	for what, pair := range map[string][2]float64{
		"first token": {orMinusOne(c.truth.FirstToken), ms(x.FirstToken)},
		"last token":  {orMinusOne(c.truth.LastToken), ms(x.LastToken)},
		"headers":     {ms(&c.headersAt), ms(x.Headers)},
	} {
		if math.Abs(pair[0]-pair[1]) > 0.001 {
			t.Errorf("%s at %.3f ms, want %.3f", what, pair[1], pair[0])
		}
	}
	tm := c.truth.Timings
	if x.TokensPerSec == nil || tm == nil || c.trimmed || heldBack(x) {
		return
	}
	bar := 0.06
	if tm.PredictedN >= 64 {
		bar = 0.01
	}
	want := (tm.PredictedN - 1) / tm.PredictedMS * 1000
	if off := *x.TokensPerSec/want - 1; math.Abs(off) > bar {
		t.Errorf("decode rate %.2f, the server's %.2f: off by %.1f %%", *x.TokensPerSec, want, off*100)
	}
}

// heldBack says whether the server sent several tokens in one event, as it does
// while it waits for text to fit a grammar: its pace then cannot be seen.
func heldBack(x *exchange.Exchange) bool { return *x.TokensPerEvent > 1.2 }

func orMinusOne(v *float64) float64 {
	if v == nil {
		return -1
	}
	return *v
}

// agreesOnPrefill says whether the first token came when the server says that
// its prefill ended, counted from the headers.
func (c *capture) agreesOnPrefill(x *exchange.Exchange) bool {
	if c.truth.Timings == nil || x.FirstToken == nil {
		return true
	}
	return math.Abs(ms(x.FirstToken)-ms(x.Headers)-c.truth.Timings.PromptMS) <= 10
}

func (c *capture) checkOutcome(t *testing.T, name string, x *exchange.Exchange) {
	t.Helper()
	want := exchange.OK
	switch {
	case strings.HasPrefix(name, "error-"):
		want = exchange.UpstreamError
	case name == "chat-stream-midstream-error":
		want = exchange.ErrorEvent
	case name == "chat-stream-aborted":
		want = exchange.ClientAbort
	case strings.Contains(string(c.finish()), "length"):
		want = exchange.Incomplete
	}
	if x.Outcome != want {
		t.Errorf("outcome %s (%s), want %s", x.Outcome, x.Error, want)
	}
	if strings.HasSuffix(name, "nonstream") && (x.FirstToken != nil || x.Delivery != exchange.NotStreamed) {
		t.Errorf("an answer that was no stream has a first token at %v", x.FirstToken)
	}
	if name == "chat-stream-queued" && x.Bound == exchange.PrefillBound {
		t.Errorf("a queue was called prefill: %s", x.Reason)
	}
	if x.Reason == "" {
		t.Error("no reason")
	}
}

// finish is the recorded finish reason or stop reason, wherever it stands.
func (c *capture) finish() string {
	var found string
	for _, out := range c.writes {
		for _, key := range []string{`"finish_reason":"`, `"stop_reason":"`, `"reason":"`, `"status":"incomplete`} {
			if i := strings.LastIndex(out.text, key); i >= 0 {
				rest := out.text[i+len(key):]
				found = rest[:max(0, strings.IndexByte(rest, '"'))]
			}
		}
	}
	if found == "max_tokens" || found == "max_output_tokens" {
		return "length"
	}
	return fmt.Sprint(found)
}
