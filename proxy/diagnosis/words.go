package diagnosis

import (
	"cmp"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
)

// Words says in a few sentences what the baseline tells, what it rests on, and
// what it lacks. Lang is "zh" or anything else for English.
func (b *Baseline) Words(lang string) string {
	parts := []phrase{b.told()}
	if b.TPOT != nil {
		parts = append(parts, phrase{
			"It usually makes ${rate}, the median of ${rates}.",
			"平时生成速度 ${rate}（${rates} 条的中位数）。",
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

func (b *Baseline) tell(p phrase, lang string) string {
	return os.Expand(p.in(lang), func(name string) string {
		if f, ok := baselineFigures[name]; ok {
			return f(b, lang)
		}
		return "?" + name
	})
}

// told is what is known of waits.
func (b *Baseline) told() phrase {
	switch {
	case b.Curve != nil:
		return phrase{
			"A start of ${floor}, then for 1,000 uncached tokens ${pieces}${cached}, give or take ${error}: by ${rows} exchanges with ${least} to ${most} of them, ${fast} of which nothing delayed.",
			"固定开销 ${floor}，每 1,000 未命中缓存的 tokens ${pieces}${cached}，误差约 ${error}：依据 ${rows} 条请求（未命中缓存 ${least} 至 ${most} tokens），其中 ${fast} 条未被耽搁。",
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

var baselineFigures = map[string]func(b *Baseline, lang string) string{
	"rows":     func(b *Baseline, _ string) string { return strconv.Itoa(b.Rows) },
	"needed":   func(*Baseline, string) string { return strconv.Itoa(fewPoints) },
	"spread":   func(*Baseline, string) string { return strconv.Itoa(minSpread) },
	"least":    func(b *Baseline, _ string) string { return figure.Count(&b.least) },
	"most":     func(b *Baseline, _ string) string { return figure.Count(&b.most) },
	"rate":     func(b *Baseline, _ string) string { return rateOf(b.TPOT) },
	"rates":    func(b *Baseline, _ string) string { return strconv.Itoa(b.Rates) },
	"left out": (*Baseline).leftOut,
	"floor":    func(b *Baseline, _ string) string { return figure.Duration(&b.Curve.Floor) },
	"fast":     func(b *Baseline, _ string) string { return strconv.Itoa(b.Curve.Fast) },
	"error":    func(b *Baseline, _ string) string { return figure.Percent(b.Curve.Error) },
	"pieces":   func(b *Baseline, lang string) string { return b.Curve.pieces(lang) },
	"cached":   func(b *Baseline, lang string) string { return b.Curve.cached(lang) },
}

// pieces lists what 1,000 tokens cost, from bend to bend.
func (c *Curve) pieces(lang string) string {
	var texts []string
	for i := 1; i < len(c.Knots); i++ {
		cost := figure.Duration(new(time.Duration(1000 * c.slope(i))))
		upTo := figure.Count(&c.Knots[i].Tokens)
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
	cost := figure.Duration(new(1000 * *c.PerCached))
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
		texts = append(texts, strconv.Itoa(b.LeftOut[why])+" "+lefts[why].in(lang))
	}
	if lang == "zh" {
		return strings.Join(texts, "，")
	}
	return strings.Join(texts, ", ")
}

var lefts = map[string]phrase{
	leftFailed:      {"that failed", "条失败"},
	leftAborted:     {"that were given up", "条被中断"},
	leftWhole:       {"that were not streamed", "条非流式"},
	leftNoOutput:    {"without output", "条没有输出"},
	leftBuffered:    {"that something buffered", "条被缓冲"},
	leftStalled:     {"that stalled", "条中途卡顿"},
	leftUnseen:      {"with decode that nobody saw in the wait", "条等待中含看不见的解码"},
	leftCacheHidden: {"whose cache hits are unreported", "条缓存命中未报告"},
}
