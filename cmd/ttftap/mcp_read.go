package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ttftap/ttftap/proxy/diagnosis"
	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store"
)

// agentLog is the log as an agent reads it. It is opened anew by each tool, since
// the agent may have been started before the log was there.
type agentLog struct {
	out *console
	db  string
}

// agentFilter is the page's filter as an agent gives it.
type agentFilter struct {
	From            string   `json:"from,omitempty" jsonschema:"earliest start: an RFC 3339 time, or a span before now such as -2h or -7d"`
	To              string   `json:"to,omitempty" jsonschema:"start before, likewise"`
	Upstream        string   `json:"upstream,omitempty" jsonschema:"name of the upstream"`
	Model           string   `json:"model,omitempty" jsonschema:"model served, else asked for"`
	Bound           string   `json:"bound,omitempty" jsonschema:"what bound it: prefill, decode, wait, mixed, stalled, unknown"`
	Cause           string   `json:"cause,omitempty" jsonschema:"cause of the verdict, such as cache_miss or queue"`
	Outcome         string   `json:"outcome,omitempty" jsonschema:"how it ended, such as ok, client_abort, upstream_error"`
	Session         string   `json:"session,omitempty" jsonschema:"session id"`
	Turn            string   `json:"turn,omitempty" jsonschema:"turn id"`
	Client          string   `json:"client,omitempty" jsonschema:"beginning of the client's name, such as codex"`
	MinFirstTokenMS *float64 `json:"min_first_token_ms,omitempty" jsonschema:"first token not before this many ms"`
	MinPromptTokens *float64 `json:"min_prompt_tokens,omitempty" jsonschema:"at least this many prompt tokens"`
	MinExcessMS     *float64 `json:"min_excess_ms,omitempty" jsonschema:"at least this many ms slower than usual"`
	Q               string   `json:"q,omitempty" jsonschema:"beginning of an id, or words of an error"`
}

type agentList struct {
	agentFilter
	Sort   string `json:"sort,omitempty" jsonschema:"column to sort by, the greatest first: first_token_ms, total_ms, excess_ms, prompt_tokens, output_tokens; time if left out"`
	Limit  int    `json:"limit,omitempty" jsonschema:"rows, 20 if left out, 100 at most"`
	Cursor string `json:"cursor,omitempty" jsonschema:"next of the answer before, for the rows that follow"`
}

// filterOf is the store's filter of what an agent gave, by the names of the query.
func filterOf(asked any) (store.Filter, error) {
	raw, err := json.Marshal(asked)
	if err != nil {
		return store.Filter{}, err
	}
	var given map[string]any
	if err := json.Unmarshal(raw, &given); err != nil {
		return store.Filter{}, err
	}
	query := url.Values{}
	for name, value := range given {
		query.Set(name, fmt.Sprint(value))
	}
	f, problems := store.ParseFilter(query, time.Now())
	for _, p := range problems {
		err = errors.Join(err, fmt.Errorf("%s %q: %s", p.Name, p.Value, p.Reason))
	}
	return f, err
}

// listed are the columns of a list, after the model.
var listed = []string{
	"id", "started_at", "outcome", "bound", "cause", "first_token_ms", "wait_ms", "decode_ms", "total_ms", "excess_ms",
	"prompt_tokens", "cached_tokens", "output_tokens", "tokens_per_sec", "rate_quality",
}

func (l *agentLog) list(ctx context.Context, _ *mcp.CallToolRequest, in agentList) (string, error) {
	if in.Limit <= 0 {
		in.Limit = 20
	}
	in.Limit = min(in.Limit, 100)
	f, err := filterOf(in)
	if err != nil {
		return "", err
	}
	var page store.Page
	err = l.reading(func(log *store.Store) (err error) {
		page, err = log.List(ctx, f)
		return err
	})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "model\t%s\n", strings.Join(listed, "\t"))
	for _, x := range page.Exchanges {
		b.WriteString(orDash(x.Model()))
		for _, cell := range store.Texts(x, listed) {
			b.WriteString("\t" + printable(cell))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\n%s; an empty cell is unknown.", plural(int64(len(page.Exchanges)), "request"))
	if page.Next != "" {
		fmt.Fprintf(&b, " More with cursor %s.", page.Next)
	}
	return b.String(), nil
}

// reading opens the log for a moment.
func (l *agentLog) reading(fn func(*store.Store) error) error {
	log, err := openLog(l.out, l.db)
	if err != nil {
		return err
	}
	return errors.Join(fn(log), log.Close())
}

type agentID struct {
	ID string `json:"id,omitempty" jsonschema:"id of the request; the last one if left out"`
}

// explain answers as the command does.
func (l *agentLog) explain(ctx context.Context, _ *mcp.CallToolRequest, in agentID) (string, error) {
	return l.command(ctx, "explain", "--", cmp.Or(in.ID, "last"))
}

// report answers as the command does.
func (l *agentLog) report(ctx context.Context, _ *mcp.CallToolRequest, in agentFilter) (string, error) {
	f, err := filterOf(in)
	if err != nil {
		return "", err
	}
	words := []string{"report"}
	for name, values := range f.Query() {
		words = append(words, "--"+strings.ReplaceAll(name, "_", "-")+"="+values[0])
	}
	return l.command(ctx, words...)
}

// command runs a command of this program on the log and returns what it prints.
func (l *agentLog) command(ctx context.Context, words ...string) (string, error) {
	if l.db != "" {
		words = slices.Insert(words, 1, "--db="+l.db)
	}
	return runHere(stopping{ctx, l.out.stop.now}, words)
}

// runHere runs a command of this program within it and returns what it prints, and
// what it complains of as the error.
func runHere(stop stopping, words []string) (string, error) {
	var stdout, stderr bytes.Buffer
	if code := run(stop, words, &stdout, &stderr); code != exitDone && stdout.Len() == 0 {
		return "", errors.New(strings.TrimPrefix(strings.TrimSpace(stderr.String()), "ttftap: "))
	}
	return stdout.String(), nil
}

type agentRanges struct {
	BeforeFrom string `json:"before_from" jsonschema:"start of the first range: an RFC 3339 time, or a span before now such as -2d"`
	BeforeTo   string `json:"before_to" jsonschema:"its end"`
	AfterFrom  string `json:"after_from" jsonschema:"start of the second range"`
	AfterTo    string `json:"after_to,omitempty" jsonschema:"its end; now if left out"`
	Model      string `json:"model,omitempty" jsonschema:"this model alone"`
}

// comparedMost is how many requests of a range are compared, the newest.
const comparedMost = 2000

func (l *agentLog) compare(ctx context.Context, _ *mcp.CallToolRequest, in agentRanges) (text string, err error) {
	err = l.reading(func(log *store.Store) error {
		before, err := rangeOf(ctx, log, agentFilter{From: in.BeforeFrom, To: in.BeforeTo, Model: in.Model})
		if err != nil {
			return err
		}
		after, err := rangeOf(ctx, log, agentFilter{From: in.AfterFrom, To: in.AfterTo, Model: in.Model})
		if err != nil {
			return err
		}
		text = experiment.Compare(before, after).Markdown("en")
		return nil
	})
	return text, err
}

func rangeOf(ctx context.Context, log *store.Store, asked agentFilter) (*experiment.Report, error) {
	f, err := filterOf(asked)
	if err != nil {
		return nil, err
	}
	f.Limit = comparedMost
	var rows []*exchange.Exchange
	err = log.Each(ctx, f, func(x *exchange.Exchange) error {
		kept := *x
		rows = append(rows, &kept)
		return nil
	})
	if err != nil {
		return nil, err
	}
	name := asked.From + ".." + asked.To
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s: there are no requests in it", name)
	}
	return experiment.Range(name, rows), nil
}

func (l *agentLog) baselines(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (text string, err error) {
	var book *diagnosis.Book
	err = l.reading(func(log *store.Store) (err error) {
		book, err = learned(ctx, log, store.Filter{Limit: recalledRows})
		return err
	})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, of := range book.Baselines() {
		name := strings.TrimSpace(of.Model + " " + of.ServiceTier)
		fmt.Fprintf(&b, "%s by upstream %s: %s\n", orDash(name), orDash(of.Upstream), of.Words("en"))
	}
	return cmp.Or(b.String(), "No request has ended yet."), nil
}
