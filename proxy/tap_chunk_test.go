package proxy

import (
	"bytes"
	"io"
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

// BenchmarkChunk is what the proxy does about a chunk, besides passing it on.
func BenchmarkChunk(b *testing.B) {
	token := []byte(`data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":" token"}}]}` + "\n\n")
	for name, tokens := range map[string]int{"one token": 1, "ten": 10} {
		b.Run(name, func(b *testing.B) {
			f := &flight{proxy: &Proxy{config: Config{Log: slog.New(slog.DiscardHandler)}}, start: time.Now()}
			f.x.Dialect = exchange.Chat
			t := newTap(f, &http.Response{
				StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
				Body: chunks{bytes.Repeat(token, tokens)},
			})
			p := make([]byte, bufferSize)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := t.Read(p); err != nil && err != io.EOF {
					b.Fatal(err)
				}
				t.writing()
			}
		})
	}
}
