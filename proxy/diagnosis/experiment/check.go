package experiment

import (
	"math"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// check says how far the report is to be trusted.
func (f *finder) check() {
	if f.Sent == 0 {
		return
	}
	for _, c := range []func() (bool, Sentence){
		f.checkRounds, f.checkAnswers, f.checkFirstTokens, f.checkDrift, f.checkLengths, f.checkOutputs, f.checkConnections, f.checkCompany, f.checkSpikes,
	} {
		if fine, s := c(); s != (Sentence{}) {
			f.Checks = append(f.Checks, Check{fine, s})
		}
	}
}

func (f *finder) checkRounds() (bool, Sentence) {
	asked := f.asked()
	figs := figures{"sent": count(asked), "planned": count(f.Planned), "rounds": count(f.Rounds)}
	switch {
	case asked < f.Planned && f.State == Stopped:
		return false, Sentence{"It was stopped after ${sent} of ${planned} requests.", "${planned} 个请求发了 ${sent} 个后停止。"}.with(figs)
	case asked < f.Planned:
		return false, Sentence{"Only ${sent} of ${planned} requests are there.", "${planned} 个请求中只有 ${sent} 个。"}.with(figs)
	case f.Rounds < fewValues:
		return false, Sentence{
			"Too few rounds for intervals: ${rounds}, five at least.",
			"${rounds} 轮太少，无法给出区间：至少五轮。",
		}.with(figs)
	}
	return true, Sentence{"${sent} requests in ${rounds} rounds.", "${rounds} 轮共 ${sent} 个请求。"}.with(figs)
}

func (f *finder) checkAnswers() (bool, Sentence) {
	var failed, limited int
	var worst Failure
	for _, a := range f.Arms {
		limited += a.RateLimited
		for _, way := range a.Failures {
			failed += way.Count
			if way.Count > worst.Count {
				worst = way
			}
		}
	}
	figs := figures{"failed": count(failed), "limited": count(limited), "worst": worst.words()}
	switch {
	case failed > 0 && limited > 0:
		return false, Sentence{
			"${failed} failed (most: ${worst}), and a rate limit (429) refused ${limited}. None of them is in a median.",
			"${failed} 个失败（多为：${worst}），${limited} 个被限流（429）；均不计入中位数。",
		}.with(figs)
	case failed > 0:
		return false, Sentence{
			"${failed} failed (most: ${worst}). None of them is in a median.",
			"${failed} 个失败（多为：${worst}）；均不计入中位数。",
		}.with(figs)
	case limited > 0:
		return false, Sentence{
			"A rate limit (429) refused ${limited}. None of them is in a median.",
			"${limited} 个被限流（429）；均不计入中位数。",
		}.with(figs)
	}
	return true, Sentence{"None failed.", "没有失败。"}
}

// checkFirstTokens says whose first token tells nothing of prefill.
func (f *finder) checkFirstTokens() (bool, Sentence) {
	n := 0
	for _, r := range f.rows {
		if r.answered() && r.Wait == nil {
			n++
		}
	}
	if n == 0 {
		return true, Sentence{"Each first token came as it was made.", "首 token 均随生成随到。"}
	}
	return false, Sentence{
		"Answers that count in no wait and no line: ${n}. Their first token came after reasoning that was not shown, or was held back.",
		"${n} 个回答不计入等待与直线：首 token 之前有未显示的推理，或被缓冲。",
	}.with(figures{"n": count(n)})
}

// words name a way to fail.
func (w Failure) words() Sentence {
	if w.Status != nil && w.Outcome == exchange.UpstreamError {
		return plain("HTTP " + count(int(*w.Status)).En)
	}
	return plain(string(w.Outcome))
}

// drifts is how many standard deviations the rank correlation of time and wait
// must be off before it counts as drift: 1 in 100 by chance.
const drifts = 2.58

// checkDrift says whether all arms alike became slower or faster in the course of
// the experiment, by Kendall's test.
func (f *finder) checkDrift() (bool, Sentence) {
	var off []float64
	for _, r := range f.rows {
		if v := r.settled(TTFT); v != nil && f.Arms[r.Arm].TTFT.At > 0 {
			off = append(off, *v/f.Arms[r.Arm].TTFT.At)
		}
	}
	n := float64(len(off))
	if n < 2*fewValues {
		return true, Sentence{}
	}
	score := 0.0
	for i, v := range off {
		for _, w := range off[i+1:] {
			score += sign(w - v)
		}
	}
	switch z := score / math.Sqrt(n*(n-1)*(2*n+5)/18); {
	case z > drifts:
		return false, Sentence{"All became slower as it went on; rounds are compared within themselves.", "越到后面越慢；对比都在同一轮内进行。"}
	case z < -drifts:
		return false, Sentence{"All became faster as it went on; rounds are compared within themselves.", "越到后面越快；对比都在同一轮内进行。"}
	}
	return true, Sentence{"No drift from the first request to the last.", "从第一个请求到最后一个没有漂移。"}
}

func sign(v float64) float64 {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

// off is how far what came may be from what was meant, or from the others.
const off = 0.2

// checkLengths says whether the prompts came out as they were meant.
func (f *finder) checkLengths() (bool, Sentence) {
	counted := false
	for _, a := range f.Arms {
		if a.Prompt == nil || a.PromptTokens <= 0 {
			continue
		}
		counted = true
		if math.Abs(a.Prompt.At/float64(a.PromptTokens)-1) > off {
			return false, Sentence{
				"The prompts of ${arm} came out at ${came} tokens, ${meant} were meant.",
				"${arm}的输入实为 ${came} tokens，原定 ${meant}。",
			}.with(figures{"arm": quoted(a.Name), "came": tokens(a.Prompt.At), "meant": count(int(a.PromptTokens))})
		}
	}
	if !counted {
		return false, Sentence{"The upstream does not report tokens.", "上游不报告 tokens。"}
	}
	return true, Sentence{"The prompts came out as long as meant.", "输入长度与原定相符。"}
}

// checkOutputs says whether the answers are of one length, so that totals can be
// compared. Shapes differ in it on purpose.
func (f *finder) checkOutputs() (bool, Sentence) {
	var least, most *ArmReport
	for i := range f.Arms {
		a := &f.Arms[i]
		if a.Output == nil {
			continue
		}
		if least == nil || a.Output.At < least.Output.At {
			least = a
		}
		if most == nil || a.Output.At > most.Output.At {
			most = a
		}
	}
	if f.Kind == Shapes || least == nil {
		return true, Sentence{}
	}
	if most.Output.At > (1+off)*least.Output.At {
		return false, Sentence{
			"The answers differ in length (${least} tokens in ${short}, ${most} in ${long}), so totals are not to be compared.",
			"回答长度不同（${short}${least} tokens，${long}${most} tokens），总耗时不可对比。",
		}.with(figures{
			"least": tokens(least.Output.At), "short": quoted(least.Name), "most": tokens(most.Output.At), "long": quoted(most.Name),
		})
	}
	return true, Sentence{"The answers are of like length.", "回答长度相近。"}
}

// checkConnections says how many requests had to connect first.
func (f *finder) checkConnections() (bool, Sentence) {
	n := len(known(f.rows, func(r row) *float64 { return r.Connect }))
	if n == 0 {
		return true, Sentence{"All went over connections that were open.", "全部走已建立的连接。"}
	}
	return true, Sentence{
		"Over a new connection: ${n}; connecting is left out of what is compared.",
		"${n} 个用了新连接；对比时不计建立连接的时间。",
	}.with(figures{"n": count(n)})
}

// checkCompany says whether other requests were under way, so that the waits may
// be of their making.
func (f *finder) checkCompany() (bool, Sentence) {
	n := 0
	for _, r := range f.rows {
		if r.x.Concurrency != nil && *r.x.Concurrency > int64(max(f.Arms[r.Arm].AtOnce, 1)) {
			n++
		}
	}
	if n == 0 {
		return true, Sentence{"No other request to the upstream was under way here.", "本机当时没有发往该上游的其他请求。"}
	}
	return false, Sentence{
		"While ${n} of them began, other requests to the upstream were under way here.",
		"其中 ${n} 个开始时，本机还有发往该上游的其他请求。",
	}.with(figures{"n": count(n)})
}

// checkSpikes says by what rule a request is a spike.
func (f *finder) checkSpikes() (bool, Sentence) {
	if f.Spikes == nil {
		return true, Sentence{}
	}
	rule := Sentence{
		"beyond the median of the arm by over six times the median distance from it, a quarter of it, and 50 ms.",
		"比同组中位数高出六倍中位偏差、四分之一与 50 ms 三者以上者算突刺。",
	}
	figs := figures{"n": count(len(f.Spikes.Steps)), "of": count(f.Spikes.Of), "rule": rule}
	if len(f.Spikes.Steps) == 0 {
		return true, Sentence{"No spike in ${of} requests: none lies ${rule}", "${of} 个请求中没有突刺：${rule}"}.with(figs)
	}
	return false, Sentence{"Spikes: ${n} of ${of} requests lie ${rule}", "${of} 个请求中有 ${n} 个突刺：${rule}"}.with(figs)
}
