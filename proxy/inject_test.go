package proxy_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy"
	"github.com/ttftap/ttftap/proxy/exchange"
)

func injecting(c *proxy.Config) { c.InjectUsage = true }

const (
	question = `"stream_options":{"include_usage":true}`
	asksToo  = `{"model":"m","stream":true,` + question + `,"messages":[{"role":"user","content":"hi"}]}`
)

// teller is a server that tells the usage of a stream to who asks for it, as
// OpenAI's does.
func teller(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	answer := chatRole + chatText + chatText + chatFinish
	if strings.Contains(string(body), question) {
		answer = strings.ReplaceAll(answer, "]}\n", `],"usage":null}`+"\n") + chatUsage
	}
	w.Header().Set("Content-Type", eventStream)
	for event := range strings.SplitAfterSeq(answer+chatDone, "\n\n") {
		io.WriteString(w, event)
		w.(http.Flusher).Flush()
	}
}

func TestUsageIsAskedForAndTheClientDoesNotNotice(t *testing.T) {
	upstream, got := witness(teller)
	w := onSockets(t, "/v1", upstream, injecting)
	answer, x := w.exchange("/v1/chat/completions", chatAsked, "Accept-Encoding", "gzip, br", "X-A", "1")
	s := <-got
	if want := strings.Replace(chatAsked, `"stream":true`, `"stream":true,`+question, 1); s.body != want || s.length != int64(len(want)) {
		t.Errorf("the upstream got %s, Content-Length %d", s.body, s.length)
	}
	if s.header.Get("Accept-Encoding") != "identity" || s.header.Get("X-A") != "1" {
		t.Errorf("with the headers %v", s.header)
	}
	if want := chatRole + chatText + chatText + chatFinish + chatDone; answer != want {
		t.Errorf("the client got %q", answer)
	}
	if x.Outcome != exchange.OK || number(x.OutputTokens) != 5 || x.UsageSource != "reported" || !strings.Contains(x.Note, "--inject-usage") {
		t.Errorf("outcome %s, %d tokens, usage %s, note %q", x.Outcome, number(x.OutputTokens), x.UsageSource, x.Note)
	}
	if *x.RequestBytes != int64(len(chatAsked)) {
		t.Errorf("the client is said to have sent %d bytes", *x.RequestBytes)
	}
}

func TestRequestsThatMustNotAskPassAsTheyAre(t *testing.T) {
	for _, c := range []struct{ name, path, body, header, value, note string }{
		{"an explicit no", "/v1/chat/completions", `{"stream":true,"stream_options":{"include_usage":false}}`, "X-A", "1", ""},
		{"asks itself", "/v1/chat/completions", asksToo, "X-A", "1", ""},
		{"no stream", "/v1/chat/completions", `{"stream":false}`, "X-A", "1", ""},
		{"not said", "/v1/completions", `{"prompt":"x"}`, "X-A", "1", ""},
		{"another format", "/v1/responses", `{"stream":true}`, "X-A", "1", ""},
		{"messages", "/v1/messages", `{"stream":true}`, "X-A", "1", ""},
		{"no JSON", "/v1/chat/completions", `stream=true`, "X-A", "1", "no JSON"},
		{"compressed", "/v1/chat/completions", "\x1f\x8b", "Content-Encoding", "gzip", "request body is compressed"},
		{"signed", "/v1/chat/completions", `{"stream":true}`, "X-Amz-Content-Sha256", "00", "has a digest"},
		{"packed only", "/v1/chat/completions", `{"stream":true}`, "Accept-Encoding", "gzip, identity; q=0", "no plain answer"},
		{"packed only, by a star", "/v1/chat/completions", `{"stream":true}`, "Accept-Encoding", "br, *;q=0.0", "no plain answer"},
		{"too long", "/v1/chat/completions", `{"stream":true,"x":"` + strings.Repeat("x", 33<<20) + `"}`, "X-A", "1", "too long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			upstream, got := witness(nil)
			w := onSockets(t, "/v1", upstream, injecting)
			_, x := w.exchange(c.path, c.body, c.header, c.value)
			s := <-got
			if s.body != c.body || s.length != int64(len(c.body)) || s.header.Get(c.header) != c.value {
				t.Errorf("the upstream got %d bytes, %.60q, Content-Length %d, %v", len(s.body), s.body, s.length, s.header)
			}
			if !strings.Contains(x.Note, c.note) || c.note == "" && x.Note != "" {
				t.Errorf("note %q, want %q", x.Note, c.note)
			}
		})
	}
}

func TestWithoutTheSwitchNothingIsAsked(t *testing.T) {
	upstream, got := witness(teller)
	w := onSockets(t, "/v1", upstream)
	_, x := w.exchange("/v1/chat/completions", chatAsked)
	if s := <-got; s.body != chatAsked || x.OutputTokens != nil || x.UsageSource != "absent" || x.Note != "" {
		t.Errorf("the upstream got %s; usage %s, note %q", s.body, x.UsageSource, x.Note)
	}
}

func TestAnUpstreamThatRefusesTheQuestionIsNotAskedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		says   string
	}{
		"OpenAI's words":   {400, `{"error":{"message":"Unrecognized request argument supplied: stream_options"}}`},
		"a strict schema":  {422, `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"]}]}`},
		"the option alone": {400, `include_usage is not supported`},
	} {
		t.Run(name, func(t *testing.T) {
			upstream, got := witness(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if strings.Contains(string(body), question) {
					w.WriteHeader(c.status)
					io.WriteString(w, c.says)
					return
				}
				io.WriteString(w, chatText+chatFinish+chatDone)
			})
			w := onSockets(t, "/v1", upstream, injecting)
			for n := range 3 {
				answer, x := w.exchange("/v1/chat/completions", chatAsked, "Accept-Encoding", "gzip")
				if n == 0 && (<-got).body == chatAsked {
					t.Fatal("it was not asked")
				}
				if s := <-got; s.body != chatAsked || s.header.Get("Accept-Encoding") != "gzip" || s.length != int64(len(chatAsked)) {
					t.Errorf("then it got %s, Content-Length %d, %v", s.body, s.length, s.header)
				}
				if !strings.HasSuffix(answer, chatDone) || *x.Status != 200 || x.Outcome != exchange.OK || !strings.Contains(x.Note, "does not know the question") {
					t.Errorf("exchange %d: status %d, outcome %s, note %q", n, *x.Status, x.Outcome, x.Note)
				}
				if len(got) > 0 {
					t.Error("it was sent once too often")
				}
			}
		})
	}
}

func TestAnyOtherRefusalIsTheClientsToSee(t *testing.T) {
	const says = `{"error":{"message":"messages must not be empty","type":"invalid_request_error"}}`
	for _, status := range []int{400, 422, 429, 500} {
		said := says + strings.Repeat(" ", 100<<10)
		upstream, got := witness(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(said)))
			w.WriteHeader(status)
			io.WriteString(w, said)
		})
		w := onSockets(t, "/v1", upstream, injecting)
		answer, x := w.exchange("/v1/chat/completions", chatAsked)
		if answer != said || *x.Status != int64(status) || !strings.Contains(x.Error, "must not be empty") || len(got) != 1 {
			t.Errorf("status %d, error %q, %d bytes, sent %d times", *x.Status, x.Error, len(answer), len(got))
		}
	}
}

// A server that quotes the request in its refusal of something else names the
// question, too: that is not to keep it from being asked again.
func TestARefusalThatQuotesTheRequestIsNotTakenForTheQuestions(t *testing.T) {
	upstream, got := witness(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "messages") {
			teller(w, r)
			return
		}
		w.WriteHeader(http.StatusUnprocessableEntity)
		fmt.Fprintf(w, `{"detail":[{"msg":"messages is missing","input":%s}]}`, body)
	})
	w := onSockets(t, "/v1", upstream, injecting)
	const bad = `{"model":"m","stream":true}`
	answer, x := w.exchange("/v1/chat/completions", bad)
	if want := `{"detail":[{"msg":"messages is missing","input":` + bad + `}]}`; answer != want || len(got) != 2 {
		t.Errorf("the client got %s, and the upstream %d requests", answer, len(got))
	}
	if !strings.Contains(x.Note, "sent without") || strings.Contains(x.Note, "does not know") {
		t.Errorf("note %q", x.Note)
	}
	<-got
	<-got
	if w.exchange("/v1/chat/completions", chatAsked); !strings.Contains((<-got).body, question) {
		t.Error("the next request did not ask")
	}
}

func TestARefusalIsReadThoughItIsCompressed(t *testing.T) {
	upstream, _ := witness(func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); !strings.Contains(string(body), question) {
			io.WriteString(w, chatText+chatFinish+chatDone)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		w.WriteHeader(http.StatusBadRequest)
		z := gzip.NewWriter(w)
		io.WriteString(z, `{"error":{"message":"Unrecognized request argument supplied: stream_options"}}`)
		z.Close()
	})
	w := onSockets(t, "/v1", upstream, injecting)
	answer, x := w.exchange("/v1/chat/completions", chatAsked, "Accept-Encoding", "gzip")
	if answer != chatText+chatFinish+chatDone || *x.Status != 200 || !strings.Contains(x.Note, "does not know the question") {
		t.Errorf("the client got %q; status %d, note %q", answer, *x.Status, x.Note)
	}
}

func TestACompressedAnswerIsLeftAsItIsAndNotAskedForAgain(t *testing.T) {
	upstream, got := witness(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", eventStream)
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		io.WriteString(z, chatText+chatFinish+chatUsage+chatDone)
		z.Close()
	})
	w := onSockets(t, "/v1", upstream, injecting)
	_, first := w.exchange("/v1/chat/completions", chatAsked, "Accept-Encoding", "gzip")
	_, second := w.exchange("/v1/chat/completions", chatAsked, "Accept-Encoding", "gzip")
	if a, b := <-got, <-got; a.body == chatAsked || b.body != chatAsked || b.header.Get("Accept-Encoding") != "gzip" {
		t.Errorf("it got %s, then %s", a.body, b.body)
	}
	if !strings.Contains(first.Note, "left in") || number(first.OutputTokens) != 5 || !strings.Contains(second.Note, "compresses") {
		t.Errorf("notes %q and %q, %d tokens", first.Note, second.Note, number(first.OutputTokens))
	}
}

// A stream whose length was told gets another one; an answer that is no stream
// keeps its own.
func TestTheLengthOfAnAnswerStaysTrue(t *testing.T) {
	const whole = `{"id":"c1","choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":5}}`
	for media, c := range map[string]struct{ sent, want string }{
		eventStream:        {chatText + chatFinish + chatUsage + chatDone, chatText + chatFinish + chatDone},
		"application/json": {whole, whole},
	} {
		w := onSockets(t, "/v1", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", media)
			w.Header().Set("Content-Length", fmt.Sprint(len(c.sent)))
			io.WriteString(w, c.sent)
		}), injecting)
		res := w.post("/v1/chat/completions", chatAsked)
		got, err := io.ReadAll(res.Body)
		if err != nil || string(got) != c.want || res.ContentLength >= 0 && res.ContentLength != int64(len(c.want)) {
			t.Errorf("%s: %q, %v, Content-Length %d", media, got, err, res.ContentLength)
		}
		if x := w.row(); number(x.OutputTokens) != 5 {
			t.Errorf("%s: %d tokens", media, number(x.OutputTokens))
		}
	}
}

func TestNoChunkWaitsForTheNext(t *testing.T) {
	steps := []step{{time.Second, chatRole}, {time.Second, ": ping\n\n"}, {time.Second, strings.Replace(chatText, "]}\n", `],"usage":null}`+"\n", 1)},
		{time.Second, chatFinish}, {time.Second, chatUsage}, {time.Second, chatDone}}
	want := []string{"1s " + chatRole, "2s : ping\n\n", "3s " + chatText, "4s " + chatFinish, "6s " + chatDone}
	inBubble(t, script(eventStream, steps...), func(t *testing.T, w *world) {
		start := time.Now()
		res := w.post("/v1/chat/completions", chatAsked)
		var got []string
		buf := make([]byte, 4096)
		for {
			n, err := res.Body.Read(buf)
			if n > 0 {
				got = append(got, fmt.Sprint(time.Since(start), " ", string(buf[:n])))
			}
			if err != nil {
				break
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if x := w.row(); ms(x.FirstToken) != 3000 || ms(x.Terminal) != 4000 || ms(x.End) != 6000 || number(x.OutputTokens) != 5 {
			t.Errorf("%+v, %d tokens", of(x), number(x.OutputTokens))
		}
	}, injecting)
}

// The body is sent when it is whole: the time until then is the client's.
func TestWaitingForTheBodyIsNoWaitForTheModel(t *testing.T) {
	inBubble(t, script(eventStream, step{2 * time.Second, chatText + chatFinish + chatUsage + chatDone}), func(t *testing.T, w *world) {
		pr, pw := io.Pipe()
		go func() {
			io.WriteString(pw, chatAsked[:20])
			time.Sleep(5 * time.Second)
			io.WriteString(pw, chatAsked[20:])
			pw.Close()
		}()
		res, err := w.client.Post(w.url+"/v1/chat/completions", "application/json", pr)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
		x := w.row()
		if ms(x.FirstToken) != 7000 || ms(x.Upload) != 5000 || ms(x.Network) != 5000 || ms(x.Wait) != 2000 || ms(x.Proxy) != 0 {
			t.Errorf("first token %v: upload %v, network %v, wait %v, proxy %v", ms(x.FirstToken), ms(x.Upload), ms(x.Network), ms(x.Wait), ms(x.Proxy))
		}
	}, injecting)
}

func TestClientThatLeavesInItsBodyIsNotAnsweredFor(t *testing.T) {
	var asked atomic.Int64
	w := onSockets(t, "/v1", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		asked.Add(1)
	}), injecting)
	_, c := w.raw("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{\"model\":\"m1\",\"stream\":true,")
	c.Close()
	if x := w.row(); x.Outcome != exchange.ClientAbort || x.Status != nil || x.ModelRequested != "m1" {
		t.Errorf("outcome %s, status %v, model %q", x.Outcome, x.Status, x.ModelRequested)
	}
}

func TestUsageIsAskedForOverHTTP2(t *testing.T) {
	got := make(chan string, 8)
	w := overTLS(t, "example.com", true, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- fmt.Sprint(r.Proto, " ", r.ContentLength)
		teller(w, r)
	}), injecting)
	w.client = overHTTP2(t)
	answer, x := w.exchange("/v1/chat/completions", chatAsked)
	if want := fmt.Sprint("HTTP/2.0 ", len(chatAsked)+len(question)+1); <-got != want || answer != chatRole+chatText+chatText+chatFinish+chatDone || number(x.OutputTokens) != 5 {
		t.Errorf("the client got %q, %d tokens", answer, number(x.OutputTokens))
	}
}

// However an upstream cuts its stream, the client gets what it would have got from
// it directly.
func TestTheClientsBytesAreThoseOfADirectRun(t *testing.T) {
	var streams atomic.Pointer[[2][]string]
	server := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked := 0
		if strings.Contains(string(body), question) {
			asked = 1
		}
		w.Header().Set("Content-Type", eventStream)
		for _, piece := range streams.Load()[asked] {
			io.WriteString(w, piece)
			w.(http.Flusher).Flush()
		}
	}
	w := onSockets(t, "/v1", http.HandlerFunc(server), injecting)
	rapid.Check(t, func(rt *rapid.T) {
		texts := rapid.SliceOfN(rapid.String(), 0, 6).Draw(rt, "texts")
		direct, asked := chatStream(texts, rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(rt, "end"))
		streams.Store(&[2][]string{{direct}, inPieces(rt, asked)})
		if got, x := w.exchange("/v1/chat/completions", chatAsked); got != direct || number(x.OutputTokens) != 5 {
			rt.Fatalf("of %q\nthe client got %q, want %q", asked, got, direct)
		}
	})
}

// chatStream is a stream that nobody asked for usage, and the same asked.
func chatStream(texts []string, end string) (direct, asked string) {
	for i, s := range texts {
		content, err := json.Marshal(s)
		if err != nil {
			panic(err)
		}
		chunk := fmt.Sprintf(`data: {"id":"c1","choices":[{"index":0,"delta":{"content":%s}}]`, content)
		if i%3 == 2 {
			direct, asked = direct+": keep-alive\n\n", asked+": keep-alive\n\n"
		}
		direct, asked = direct+chunk+"}\n\n", asked+chunk+`,"usage":null}`+"\n\n"
	}
	direct, asked = direct+chatFinish+chatDone, asked+chatFinish+chatUsage+chatDone
	return strings.ReplaceAll(direct, "\n", end), strings.ReplaceAll(asked, "\n", end)
}

func inPieces(t *rapid.T, s string) (pieces []string) {
	for s != "" {
		n := rapid.IntRange(1, max(1, min(len(s), 200))).Draw(t, "piece")
		pieces, s = append(pieces, s[:n]), s[n:]
	}
	return pieces
}
