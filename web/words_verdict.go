package web

// verdictPhrases are the causes of verdicts and the signs of the log, by their
// keys.
var verdictPhrases = map[string]phrase{
	"cause.error":            {"the request failed", "请求失败"},
	"cause.aborted":          {"given up, by the client or with the proxy", "客户端中断或代理停止"},
	"cause.not_streamed":     {"the answer was not streamed", "回答非流式"},
	"cause.no_output":        {"there was no output", "没有输出"},
	"cause.buffered":         {"the output came buffered", "输出被攒在一起到达"},
	"cause.hidden_reasoning": {"reasoning that was not shown", "隐藏思考"},
	"cause.stall":            {"silences within the answer", "回答中途停顿"},
	"cause.whole_output":     {"an output that came in one piece", "输出一次性到达"},
	"cause.slow_decode":      {"slower decode than usual", "生成速度低于平时"},
	"cause.long_output":      {"a long answer", "输出长"},
	"cause.network":          {"the network", "网络"},
	"cause.floor":            {"the fixed start of gateway and model", "网关与模型的固定开销"},
	"cause.cold_start":       {"a cold start", "冷启动"},
	"cause.queue":            {"a queue", "排队"},
	"cause.cache_miss":       {"the cache missed", "缓存未命中"},
	"cause.long_input":       {"a long input", "输入长"},
	"cause.unseparated":      {"its parts cannot be told apart", "各部分分不开"},
	"cause.both":             {"wait and decode alike", "等待与解码相当"},

	"sign.rough":   {"rough: few tokens, or an estimated count", "粗略值：样本太短，或数量为估算"},
	"sign.attempt": {"second attempt at the same request", "同一请求的第 2 次尝试"},
	"sign.served":  {"another model than asked for answered", "回答的不是所请求的模型"},
	"sign.cut":     {"longer than the scale", "超出时间轴"},
	"sign.slow":    {"took far longer than usual for as much work", "比平时同等工作量慢得多"},
	"sign.strong":  {"among the slowest of this view", "当前视图中最慢的一批"},
	"sign.meter":   {"part of the prompt that no cache had", "输入中缓存未命中的部分"},
}
