package main

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpCommand gives an agent the log as tools.
type mcpCommand struct {
	through
	KeyEnv           string `help:"Environment variable that holds the key for experiments. Default: OPENAI_API_KEY." placeholder:"NAME"`
	Budget           int64  `help:"Tokens, prompts and answers together, that all experiments of one session may spend." default:"50000"`
	AllowExperiments bool   `help:"Run experiments without asking you each time, for agents that cannot pass a question on to you."`
}

// Help is the part of the help that tells how to use it.
func (*mcpCommand) Help() string {
	return `Speaks the Model Context Protocol on standard input and output, so an agent starts it.
Codex does with

  codex mcp add ttftap -- ttftap mcp

or these lines in ~/.codex/config.toml:

  [mcp_servers.ttftap]
  command = "ttftap"
  args = ["mcp"]

Then ask it why your answers are slow. It reads figures alone: the log holds no
prompt, no output and no key. An experiment, which costs tokens, is run only after
you have said yes to the question that the agent passes on, and within --budget.`
}

// agentGuide is what an agent reads before it chooses a tool.
const agentGuide = `ttftap is a proxy that has measured requests to model APIs. Use it to find out why answers are slow.
TTFT (first_token_ms) = network + queue + prefill; total = TTFT + TPOT x output tokens.
Start with report for the whole, list_requests to find slow ones (sort first_token_ms, total_ms or excess_ms), explain_request for one.
excess_ms is how much slower than usual for that model; what is usual is in baselines.
A value that is absent is unknown, not zero. Rates marked noisy or absent must not be guessed.
When the log cannot tell network, queue and prefill apart, plan_experiment shows what would, and what it costs; run_experiment asks the user first.`

// Run serves an agent until it hangs up.
func (c *mcpCommand) Run(out *console) error {
	return c.server(out).Run(out.stop, &mcp.StdioTransport{})
}

// server has the tools.
func (c *mcpCommand) server(out *console) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "ttftap", Title: "ttftap request log", Version: version}, &mcp.ServerOptions{
		Instructions: agentGuide, Capabilities: &mcp.ServerCapabilities{},
	})
	l := &agentLog{out: out, db: c.DB}
	reading(s, "list_requests", "List requests", "Lists requests of the log, one line of figures each, the newest first. Filter and sort to find the slow ones.", l.list)
	reading(s, "explain_request", "Explain one request", "Says of one request where its time went, its verdict (prefill, decode, wait, mixed, stalled, unknown) and why. Give an id from list_requests, or last.", l.explain)
	reading(s, "report", "Report", "Sums up the log, or the part that filters choose: how many requests by verdict, medians of the phases, what is slow and what to look at next. Markdown.", l.report)
	reading(s, "compare_ranges", "Compare two ranges", "Compares two stretches of time: TTFT, wait and decode rate with 95 % intervals, and whether the difference is real. Use it for before and after a change.", l.compare)
	reading(s, "baselines", "Baselines", "Says what is usual for each model: fixed start, what 1,000 uncached prompt tokens cost, time per output token.", l.baselines)
	e := &agentTrials{mcpCommand: c, out: out}
	reading(s, "plan_experiment", "Plan an experiment", "Says what an experiment would send and what it costs at most. Sends nothing to a model. Kinds: ladder (prompt length), burst (queue spikes), cache (what a cache hit is worth), shapes (prefill against decode), load (requests at once), models (needs two).", e.plan)
	mcp.AddTool(s, &mcp.Tool{
		Name: "run_experiment", Title: "Run an experiment", Annotations: &mcp.ToolAnnotations{DestructiveHint: new(bool)},
		Description: "Sends the requests of an experiment to the model, which costs tokens, and says what they show. Plan it first. The user is asked before anything is sent.",
	}, e.run)
	return s
}

// reading adds a tool that changes nothing.
func reading[In any](s *mcp.Server, name, title, description string, tool func(context.Context, *mcp.CallToolRequest, In) (string, error)) {
	closed := false
	mcp.AddTool(s, &mcp.Tool{
		Name: name, Title: title, Description: description,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: &closed},
	}, answering(tool))
}

// answering makes a tool of a function that answers in text.
func answering[In any](tool func(context.Context, *mcp.CallToolRequest, In) (string, error)) mcp.ToolHandlerFor[In, any] {
	return func(ctx context.Context, call *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		text, err := tool(ctx, call, in)
		if err != nil {
			return nil, nil, err
		}
		return plainText(text), nil, nil
	}
}

func plainText(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}
