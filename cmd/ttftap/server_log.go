package main

import (
	"log/slog"
	"strings"
)

// serverLog takes what the HTTP server has to say. It may quote what a client sent,
// and a panic may say anything: both are left out, for neither belongs in a log.
type serverLog struct{ log *slog.Logger }

// Write takes one message.
func (l serverLog) Write(p []byte) (int, error) {
	said := string(p)
	if strings.HasPrefix(said, "http: panic serving") {
		l.log.Error("a request failed by a fault of ttftap", "stack", said[strings.LastIndex(said, "\ngoroutine ")+1:])
		return len(p), nil
	}
	words, _, _ := strings.Cut(strings.TrimSpace(said), `"`)
	l.log.Debug(words)
	return len(p), nil
}
