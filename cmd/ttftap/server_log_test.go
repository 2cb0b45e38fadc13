package main

import (
	"bytes"
	"errors"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// logged is what the log has of a server with this answer once it was asked.
func logged(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	told := new(lockedBuffer)
	s := httptest.NewUnstartedServer(answer)
	s.Config.ErrorLog = log.New(serverLog{slog.New(slog.NewTextHandler(told, &slog.HandlerOptions{Level: slog.LevelDebug}))}, "", 0)
	s.Start()
	if res, err := http.Get(s.URL); err == nil {
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
	s.Close()
	return told.String()
}

func TestAPanicIsLoggedByItsPlaceAndNotItsWords(t *testing.T) {
	for name, broken := range map[string]any{"text": "the secret words", "error": errors.New("the secret\nwords"), "bytes": bytes.NewBufferString("the secret words")} {
		got := logged(t, func(http.ResponseWriter, *http.Request) { panic(broken) })
		if strings.Contains(got, "secret") || strings.Contains(got, "words") {
			t.Errorf("%s: the words of a panic are logged: %s", name, got)
		}
		if !strings.Contains(got, "level=ERROR") || !strings.Contains(got, "server_log_test.go") {
			t.Errorf("%s: its place is not logged: %s", name, got)
		}
	}
}

func TestWhatTheServerComplainsOfIsLoggedWithoutQuotes(t *testing.T) {
	told := new(lockedBuffer)
	l := serverLog{slog.New(slog.NewTextHandler(told, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	io.WriteString(l, `http2: server: error reading preface from client 127.0.0.1:9: bogus greeting "the secret words"`)
	io.WriteString(l, "http: Accept error: too many open files; retrying in 5ms\n")
	if got := told.String(); strings.Contains(got, "secret") || !strings.Contains(got, "bogus greeting") || !strings.Contains(got, "retrying in 5ms") {
		t.Errorf("logged: %s", got)
	}
}
