package console

import (
	"strings"
	"time"

	"github.com/ttftap/ttftap/store/audit"
)

// observers are gateways and tracers that others host, or that are hosted beside
// a client.
var observers = []source{
	{name: "litellm", needs: "request_id starttime endtime model prompt_tokens completion_tokens spend",
		mapping: mapping{
			kind: audit.Request, at: audit.AtStart, time: "starttime", zone: time.UTC,
			id: "request_id", model: "model", also: "model_group", key: "metadata.user_api_key_alias|api_key",
			input: "prompt_tokens", output: "completion_tokens",
			money: "spend", currency: "USD", moneyKind: audit.Listed, fromCache: "cache_hit",
			embeds: "metadata", quirk: ofLiteLLM,
		}},
	{name: "litellm-daily", needs: "date model api_key prompt_tokens completion_tokens spend successful_requests failed_requests",
		mapping: mapping{
			kind: audit.Bucket, time: "date", zone: time.UTC, model: "model", also: "model_group", key: "api_key",
			input: "prompt_tokens", cached: "cache_read_input_tokens", write: "cache_creation_input_tokens", output: "completion_tokens",
			requests: "successful_requests + failed_requests", money: "spend", currency: "USD", moneyKind: audit.Listed,
		}},
	{name: "helicone", needs: "request_created_at model prompt_tokens completion_tokens response_id|request_id latency|response_status",
		mapping: mapping{
			kind: audit.Request, at: audit.AtStart, time: "request_created_at", zone: time.UTC,
			id: "response_id request_id", model: "model", status: "response_status",
			input: "prompt_tokens", output: "completion_tokens", money: "cost", currency: "USD", moneyKind: audit.Listed,
			ttft: "time_to_first_token ms", total: "latency ms",
		}},
	{name: "langfuse", needs: "id traceid type starttime endtime providedmodelname|model",
		mapping: mapping{
			kind: audit.Request, at: audit.AtStart, time: "starttime", zone: time.UTC,
			id: "id", model: "providedmodelname|model", money: "totalcost", currency: "USD", moneyKind: audit.Listed,
			embeds: "usagedetails", quirk: ofLangfuse,
		}},
	{name: "cloudflare", needs: "id created_at provider model duration status_code success cached tokens_in tokens_out",
		mapping: mapping{
			kind: audit.Request, time: "created_at", zone: time.UTC,
			id: "id", model: "model", status: "status_code", input: "tokens_in", output: "tokens_out",
			money: "cost", currency: "USD", moneyKind: audit.Listed, total: "duration ms", fromCache: "cached",
			quirk: func(r row, rec *audit.Record, _ *importing) error {
				rec.Failed = rec.Failed || r.text("success") == "false"
				return nil
			},
		}},
	{name: "cloudflare-logpush", needs: "timestamp gateway model provider statuscode cached requestedmodel|endpoint",
		mapping: mapping{
			kind: audit.Request, time: "timestamp", zone: time.UTC,
			model: "model", also: "requestedmodel", status: "statuscode",
			money: "metrics.cost", currency: "USD", moneyKind: audit.Listed, total: "metrics.durationms ms", fromCache: "cached",
			embeds: "metrics",
		}},
}

// ofLiteLLM reads the first token, which is told as the end where nothing was
// streamed.
func ofLiteLLM(r row, rec *audit.Record, _ *importing) error {
	rec.Failed = rec.Failed || r.text("status") == "failure"
	end, first, err := r.after("endtime", "completionstarttime", rec.From)
	if end != nil && first != nil && *first < *end {
		rec.TTFT = first
	}
	rec.Total = end
	return err
}

// after are the spans from start to two times. Nil: the row lacks it.
func (r row) after(a, b string, start time.Time) (toA, toB *time.Duration, err error) {
	if toA, err = r.since(a, start); err != nil {
		return nil, nil, err
	}
	toB, err = r.since(b, start)
	return toA, toB, err
}

func (r row) since(column string, start time.Time) (*time.Duration, error) {
	if r.text(column) == "" {
		return nil, nil
	}
	i, err := r.time(column, time.UTC)
	if d := i.from.Sub(start); err == nil && d >= 0 {
		return &d, nil
	}
	return nil, err
}

// ofLangfuse adds up the usage, whose parts do not overlap, and leaves aside
// what is no call of a model.
func ofLangfuse(r row, rec *audit.Record, im *importing) error {
	if kind := strings.ToUpper(r.text("type")); kind != "GENERATION" && kind != "EMBEDDING" {
		rec.Kind = audit.Entry
	}
	rec.Failed = strings.EqualFold(r.text("level"), "error")
	for name := range r.cells {
		part, ok := strings.CutPrefix(name, "usagedetails.")
		if !ok {
			continue
		}
		n, err := r.count(name, im.decimalComma)
		if err != nil {
			return err
		}
		for _, to := range usageOf(part, &rec.Counts) {
			*to = plus(*to, n)
		}
	}
	end, first, err := r.after("endtime", "completionstarttime", rec.From)
	rec.Total, rec.TTFT = end, first
	return err
}

// usageOf are the counts that a part of the usage belongs to.
func usageOf(part string, c *audit.Counts) (to []**int64) {
	switch {
	case strings.HasPrefix(part, "input"):
		to = append(to, &c.Input)
	case strings.HasPrefix(part, "output"):
		to = append(to, &c.Output)
	case strings.HasPrefix(part, "cache"): // cache_read_input_tokens, as some SDKs have it
		to = append(to, &c.Input)
	}
	switch {
	case strings.Contains(part, "creation"), strings.Contains(part, "write"):
		to = append(to, &c.CacheWrite)
	case strings.Contains(part, "cache"):
		to = append(to, &c.Cached)
	case strings.HasPrefix(part, "output") && strings.Contains(part, "reasoning"):
		to = append(to, &c.Reasoning)
	}
	return to
}
