package console

import (
	"strconv"
	"strings"
	"time"

	"github.com/ttftap/ttftap/store/audit"
)

var vendors = []source{
	{name: "openai-usage", needs: "start_time end_time num_model_requests input_tokens output_tokens",
		mapping: mapping{
			kind: audit.Bucket, time: "start_time", until: "end_time", zone: time.UTC,
			model: "model", key: "api_key_id", requests: "num_model_requests",
			input: "input_tokens", cached: "input_cached_tokens", write: "input_cache_write_tokens", output: "output_tokens",
		}},
	{name: "openai-cost", needs: "start_time end_time amount_value|amount.value line_item",
		mapping: mapping{
			kind: audit.Bucket, time: "start_time", until: "end_time", zone: time.UTC, key: "api_key_id",
			money: "amount_value|amount.value", currency: "=amount_currency|amount.currency", moneyKind: audit.Billed,
		}},
	{name: "azure-metrics", needs: "name.value timestamp total|count|average",
		mapping: mapping{kind: audit.Bucket, time: "timestamp", zone: time.UTC,
			model: "metadatavalues.modeldeploymentname", also: "metadatavalues.modelname", quirk: ofAzureMetrics},
		width: time.Minute},
	{name: "azure-log", needs: "time category correlationid durationms properties|properties.apiname",
		mapping: mapping{
			kind: audit.Request, at: audit.AtStart, time: "time", zone: time.UTC,
			id: "correlationid", model: "properties.modeldeploymentname", also: "properties.modelname",
			status: "resultsignature", total: "durationms ms", embeds: "properties", quirk: ofAzureLog,
		}},
	{name: "anthropic-usage", needs: "usage_date_utc model_version usage_input_tokens_no_cache usage_input_tokens_cache_read usage_output_tokens",
		mapping: mapping{
			kind: audit.Bucket, time: "usage_date_utc", zone: time.UTC, model: "model_version", key: "api_key",
			input: "usage_input_tokens_no_cache", cached: "usage_input_tokens_cache_read", apart: true, output: "usage_output_tokens",
			write: "usage_input_tokens_cache_write + usage_input_tokens_cache_write_5m + usage_input_tokens_cache_write_1h",
			quirk: wholeDay,
		}},
	{name: "anthropic-cost", needs: "usage_date_utc model token_type cost_usd",
		mapping: mapping{
			kind: audit.Bucket, time: "usage_date_utc", zone: time.UTC, model: "model", key: "api_key",
			money: "cost_usd", currency: "USD", moneyKind: audit.Billed, quirk: wholeDay,
		}},
	{name: "anthropic-usage-api", needs: "starting_at ending_at uncached_input_tokens cache_read_input_tokens output_tokens",
		mapping: mapping{
			kind: audit.Bucket, time: "starting_at", until: "ending_at", zone: time.UTC, model: "model", key: "api_key_id",
			input: "uncached_input_tokens", cached: "cache_read_input_tokens", apart: true, output: "output_tokens",
			write: "cache_creation.ephemeral_5m_input_tokens + cache_creation.ephemeral_1h_input_tokens",
		}},
	{name: "anthropic-cost-api", needs: "starting_at ending_at amount currency",
		mapping: mapping{
			kind: audit.Bucket, time: "starting_at", until: "ending_at", zone: time.UTC, model: "model",
			money: "amount", currency: "=currency", unit: 0.01, moneyKind: audit.Billed, // told in cents
		}},
	{name: "openrouter", needs: "generation_id created_at cost_total tokens_prompt tokens_completion model_permaslug",
		mapping: mapping{
			kind: audit.Request, at: audit.AtStart, time: "created_at", zone: time.UTC,
			id: "generation_id", model: "model_permaslug", key: "api_key_name",
			input: "tokens_prompt", cached: "tokens_cached", output: "tokens_completion", reasoning: "tokens_reasoning",
			money: "cost_total", currency: "USD", moneyKind: audit.Billed,
			ttft: "time_to_first_token_ms ms", cancelled: "cancelled",
		}},
	{name: "openrouter-generation", needs: "id created_at model native_tokens_prompt native_tokens_completion total_cost",
		mapping: mapping{
			kind: audit.Request, at: audit.AtStart, time: "created_at", zone: time.UTC,
			id: "id upstream_id", model: "model",
			// What is billed are the native counts; latency is not said to be any span.
			input: "native_tokens_prompt", cached: "native_tokens_cached", output: "native_tokens_completion", reasoning: "native_tokens_reasoning",
			money: "total_cost", currency: "USD", moneyKind: audit.Billed, cancelled: "cancelled",
		}},
	{name: "openrouter-activity", needs: "date model_permaslug|slug usage requests prompt_tokens|prompttokens completion_tokens|completiontokens",
		mapping: mapping{
			kind: audit.Bucket, time: "date", zone: time.UTC, model: "model_permaslug|slug", also: "model", requests: "requests",
			input: "prompt_tokens|prompttokens", output: "completion_tokens|completiontokens", reasoning: "reasoning_tokens|reasoningtokens",
			money: "usage", currency: "USD", moneyKind: audit.Billed, quirk: wholeDay,
		}},
	{name: "deepseek-amount", needs: "utc_date|start_time_iso model api_key_name type price amount",
		mapping: mapping{
			kind: audit.Bucket, time: "start_time_iso|utc_date", until: "end_time_iso", zone: time.UTC,
			model: "model", key: "api_key_name|api_key", quirk: ofDeepSeek,
		}},
	{name: "deepseek-cost", needs: "utc_date|start_time_iso model wallet_type cost currency",
		mapping: mapping{
			kind: audit.Bucket, time: "start_time_iso|utc_date", until: "end_time_iso", zone: time.UTC,
			model: "model", money: "cost", currency: "=currency", moneyKind: audit.Billed,
		}},
	{name: "zhipu-expense", needs: "消费时间 用量 价格类型 模型编码(推理专用) 币种",
		mapping: mapping{
			kind: audit.Bucket, time: "消费时间|账期(自然日)", zone: beijing,
			model: "模型编码(推理专用)|模型产品编码", also: "模型产品名称", key: "apikey",
			money: "总消费金额(结算金额加总)|应付金额", currency: "=币种", moneyKind: audit.Billed, quirk: ofZhipu,
		}},
	{name: "fireworks", needs: "start_time end_time usage_type base_model_name prompt_tokens completion_tokens",
		mapping: mapping{
			kind: audit.Request, time: "start_time", zone: time.UTC, model: "base_model_name",
			input: "prompt_tokens", output: "completion_tokens", quirk: ofFireworks,
		}},
	{name: "volcengine-usage", needs: "name timestamp value", lacks: "name.value",
		mapping: mapping{kind: audit.Bucket, time: "timestamp", zone: beijing, quirk: ofVolcengine},
		width:   time.Hour},
}

// wholeDay makes a day of a time that has some: the console's buckets are days.
func wholeDay(_ row, rec *audit.Record, _ *importing) error {
	rec.From = rec.From.Truncate(24 * time.Hour)
	rec.To = rec.From.Add(24 * time.Hour)
	return nil
}

// kinds are the counts that a row of one kind of token adds to.
type kinds map[string]func(*audit.Record) []**int64

// add sets a record's counts to n by its kind of token. Other kinds count nothing
// that is compared.
func (k kinds) add(kind string, n *int64, rec *audit.Record) {
	if to := k[strings.ToLower(kind)]; to != nil {
		for _, count := range to(rec) {
			*count = n
		}
	}
}

func ofInput(r *audit.Record) []**int64    { return []**int64{&r.Input} }
func ofCached(r *audit.Record) []**int64   { return []**int64{&r.Input, &r.Cached} }
func ofOutput(r *audit.Record) []**int64   { return []**int64{&r.Output} }
func ofRequests(r *audit.Record) []**int64 { return []**int64{&r.Requests} }

var deepSeekKinds = kinds{
	"input_cache_hit_tokens":  ofCached,
	"input_cache_miss_tokens": ofInput,
	"output_tokens":           ofOutput,
	"request_count":           ofRequests,
}

// ofDeepSeek reads one kind of token, of which there may be a row for each price.
func ofDeepSeek(r row, rec *audit.Record, im *importing) error {
	n, err := r.count("amount", im.decimalComma)
	deepSeekKinds.add(r.text("type"), n, rec)
	return err
}

var zhipuKinds = kinds{"输入": ofInput, "缓存输入": ofCached, "缓存命中": ofCached, "输出": ofOutput}

// ofZhipu reads one kind of token. The requests stand in the row of each kind, so
// that one of them tells how many there were.
func ofZhipu(r row, rec *audit.Record, im *importing) error {
	kind := r.text("价格类型")
	n, err := r.count("用量", im.decimalComma)
	if err != nil {
		return err
	}
	if unit := r.text("用量单位"); unit == "" || strings.Contains(strings.ToLower(unit), "token") {
		zhipuKinds.add(kind, n, rec)
	}
	if kind == "输入" || strings.HasPrefix(kind, "不区分") {
		rec.Requests, err = r.count("请求次数(仅api)", im.decimalComma)
	}
	return err
}

// ofFireworks adds the short name of a model to that with its path.
func ofFireworks(_ row, rec *audit.Record, im *importing) error {
	if i := strings.LastIndexByte(rec.Model, '/'); i >= 0 {
		rec.ModelAlso = append(rec.ModelAlso, im.intern(rec.Model[i+1:]))
	}
	return nil
}

var volcengineKinds = kinds{"prompttokens": ofInput, "completiontokens": ofOutput}

func ofVolcengine(r row, rec *audit.Record, im *importing) error {
	n, err := r.count("value", im.decimalComma)
	volcengineKinds.add(r.text("name"), n, rec)
	return err
}

var azureKinds = kinds{"processedprompttokens": ofInput, "generatedtokens": ofOutput, "azureopenairequests": ofRequests}

func ofAzureMetrics(r row, rec *audit.Record, im *importing) error {
	n, err := r.count("total|count", im.decimalComma)
	azureKinds.add(r.text("name.value"), n, rec)
	return err
}

// ofAzureLog reads the start in ticks of 100 ns since the year 1.
func ofAzureLog(r row, rec *audit.Record, _ *importing) error {
	if r.text("category") != "RequestResponse" {
		rec.Kind = audit.Entry
	}
	const upTo1970 = 621_355_968_000_000_000
	ticks, err := strconv.ParseInt(r.text("properties.requesttime"), 10, 64)
	if err != nil || ticks < upTo1970 || ticks > 2*upTo1970 {
		rec.At = "" // time is when the log was written, or so
		return nil
	}
	rec.From = time.Unix(0, 0).UTC().Add(time.Duration(ticks-upTo1970) * 100)
	rec.To = rec.From.Add(100)
	return nil
}
