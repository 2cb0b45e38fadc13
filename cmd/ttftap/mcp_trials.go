package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// agentTrials are the experiments that an agent may plan and run. They spend of one
// budget, one after the other.
type agentTrials struct {
	*mcpCommand
	out   *console
	mu    sync.Mutex
	spent int64
}

type agentTrial struct {
	Kind   string   `json:"kind" jsonschema:"ladder, burst, cache, shapes, load or models"`
	Models []string `json:"models,omitempty" jsonschema:"ids of the models to ask, two or more for models; the one that the log has most of if left out"`
	Rounds int      `json:"rounds,omitempty" jsonschema:"how often each request is sent, 5 if left out; fewer give no intervals"`
	Sizes  []int64  `json:"sizes,omitempty" jsonschema:"lengths of the prompts of ladder and models, in tokens"`
	Size   int64    `json:"size,omitempty" jsonschema:"length of the long prompt of cache and shapes, in tokens"`
	Effort string   `json:"effort,omitempty" jsonschema:"reasoning effort to ask for, such as minimal; hidden reasoning hides the first token"`
}

// plan says what would be sent.
func (e *agentTrials) plan(ctx context.Context, _ *mcp.CallToolRequest, in agentTrial) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	words, err := e.words(in)
	if err != nil {
		return "", err
	}
	return e.command(ctx, words, "--dry-run")
}

// run asks the user, and when called again with a yes, sends and says what was found.
func (e *agentTrials) run(ctx context.Context, call *mcp.CallToolRequest, in agentTrial) (*mcp.CallToolResult, any, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	words, err := e.words(in)
	if err != nil {
		return nil, nil, err
	}
	if said := call.Params.InputResponses; !e.AllowExperiments {
		if len(said) == 0 {
			question, err := e.question(ctx, call.Session, words)
			return question, nil, err
		}
		if !agreedTo(said, words) {
			return nil, nil, errors.New("nothing was sent: the user said no")
		}
	}
	text, err := e.send(ctx, words)
	return plainText(text), nil, err
}

// send sends, and says what was found.
func (e *agentTrials) send(ctx context.Context, words []string) (string, error) {
	text, err := e.command(ctx, words, "--yes", "--json")
	if err != nil {
		return "", err
	}
	var found results
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		return "", fmt.Errorf("read what was found: %w", err)
	}
	e.spent += found.Spent
	var b strings.Builder
	for _, r := range found.Reports {
		b.WriteString(r.Markdown("en"))
	}
	fmt.Fprintf(&b, "\n%s tokens were spent, %s are left of this session's budget.\n", counted(found.Spent), counted(e.left()))
	return b.String(), nil
}

func (e *agentTrials) command(ctx context.Context, words []string, more ...string) (string, error) {
	return runHere(stopping{ctx, e.out.stop.now}, slices.Concat(words, more))
}

func (e *agentTrials) left() int64 { return max(e.Budget-e.spent, 0) }

// question has the agent ask the user whether to send.
func (e *agentTrials) question(ctx context.Context, user *mcp.ServerSession, words []string) (*mcp.CallToolResult, error) {
	p := user.InitializeParams()
	if p == nil || p.Capabilities == nil || p.Capabilities.Elicitation == nil {
		return nil, errors.New("nothing was sent: this agent cannot ask its user. The user can run the experiment with ttftap probe, or start ttftap mcp with --allow-experiments")
	}
	plan, err := e.command(ctx, words, "--dry-run")
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{nameOf(words): &mcp.ElicitParams{
		Message:         "ttftap would send these requests to the model:\n\n" + plan,
		RequestedSchema: json.RawMessage(`{"type":"object","properties":{"send":{"type":"boolean","title":"Send them","default":false}},"required":["send"]}`),
	}}}, nil
}

// agreedTo says whether the user has said yes to a command. Some agents accept
// whatever comes, with nothing in it.
func agreedTo(said mcp.InputResponseMap, words []string) bool {
	answer, ok := said[nameOf(words)].(*mcp.ElicitResult)
	return ok && answer.Action == "accept" && answer.Content["send"] == true
}

// nameOf names a command, so that a yes is one to it and no other.
func nameOf(words []string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	return "send_" + hex.EncodeToString(sum[:8])
}

// words is the command line of a trial.
func (e *agentTrials) words(in agentTrial) ([]string, error) {
	switch in.Kind {
	case "ladder", "burst", "cache", "shapes", "load", "models":
	default:
		return nil, fmt.Errorf("there is no experiment %q: ladder, burst, cache, shapes, load, models", in.Kind)
	}
	if e.left() == 0 {
		return nil, errors.New("this session's budget is spent: ttftap mcp --budget raises it")
	}
	words := []string{"probe", in.Kind, "--budget=" + strconv.FormatInt(e.left(), 10)}
	set := func(flag, value string) {
		if value != "" && value != "0" {
			words = append(words, flag+"="+value)
		}
	}
	for _, m := range in.Models {
		set("--model", m)
	}
	for _, u := range e.Upstream {
		set("--upstream", u)
	}
	set("--rounds", strconv.Itoa(in.Rounds))
	set("--sizes", joined(in.Sizes))
	set("--size", strconv.FormatInt(in.Size, 10))
	set("--effort", in.Effort)
	set("--via", e.Via)
	set("--db", e.DB)
	set("--ca-file", e.CAFile)
	set("--ui-token", e.UIToken)
	set("--key-env", e.KeyEnv)
	return words, nil
}

// joined is a list as a flag takes it.
func joined(numbers []int64) string {
	var parts []string
	for _, n := range numbers {
		parts = append(parts, strconv.FormatInt(n, 10))
	}
	return strings.Join(parts, ",")
}
