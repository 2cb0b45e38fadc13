package probe

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// Instance is a running ttftap, as a client knows it.
type Instance struct {
	Client *http.Client
	Base   string // its address, without a slash at the end
	Token  string // of its page; "" where it asks for none
}

// Row is what the log says of a request, as far as a run goes by it. Nil is
// unknown.
type Row struct {
	ID           string           `json:"id"`
	Model        string           `json:"model_requested"`
	Dialect      exchange.Dialect `json:"dialect"`
	Step         *int64           `json:"experiment_step"`
	Outcome      exchange.Outcome `json:"outcome"`
	Error        string           `json:"error"`
	PromptTokens *int64           `json:"prompt_tokens"`
	CachedTokens *int64           `json:"cached_tokens"`
	OutputTokens *int64           `json:"output_tokens"`
	Reasoning    string           `json:"reasoning"`
	UsageSource  string           `json:"usage_source"`
	FirstTokenMS *float64         `json:"first_token_ms"`
}

// answered says whether the request got its answer.
func (r *Row) answered() bool {
	return r != nil && (r.Outcome == exchange.OK || r.Outcome == exchange.Incomplete)
}

// counted says whether the upstream told the tokens.
func (r *Row) counted() bool {
	return r != nil && r.UsageSource == "reported" && r.PromptTokens != nil && r.OutputTokens != nil
}

// Healthy says whether a ttftap answers.
func (i *Instance) Healthy(ctx context.Context) error {
	res, err := i.get(ctx, "/-/healthz")
	if err != nil {
		return err
	}
	defer res.Body.Close()
	first, err := io.ReadAll(io.LimitReader(res.Body, 2))
	if res.StatusCode != http.StatusOK || string(first) != "ok" {
		return errors.Join(fmt.Errorf("what answers at %s is no ttftap", i.Base), err)
	}
	return nil
}

// Report is what an experiment has found by now.
func (i *Instance) Report(ctx context.Context, id string) (*experiment.Report, error) {
	return i.report(ctx, "/-/api/experiments/"+url.PathEscape(id))
}

// Range is a report of what the log has of a time, both ends as its filters take
// them.
func (i *Instance) Range(ctx context.Context, from, to string) (*experiment.Report, error) {
	q := url.Values{}
	for name, value := range map[string]string{"from": from, "to": to} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return i.report(ctx, "/-/api/experiments/range?"+q.Encode())
}

func (i *Instance) report(ctx context.Context, path string) (*experiment.Report, error) {
	var r experiment.Report
	return &r, i.ask(ctx, path, &r)
}

// begin tells the instance of an experiment, end that it has ended.
func (i *Instance) begin(ctx context.Context, id string, plan *experiment.Plan) error {
	return i.tell(ctx, "/-/api/experiments", map[string]any{"id": id, "plan": plan})
}

func (i *Instance) end(ctx context.Context, id string, stopped bool) error {
	return i.tell(ctx, "/-/api/experiments/"+id+"/end", map[string]bool{"stopped": stopped})
}

// rows are those that the log has of a query, the newest first.
func (i *Instance) rows(ctx context.Context, query string) ([]*Row, error) {
	var found struct {
		Requests []*Row `json:"requests"`
	}
	err := i.ask(ctx, "/-/api/requests?"+query, &found)
	return found.Requests, err
}

// row is the newest of a step that has ended, nil where there is none yet. It is
// among the newest of its experiment, since no more than AtOnce are sent at a time.
func (i *Instance) row(ctx context.Context, s *shot) (*Row, error) {
	found, err := i.rows(ctx, fmt.Sprintf("limit=%d&experiment=%s", 2*s.arm.AtOnce+2, s.experiment))
	for _, r := range found {
		if r.Step != nil && *r.Step == int64(s.step) {
			return r, nil
		}
	}
	return nil, err
}

func (i *Instance) ask(ctx context.Context, path string, v any) error {
	res, err := i.get(ctx, path)
	if err != nil {
		return err
	}
	return i.read(res, v)
}

func (i *Instance) get(ctx context.Context, path string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, i.Base+path, nil)
	if err != nil {
		return nil, err
	}
	return i.do(r)
}

func (i *Instance) tell(ctx context.Context, path string, v any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, i.Base+path, bytes.NewReader(encoded(v)))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := i.do(r)
	if err != nil {
		return err
	}
	return i.read(res, new(json.RawMessage))
}

// do asks the instance itself.
func (i *Instance) do(r *http.Request) (*http.Response, error) {
	if i.Token != "" {
		r.Header.Set("Authorization", "Bearer "+i.Token)
	}
	return i.Client.Do(r)
}

const answerMost = 64 << 20

// read reads an answer, or why there is none.
func (i *Instance) read(res *http.Response, v any) error {
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, answerMost))
	if err != nil {
		return fmt.Errorf("%s: %w", i.Base, err)
	}
	switch {
	case res.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("%s asks for its token: give it with --ui-token or TTFTAP_UI_TOKEN", i.Base)
	case res.StatusCode >= http.StatusMultipleChoices:
		return fmt.Errorf("%s: %s", i.Base, cmp.Or(complaint(raw), res.Status))
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("%s answers what is no JSON; is it a ttftap of this version? %w", i.Base, err)
	}
	return nil
}

// complaint is the message of an error, in the form that APIs share.
func complaint(raw []byte) string {
	var told struct {
		Error struct {
			Message string `json:"message"`
			Param   string `json:"param"`
		} `json:"error"`
	}
	if json.Unmarshal(raw, &told) != nil {
		return ""
	}
	return strings.TrimSpace(told.Error.Message + " " + told.Error.Param)
}
