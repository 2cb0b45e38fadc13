package web

// modelsPhrases tell what is usual for models, by their keys.
var modelsPhrases = map[string]phrase{
	"models.title":      {"What is usual for each model", "各模型的平时表现"},
	"models.known.one":  {"%s model has answered in the last 7 days. Each request is compared with what is usual for its model, by the newest 500.", "最近 7 天有 %s 个模型作答。每个请求都与其模型的平时表现（最近 500 条）对照。"},
	"models.known.many": {"%s models have answered in the last 7 days. Each request is compared with what is usual for its model, by the newest 500.", "最近 7 天有 %s 个模型作答。每个请求都与其模型的平时表现（最近 500 条）对照。"},
	"models.none":       {"Nothing is usual here yet: no request has ended in the last 7 days.", "还没有平时表现可言：最近 7 天没有请求结束。"},
	"models.all":        {"All models", "全部模型"},
	"models.tier":       {"tier %s", "档位 %s"},
	"models.rows":       {"Its requests", "该模型的请求"},
	"models.charts":     {"Its charts", "该模型的图表"},
	"models.slow":       {"Slower than usual by 1 s or more", "比平时慢 1 s 以上的请求"},
	"models.prefill":    {"Prefill per 1,000", "每 1,000 token 预填充"},
	"models.based":      {"Requests", "请求数"},

	"curve.title": {"Wait over uncached tokens", "等待与未命中缓存的 token 数"},
	"curve.unit":  {"to the first token, network aside", "到首 token，扣除网络"},
	"curve.start": {"Fixed start %s", "固定开销 %s"},
	"curve.knot":  {"%s tokens: %s", "%s token：%s"},

	"band.tokens": {"Uncached tokens", "未命中缓存的 token"},
	"band.cost":   {"each 1,000", "每 1,000"},
	"band.speed":  {"tokens/s", "tokens/s"},
	"band.wait":   {"wait at the end", "末端等待"},

	"usual.floor":  {"Fixed start", "固定开销"},
	"usual.cached": {"1,000 cached tokens", "每 1,000 命中缓存的 token"},
	"usual.error":  {"Give or take", "误差"},
	"usual.rate":   {"Decode rate", "生成速度"},
	"usual.median": {"median of %s", "%s 条的中位数"},
	"usual.tpot":   {"per token (TPOT)", "每 token 耗时"},
	"usual.pooled": {"Pooled rate", "合并速度"},
	"usual.all":    {"short ones too", "含短样本"},
	"usual.rows":   {"Rests on", "依据"},
	"usual.fast":   {"%s of them undelayed", "其中 %s 条未被耽搁"},
	"usual.left":   {"Left out", "未计入"},
}
