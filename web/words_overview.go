package web

// overviewPhrases are those above the table of the log. Parts between asterisks
// are bold.
var overviewPhrases = map[string]phrase{
	"say.few.one":    {"*%s* request so far.", "目前有 *%s* 个请求。"},
	"say.few.many":   {"*%s* requests so far.", "目前有 *%s* 个请求。"},
	"say.open.one":   {"*%s* request is under way.", "*%s* 个请求进行中。"},
	"say.open.many":  {"*%s* requests are under way.", "*%s* 个请求进行中。"},
	"say.all_cold":   {"*%s* of %s requests are prefill-bound, and all of those found less than 10 %% of their prompt in the cache.", "%[2]s 个请求中有 *%[1]s* 个慢在预填充，它们的输入缓存命中都不到 10 %%。"},
	"say.failed":     {"*%s* of %s requests in this view failed, most often so: %s.", "当前视图 %[2]s 个请求中有 *%[1]s* 个失败，最多的是：%[3]s。"},
	"say.prefill":    {"Prefill takes *%s* of the time in this view.", "当前视图中 *%s* 的时间花在预填充（Prefill）上。"},
	"say.queue":      {"*%s* of the time in this view went into queueing before the model began.", "当前视图中 *%s* 的时间花在排队上。"},
	"say.slower":     {"%s has become slower: *%s* in the newer half of this view, *%s* in the older.", "%s 变慢了：当前视图后半段 *%s*，前半段 *%s*。"},
	"say.wait":       {"Waiting for the first token takes *%s* of the time in this view; for %s of the time, queue and prefill cannot be told apart.", "当前视图中 *%s* 的时间花在等首 token 上；其中占总时间 %s 的部分分不清是排队还是预填充。"},
	"say.decode":     {"Decode, reasoning included, takes *%s* of the time in this view.", "当前视图中 *%s* 的时间花在解码（含思考）上。"},
	"say.nothing":    {"Nothing in this view took any time that is known.", "当前视图中没有可知的耗时。"},
	"say.none_bound": {"None of %s requests is prefill-bound.", "%s 个请求中没有慢在预填充的。"},
	"say.bound":      {"*%s* of %s requests are prefill-bound.", "%[2]s 个请求中有 *%[1]s* 个慢在预填充。"},
	"say.cold":       {"*%s* of %s requests are prefill-bound, and %s of those found less than 10 %% of their prompt in the cache.", "%[2]s 个请求中有 *%[1]s* 个慢在预填充，其中 %[3]s 个的输入缓存命中不到 10 %%。"},

	"split.label": {"Share of the time", "时间占比"},

	"number.requests":       {"Requests", "请求"},
	"number.ttft":           {"TTFT p50", "首字 p50"},
	"number.ttft.title":     {"time to the first token; those of answers that something buffers are left out", "首 token 延迟；不含被缓冲的回答"},
	"number.rate":           {"Decode rate", "生成速度"},
	"number.rate.title":     {"all output tokens over all the time in which they came", "全部输出 token 除以其到达时间"},
	"number.cached":         {"Cached input", "缓存命中"},
	"number.cached.title":   {"of the prompts whose cached part the upstream tells", "仅计上游报告了缓存的输入"},
	"number.failed.one":     {"%s failed", "%s 个失败"},
	"number.failed.many":    {"%s failed", "%s 个失败"},
	"number.cancelled.one":  {"%s cancelled", "%s 个中断"},
	"number.cancelled.many": {"%s cancelled", "%s 个中断"},
	"number.p95":            {"p95 %s", "p95 %s"},
	"number.p10":            {"p10 %s", "p10 %s"},
	"number.of":             {"of %s prompt tokens", "共 %s 输入 token"},
	"number.unreported":     {"not reported", "上游未报告"},

	"scale.auto":      {"suits most", "适合多数"},
	"scale.fit":       {"fits all", "容纳全部"},
	"chooser.title":   {"Columns and scale", "列与刻度"},
	"chooser.columns": {"Further columns, named as in the CSV", "更多列（列名同 CSV）"},
	"chooser.scale":   {"Time axis", "时间轴"},

	"scope.more":     {"more than %s", "超过 %s"},
	"scope.sampled":  {"Sentence, shares and charts are made from %s of these %s requests, the newest.", "结论、占比和图表取自这 %[2]s 个请求中最新的 %[1]s 个。"},
	"scope.facets":   {"The counts beside the filters are those of the newest %s.", "筛选项旁的数量取自最新的 %s 个请求。"},
	"scope.confined": {"No index leads to this filter, so the newest %s requests were searched, back to %s.", "此筛选没有索引，只搜索了最新的 %s 个请求，直到 %s。"},
	"scope.older":    {"Search older ones", "搜索更早的"},
}
