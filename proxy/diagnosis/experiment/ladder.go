package experiment

import (
	"cmp"
	"slices"
)

// judgeLadder tells start, prefill and network apart by the length of the prompt.
func (f *finder) judgeLadder() {
	if f.obscured() {
		return
	}
	arms := f.ofModel(f.Arms[0].Model)
	l := f.line(arms)
	if l == nil {
		f.verdict(Unresolved, f.whyNoLine(arms))
		f.compareLengths(arms)
		return
	}
	f.addLine(*l)
	f.judgeParts(arms)
	f.compareLengths(arms)
	f.saySpikes()
}

func (f *finder) compareLengths(arms []int) {
	for i := 1; i < len(arms); i++ {
		f.compare(arms[i-1], arms[i])
	}
}

// whyNoLine says what lacks for a line over the lengths.
func (f *finder) whyNoLine(arms []int) Sentence {
	for _, arm := range arms {
		if f.Arms[arm].Answered > 0 && f.Arms[arm].Prompt == nil {
			return Sentence{
				"Not resolved: the upstream does not report how many tokens the prompts had, so nothing tells what one costs. An upstream that reports usage would.",
				"无法判断：上游不报告输入有多少 tokens，无从得知每个 token 的耗时。换会报告用量的上游即可分辨。",
			}
		}
	}
	return Sentence{
		"Not resolved: no round has an answer of each length yet, each longer than the one before.",
		"无法判断：还没有哪一轮各长度都有回答，且一个比一个长。",
	}
}

// ofModel are the arms of one model, the shortest prompts first.
func (f *finder) ofModel(model string) []int {
	var arms []int
	for i, a := range f.Arms {
		if a.Model == model {
			arms = append(arms, i)
		}
	}
	slices.SortStableFunc(arms, func(i, j int) int { return cmp.Compare(f.Arms[i].PromptTokens, f.Arms[j].PromptTokens) })
	return arms
}

// addLines keeps the line of each model that has one.
func (f *finder) addLines() {
	for _, model := range f.Models {
		if l := f.line(f.ofModel(model)); l != nil {
			f.addLine(*l)
		}
	}
}

// addLine keeps a line and says what it tells.
func (f *finder) addLine(l Line) {
	for _, r := range f.rows {
		if r.answered() && r.Wait == nil && f.Arms[r.Arm].Model == l.Model {
			l.Left++
		}
	}
	f.Lines = append(f.Lines, l)
	f.say(Sentence{
		"${model}: a start of ${floor}, then ${slope} for 1,000 uncached tokens.",
		"${model}：固定开销 ${floor}，每 1,000 未命中缓存的 tokens ${slope}。",
	}.with(figures{"model": plain(l.Model), "floor": ranged(l.Floor, took), "slope": ranged(l.Slope, took)}))
	if l.Knee != nil {
		f.also(FoundKnee, l.bends())
	}
}

// bends says where a token begins to cost more.
func (l Line) bends() Sentence {
	for i, b := range l.Bands {
		if b.From == *l.Knee {
			return Sentence{
				"From ${knee} tokens on the line is steeper: ${after} for 1,000, against ${before} up to there.",
				"从 ${knee} tokens 起变陡：每 1,000 tokens ${after}，此前 ${before}。",
			}.with(figures{
				"knee": tokens(*l.Knee), "after": ranged(b.Slope, took), "before": ranged(l.Bands[i-1].Slope, took),
			})
		}
	}
	return Sentence{}
}

// judgeParts says which part of the longest prompt's first token is the largest.
func (f *finder) judgeParts(arms []int) {
	last := arms[len(arms)-1]
	starts, prefills := make(map[int]float64), make(map[int]float64)
	byRound, lengths := f.points(arms)
	for round, ps := range byRound {
		starts[round] = floor(ps)
		prefills[round] = ps[len(ps)-1].wait - starts[round]
	}
	ranked, sure := rank([]portion{
		{FoundPrefill, prefills},
		{FoundFloor, starts},
		{FoundNetwork, rounds(f.rows, last, func(r row) *float64 { return r.settled(Network) })},
		{FoundQueue, rounds(f.rows, last, row.queue)},
	})
	f.setParts(ranked)
	figs := figures{"parts": shares(f.Parts), "ttft": ranged(*f.Arms[last].TTFT, took), "tokens": tokens(lengths[len(lengths)-1])}
	lead := Sentence{
		"The first token after ${tokens} uncached tokens took ${ttft}: ${parts}.",
		"未命中缓存 ${tokens} tokens 时首字 ${ttft}：${parts}。",
	}
	if !sure {
		f.verdict(Unresolved, lead.then(f.whyOpen()).with(figs))
		return
	}
	f.verdict(ranked[0].of, lead.then(largest[ranked[0].of]).with(figs))
}

// whyOpen says what would settle which part is the largest.
func (f *finder) whyOpen() Sentence {
	if f.Rounds < 2*fewValues {
		return Sentence{
			"Not resolved which of them is the largest: more rounds, or longer prompts, would tell.",
			"无法判断哪一项最大：增加轮数或加长输入即可分辨。",
		}
	}
	return Sentence{
		"Not resolved which of them is the largest: longer prompts would tell, or they are as good as equal.",
		"无法判断哪一项最大：加长输入可以分辨，也可能本就相当。",
	}
}

// largest says of the largest part what it means.
var largest = map[Finding]Sentence{
	FoundPrefill: {
		"Prefill is the largest part: a shorter prompt, or one that is cached, cuts it.",
		"最大的一项是预填充（Prefill）：缩短输入或命中缓存即可减少。",
	},
	FoundFloor: {
		"The fixed start is the largest part: of gateway and model, of the way between them, or of a queue that is always there. A shorter prompt would not cut it; another route or model may.",
		"最大的一项是固定开销：网关与模型启动、两者之间的网络，或一直存在的排队。缩短输入无济于事，换线路或模型也许有用。",
	},
	FoundNetwork: {
		"The network is the largest part: neither prompt nor model would change it; an upstream nearer by would.",
		"最大的一项是网络：与输入和模型无关，换更近的上游才能减少。",
	},
	FoundQueue: {
		"Queue is the largest part by the server's own timing: fewer requests at once or a less busy server would cut it.",
		"按服务端自报时间，最大的一项是排队：减少并发或换空闲的服务端可以减少。",
	},
}

// saySpikes tells of requests that waited far longer than others like them. One
// may be anything; two or more are a queue that comes and goes.
func (f *finder) saySpikes() {
	if f.Spikes == nil || len(f.Spikes.Steps) == 0 {
		return
	}
	figs := figures{"n": count(len(f.Spikes.Steps)), "of": count(f.Spikes.Of), "excess": took(*f.Spikes.Excess)}
	if len(f.Spikes.Steps) == 1 {
		f.say(Sentence{
			"One of ${of} requests waited ${excess} longer than others like it. One spike is too few to call it a queue.",
			"${of} 个请求中有 1 个比同类多等 ${excess}。仅一次突刺，还不能说是排队。",
		}.with(figs))
		return
	}
	f.say(Sentence{
		"${n} of ${of} requests waited far longer than others like them, ${excess} in the median: a queue that comes and goes. They count as slow as the slowest other in what is compared.",
		"${of} 个请求中有 ${n} 个比同类多等很久，多等的中位数为 ${excess}：时有时无的排队。对比时按同类中其余最慢者计。",
	}.with(figs))
}
