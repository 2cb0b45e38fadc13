package diagnosis

import (
	"testing"
	"time"
)

func TestABaselineSaysWhatItKnowsAndWhatItLacks(t *testing.T) {
	full := line(0.4, 8e-5).headersAtSlot()
	full.Curve.Knots = []Knot{{}, {1536, 120 * time.Millisecond}, {100_000, 9 * time.Second}}
	full.Curve.PerCached = new(3 * time.Microsecond)
	full.LeftOut = map[string]int{leftWhole: 2, leftFailed: 7, leftAborted: 2}
	for _, c := range []struct {
		name   string
		usual  *Baseline
		en, zh string
	}{
		{
			"all of it", full,
			"A start of 0.40 s, then for 1,000 uncached tokens 78.1 ms up to 1,536, then 90.2 ms, for 1,000 cached ones 3.0 ms, give or take 2 %: by 40 exchanges with 20 to 100,000 of them, 30 of which nothing delayed. It usually makes 80.0 tokens/s, the median of 40. The upstream sends its headers when a request leaves the queue. Left out: 7 that failed, 2 that were given up, 2 that were not streamed.",
			"固定开销 0.40 s，每 1,000 未命中缓存的 tokens 78.1 ms（至 1,536），再 90.2 ms，命中缓存的 3.0 ms，误差约 2 %：依据 40 条请求（未命中缓存 20 至 100,000 tokens），其中 30 条未被耽搁。平时生成速度 80.0 tokens/s（40 条的中位数）。该上游在请求离开队列时发响应头。未计入：7 条失败，2 条被中断，2 条非流式。",
		},
		{
			"one piece and nothing else", &Baseline{Rows: 9, least: 100, most: 900, Curve: line(0.1, 1e-3).Curve},
			"A start of 0.10 s, then for 1,000 uncached tokens 1.00 s, give or take 2 %: by 9 exchanges with 100 to 900 of them, 30 of which nothing delayed.",
			"固定开销 0.10 s，每 1,000 未命中缓存的 tokens 1.00 s，误差约 2 %：依据 9 条请求（未命中缓存 100 至 900 tokens），其中 30 条未被耽搁。",
		},
		{
			"too few", &Baseline{Rows: 3, LeftOut: map[string]int{leftCacheHidden: 4}},
			"Too few exchanges to tell start, queue and prefill apart: 3 can be compared, 8 are needed. Left out: 4 whose cache hits are unreported.",
			"请求太少，无法区分启动、排队与预填充（Prefill）：可对照的有 3 条，需要 8 条。未计入：4 条缓存命中未报告。",
		},
		{
			"too alike", &Baseline{Rows: 40, least: 1000, most: 4999},
			"Not enough spread to tell start, queue and prefill apart: the 40 exchanges had 1,000 to 4,999 uncached tokens, and the most must be 5 times the least. A few short and a few long prompts would do.",
			"长度差异不足，无法区分启动、排队与预填充（Prefill）：40 条请求未命中缓存 1,000 至 4,999 tokens，最多须达最少的 5 倍。再发几条短的和几条长的即可。",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.usual.Words("en"); got != c.en {
				t.Errorf("says\n%s\nwant\n%s", got, c.en)
			}
			if got := c.usual.Words("zh"); got != c.zh {
				t.Errorf("in Chinese\n%s\nwant\n%s", got, c.zh)
			}
		})
	}
}

func TestEveryReasonToLeaveOneOutHasWords(t *testing.T) {
	for _, why := range []string{leftFailed, leftAborted, leftWhole, leftNoOutput, leftBuffered, leftStalled, leftUnseen, leftCacheHidden} {
		if lefts[why].en == "" || lefts[why].zh == "" {
			t.Errorf("%s has none", why)
		}
	}
	if len(lefts) != 8 {
		t.Errorf("%d have words", len(lefts))
	}
}
