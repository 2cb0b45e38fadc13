package experiment

import (
	"strconv"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
)

var armHeads = []Sentence{
	{"arm", "组"}, {"answered", "已回答"}, {"failed", "失败"}, {"429", "429"}, {"TTFT (95 % interval)", "首字（95 % 区间）"},
	{"wait", "等待"}, {"network", "网络"}, {"total", "总耗时"}, {"decode rate", "生成速度"}, {"prompt", "输入"}, {"cached", "命中缓存"}, {"output", "输出"},
}

func (r *Report) writeArms(p *page) {
	var rows [][]Sentence
	for _, a := range r.Arms {
		rows = append(rows, []Sentence{
			plain(a.Name), plain(count(a.Answered).En + "/" + count(a.Planned).En), a.failed(), count(a.RateLimited),
			maybe(a.TTFT, func(e Estimate) Sentence { return ranged(e, took) }),
			maybe(a.Wait, at(took)), maybe(a.Network, at(took)), maybe(a.Total, at(took)), maybe(a.Rate, at(rate)),
			maybe(a.Prompt, at(tokens)), maybe(a.Cached, at(tokens)), maybe(a.Output, at(tokens)),
		})
	}
	p.table(armHeads, rows)
}

// failed is how many requests of an arm failed, and in which ways.
func (a ArmReport) failed() Sentence {
	all := 0
	var ways []Sentence
	for _, f := range a.Failures {
		all += f.Count
		ways = append(ways, count(f.Count).join(plain(" × ")).join(f.words()))
	}
	if all == 0 {
		return count(all)
	}
	return Sentence{"${all} (${ways})", "${all}（${ways}）"}.with(figures{"all": count(all), "ways": list(ways)})
}

// maybe is a dash for what is unknown.
func maybe(e *Estimate, words func(Estimate) Sentence) Sentence {
	if e == nil {
		return plain(figure.Unknown)
	}
	return words(*e)
}

// at is an estimate without its interval.
func at(unit func(float64) Sentence) func(Estimate) Sentence {
	return func(e Estimate) Sentence { return unit(e.At) }
}

var changeHeads = []Sentence{
	{"figure", "指标"}, {"from", "自"}, {"to", "至"}, {"before", "前"}, {"after", "后"}, {"change (95 % interval)", "变化（95 % 区间）"}, {"", ""},
}

func (r *Report) writeChanges(p *page) {
	var rows [][]Sentence
	for _, c := range r.Changes {
		rows = append(rows, c.cells())
	}
	p.table(changeHeads, rows)
}

var resolutionNames = map[Resolution]Sentence{
	NoChange:  {"no difference beyond 5 %", "相差不超过 5 %"},
	Resolved:  {"resolved", "可以确定"},
	Undecided: {"not resolved", "无法判断"},
}

func (c Change) cells() []Sentence {
	f := c.figures()
	return []Sentence{f["figure"], plain(c.From), plain(c.To), f["before"], f["after"], f["change"], resolutionNames[c.Resolution]}
}

func (r *Report) writeLines(p *page) {
	var rows [][]Sentence
	for _, l := range r.Lines {
		for i, b := range l.Bands {
			start := plain("")
			if i == 0 {
				start = ranged(l.Floor, took)
			}
			rows = append(rows, []Sentence{plain(l.Model), tokens(b.From), tokens(b.To), ranged(b.Slope, took), start})
		}
	}
	p.table([]Sentence{
		{"model", "模型"}, {"from tokens", "起 tokens"}, {"to tokens", "止 tokens"}, {"for 1,000 tokens", "每 1,000 tokens"}, {"start", "固定开销"},
	}, rows)
}

// writeIDs lists by what the provider's console knows the requests.
func (r *Report) writeIDs(p *page) {
	var rows [][]Sentence
	for _, s := range r.Samples {
		if s.RequestID == "" && s.ResponseID == "" && s.GatewayRequestID == "" {
			continue
		}
		rows = append(rows, []Sentence{
			plain(strconv.Itoa(s.Step)), plain(s.Exchange), plain(s.RequestID), plain(s.ResponseID), plain(s.GatewayRequestID),
		})
	}
	p.table([]Sentence{
		{"step", "步"}, {"exchange", "记录"}, {"request id", "request id"}, {"response id", "response id"}, {"gateway id", "网关 id"},
	}, rows)
}
