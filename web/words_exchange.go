package web

// exchangePhrases are those of one exchange's view that came with its picture of
// the output, its neighbours and its ids, by their keys.
var exchangePhrases = map[string]phrase{
	"exchange.turn":    {"This turn", "同一轮次"},
	"exchange.csv":     {"CSV row", "CSV 行"},
	"exchange.refresh": {"Refresh", "刷新"},
	"exchange.each":    {"Refresh every %s s", "每 %s s 自动刷新"},
	"exchange.stop":    {"Stop refreshing", "停止自动刷新"},

	"why.usual":         {"In all, that is what this model usually takes for as much work (by %s requests).", "总体与该模型完成同等工作量的平时耗时相当（依据 %s 条请求）。"},
	"why.slower":        {"In all it took %s longer than this model usually does for as much work (by %s requests).", "总体比该模型完成同等工作量的平时耗时多 %s（依据 %s 条请求）。"},
	"why.faster":        {"In all it took %s less than this model usually does for as much work (by %s requests).", "总体比该模型完成同等工作量的平时耗时少 %s（依据 %s 条请求）。"},
	"why.similar.first": {"A similar request at %s (%s uncached tokens) had its first token after %s, this one after %s.", "%s 有一条相近的请求（未命中缓存 %s token），首字延迟 %s，本次 %s。"},
	"why.similar.wait":  {"A similar request at %s (%s uncached tokens) waited %s before it decoded, this one %s.", "%s 有一条相近的请求（未命中缓存 %s token），解码前等待 %s，本次 %s。"},
	"why.see":           {"Open it", "打开"},
	"why.compare":       {"Compare the two", "对比两者"},

	"cadence.title":    {"Token cadence", "出字节奏"},
	"cadence.tokens":   {"tokens per second as they came, in steps of %s", "每秒到达的 token 数，每格 %s"},
	"cadence.bytes":    {"bytes of output per second, since tokens cannot be told; in steps of %s", "每秒到达的输出字节数（token 数不可知），每格 %s"},
	"cadence.bar":      {"%s: %s", "%s：%s"},
	"cadence.hidden":   {"%s of reasoning, not shown", "隐藏思考 %s"},
	"cadence.gap":      {"%s gap", "停顿 %s"},
	"cadence.silence":  {"%s at %s", "%s（%s 处）"},
	"cadence.silences": {"Silences over five times the usual gap: %s.", "超过平时间隔五倍的停顿：%s。"},
	"cadence.alt":      {"Output from %s to %s: %s on average, in single steps from %s to %s.", "%s 至 %s 的输出：平均 %s，单格最低 %s，最高 %s。"},
	"cadence.arrivals": {"When it came says nothing of when it was decoded, so no cadence is drawn.", "到达时间不反映解码时间，所以不画节奏图。"},
	"cadence.unkept":   {"No cadence was kept of this request: an older version recorded it.", "这条请求由旧版本记录，没有保存节奏。"},

	"near.title":   {"Around it in its session", "会话中的前后请求"},
	"near.retries": {"Attempts at the same request", "同一请求的各次尝试"},
	"near.compare": {"Compare with the one before", "与上一条对比"},
	"near.this":    {"this one", "本条"},

	"usual.title":  {"Usual for this model", "该模型平时"},
	"usual.beyond": {"beyond the %s tokens that it is known by", "超出已知范围 %s token"},

	"server.rest":      {"Beyond what it counts", "服务器未计入"},
	"server.rest.seen": {"gateways on the way, and the server's own start", "中间网关与服务器自身的启动"},

	"ids.copy":       {"copy", "复制"},
	"ids.newapi":     {"new-api, one-api: usage log, search “请求 ID” (Request ID)", "new-api、one-api：使用日志中搜“请求 ID”"},
	"ids.openrouter": {"OpenRouter: Logs, generation id (generation_id in its CSV)", "OpenRouter：Logs 中的 generation id（CSV 列 generation_id）"},
	"ids.cloudflare": {"Cloudflare AI Gateway: Logs, log id", "Cloudflare AI Gateway：Logs 中的 log ID"},
	"ids.litellm":    {"LiteLLM: Logs, request_id (the call id); Helicone: request id", "LiteLLM：Logs 中的 request_id（call id）；Helicone：request id"},
	"ids.vendor":     {"OpenAI, Anthropic: Logs and support, not in usage exports; new-api: upstream_request_id", "OpenAI、Anthropic：Logs 与客服，用量导出中没有；new-api：upstream_request_id"},
	"ids.azure":      {"Azure: correlationId in its request log; else for support", "Azure：请求日志的 correlationId；其他供应商：客服"},
	"ids.ray":        {"Cloudflare's Ray ID, for support", "Cloudflare Ray ID，用于客服"},
	"ids.openai":     {"OpenAI: dashboard, Logs, by id (stored ones only); LiteLLM: request_id", "OpenAI：控制台 Logs 中搜该 ID（仅限已存储的）；LiteLLM：request_id"},
	"ids.gateway":    {"in the gateway's own log", "网关自己的日志"},
	"ids.request":    {"for the vendor's logs and support", "用于上游日志和客服"},
	"ids.response":   {"the id in the answer's body; LiteLLM: request_id", "响应体中的 ID；LiteLLM：request_id"},

	"fact.saved":         {"Faster than usual by", "比平时快"},
	"fact.floor":         {"Fixed start", "固定开销"},
	"fact.usual_prefill": {"Prefill of such a prompt", "同样输入的预填充"},
	"fact.cached_wait":   {"First token, all cached", "全部命中时首字"},
	"fact.usual_rows":    {"By requests", "依据请求数"},
}
