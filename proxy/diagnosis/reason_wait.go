package diagnosis

import (
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func (t teller) whyWait() phrase {
	switch {
	case t.x.Cause == "network":
		return phrase{
			"${wait lead} The network took ${network} of it, most for ${network part}.",
			"${wait lead}其中网络 ${network}，主要是${network part}。",
		}
	case t.x.Cause == "floor":
		return phrase{
			"${wait lead} ${floor} of it${basis} is what gateway and model need to start, whatever the prompt.${close call} A shorter prompt would not cut that; another route or model may start quicker.",
			"${wait lead}其中 ${floor}${basis}是网关与模型的固定开销，与输入无关。${close call}缩短输入无济于事，换线路或模型也许启动更快。",
		}
	case t.x.Cause == "cold_start":
		return phrase{
			"${wait lead} ${queue} of it${basis} came before the prefill, on ${first in}, with no other under way here: a cold start, most likely.${close call} Requests at shorter intervals keep the model warm.",
			"${wait lead}其中 ${queue}${basis}在预填充（Prefill）之前；这是${first in}，当时也没有其他请求：多半是冷启动。${close call}缩短请求间隔可让模型保持就绪。",
		}
	case t.x.Cause == "queue":
		return t.whyQueue()
	case t.x.Prefill != nil:
		return phrase{
			"${wait lead} No part of it that is known takes over half${known parts}. The server's own timing of the rest would tell.",
			"${wait lead}已知的没有一项过半${known parts}。其余部分要有服务端自报时间才能分辨。",
		}
	}
	return phrase{
		"${wait lead} Prefill of ${input} cannot explain that, and queue and start-up cannot be told apart${known parts}${lack}.",
		"${wait lead}${input}，预填充（Prefill）不足以解释；${lack}，无法区分排队与启动${known parts}。",
	}
}

func (t teller) whyQueue() phrase {
	switch {
	case t.x.ServerQueue != nil:
		return phrase{
			"${wait lead} ${queue} of it was queue by the server's own timing. ${company}",
			"${wait lead}其中排队 ${queue}（服务端自报）。${company}",
		}
	case t.x.Prefill == nil:
		return phrase{
			"${wait lead} At least ${queue} of it${basis} was queue, most likely: start (${floor}) and prefill of ${input} explain no more than the rest even if nothing was cached. ${company}",
			"${wait lead}其中至少 ${queue}${basis}多半是排队：固定开销 ${floor}，${input}，即使全未命中缓存，预填充（Prefill）也解释不了更多。${company}",
		}
	case t.x.Floor == nil && t.x.ServerPrefill != nil:
		return phrase{
			"${wait lead} Prefill took only ${prefill} by the server's own timing, and the ${queue} before it went into the queue or the start of the request, which cannot be told apart${lack}. ${company}",
			"${wait lead}服务端自报的预填充（Prefill）只有 ${prefill}；此前的 ${queue} 是排队或启动，${lack}，无法区分。${company}",
		}
	case t.x.EstimateError == nil:
		return phrase{
			"${wait lead} ${queue} of it${beyond start} passed before the headers, which this upstream was seen to send when a request leaves its queue. ${company}",
			"${wait lead}其中${beyond start} ${queue} 在响应头之前；已观察到该上游在请求离开队列时才发响应头。${company}",
		}
	}
	return phrase{
		"${wait lead} ${queue} of it${basis} is more than the start (${floor}) and the prefill of ${input} (${prefill}) account for: a queue, most likely.${close call} ${company}",
		"${wait lead}除固定开销 ${floor} 与${input}的预填充（Prefill）${prefill} 外，还多出 ${queue}${basis}，多半是排队。${close call}${company}",
	}
}

func (t teller) firstIn() phrase {
	if t.x.ModelIdle == nil {
		return phrase{"the first request to this model that is known here", "本机已知的该模型的首个请求"}
	}
	return phrase{"the first request to this model in ${model idle}", "该模型 ${model idle} 以来的首个请求"}
}

// beyondStart says that a queue is counted from a known start on.
func (t teller) beyondStart() phrase {
	if t.x.Floor == nil {
		return phrase{}
	}
	return phrase{" beyond the start (${floor})", "除固定开销 ${floor} 外"}
}

func (t teller) waitLead() phrase {
	switch {
	case t.x.Delivery == exchange.NotStreamed:
		return phrase{
			"${wait} outside decode by the server's own timing, ${wait share} of the total.",
			"按服务端自报时间，解码以外用了 ${wait}，占总耗时的 ${wait share}。",
		}
	case t.p.Wait != known(t.x.FirstToken):
		return phrase{
			"${wait} of waiting once unseen decode and hosted tools are taken out, ${wait share} of the time to the last token.",
			"扣除看不见的解码与托管工具后等待 ${wait}，占到最后一个 token 为止的 ${wait share}。",
		}
	}
	return phrase{
		"${wait} before the first token, ${wait share} of the time to the last.",
		"首字延迟 ${wait}，占到最后一个 token 为止的 ${wait share}。",
	}
}

// lack says what is missing for queue and prefill to be told apart.
func (t teller) lack() phrase {
	_, counted := uncachedTokens(t.x)
	switch {
	case t.x.Floor != nil && !counted:
		return phrase{
			", since how much of it was cached is unreported",
			"不知其中多少命中缓存",
		}
	case t.x.Floor != nil:
		return phrase{
			", since the longest of this model's known exchanges had ${usual tokens} tokens to prefill",
			"该模型已知的请求最多只有 ${usual tokens} tokens 未命中缓存",
		}
	case t.x.UsualRows != nil:
		return phrase{
			", since this model's other exchanges (${usual rows}) are too few or too alike in length to compare with",
			"该模型的其他请求（${usual rows} 条）太少或长度太接近，无从对照",
		}
	}
	if t.x.ServerPrefill != nil {
		return phrase{
			" without other exchanges of this model to compare with",
			"没有该模型的其他请求可对照",
		}
	}
	return phrase{
		" without the server's own timing, or other exchanges of this model to compare with",
		"没有服务端自报时间，也没有该模型的其他请求可对照",
	}
}

// basis says what a number rests on and how sure it is.
func (t teller) basis() phrase {
	uncached, _ := uncachedTokens(t.x)
	switch {
	case t.x.Cause == "cold_start" && t.x.ServerQueue != nil:
		return phrase{" (by the server's own timing)", "（服务端自报）"}
	case t.x.UsualRows == nil || t.x.EstimateError == nil:
		return phrase{"", " "}
	case t.x.UsualTokens != nil && uncached > *t.x.UsualTokens && t.x.ServerPrefill == nil:
		return phrase{
			" (give or take ${give or take}, by ${usual rows} of its exchanges; less sure, since none of them had over ${usual tokens} tokens to prefill)",
			"（误差约 ${give or take}，依据该模型 ${usual rows} 条请求；其中未命中缓存的最多只有 ${usual tokens} tokens，所以把握较小）",
		}
	}
	return phrase{
		" (give or take ${give or take}, by ${usual rows} of its exchanges)",
		"（误差约 ${give or take}，依据该模型 ${usual rows} 条请求）",
	}
}

// closeCall warns where the estimate lies so near to half of the wait that it may
// be the other way round.
func (t teller) closeCall() phrase {
	part := known(t.x.Prefill)
	if t.x.Bound == exchange.WaitBound {
		part = known(t.x.Floor) + known(t.x.Queue)
	}
	if t.x.EstimateError == nil || (part-t.p.Wait/2).Abs() > *t.x.EstimateError {
		return phrase{}
	}
	return phrase{
		" That is so near to half of the wait that it may be otherwise.",
		"它接近等待的一半，结论未必成立。",
	}
}

// company says who else may have been in the queue.
func (t teller) company() phrase {
	switch {
	case t.x.Concurrency == nil:
		return phrase{
			"Fewer requests at once or a less busy server would cut it.",
			"减少并发或换空闲的服务端可以减少。",
		}
	case *t.x.Concurrency <= 1:
		return phrase{
			"No other request was in flight here, so the load came from elsewhere, which this log cannot see; another hour or a less busy server would cut it.",
			"当时本机没有其他请求，负载来自别处，本日志看不到；换时段或空闲的服务端可以减少。",
		}
	}
	return phrase{
		"With ${concurrency} requests in flight here, fewer at once would cut it.",
		"当时本机并发 ${concurrency}，减少并发可以缩短。",
	}
}

// networkPart is the largest part of the network's time, with what saves it.
func (t teller) networkPart() phrase {
	connect, upload, trip := connecting(t.x), known(t.x.Upload), known(t.x.RTT)
	switch max(connect, upload, trip) {
	case connect:
		return phrase{"connecting (${connecting}): a connection that is kept open saves it", "建立连接（${connecting}），保持长连接即可省去"}
	case upload:
		return phrase{"the upload (${upload}): a smaller request saves it", "上传请求（${upload}），缩小请求体即可减少"}
	}
	return phrase{"the round trip (${round trip}): an upstream nearer by saves it", "往返时延（${round trip}），换更近的上游即可减少"}
}

func connecting(x *exchange.Exchange) time.Duration {
	return known(x.DNS) + known(x.Connect) + known(x.TLS) + known(x.PoolWait)
}

// knownParts lists what is known of the wait. A start is left out for which
// the estimate of the prefill leaves no room.
func (t teller) knownParts() phrase {
	start := t.x.Floor
	if known(t.x.Network)+known(start)+known(t.x.Queue)+known(t.x.Prefill) > t.p.Wait {
		start = nil
	}
	var en, zh []string
	for _, p := range []struct {
		took *time.Duration
		phrase
	}{
		{t.x.Network, phrase{"network ${network}", "网络 ${network}"}},
		{start, phrase{"start ${floor}", "固定开销 ${floor}"}},
		{t.x.Queue, phrase{"queue ${queue}", "排队 ${queue}"}},
		{t.x.Prefill, phrase{"prefill ${prefill}", "预填充（Prefill）${prefill}"}},
	} {
		if known(p.took) > 0 {
			en, zh = append(en, p.en), append(zh, p.zh)
		}
	}
	if len(en) == 0 {
		return phrase{}
	}
	return phrase{" (" + strings.Join(en, ", ") + ")", "（" + strings.Join(zh, "，") + "）"}
}
