package web

// livePhrases are those of the live page and of its keys.
var livePhrases = map[string]phrase{
	"stage.reasoning": {"Reasoning", "思考中"},
	"stage.answering": {"Answering", "输出中"},

	"live.live":         {"Live", "实时"},
	"live.paused":       {"Paused", "已暂停"},
	"live.waiting":      {"Waiting", "等待中"},
	"live.disconnected": {"Disconnected", "连接已断开"},
	"live.pause":        {"Pause", "暂停"},
	"live.fresh":        {"%s new", "%s 条新请求"},
	"live.gap":          {"more than could be shown ended here; refresh to see all", "此处结束的请求太多，未全部显示；刷新可查看全部"},

	"problem.crowded.title": {"Too many live pages", "实时页面过多"},
	"problem.crowded.text":  {"%d pages are followed live already. Close some of them; this one goes on without.", "已有 %d 个页面在实时更新。请关闭一些；本页其余功能不受影响。"},

	"copy.done":   {"Copied", "已复制"},
	"copy.failed": {"Not copied", "复制失败"},

	"pick.row":     {"Select for comparison", "选中以便对比"},
	"pick.one":     {"One selected; select another one to compare them.", "已选 1 条，再选一条即可对比。"},
	"pick.compare": {"Compare the two", "对比这两条"},

	"theme.label": {"Theme", "主题"},
	"theme.auto":  {"Auto", "自动"},
	"theme.light": {"Light", "浅色"},
	"theme.dark":  {"Dark", "深色"},

	"keys.title":       {"Keys", "快捷键"},
	"keys.on":          {"Keys on", "启用快捷键"},
	"keys.close":       {"Close", "关闭"},
	"keys.then":        {"then", "再按"},
	"keys.move":        {"next or previous row", "下一行、上一行"},
	"keys.open":        {"open the row", "打开该行"},
	"keys.back":        {"back to the log", "返回请求日志"},
	"keys.search":      {"search", "搜索"},
	"keys.pick":        {"select the row for comparison", "选中该行以便对比"},
	"keys.compare":     {"compare the two selected", "对比选中的两条"},
	"keys.bound":       {"next bound", "切换瓶颈筛选"},
	"keys.refresh":     {"refresh", "刷新"},
	"keys.pause":       {"pause, or go on", "暂停或继续"},
	"keys.export":      {"export as CSV", "导出 CSV"},
	"keys.copy":        {"copy the ids", "复制 ID"},
	"keys.log":         {"requests", "请求日志"},
	"keys.charts":      {"charts", "图表"},
	"keys.models":      {"models", "模型"},
	"keys.experiments": {"experiments", "实验"},
	"keys.audit":       {"audit", "对账"},
	"keys.connect":     {"connect", "接入"},
	"keys.help":        {"these keys", "本列表"},
}
