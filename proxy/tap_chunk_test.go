package proxy

import (
	"bytes"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// chunks gives one chunk of a stream at each read.
type chunks struct{ text []byte }

func (c chunks) Read(p []byte) (int, error) { return copy(p, c.text), nil }
func (c chunks) Close() error               { return nil }

// texts are events that bring a token, as each format has them.
var texts = map[exchange.Dialect]string{
	exchange.Chat:        `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":" token"}}]}` + "\n\n",
	exchange.Completions: `data: {"id":"c1","model":"m","choices":[{"index":0,"text":" token","finish_reason":null}]}` + "\n\n",
	exchange.Responses:   "event: response.output_text.delta\ndata: " + `{"type":"response.output_text.delta","item_id":"i","output_index":0,"delta":" token","sequence_number":7}` + "\n\n",
	exchange.Messages:    "event: content_block_delta\ndata: " + `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" token"}}` + "\n\n",
}

// passing is the road of a chunk from the upstream to the client: what is to be
// called for each.
func passing(d exchange.Dialect, text []byte) func() {
	f := &flight{proxy: &Proxy{config: Config{Log: slog.New(slog.DiscardHandler)}}, start: time.Now()}
	f.x.Dialect = d
	f.tap = newTap(f, &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: chunks{text},
	})
	w := &writer{ResponseWriter: nowhere{}, flight: f}
	p := make([]byte, bufferSize)
	return func() {
		n, err := f.tap.Read(p)
		if err != nil {
			panic(err) // there is always more
		}
		_, _ = w.Write(p[:n])
	}
}

// nowhere is a client that takes everything.
type nowhere struct{ http.ResponseWriter }

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }

// But for the room that the arrivals take, which grows now and then.
func TestAChunkAfterTheFirstTokenCostsNoAllocation(t *testing.T) {
	for d, text := range texts {
		t.Run(string(d), func(t *testing.T) {
			pass := passing(d, []byte(text))
			pass()
			if allocs := testing.AllocsPerRun(1000, pass); allocs != 0 {
				t.Errorf("%v allocations a chunk", allocs)
			}
		})
	}
}

// BenchmarkChunk is what the proxy does about a chunk, besides passing it on.
func BenchmarkChunk(b *testing.B) {
	for d, text := range texts {
		for name, tokens := range map[string]int{"one token": 1, "ten": 10} {
			b.Run(string(d)+"/"+name, func(b *testing.B) {
				pass := passing(d, bytes.Repeat([]byte(text), tokens))
				b.ReportAllocs()
				for b.Loop() {
					pass()
				}
			})
		}
	}
}
