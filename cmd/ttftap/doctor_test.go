package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/doctor"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// examineAs runs doctor and returns what it prints as JSON.
func examineAs(t *testing.T, args ...string) (code int, said diagnosed) {
	t.Helper()
	t.Setenv("OPENAI_API_KEY", "sk-for-this-test-alone")
	t.Setenv("CODEX_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	var stdout, stderr bytes.Buffer
	ctx := context.Background()
	code = run(stopping{ctx, ctx}, append([]string{"doctor", "--json"}, args...), &stdout, &stderr)
	if err := json.Unmarshal(stdout.Bytes(), &said); err != nil {
		t.Fatalf("%v: %s%s", err, &stdout, &stderr)
	}
	return code, said
}

// found is what one check found.
func (d *diagnosed) found(check string) doctor.Finding {
	i := slices.IndexFunc(d.Findings, func(f doctor.Finding) bool { return f.Check == check })
	if i < 0 {
		return doctor.Finding{Words: "there is no such check"}
	}
	return d.Findings[i]
}

func TestDoctorReadsBrokenAnswersFromTheLog(t *testing.T) {
	var rows []*exchange.Exchange
	for i := range 4 {
		sign := time.Duration(10*(i+1)) * time.Second
		x := &exchange.Exchange{ID: fmt.Sprintf("01%d", i), StartedAt: time.Now().Add(-time.Hour), Client: "codex_exec/0.171.0", Outcome: exchange.ClientAbort}
		x.Headers, x.LastToken, x.End = new(time.Second), new(sign), new(sign+300*time.Second)
		rows = append(rows, x)
	}
	path := filepath.Join(t.TempDir(), "log.db")
	if err := keep(path, rows); err != nil {
		t.Fatal(err)
	}
	code, said := examineAs(t, "--upstream", simulated(t), "--model", "sim-light", "--db", path)
	f := said.found("aborts")
	if code != exitFailed || f.State != doctor.Change || !strings.Contains(f.Words, "4 of 4 times") || !strings.Contains(f.Advice[0], "stream_idle_timeout_ms") {
		t.Errorf("%d, %+v", code, f)
	}
}

func TestDoctorAsksThroughARunningInstance(t *testing.T) {
	base := simulated(t)
	child := startChild(t, base, filepath.Join(t.TempDir(), "log.db"))
	code, said := examineAs(t, "--upstream", base, "--model", "sim-light", "--via", child.base)
	if f := said.found("ttftap"); code != exitDone || f.State != doctor.OK {
		t.Errorf("%d, %+v", code, f)
	}
	other := startChild(t, "http://127.0.0.1:1/v1", filepath.Join(t.TempDir(), "other.db"))
	code, said = examineAs(t, "--upstream", base, "--model", "sim-light", "--via", other.base)
	if f := said.found("ttftap"); code != exitFailed || !strings.Contains(f.Words, "forwards elsewhere") {
		t.Errorf("%d, %+v", code, f)
	}
}
