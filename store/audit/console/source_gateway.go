package console

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/ttftap/ttftap/store/audit"
)

// newAPI is what all exports of such a gateway have in common. Their row is
// written when the answer has ended. The id of a row is no key: ordinary users
// see it modulo 1024.
var newAPI = mapping{
	kind: audit.Request, at: audit.AtEnd,
	id:     "request_id|requestid upstream_request_id|upstreamrequestid",
	model:  "model_name|modelname|模型",
	also:   "other.upstream_model_name",
	key:    "token_name|tokenname|令牌",
	input:  "prompt_tokens|prompttokens|输入tokens|输入",
	output: "completion_tokens|completiontokens|输出tokens|输出",
	cached: "other.cache_tokens|缓存tokens",
	write:  "other.cache_creation_tokens",
	ttft:   "other.frt ms",
	total:  "use_time|usetime|usetime(s)|用时(秒)|用时 s",
	embeds: "other", quirk: ofNewAPI,
}

var gateways = []source{
	{name: "new-api", needs: "created_at type model_name quota prompt_tokens completion_tokens use_time",
		mapping: newAPI.with(func(m *mapping) { m.time = "created_at" })},
	{name: "new-api-server", needs: "createdat(utc)|createdat(unix) type tokenname modelname quota prompttokens completiontokens usetime|usetime(s)",
		mapping: newAPI.with(func(m *mapping) { m.time = "createdat(utc)|createdat(unix)" })},
	{name: "new-api-page", needs: "时间 类型 令牌 模型 输入tokens|输入 输出tokens|输出 花费",
		mapping: newAPI.with(func(m *mapping) {
			m.time, m.money, m.currency, m.moneyKind = "时间", "花费", "USD", audit.Quota
		})},
	{name: "one-api", needs: "created_at type model_name quota prompt_tokens completion_tokens", lacks: "use_time",
		mapping: mapping{
			kind: audit.Request, at: audit.AtEnd, time: "created_at",
			id: "request_id", model: "model_name", key: "token_name",
			input: "prompt_tokens", output: "completion_tokens", total: "elapsed_time ms",
			quirk: ofOneAPI,
		}},
	{name: "sub2api-page", needs: "time model type inputtokens outputtokens cachereadtokens cachewritetokens|cachecreationtokens firsttoken(ms) duration(ms)",
		mapping: mapping{
			kind: audit.Request, at: audit.AtEnd, time: "time",
			id: "requestid", model: "model", key: "apikeyname",
			input: "inputtokens", cached: "cachereadtokens", write: "cachewritetokens|cachecreationtokens", apart: true, output: "outputtokens",
			money: "billedcost|totalcost", currency: "USD", moneyKind: audit.Billed,
			ttft: "firsttoken(ms) ms", total: "duration(ms) ms",
		}},
	{name: "sub2api", needs: "created_at model request_id input_tokens output_tokens cache_read_tokens cache_creation_tokens duration_ms",
		mapping: mapping{
			kind: audit.Request, at: audit.AtEnd, time: "created_at",
			id: "request_id", model: "model", key: "api_key.name",
			input: "input_tokens", cached: "cache_read_tokens", write: "cache_creation_tokens", apart: true, output: "output_tokens",
			money: "actual_cost|total_cost", currency: "USD", moneyKind: audit.Billed,
			ttft: "first_token_ms ms", total: "duration_ms ms",
		}},
	{name: "aiproxy", needs: "request_id request_at model code usage.input_tokens usage.output_tokens",
		mapping: mapping{
			kind: audit.Request, at: audit.AtStart, time: "request_at",
			id: "request_id", model: "model", key: "token_name", status: "code",
			input: "usage.input_tokens", cached: "usage.cached_tokens", write: "usage.cache_creation_tokens",
			output: "usage.output_tokens", reasoning: "usage.reasoning_tokens",
			money: "used_amount", moneyKind: audit.Billed, ttft: "ttfb_milliseconds ms",
		}},
}

// with is the mapping with a change of its own.
func (m mapping) with(change func(*mapping)) mapping {
	change(&m)
	return m
}

// newAPIKinds are the numbers and words by which the gateway tells its rows apart.
var newAPIKinds = map[string]string{
	"1": "entry", "充值": "entry", "topup": "entry", "top-up": "entry",
	"2": "consume", "消费": "consume", "consume": "consume",
	"3": "entry", "管理": "entry", "manage": "entry",
	"4": "entry", "系统": "entry", "system": "entry",
	"5": "error", "错误": "error", "error": "error",
	"6": "refund", "退款": "refund", "refund": "refund",
	"7": "entry", "登录": "entry", "login": "entry",
}

var statusCode = regexp.MustCompile(`status_code=(\d{3})\b`)

// ofNewAPI reads what a row of the gateway is, and its quota.
func ofNewAPI(r row, rec *audit.Record, im *importing) error {
	kind := r.text("type|类型")
	switch newAPIKinds[strings.ToLower(kind)] {
	case "consume":
	case "error":
		rec.Failed = true
		if said := statusCode.FindStringSubmatch(r.text("content|详情")); said != nil {
			status, _ := strconv.ParseInt(said[1], 10, 64)
			rec.Status = &status
		}
	case "refund":
		rec.Refund = true
	case "entry":
		rec.Kind = audit.Entry
	default:
		return r.doubt("type|类型", "%q is no kind of row", "%q 不是已知的类型", short(kind))
	}
	if rec.CacheWrite == nil {
		var err error
		if rec.CacheWrite, err = r.count("other.cache_creation_tokens_5m + other.cache_creation_tokens_1h", false); err != nil {
			return err
		}
	}
	if r.isTrue("other.claude") {
		addUp(&rec.Counts) // such channels count the input without the cache
	}
	rec.Estimated = r.isTrue("other.admin_info.local_count_tokens")
	rec.Cancelled = r.text("other.stream_status.end_reason") == "client_gone"
	return quota(r, rec, im)
}

// ofOneAPI is likewise for its forebear, which logs no failure: 5 is a test of a
// channel there, that no client asked for.
func ofOneAPI(r row, rec *audit.Record, im *importing) error {
	if r.text("type") != "2" {
		rec.Kind = audit.Entry
	}
	if rec.Total != nil && *rec.Total == 0 {
		rec.Total = nil // rows from before it was kept
	}
	return quota(r, rec, im)
}

// usualQuota is how much quota such gateways take for a dollar.
const usualQuota = 500_000

// quota reckons money from a gateway's own unit.
func quota(r row, rec *audit.Record, im *importing) error {
	s := r.text("quota")
	if s == "" {
		return nil
	}
	v, err := number(s, im.decimalComma)
	n, ok := nano(v / cmp.Or(im.options.QuotaPerUnit, usualQuota))
	if err != nil || !ok {
		return r.doubt("quota", "%q is no amount", "%q 不是金额", short(s))
	}
	if rec.Refund {
		n = max(n, -n)
	}
	rec.Money = &audit.Money{Nano: n, Currency: "USD", Kind: audit.Quota}
	return nil
}
