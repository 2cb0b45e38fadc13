package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/ttftap/ttftap/proxy"
	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// askedOnce runs an instance on a log for one request and returns its row.
func askedOnce(t *testing.T, db string, upstream proxy.Upstream, prompt int) *exchange.Exchange {
	t.Helper()
	i, err := start(t.Context(), plan{
		settings: settings{Listen: "localhost:0"}, upstreams: []proxy.Upstream{upstream}, db: db,
		lines: io.Discard, log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	l := lane{session: "s", agent: "codex_exec/0.171.0"}
	l.send(t.Context(), i.base, ask{api: responses, model: "sim-light", prompt: prompt, topic: "book", simulate: "output=2"})
	if err := i.close(); err != nil {
		t.Fatal(err)
	}
	s, err := store.OpenReader(context.Background(), db)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	x, err := s.Exchange(t.Context(), "last")
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestPromptsAreRememberedAcrossARestart(t *testing.T) {
	upstream, end, err := simulatedUpstream()
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	db := filepath.Join(t.TempDir(), "log.db")
	if x := askedOnce(t, db, upstream, 6_000); x.CacheOutcome != "new" || len(x.Prompt) < 20 {
		t.Errorf("the first is %q, with %d boundaries", x.CacheOutcome, len(x.Prompt))
	}
	x := askedOnce(t, db, upstream, 7_000)
	if x.CacheOutcome != "hit" || *x.PrefixSharedTokens < 5_700 || *x.PrefixSharedTokens > 6_000 {
		t.Errorf("after a restart it is %q, with %d tokens shared", x.CacheOutcome, *x.PrefixSharedTokens)
	}
}

// What is kept of a prompt is no part of it.
func TestNoTextOfAPromptIsInTheLog(t *testing.T) {
	upstream, end, err := simulatedUpstream()
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	db := filepath.Join(t.TempDir(), "log.db")
	askedOnce(t, db, upstream, 6_000)
	kept, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(kept, []byte("codex_exec/0.171.0")) {
		t.Error("the log cannot be read by this test")
	}
	for _, text := range []string{"one more line", "of the same kind", "demo-codex"} {
		if bytes.Contains(kept, []byte(text)) {
			t.Errorf("%q is in the log", text)
		}
	}
}
