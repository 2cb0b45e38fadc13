package simulator

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestClientThatLeavesIsToldOfAsFarAsItCame(t *testing.T) {
	// The phases end at 60, 100, 600, 1100 and 1300 ms, with a slot that is
	// taken until 600 ms.
	for after, want := range map[time.Duration]Truth{
		30 * ms:   {Network: 30 * ms},
		70 * ms:   {Network: 60 * ms, Floor: 10 * ms},
		170 * ms:  {Network: 60 * ms, Floor: 40 * ms, Queue: 70 * ms},
		650 * ms:  {Network: 60 * ms, Floor: 40 * ms, Queue: 500 * ms, Prefill: 50 * ms, Status: 200},
		1130 * ms: {Network: 60 * ms, Floor: 40 * ms, Queue: 500 * ms, Prefill: 500 * ms, Decode: 30 * ms, Span: 20 * ms, OutputTokens: 2, Status: 200},
	} {
		t.Run(after.String(), func(t *testing.T) {
			c := Config{Profiles: []Profile{{Name: "m", Slots: 1, Cache: Cache{Min: 1000}, Behaviour: plain}}}
			inBubble(t, c, func(b *bench) {
				go b.post("/responses", apis[0].of(text(500)), "network=0s, floor=0s, prefill=0s, output=1, tpot=600ms")
				synctest.Wait()
				impatient, cancel := context.WithTimeout(context.Background(), after)
				defer cancel()
				b.postAs(impatient, "/responses", apis[0].of(text(500)), "")
				synctest.Wait()
				got := last(b.told())
				want.Total, want.Outcome, want.PromptTokens = after, exchange.ClientAbort, 500
				want.Model, want.Dialect, want.Streamed = "m", exchange.Responses, true
				want.Started, want.RequestID, want.ResponseID = got.Started, got.RequestID, got.ResponseID
				if diff := cmp.Diff(want, got); diff != "" {
					b.t.Error(diff)
				}
			})
		})
	}
}

func last[T any](list []T) T { return list[len(list)-1] }

// gone is a client to which nothing can be written any more.
type gone struct{ *httptest.ResponseRecorder }

func (gone) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestStreamThatCannotBeWrittenIsGivenUp(t *testing.T) {
	for _, value := range []string{"", "headers=token", "progress, headers=accept", "ping=10ms, headers=accept", "hop=70ms", "pseudo"} {
		synctest.Test(t, func(t *testing.T) {
			var truth Truth
			c := one(plain)
			c.Done = func(t Truth) { truth = t }
			r := httptest.NewRequest(http.MethodPost, "/responses", strings.NewReader(`{"model":"m","stream":true,"input":"hi"}`))
			r.Header.Set(OverrideHeader, value)
			New(c).ServeHTTP(gone{httptest.NewRecorder()}, r)
			if truth.Outcome != exchange.ClientAbort {
				t.Errorf("%q: outcome %s", value, truth.Outcome)
			}
		})
	}
}

func TestManyClientsOnRealSocketsGetTheirOwnAnswersInTime(t *testing.T) {
	var mu sync.Mutex
	ids := map[string]bool{}
	c := one(Behaviour{TPOT: 2 * ms, Output: 50})
	c.Done = func(truth Truth) {
		mu.Lock()
		defer mu.Unlock()
		ids[truth.ResponseID] = true
	}
	server := httptest.NewServer(New(c))
	defer server.Close()
	var clients sync.WaitGroup
	for range 40 {
		clients.Go(func() {
			start := time.Now()
			resp, err := http.Post(server.URL+"/v1/responses", "application/json", strings.NewReader(`{"model":"m","stream":true,"input":"hi"}`))
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			messages, err := readStream(resp.Body, start)
			if err != nil || len(apis[0].shown(messages)) != 50 {
				t.Errorf("%d tokens, error %v", len(apis[0].shown(messages)), err)
			}
			if took := time.Since(start); took < 100*ms {
				t.Errorf("50 tokens of 2 ms in %v", took)
			}
		})
	}
	clients.Wait()
	if len(ids) != 40 {
		t.Errorf("%d different ids for 40 answers", len(ids))
	}
}

func TestCutIsACutOnARealSocketToo(t *testing.T) {
	server := httptest.NewServer(New(one(Behaviour{Output: 10})))
	defer server.Close()
	for _, value := range []string{"mishap=cut", "mishap=cut, pseudo", "mishap=cut, headers=token, at=0"} {
		req, err := http.NewRequest(http.MethodPost, server.URL+"/responses", strings.NewReader(`{"model":"m","stream":true,"input":"hi"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(OverrideHeader, value)
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			_, err = readStream(resp.Body, time.Now())
			resp.Body.Close()
		}
		if err == nil {
			t.Errorf("%s: the stream ended well", value)
		}
	}
}

// TestCapturedCodexTurnsAreOneGrowingConversation runs where captured requests
// lie beside the repository.
func TestCapturedCodexTurnsAreOneGrowingConversation(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/codex/samples/responses-0.171-turn*.body.json")
	if len(files) == 0 {
		t.Skip("no captured requests")
	}
	inBubble(t, Config{ToolRounds: 2}, func(b *bench) {
		for i, file := range files {
			body, err := os.ReadFile(file)
			if err != nil {
				b.t.Fatal(err)
			}
			got := b.send(http.MethodPost, "/v1/responses", string(body), nil).messages
			item := gotItem(got)
			if called := item == "function_call exec_command"; called != (i < 2) {
				b.t.Errorf("turn %d is answered by %q", i+1, item)
			}
			truth := last(b.told())
			if uncached := truth.PromptTokens - truth.CachedTokens; i > 0 && uncached > 256 {
				b.t.Errorf("turn %d has %d uncached tokens", i+1, uncached)
			}
		}
	})
}

// gotItem names the last item of a stream of Responses.
func gotItem(all []message) string {
	for i := len(all) - 1; i >= 0; i-- {
		if item := all[i].get("item"); item.Exists() {
			return strings.TrimSpace(item.Get("type").Str + " " + item.Get("name").Str)
		}
	}
	return ""
}
