package main

import (
	"testing"
	"time"
)

// An idle socket is no stream that is to end first.
func TestAnIdleSocketKeepsNobodyFromStopping(t *testing.T) {
	upstream, closeModel, err := simulatedUpstream()
	if err != nil {
		t.Fatal(err)
	}
	defer closeModel()
	r := startProgram(t, "serve", "--upstream", upstream.URL.String())
	c, _, err := lane{session: "s", agent: "a"}.upgrade(t.Context(), r.base)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r.stop()
	select {
	case code := <-r.code:
		if r.code <- code; code != exitDone {
			t.Errorf("exit %d: %s", code, r.stderr)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for the socket")
	}
}

func TestALaneOfTheDemoGoesOverOneSocket(t *testing.T) {
	upstream, closeModel, err := simulatedUpstream()
	if err != nil {
		t.Fatal(err)
	}
	defer closeModel()
	r := startProgram(t, "serve", "--upstream", upstream.URL.String())
	l := lane{session: "s", agent: "codex_exec/0.171.0", socket: true, asks: []ask{
		{model: "sim-light", prompt: 3000, topic: "tools"},
		{model: "sim-light", prompt: 100, topic: "a question", simulate: "output=20"},
		{model: "sim-light", prompt: 100, topic: "another", simulate: "output=20"},
	}}
	if sent := l.converse(t.Context(), r.base); sent != 3 {
		t.Fatalf("%d were sent", sent)
	}
	for i, row := range r.rows(3) {
		warm := row["request_kind"] == "prewarm"
		if row["transport"] != "websocket" || row["outcome"] != "ok" || warm != (i == 0) || warm != (row["first_token_ms"] == "") || i > 0 && row["cache_outcome"] != "hit" {
			t.Errorf("row %d: %v", i, row)
		}
	}
}
