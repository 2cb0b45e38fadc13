package experiment

import "math"

// words say what a change of the first token is, and whether it is sure.
func (c Change) words() Sentence {
	return c.phrase().with(c.figures())
}

func (c Change) phrase() Sentence {
	switch {
	case c.Resolution == NoChange:
		return Sentence{
			"${figure}: no difference beyond 5 % between ${from} (${before}) and ${to} (${after}); ${change}.",
			"${figure}：${from}（${before}）与${to}（${after}）相差不超过 5 %；${change}。",
		}
	case c.Resolution == Undecided && c.Change.Low == nil:
		return Sentence{
			"${figure}: not resolved between ${from} (${before}) and ${to} (${after}): five rounds at least would tell, ${n} have both.",
			"${figure}：${from}（${before}）与${to}（${after}）的差别无法判断：至少要五轮，两者都有的只有 ${n} 轮。",
		}
	case c.Resolution == Undecided:
		return Sentence{
			"${figure}: not resolved between ${from} (${before}) and ${to} (${after}): ${change}. More rounds would tell.",
			"${figure}：${from}（${before}）与${to}（${after}）的差别无法判断：${change}。增加轮数即可分辨。",
		}
	case c.Change.At < 0:
		return Sentence{
			"${figure}: ${to} (${after}) is lower than ${from} (${before}) by ${by}, ${share}.",
			"${figure}：${to}（${after}）比${from}（${before}）低 ${by}，即 ${share}。",
		}
	}
	return Sentence{
		"${figure}: ${to} (${after}) is higher than ${from} (${before}) by ${by}, ${share}.",
		"${figure}：${to}（${after}）比${from}（${before}）高 ${by}，即 ${share}。",
	}
}

var figureNames = map[Figure]Sentence{
	TTFT:    {"First token", "首字延迟"},
	Wait:    {"Wait", "等待"},
	Network: {"Network", "网络"},
	Total:   {"Total", "总耗时"},
	Rate:    {"Decode rate", "生成速度"},
}

// Name is what people read for the figure.
func (f Figure) Name() Sentence { return figureNames[f] }

func (c Change) figures() figures {
	return figures{
		"figure": c.Figure.Name(),
		"from":   quoted(c.From), "to": quoted(c.To),
		"before": c.Figure.written(c.Before), "after": c.Figure.written(c.After),
		"change": ranged(c.Change, c.Figure.signed),
		"by":     ranged(c.Change.size(), c.Figure.written),
		"share":  share(math.Abs(c.Share)), "n": count(c.Change.N),
	}
}

// signed is a difference in its unit, its sign told even where it is a plus.
func (f Figure) signed(v float64) Sentence {
	if v > 0 {
		return Sentence{"+" + f.written(v).En, "+" + f.written(v).Zh}
	}
	return f.written(v)
}

// size is a change without its sign, where that is sure.
func (e Estimate) size() Estimate {
	if e.At >= 0 {
		return e
	}
	turned := Estimate{At: -e.At, N: e.N}
	if e.Low != nil {
		turned.Low, turned.High = new(-*e.High), new(-*e.Low)
	}
	return turned
}

// found is what a change of a time means: less is faster.
func (c *Change) found() Finding {
	switch {
	case c == nil || c.Resolution == Undecided:
		return Unresolved
	case c.Resolution == NoChange:
		return Same
	case (c.Change.At < 0) != (c.Figure == Rate):
		return Faster
	}
	return Slower
}
