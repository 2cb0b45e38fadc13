package web

// turnPhrases are those of a turn, by their keys.
var turnPhrases = map[string]phrase{
	"turn.title":     {"Turn", "轮次"},
	"turn.took":      {"This turn took *%s* in %s: %s.", "这一轮用时 *%s*，共 %s：%s。"},
	"turn.so_far":    {"This turn has taken *%s* so far, in %s: %s.", "这一轮仍在进行，已用时 *%s*，共 %s：%s。"},
	"turn.at_least":  {"This turn took at least *%s*, in %s: %s.", "这一轮至少用时 *%s*，共 %s：%s。"},
	"turn.nothing":   {"This turn had %s; how long it took is unknown.", "这一轮共 %s，用时未知。"},
	"turn.session":   {"session %s", "会话 %s"},
	"turn.rows":      {"In the log", "在日志中查看"},
	"turn.split":     {"Where the time went, each moment counted once", "时间去哪了，每一刻只计一次"},
	"turn.waterfall": {"Its requests", "本轮的请求"},
	"turn.clock":     {"seconds from the start of the turn", "秒，从本轮开始算起"},

	"turn.requests.one":  {"%s request", "%s 个请求"},
	"turn.requests.many": {"%s requests", "%s 个请求"},
	"turn.failed.one":    {"%s failed", "%s 个失败"},
	"turn.failed.many":   {"%s failed", "%s 个失败"},
	"turn.again.one":     {"%s retried", "%s 个为重试"},
	"turn.again.many":    {"%s retried", "%s 个为重试"},

	"turn.part.network":   {"%s network", "网络 %s"},
	"turn.part.floor":     {"%s fixed start", "固定开销 %s"},
	"turn.part.queue":     {"%s queue", "排队 %s"},
	"turn.part.wait":      {"%s wait", "等待 %s"},
	"turn.part.prefill":   {"%s prefill", "预填充 %s"},
	"turn.part.tool":      {"%s hosted tools", "托管工具 %s"},
	"turn.part.hidden":    {"%s hidden reasoning", "隐藏思考 %s"},
	"turn.part.unseen":    {"%s unseen decode", "未见的解码 %s"},
	"turn.part.reasoning": {"%s reasoning", "思考 %s"},
	"turn.part.decode":    {"%s decode", "解码 %s"},
	"turn.part.tail":      {"%s after the last token", "末 token 之后 %s"},
	"turn.part.several":   {"%s several requests side by side in different phases", "多个请求并行、阶段不同 %s"},
	"turn.part.underway":  {"%s still under way", "进行中 %s"},
	"turn.part.lost":      {"%s unknown", "未知 %s"},
	"turn.part.yours":     {"%s your own tools (the client between two requests)", "本地工具 %s（客户端在两次请求之间）"},

	"turn.cached":         {"%s cached", "缓存命中 %s"},
	"turn.cached.unknown": {"cached ones unreported", "缓存命中未上报"},
	"turn.reasoning":      {"%s reasoning", "其中思考 %s"},
	"turn.known":          {"known of %s of %s requests", "%[2]s 个请求中 %[1]s 个有数"},

	"turn.partial":    {"≥: not every request said how many tokens it took.", "≥：并非每个请求都上报了 token 数。"},
	"turn.overlapped": {"Requests of this turn ran side by side. The bar counts each moment once; added up over the requests it is more: %s.", "本轮有请求并行。上图每一刻只计一次；按请求累加则更多：%s。"},
	"turn.lost":       {"The proxy was stopped while a request was under way: what became of it, and until when, is unknown.", "代理曾在请求进行中停止：那次请求的结果和结束时间未知。"},
	"turn.drawn":      {"The first %s of %s requests are listed below; all of them are in the bar and in the sums.", "下方只列出 %[2]s 个请求中的前 %[1]s 个；图和合计包含全部请求。"},
	"turn.first":      {"This turn goes on beyond its first %s requests. Those are in the bar and in the sums, and %s of them are listed below.", "本轮的请求超过 %s 个：图和合计只含前这么多，下方列出其中前 %s 个。"},
}
