package experiment

// judgeCache says what a cached prompt is worth. The first arm is cold; the others
// share ever more or less of it.
func (f *finder) judgeCache() {
	if len(f.Arms) < 2 {
		f.verdict(Unresolved, lacksArm)
		return
	}
	repeated := f.compare(0, 1)
	for arm := 2; arm < len(f.Arms); arm++ {
		if c := f.compare(0, arm); c != nil {
			f.say(c.words().then(f.reuse(arm)))
		}
	}
	f.judgeReuse(repeated)
	f.judgeBroken()
	f.saySpikes()
}

var lacksArm = Sentence{"Not resolved: there is nothing to compare with.", "无法判断：没有可对比的一组。"}

// judgeReuse says whether the same prompt again is cached, and what that saves.
func (f *finder) judgeReuse(c *Change) {
	if c == nil {
		f.verdict(Unresolved, lacksArm)
		return
	}
	part := f.cachedShare(1)
	quicker := c.found() == Faster
	switch {
	case part != nil && *part >= 0.5:
		f.verdict(CacheWorks, Sentence{
			"The cache works: of a prompt sent again ${cached} of ${prompt} tokens were cached.",
			"缓存有效：重复发送的输入，${prompt} tokens 中命中 ${cached}。",
		}.with(f.reuseFigures(1)).then(c.words()))
	case part != nil && *part > 0:
		f.verdict(Unresolved, Sentence{
			"Not resolved: of a prompt sent again only ${cached} of ${prompt} tokens were cached. A longer prompt would tell; many caches keep none under 1,024 tokens, and all work in blocks.",
			"无法判断：重复发送的输入，${prompt} tokens 中只命中 ${cached}。加长输入即可分辨；许多缓存不存 1,024 tokens 以下的输入，且都按块存取。",
		}.with(f.reuseFigures(1)).then(c.words()))
	case quicker:
		f.verdict(CacheUnreported, Sentence{
			"A prompt sent again is quicker, so it is cached, but the upstream does not report cached tokens.",
			"重复发送的输入更快，可见命中了缓存，但上游没有报告。",
		}.then(c.words()))
	case part == nil:
		f.verdict(CacheUnreported, Sentence{
			"The upstream does not report cached tokens, and a prompt sent again is not surely quicker.",
			"上游不报告缓存命中，重复发送的输入也看不出更快。",
		}.then(c.words()))
	default:
		f.verdict(CacheIdle, Sentence{
			"Nothing is cached: of a prompt sent again no token was, by the upstream's own count.",
			"没有命中缓存：重复发送的输入，上游自报命中 0。",
		}.then(c.words()))
	}
}

// judgeBroken says whether a change early in the prompt, in the last arm, costs the
// cache that the second arm has.
func (f *finder) judgeBroken() {
	last := len(f.Arms) - 1
	kept, broken := f.cachedShare(1), f.cachedShare(last)
	if last < 2 || kept == nil || broken == nil || *kept < 0.5 || *broken > *kept/2 {
		return
	}
	f.also(CacheBroken, Sentence{
		"With something changed early in it, only ${cached} of ${prompt} tokens were cached: what changes belongs at the end.",
		"开头一改，${prompt} tokens 中只命中 ${cached}：会变的内容应放在末尾。",
	}.with(f.reuseFigures(last)))
}

// reuse says how much of an arm's prompts was cached.
func (f *finder) reuse(arm int) Sentence {
	if f.cachedShare(arm) == nil {
		return Sentence{"Cached tokens are not reported.", "未报告缓存命中。"}
	}
	return Sentence{"${cached} of ${prompt} tokens were cached.", "${prompt} tokens 中命中 ${cached}。"}.with(f.reuseFigures(arm))
}

// cachedShare is how much of an arm's prompts was cached, in the median; nil where
// that is not reported.
func (f *finder) cachedShare(arm int) *float64 {
	part := middle(known(ofArm(f.rows, arm), func(r row) *float64 {
		if r.Cached == nil || r.Prompt == nil || *r.Prompt <= 0 {
			return nil
		}
		return new(float64(*r.Cached) / float64(*r.Prompt))
	}))
	if part == nil {
		return nil
	}
	return &part.At
}

func (f *finder) reuseFigures(arm int) figures {
	a := f.Arms[arm]
	return figures{"cached": tokens(a.Cached.At), "prompt": tokens(a.Prompt.At)}
}
