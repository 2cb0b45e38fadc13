package proxy

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/proxy/sse"
)

// failing is a part of the observer that fails at every chunk.
type failing struct{}

func (failing) Write([]byte, func(sse.Message)) { panic("secret words of a stream") }
func (failing) Close(func(sse.Message))         { panic("secret words of a stream") }

func TestAnObserverThatFailsLosesNoByte(t *testing.T) {
	var log bytes.Buffer
	f := &flight{proxy: &Proxy{config: Config{Log: slog.New(slog.NewTextHandler(&log, nil))}}, start: time.Now()}
	f.x.Dialect = exchange.Chat
	stream := strings.Repeat("data: {}\n\n", 10_000)
	tapped := newTap(f, &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(stream))})
	tapped.reading.form, tapped.reading.cutter = events, failing{}
	got, err := io.ReadAll(tapped)
	if err != nil || string(got) != stream {
		t.Errorf("%d of %d bytes, %v", len(got), len(stream), err)
	}
	tapped.finish()
	if tapped.note() != "the observer failed" || strings.Count(log.String(), "the observer failed") != 1 {
		t.Errorf("note %q, log %s", tapped.note(), log.String())
	}
	if strings.Contains(log.String(), "secret words") {
		t.Errorf("what failed is quoted: %s", log.String())
	}
}
