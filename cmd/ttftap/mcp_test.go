package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// agentOf connects the SDK's own client to the program itself, with a log of a few
// requests that went through base. The user says what said returns.
func agentOf(t *testing.T, said func(*mcp.ElicitParams) *mcp.ElicitResult, args ...string) *mcp.ClientSession {
	t.Helper()
	options := &mcp.ClientOptions{}
	if said != nil {
		options.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) { return said(r.Params), nil }
	}
	command := exec.Command("ttftap", append([]string{"mcp"}, args...)...)
	command.Stderr = os.Stderr
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, options).Connect(t.Context(), &mcp.CommandTransport{Command: command}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// tell is what a tool says, and whether it says it as an error.
func tell(t *testing.T, s *mcp.ClientSession, tool string, args map[string]any) (text string, failed bool) {
	t.Helper()
	got, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range got.Content {
		text += c.(*mcp.TextContent).Text
	}
	return text, got.IsError
}

const secretPrompt = "mcp-canary-prompt-5521"

// afterRequests is a program before which some requests went to quick models.
func afterRequests(t *testing.T, requests int) *running {
	r := startProgram(t, "serve", "--upstream", simulatedModels(t)+"/v1")
	for range requests {
		body := fmt.Sprintf(`{"model":"sim-light","stream":true,"messages":[{"role":"user","content":%q}]}`, secretPrompt)
		req := must(http.NewRequest(http.MethodPost, r.base+"/v1/chat/completions", strings.NewReader(body)))
		req.Header.Set("Authorization", "Bearer sk-mcp-canary-8812")
		res := must(local.RoundTrip(req))
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	}
	r.rows(requests)
	return r
}

func TestAnAgentReadsTheLog(t *testing.T) {
	r := afterRequests(t, 6)
	s := agentOf(t, nil, "--db", r.db)
	if guide := s.InitializeResult().Instructions; !strings.Contains(guide, "TTFT") {
		t.Errorf("instructions %q", guide)
	}
	id := r.rows(6)[0]["id"]
	for _, c := range []struct {
		tool   string
		args   map[string]any
		says   string
		failed bool
	}{
		{"list_requests", nil, "6 requests", false},
		{"list_requests", map[string]any{"limit": 2, "sort": "first_token_ms"}, "More with cursor ", false},
		{"list_requests", map[string]any{"model": "nobody"}, "0 requests", false},
		{"list_requests", map[string]any{"bound": "quick"}, "bound \"quick\"", true},
		{"explain_request", map[string]any{"id": id}, id, false},
		{"explain_request", nil, "first token", false},
		{"explain_request", map[string]any{"id": "01NONE"}, "there is no exchange", true},
		{"explain_request", map[string]any{"id": "--db=/etc/passwd"}, "there is no exchange", true},
		{"report", map[string]any{"from": "-1h"}, "# Where the time went", false},
		{"report", map[string]any{"min_first_token_ms": 1e9}, "No request", false},
		{"compare_ranges", map[string]any{"before_from": "-1h", "before_to": "-30m", "after_from": "-30m"}, "there are no requests in it", true},
		{"compare_ranges", map[string]any{"before_from": "-1h", "before_to": "-0s", "after_from": "-1h"}, "sim-light", false},
		{"baselines", nil, "sim-light by upstream default", false},
	} {
		text, failed := tell(t, s, c.tool, c.args)
		if failed != c.failed || !strings.Contains(text, c.says) {
			t.Errorf("%s %v: failed %v: %s", c.tool, c.args, failed, text)
		}
		if strings.Contains(text, secretPrompt) || strings.Contains(text, "sk-mcp-canary") {
			t.Errorf("%s %v tells what nobody is to know: %s", c.tool, c.args, text)
		}
	}
}

func TestAnAgentIsToldThatThereIsNoLogYet(t *testing.T) {
	s := agentOf(t, nil, "--db", filepath.Join(t.TempDir(), "none.db"))
	for _, tool := range []string{"list_requests", "explain_request", "report", "baselines"} {
		if text, failed := tell(t, s, tool, nil); !failed || !strings.Contains(text, "there is no log at") {
			t.Errorf("%s: failed %v: %s", tool, failed, text)
		}
	}
}

func TestTheListGoesOnAtItsCursor(t *testing.T) {
	r := afterRequests(t, 3)
	s := agentOf(t, nil, "--db", r.db)
	seen := map[string]bool{}
	args := map[string]any{"limit": 2}
	for range 2 {
		text, _ := tell(t, s, "list_requests", args)
		for _, line := range strings.Split(text, "\n")[1:] {
			if cells := strings.Split(line, "\t"); len(cells) > 1 {
				seen[cells[1]] = true
			}
		}
		_, cursor, _ := strings.Cut(text, "More with cursor ")
		args["cursor"] = strings.TrimSuffix(cursor, ".")
	}
	if len(seen) != 3 {
		t.Errorf("two pages of two show %d of 3 requests", len(seen))
	}
}

var smallLadder = map[string]any{"kind": "ladder", "models": []string{"sim-light"}, "sizes": []int{50, 100}, "rounds": 1}

func TestAnExperimentIsRunOnlyWithTheUsersYes(t *testing.T) {
	answer := func(action string, content map[string]any) func(*mcp.ElicitParams) *mcp.ElicitResult {
		return func(p *mcp.ElicitParams) *mcp.ElicitResult {
			if !strings.Contains(p.Message, "tokens at most") {
				t.Errorf("the user is asked %q", p.Message)
			}
			return &mcp.ElicitResult{Action: action, Content: content}
		}
	}
	for name, c := range map[string]struct {
		user  func(*mcp.ElicitParams) *mcp.ElicitResult
		flags []string
		says  string
		sent  bool
	}{
		"yes":                      {answer("accept", map[string]any{"send": true}), nil, "tokens were spent", true},
		"no":                       {answer("decline", nil), nil, "the user said no", false},
		"an answer that is no yes": {answer("accept", map[string]any{"send": false}), nil, "the user said no", false},
		"no way to ask":            {nil, nil, "cannot ask its user", false},
		"a yes for all":            {nil, []string{"--allow-experiments"}, "tokens were spent", true},
		"a budget that is too low": {nil, []string{"--allow-experiments", "--budget", "10"}, "budget", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := afterRequests(t, 1)
			s := agentOf(t, c.user, append([]string{"--db", r.db, "--via", r.base}, c.flags...)...)
			plan, failed := tell(t, s, "plan_experiment", smallLadder)
			if failed || !strings.Contains(plan, "tokens at most") {
				t.Errorf("plan: %s", plan)
			}
			if n := len(r.rows(1)); n != 1 {
				t.Errorf("a plan has sent %d requests", n-1)
			}
			text, failed := tell(t, s, "run_experiment", smallLadder)
			if failed == c.sent || !strings.Contains(text, c.says) {
				t.Errorf("failed %v: %s", failed, text)
			}
			if sent := len(r.rows(1)) > 1; sent != c.sent {
				t.Errorf("requests were sent: %v", sent)
			}
		})
	}
}

func TestExperimentsOfASessionShareOneBudget(t *testing.T) {
	r := afterRequests(t, 1)
	s := agentOf(t, nil, "--db", r.db, "--via", r.base, "--allow-experiments", "--budget", "600")
	var text string
	failed := false
	for n := 0; !failed && n < 20; n++ {
		text, failed = tell(t, s, "run_experiment", smallLadder)
	}
	if !failed || !strings.Contains(text, "budget") {
		t.Errorf("no end of it: %s", text)
	}
	if text, failed := tell(t, s, "run_experiment", map[string]any{"kind": "direct"}); !failed || !strings.Contains(text, "there is no experiment") {
		t.Errorf("failed %v: %s", failed, text)
	}
}
