package proxy_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/ttftap/ttftap/proxy"
	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestRepeatedRequestAfterAFailureIsItsRetry(t *testing.T) {
	var n atomic.Int64
	w := onSockets(t, "/v1", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		script(eventStream, step{0, chatText + chatFinish + chatDone})(w, r)
	}))
	var got []exchange.Exchange
	for _, body := range []string{chatAsked, chatAsked, chatAsked, chatAsked, `{"model":"m"}`} {
		_, x := w.exchange("/v1/chat/completions", body, "Session-Id", "s1")
		got = append(got, x)
	}
	first := got[0].ID
	for i, want := range []struct {
		group   string
		attempt int64
	}{{first, 1}, {first, 2}, {first, 3}, {"", -1}, {"", -1}} {
		if got[i].RetryGroup != want.group || number(got[i].Attempt) != want.attempt {
			t.Errorf("request %d: group %q, attempt %d", i, got[i].RetryGroup, number(got[i].Attempt))
		}
	}
}

// busy fails every request, once it has read it.
var busy = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	w.WriteHeader(http.StatusServiceUnavailable)
})

func TestTheNextAttemptIsKnownByWhatItAsks(t *testing.T) {
	const asked = `{"model":"m","input":"hello","client_metadata":{"a":"1","b":"2"},"stream":true}`
	zipped := func(body string) string {
		z, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		return string(z.EncodeAll([]byte(body), nil))
	}
	for name, test := range map[string]struct {
		body, coding string
		next         bool
	}{
		"the same":                            {body: asked, next: true},
		"the same, compressed":                {body: zipped(asked), coding: "zstd", next: true},
		"metadata in another order":           {body: strings.Replace(asked, `"a":"1","b":"2"`, `"b":"2","a":"1"`, 1), next: true},
		"metadata in another order, zipped":   {body: zipped(strings.Replace(asked, `"a":"1","b":"2"`, `"b":"2","a":"1"`, 1)), coding: "zstd", next: true},
		"another prompt":                      {body: strings.Replace(asked, "hello", "hallo", 1)},
		"another prompt, compressed":          {body: zipped(strings.Replace(asked, "hello", "hallo", 1)), coding: "zstd"},
		"another model":                       {body: strings.Replace(asked, `"m"`, `"n"`, 1)},
		"words that only look like metadata":  {body: strings.Replace(asked, "hello", `\"client_metadata\":{}`, 1)},
		"broken, so that nothing is left out": {body: strings.TrimSuffix(asked, "}")},
	} {
		t.Run(name, func(t *testing.T) {
			w := onSockets(t, "/v1", busy)
			_, first := w.exchange("/v1/responses", asked, "Session-Id", "s1")
			headers := []string{"Session-Id", "s1"}
			if test.coding != "" {
				headers = append(headers, "Content-Encoding", test.coding)
			}
			_, second := w.exchange("/v1/responses", test.body, headers...)
			if next := second.RetryGroup == first.ID && number(second.Attempt) == 2; next != test.next {
				t.Errorf("group %q, attempt %d after %s", second.RetryGroup, number(second.Attempt), first.ID)
			}
		})
	}
}

// nowhere makes the upstream one to which nobody listens.
func nowhere(t *testing.T) func(*proxy.Config) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	return func(c *proxy.Config) {
		u, err := proxy.ParseUpstream(gone.URL + "/v1")
		if err != nil {
			t.Fatal(err)
		}
		c.Upstreams[0] = u
	}
}

func TestAttemptsThatFoundNoUpstreamAreOneGroup(t *testing.T) {
	w := onSockets(t, "/v1", http.NotFoundHandler(), nowhere(t))
	long := `{"model":"m","input":"` + strings.Repeat("hello ", 200_000) + `"}`
	var first exchange.Exchange
	for i := range int64(3) {
		_, x := w.exchange("/v1/responses", long, "Session-Id", "s1")
		if i == 0 {
			first = x
		}
		if x.Outcome != exchange.Unreachable || x.RetryGroup != first.ID || number(x.Attempt) != i+1 {
			t.Errorf("outcome %s, attempt %d of group %q, the first is %s", x.Outcome, number(x.Attempt), x.RetryGroup, first.ID)
		}
		if x.ModelRequested != "m" || *x.RequestBytes != int64(len(long)) || x.Sent != nil {
			t.Errorf("model %q, %d bytes, sent %v", x.ModelRequested, *x.RequestBytes, x.Sent)
		}
	}
}

func TestClientThatWaitsForLeaveIsToldOfNoUpstreamAtOnce(t *testing.T) {
	w := onSockets(t, "/v1", http.NotFoundHandler(), nowhere(t))
	answer, _ := w.raw("POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
	if line, err := answer.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 502 ") {
		t.Fatalf("%q, %v", line, err)
	}
	if x := w.row(); x.Outcome != exchange.Unreachable || *x.RequestBytes != 0 {
		t.Errorf("outcome %s, %d bytes", x.Outcome, *x.RequestBytes)
	}
}

func TestAClientThatSendsSlowlyHearsAtOnceThatThereIsNoUpstream(t *testing.T) {
	w := onSockets(t, "/v1", http.NotFoundHandler(), nowhere(t))
	body, sending := io.Pipe()
	defer sending.Close()
	go io.WriteString(sending, `{"model":"m","input":"hi",`) // and never the rest
	res, err := http.Post(w.url+"/v1/responses", "application/json", body)
	if err != nil || res.StatusCode != http.StatusBadGateway {
		t.Fatal(res, err)
	}
	io.Copy(io.Discard, res.Body)
	if x := w.row(); x.Outcome != exchange.Unreachable || x.ModelRequested != "m" {
		t.Errorf("%s of %q", x.Outcome, x.ModelRequested)
	}
}
