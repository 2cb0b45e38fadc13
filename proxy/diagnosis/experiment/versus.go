package experiment

// judgeHistory says what sending less of a conversation is worth.
func (f *finder) judgeHistory() {
	f.judgeAgainstFirst(Sentence{
		"Sent with less of its history, the same question:",
		"同一问题，少带历史：",
	})
	f.addLines()
}

// judgeDirect says what a relay costs.
func (f *finder) judgeDirect() {
	f.judgeAgainstFirst(Sentence{
		"The same prompts by another way:",
		"同样的输入换一条路：",
	})
	for _, c := range f.Changes {
		if c.Resolution == Resolved && (c.Figure == Network || c.Figure == Wait) {
			f.say(c.words())
		}
	}
}

// judgeAgainstFirst compares each arm with the first; the verdict is that of the
// second, the nearest to what was asked.
func (f *finder) judgeAgainstFirst(lead Sentence) {
	for arm := 1; arm < len(f.Arms); arm++ {
		c := f.compare(0, arm)
		switch {
		case c == nil:
		case len(f.Found) == 0:
			f.verdict(c.found(), lead.then(c.words()))
		default:
			f.also(c.found(), c.words())
		}
	}
	if len(f.Found) == 0 {
		f.verdict(Unresolved, lacksArm)
	}
	f.saySpikes()
}

// judgeShapes says whether a long input shows in the first token. Its arms are
// pairs of one model: a long prompt with a short answer, then the reverse.
func (f *finder) judgeShapes() {
	if f.obscured() {
		return
	}
	for long := 0; long+1 < len(f.Arms); long += 2 {
		c := f.compare(long+1, long)
		found, s := shapeOf(c)
		if len(f.Found) == 0 {
			f.verdict(found, s)
		} else {
			f.also(found, s)
		}
		f.sayDecode(long + 1)
	}
	if len(f.Found) == 0 {
		f.verdict(Unresolved, lacksArm)
	}
	f.addLines()
	f.saySpikes()
}

func shapeOf(c *Change) (Finding, Sentence) {
	switch found := c.found(); {
	case c == nil:
		return Unresolved, lacksArm
	case found == Slower:
		return FoundPrefill, Sentence{
			"Prefill shows: a long input delays the first token.",
			"可见预填充（Prefill）：长输入推迟了首字。",
		}.then(c.words())
	case found == Unresolved:
		return Unresolved, c.words()
	}
	return Unresolved, Sentence{
		"Not resolved: a long input does not delay the first token enough to show. Lengthen the input.",
		"无法判断：长输入对首字的影响还看不出来，请加长输入。",
	}.then(c.words())
}

// sayDecode tells what decode takes of an arm whose answers are long.
func (f *finder) sayDecode(arm int) {
	a := f.Arms[arm]
	if a.Rate == nil || a.TTFT == nil || a.Total == nil || a.Total.At <= 0 {
		return
	}
	f.Parts = append(f.Parts, newPart(FoundDecode, a.Rate.inverse()))
	f.say(Sentence{
		"${model} decodes at ${rate}; of a long answer's ${total}, ${share} came after the first token.",
		"${model} 生成速度 ${rate}；长回答总耗时 ${total}，其中 ${share} 在首字之后。",
	}.with(figures{
		"model": plain(a.Model), "rate": ranged(*a.Rate, rate), "total": took(a.Total.At), "share": share(max(0, 1-a.TTFT.At/a.Total.At)),
	}))
}

// inverse is the time of a token, in milliseconds, by a rate.
func (e Estimate) inverse() Estimate {
	i := Estimate{At: 1000 / e.At, N: e.N}
	if e.Low != nil && *e.Low > 0 {
		i.Low, i.High = new(1000 / *e.High), new(1000 / *e.Low)
	}
	return i
}
