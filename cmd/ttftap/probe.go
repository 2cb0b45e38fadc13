package main

import (
	"slices"
	"time"

	"github.com/alecthomas/kong"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
	"github.com/ttftap/ttftap/proxy/probe"
)

// probeCommand is the experiments.
type probeCommand struct {
	Ladder  ladderCommand  `cmd:"" help:"Prompts of several lengths: what the start costs, and what a token of the prompt."`
	Burst   burstCommand   `cmd:"" help:"Short prompts alike, one after the other: a high level is network or start, spikes are queue."`
	Cache   cacheCommand   `cmd:"" help:"A long prompt again, longer, and changed early in it: what a cache hit is worth."`
	History historyCommand `cmd:"" help:"A conversation in full, summarised, and with a short system prompt: what compressing it is worth."`
	Models  modelsCommand  `cmd:"" help:"The ladder on two models or more."`
	Shapes  shapesCommand  `cmd:"" help:"A long prompt with a short answer against the reverse."`
	Load    loadCommand    `cmd:"" help:"More and more requests at once: where the first token begins to wait."`
	Direct  directCommand  `cmd:"" help:"The same prompts by two ways: what a relay costs."`
	All     allCommand     `cmd:"" help:"Ladder, burst, cache, shapes and load, and one verdict of them all. Two models or two upstreams are compared, too."`
	Compare compareCommand `cmd:"" help:"What differs between two experiments, or two stretches of the log."`
}

// Help is what probe --help adds.
func (probeCommand) Help() string {
	return `An experiment sends requests that differ in one thing through a running ttftap, or
through one that it starts, and says what the log then tells. Before it sends any it
says how many and what they cost at most, and asks. The key is taken from the
environment: no flag takes one.

  ttftap probe all
  ttftap probe ladder --model gpt-5.1 --sizes 100,1000,8000 --rounds 10
  ttftap probe direct --upstream https://relay.example/v1 --direct https://api.openai.com/v1 --to-key-env OPENAI_API_KEY
  ttftap probe compare ID ID`
}

// through is by which ttftap requests go.
type through struct {
	Via      string   `help:"Address of the ttftap to go through, or the word new: one is started. Default: http://localhost:8838 if one answers there, else new." placeholder:"URL"`
	Upstream []string `help:"Base URL that a ttftap which is started forwards to, as for serve." sep:"none" placeholder:"[NAME=]URL"`
	DB       string   `name:"db" help:"File of the log of a ttftap that is started. Default: ${db}." placeholder:"PATH"`
	CAFile   string   `name:"ca-file" help:"Certificates, in PEM form, that a ttftap which is started trusts beside the system's." placeholder:"PATH"`
	UIToken  string   `name:"ui-token" help:"Token of the page, where it asks for one. Better set in the environment." placeholder:"TOKEN"`
}

// told is how a result is told.
type told struct {
	JSON     bool   `name:"json" help:"Print the report as JSON."`
	Markdown bool   `help:"Print the report as Markdown, to read or to paste."`
	Lang     string `help:"Language of the report: en or zh." enum:"en,zh" default:"en"`
}

func (t *told) check() error {
	if t.JSON && t.Markdown {
		return usagef("--json and --markdown exclude each other")
	}
	return nil
}

// terms are what all experiments have in common.
type terms struct {
	through
	told
	Model    []string      `help:"Model to ask; repeatable where models are compared. Default: the one that the log has most of, else the only one that the upstream lists." sep:"none" placeholder:"ID"`
	Wire     string        `help:"Wire format: responses, chat, or auto." enum:"auto,responses,chat" default:"auto"`
	KeyEnv   string        `help:"Environment variable that holds the key. Default: OPENAI_API_KEY." placeholder:"NAME"`
	Effort   string        `help:"Reasoning effort to ask for, such as minimal. Reasoning that is hidden comes before the first token." placeholder:"LEVEL"`
	Rounds   int           `help:"How often each is asked. Fewer than five give no intervals." default:"5"`
	Pause    time.Duration `help:"Time between requests; a burst has none." default:"1s"`
	Patience time.Duration `help:"How long a request may wait in all where the upstream says 429." default:"1m"`
	Timeout  time.Duration `help:"How long a request may take." default:"5m"`
	Budget   int64         `help:"Tokens, prompts and answers together, that may be spent. Nothing is sent that could exceed it." default:"200000"`
	Seed     uint64        `help:"What order and prompts are drawn by. The same seed sends the same prompts, which a cache may then know. Default: a new one." placeholder:"N"`
	Yes      bool          `help:"Send without asking." short:"y"`
	DryRun   bool          `help:"Say what would be sent, and send nothing."`
	second   another
}

type ladderCommand struct {
	terms
	Sizes []int64 `help:"Lengths of the prompts, in tokens." default:"100,1000,3000"`
}

// Run finds what the length of the prompt costs.
func (c *ladderCommand) Run(out *console, line *kong.Context) error {
	return c.terms.run(out, line, probe.Setup{Sizes: c.Sizes}, experiment.Ladder)
}

type burstCommand struct {
	terms
	Count int `help:"Requests, of each kind." default:"10"`
}

// Run finds what comes and goes.
func (c *burstCommand) Run(out *console, line *kong.Context) error {
	return c.terms.run(out, line, probe.Setup{Count: c.Count}, experiment.Burst)
}

type cacheCommand struct {
	terms
	Size int64 `help:"Length of the prompt, in tokens. Many caches keep none under 1024." default:"2000"`
}

// Run finds what a cache is worth.
func (c *cacheCommand) Run(out *console, line *kong.Context) error {
	return c.terms.run(out, line, probe.Setup{Size: c.Size}, experiment.Cache)
}

type historyCommand struct {
	terms
	Size int64  `help:"Length of the conversation that is made up, in tokens." default:"4000"`
	Body string `help:"Body of a request of yours, Responses or Chat, to take the conversation from. It is read, and kept nowhere." placeholder:"FILE"`
}

// Run finds what compressing a conversation is worth.
func (c *historyCommand) Run(out *console, line *kong.Context) error {
	s := probe.Setup{Size: c.Size}
	if c.Body != "" {
		body, err := readBody(c.Body)
		if err != nil {
			return err
		}
		s.Body = body
		if len(c.Model) == 0 && body.Model != "" {
			c.Model = []string{body.Model}
		}
		if c.Wire != "auto" && c.Wire != body.Wire {
			return usagef("--body %s is the body of a %s request, and --wire says %s", c.Body, body.Wire, c.Wire)
		}
		c.Wire = body.Wire
	}
	return c.terms.run(out, line, s, experiment.History)
}

type modelsCommand struct {
	terms
	Sizes []int64 `help:"Lengths of the prompts, in tokens." default:"100,1000,3000"`
}

// Run compares models.
func (c *modelsCommand) Run(out *console, line *kong.Context) error {
	return c.terms.run(out, line, probe.Setup{Sizes: c.Sizes}, experiment.Models)
}

type shapesCommand struct {
	terms
	Size int64 `help:"Length of the long prompt, in tokens." default:"3000"`
}

// Run tells prefill from decode.
func (c *shapesCommand) Run(out *console, line *kong.Context) error {
	return c.terms.run(out, line, probe.Setup{Size: c.Size}, experiment.Shapes)
}

type loadCommand struct {
	terms
	Levels []int `help:"Requests at a time." default:"1,2,4,8"`
}

// Run finds where the first token begins to wait.
func (c *loadCommand) Run(out *console, line *kong.Context) error {
	return c.terms.run(out, line, probe.Setup{Levels: c.Levels}, experiment.Load)
}

// another is the second upstream, of which one field at most is set.
type another struct {
	To       string `help:"Name of a second upstream of the ttftap to go through." env:"TTFTAP_TO_UPSTREAM" placeholder:"NAME"`
	Direct   string `help:"Base URL of a second upstream, such as the one behind a relay; a ttftap is started that forwards to both." placeholder:"URL"`
	ToKeyEnv string `help:"Environment variable that holds the key of the second upstream. Default: no key is sent there." placeholder:"NAME"`
}

type directCommand struct {
	terms
	another
	Size int64 `help:"Length of the prompts, in tokens." default:"300"`
}

// Run finds what a relay costs.
func (c *directCommand) Run(out *console, line *kong.Context) error {
	if c.To == "" && c.another.Direct == "" {
		return usagef("direct compares two ways: name the second upstream with --to NAME, or give its base URL with --direct URL")
	}
	c.second = c.another
	return c.terms.run(out, line, probe.Setup{Size: c.Size}, experiment.Direct)
}

type allCommand struct {
	terms
	another
	Sizes  []int64 `help:"Lengths of the ladder's prompts, in tokens." default:"100,1000,3000"`
	Size   int64   `help:"Length of the other long prompts, in tokens." default:"2000"`
	Count  int     `help:"Requests of a burst, of each kind." default:"10"`
	Levels []int   `help:"Requests at a time." default:"1,2,4,8"`
}

// Run does what needs no more than it is told.
func (c *allCommand) Run(out *console, line *kong.Context) error {
	kinds := []experiment.Kind{experiment.Ladder, experiment.Burst, experiment.Cache, experiment.Shapes, experiment.Load}
	if len(c.Model) > 1 {
		kinds = append(kinds, experiment.Models)
	}
	if c.To != "" || c.another.Direct != "" {
		kinds = append(kinds, experiment.Direct)
	}
	s := probe.Setup{Sizes: c.Sizes, Size: c.Size, Count: c.Count, Levels: c.Levels}
	c.second = c.another
	return c.terms.run(out, line, s, kinds...)
}

// check finds what no experiment can be made of.
func (a *terms) check(s probe.Setup) error {
	switch least := slices.Concat(s.Sizes, []int64{max(s.Size, 1)}); {
	case a.Rounds < 1:
		return usagef("--rounds %d: there must be one at least", a.Rounds)
	case s.Sizes != nil && len(s.Sizes) < 2:
		return usagef("--sizes: a ladder has two lengths at least")
	case slices.Min(least) < 1 || s.Size < 0:
		return usagef("lengths of prompts are 1 token or more")
	case s.Count < 0 || s.Levels != nil && (len(s.Levels) < 2 || slices.Min(s.Levels) < 1):
		return usagef("--count is 1 or more, and --levels are two or more of 1 or more")
	case a.Budget < 0 || a.Pause < 0 || a.Patience < 0 || a.Timeout < 0:
		return usagef("--budget, --pause, --patience and --timeout are 0 or more")
	case len(inOrder(a.Model)) < len(a.Model):
		return usagef("--model: a model is named twice")
	case a.second.To != "" && a.second.Direct != "":
		return usagef("--to names the second upstream and --direct gives its address: one of them is enough")
	}
	return a.told.check()
}
