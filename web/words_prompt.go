package web

// promptPhrases say what fills a prompt and what of it was seen before, by their
// keys.
var promptPhrases = map[string]phrase{
	"prompt.title":    {"What fills the prompt", "输入构成"},
	"prompt.unit":     {"~ tokens, shared out by bytes", "~ token 数，按字节估算"},
	"prompt.part":     {"Part", "内容"},
	"prompt.tokens":   {"tokens", "token"},
	"prompt.share":    {"share", "占比"},
	"prompt.sections": {"sections", "段数"},
	"prompt.shared":   {"%s of its %s tokens are the beginning of an earlier request, which ended %s before.", "输入共 %[2]s token，其中开头 %[1]s token 与更早的请求相同，那次请求在 %[3]s 前结束。"},
	"prompt.changed":  {"Against the session's request before, section %s was changed first: %s.", "与本会话上一次请求相比，最先改变的是第 %s 段：%s。"},

	"section.model":        {"the model", "模型"},
	"section.tools":        {"tools", "工具定义"},
	"section.instructions": {"instructions", "系统指令"},
	"section.user":         {"user", "用户"},
	"section.assistant":    {"earlier answers", "历史回答"},
	"section.reasoning":    {"earlier reasoning", "历史思考"},
	"section.tool_call":    {"tool calls", "工具调用"},
	"section.tool_result":  {"tool results", "工具结果"},
	"section.image":        {"images", "图片"},
	"section.file":         {"files", "文件"},
	"section.other":        {"other", "其他"},
	"section.compaction":   {"a compaction", "上下文压缩"},

	"reuse.new":        {"New: no earlier request of this model and key began like it.", "新输入：该模型与密钥此前没有开头相同的请求。"},
	"reuse.too_short":  {"Too short to be reused: vendors mostly keep beginnings from 1,024 tokens on.", "太短，无法复用：供应商一般只缓存 1,024 token 以上的开头。"},
	"reuse.unreported": {"How much of that came from a cache, the upstream did not say.", "上游没有上报其中多少命中缓存。"},
	"reuse.denied":     {"The upstream says that nothing came from its cache, but the wait was too short for that.", "上游称缓存没有命中，但等待时间之短与此不符。"},
	"reuse.broken":     {"The client changed section %s (%s), so all behind it was to be read anew; %s tokens came from the cache.", "客户端改动了第 %s 段（%s），其后的内容都要重新读取；缓存命中 %s token。"},
	"reuse.compaction": {"The conversation was compacted, so from section %s on it is another prompt; %s tokens came from the cache.", "对话经过上下文压缩，从第 %s 段起是新的输入；缓存命中 %s token。"},
	"reuse.hit":        {"A cache hit: %s tokens, all that could be.", "缓存命中：%s token，能命中的都命中了。"},
	"reuse.partial":    {"A hit in part: %s tokens came from the cache.", "部分命中：缓存命中 %s token。"},
	"reuse.expired":    {"The cache had expired, as vendors keep an unused beginning for some 5 minutes: %s tokens came from it.", "缓存过期（供应商对闲置开头一般只保留约 5 分钟）：命中 %s token。"},
	"reuse.missed":     {"A cache miss: %s tokens came from the cache although the beginning was unchanged and recent. It was evicted, or another server answered.", "缓存未命中：开头未变且刚用过，却只命中 %s token。可能已被淘汰，或由另一台服务器回答。"},
}
