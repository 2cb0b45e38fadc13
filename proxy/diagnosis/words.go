package diagnosis

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// Words says in a few sentences what the baseline tells, what it rests on, and
// what it lacks. Lang is "zh" or anything else for English.
func (b *Baseline) Words(lang string) string {
	parts := []phrase{b.told()}
	if b.TPOT != nil {
		parts = append(parts, phrase{
			"It usually makes ${rate} tokens/s, the median of ${rates}.",
			"平时生成速度 ${rate} tokens/s（${rates} 条的中位数）。",
		})
	}
	if b.HeadersAtSlot {
		parts = append(parts, phrase{
			"The upstream sends its headers when a request leaves the queue.",
			"该上游在请求离开队列时发响应头。",
		})
	}
	if len(b.LeftOut) > 0 {
		parts = append(parts, phrase{"Left out: ${left out}.", "未计入：${left out}。"})
	}
	var text []string
	for _, p := range parts {
		text = append(text, b.tell(p, lang))
	}
	if lang == "zh" {
		return strings.Join(text, "")
	}
	return strings.Join(text, " ")
}

// told is what is known of waits.
func (b *Baseline) told() phrase {
	switch {
	case b.Curve != nil:
		return phrase{
			"A start of ${floor}, then for 1,000 uncached tokens ${pieces}${cached}, give or take ${error} %: by ${rows} exchanges with ${least} to ${most} of them, ${fast} of which nothing delayed.",
			"固定开销 ${floor}，每 1,000 未命中缓存的 tokens ${pieces}${cached}，误差约 ${error} %：依据 ${rows} 条请求（未命中缓存 ${least} 至 ${most} tokens），其中 ${fast} 条未被耽搁。",
		}
	case b.Rows < fewPoints:
		return phrase{
			"Too few exchanges to tell start, queue and prefill apart: ${rows} can be compared, ${needed} are needed.",
			"请求太少，无法区分启动、排队与预填充（Prefill）：可对照的有 ${rows} 条，需要 ${needed} 条。",
		}
	}
	return phrase{
		"Not enough spread to tell start, queue and prefill apart: the ${rows} exchanges had ${least} to ${most} uncached tokens, and the most must be ${spread} times the least. A few short and a few long prompts would do.",
		"长度差异不足，无法区分启动、排队与预填充（Prefill）：${rows} 条请求未命中缓存 ${least} 至 ${most} tokens，最多须达最少的 ${spread} 倍。再发几条短的和几条长的即可。",
	}
}

func (b *Baseline) tell(p phrase, lang string) string {
	text := p.en
	if lang == "zh" {
		text = p.zh
	}
	return os.Expand(text, func(name string) string { return b.figure(name, lang) })
}

func (b *Baseline) figure(name, lang string) string {
	switch name {
	case "rows":
		return fmt.Sprint(b.Rows)
	case "needed":
		return fmt.Sprint(fewPoints)
	case "spread":
		return fmt.Sprint(minSpread)
	case "least":
		return count(&b.least)
	case "most":
		return count(&b.most)
	case "rate":
		return perSecond(b.TPOT)
	case "rates":
		return fmt.Sprint(b.Rates)
	case "left out":
		return b.leftOut(lang)
	}
	return b.Curve.figure(name, lang)
}

func (c *Curve) figure(name, lang string) string {
	switch name {
	case "floor":
		return duration(&c.Floor)
	case "fast":
		return fmt.Sprint(c.Fast)
	case "error":
		return fmt.Sprintf("%.0f", 100*c.Error)
	case "pieces":
		return c.pieces(lang)
	case "cached":
		return c.cached(lang)
	}
	return ""
}

// pieces lists what 1,000 tokens cost, from bend to bend.
func (c *Curve) pieces(lang string) string {
	var texts []string
	for i := 1; i < len(c.Knots); i++ {
		cost := duration(new(time.Duration(1000 * c.slope(i))))
		upTo := count(&c.Knots[i].Tokens)
		switch {
		case i == len(c.Knots)-1:
			texts = append(texts, cost)
		case lang == "zh":
			texts = append(texts, cost+"（至 "+upTo+"）")
		default:
			texts = append(texts, cost+" up to "+upTo)
		}
	}
	if lang == "zh" {
		return strings.Join(texts, "，再 ")
	}
	return strings.Join(texts, ", then ")
}

func (c *Curve) cached(lang string) string {
	if c.PerCached == nil || *c.PerCached == 0 {
		return ""
	}
	cost := duration(new(1000 * *c.PerCached))
	if lang == "zh" {
		return "，命中缓存的 " + cost
	}
	return ", for 1,000 cached ones " + cost
}

// leftOut lists the exchanges that are left out, the most frequent first.
func (b *Baseline) leftOut(lang string) string {
	whys := slices.SortedFunc(maps.Keys(b.LeftOut), func(v, w string) int {
		return cmp.Or(b.LeftOut[w]-b.LeftOut[v], cmp.Compare(v, w))
	})
	var texts []string
	for _, why := range whys {
		text := lefts[why].en
		if lang == "zh" {
			text = lefts[why].zh
		}
		texts = append(texts, fmt.Sprintf("%d %s", b.LeftOut[why], text))
	}
	if lang == "zh" {
		return strings.Join(texts, "，")
	}
	return strings.Join(texts, ", ")
}

var lefts = map[string]phrase{
	LeftFailed:      {"that failed", "条失败"},
	LeftAborted:     {"that were given up", "条被中断"},
	LeftWhole:       {"that were not streamed", "条非流式"},
	LeftNoOutput:    {"without output", "条没有输出"},
	LeftBuffered:    {"that something buffered", "条被缓冲"},
	LeftStalled:     {"that stalled", "条中途卡顿"},
	LeftUnseen:      {"with decode that nobody saw in the wait", "条等待中含看不见的解码"},
	LeftCacheHidden: {"whose cache hits are unreported", "条缓存命中未报告"},
}
